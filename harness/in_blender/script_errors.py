"""Turns what a script raised into facts: the traceback from the script's own first frame on, without host paths."""

import linecache
import os
import sys
import traceback
from dataclasses import dataclass
from types import TracebackType

_MAX_MESSAGE = 4_000
_MAX_TRACEBACK = 12_000


@dataclass(frozen=True)
class Places:
    """How file names are shown."""

    workspace: str
    script: str
    harness: str
    """Folder of the harness's own code, whose frames are dropped."""

    def shown(self, name: str) -> str:
        if name.startswith(self.workspace + os.sep):
            return os.path.relpath(name, self.workspace)
        for prefix in (sys.prefix, sys.base_prefix):
            if name.startswith(prefix + os.sep):
                return (
                    name.rpartition("/site-packages/")[2]
                    if "/site-packages/" in name
                    else f"<python>/{os.path.basename(name)}"
                )
        return name if not os.path.isabs(name) else f"<outside>/{os.path.basename(name)}"


def describe(error: BaseException, places: Places) -> dict[str, object]:
    """Type, message, line in the script and traceback text of `error`."""
    report = traceback.TracebackException.from_exception(error, lookup_lines=False, capture_locals=False)
    _clean(report, places, seen=set())
    text = _shorten("".join(report.format()), places)
    return {
        "type": type(error).__name__,
        "message": _cut(_shorten(_message(error), places), _MAX_MESSAGE),
        "line": _line(error, error.__traceback__, places),
        "traceback": _cut(text, _MAX_TRACEBACK),
    }


def remember_source(script: str, source: str) -> None:
    """Lets tracebacks quote the script even after it has changed directory or edited itself."""
    linecache.cache[script] = (len(source), None, source.splitlines(keepends=True), script)


def _clean(report: traceback.TracebackException, places: Places, seen: set[int]) -> None:
    """Drop frames before the script's first and those of the harness; show names short. Follows causes."""
    if id(report) in seen:
        return
    seen.add(id(report))
    frames = [frame for frame in report.stack if not frame.filename.startswith(places.harness)]
    own = next((i for i, frame in enumerate(frames) if frame.filename == places.script), 0)
    kept = traceback.StackSummary.from_list([])
    for frame in frames[own:]:
        line = frame.line  # looked up under its true name before that is shortened
        shown = traceback.FrameSummary(
            places.shown(frame.filename), frame.lineno, frame.name, lookup_line=False, line=line
        )
        kept.append(shown)
    report.stack = kept
    if isinstance(getattr(report, "filename", None), str):  # a SyntaxError carries a file name of its own
        report.filename = places.shown(report.filename)
    for other in (report.__cause__, report.__context__, *(report.exceptions or [])):
        if other is not None:
            _clean(other, places, seen)


def _line(error: BaseException, tb: TracebackType | None, places: Places) -> int | None:
    """The line of the script that was running: the innermost one, or where it could not be parsed."""
    line = None
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == places.script:
            line = tb.tb_lineno
        tb = tb.tb_next
    if line is None and isinstance(error, SyntaxError):
        return error.lineno
    return line


def _message(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # noqa: BLE001 - __str__ is the script's own code, and may raise anything
        return "<the exception's text could not be made>"


def _shorten(text: str, places: Places) -> str:
    for name, shown in (
        (places.workspace + os.sep, ""),
        (sys.prefix, "<blender>"),
        (sys.base_prefix, "<python>"),
    ):
        text = text.replace(name, shown)
    return text


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    half = limit // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"
