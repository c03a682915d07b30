"""Compares what a recorded action came to with what it comes to now. Pure functions; pictures in replay_frames.py.

Left out of the comparison is what differs between two runs of the same code: times and dates, addresses, names of
temporary files, sizes of encoded videos and figures measured from their pixels (the pictures themselves are compared),
and how far a run had printed when it was stopped.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from recorder.records import Execution

NOTHING = "(nothing)"
_STOPPED = ("timeout", "crash", "out_of_memory", "limit", "no_result")
"""Outcomes that cut a run off at a moment which is not the same twice."""
_MAX_SHOWN = 200
_CHANCE = re.compile(
    r"""(?P<date> \d{4}-\d\d-\d\d (?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
        | \b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\s+\d{1,2}\s+(?:\d\d:\d\d|\d{4})\b)
      | (?P<time> \b\d\d?:\d\d(?::\d\d)?(?:\.\d+)?\b)
      | (?P<duration> \b\d+m\d+(?:\.\d+)?s\b | (?<![\w.])\d+(?:\.\d+)?\ ?(?:ms|s|secs?|seconds?)\b)
      | (?P<address> \b0x[0-9a-fA-F]{6,}\b)
      | (?P<temporary> \btmp[a-z0-9_]{8}\b)
      | (?P<size> (?<=,\ )\d+\ kB$)
    """,
    re.VERBOSE,
)
_NOT_COMPARED = (
    "Note: ",  # that Blender had to be started again: a replay leaves out the step that killed it
    "  contrast of ",
    "  change between neighbouring samples ",
    "Views: they could not be drawn in time.",
)
"""Lines of our own reports; what a script prints stands behind `  | ` in them."""


@dataclass(frozen=True)
class Difference:
    """One thing that came out differently."""

    where: str
    """`output line 4`, `state`, `frame 2`; with its step and tool in front once these are known."""
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"{self.where}: recorded {_shown(self.recorded)}, now {_shown(self.now)}"

    def inside(self, place: str) -> "Difference":
        """The same, found in `place`."""
        return Difference(f"{place}: {self.where}", self.recorded, self.now)


def compare_executions(recorded: Execution, now: Execution) -> list[Difference]:
    """Outcome, exit status, traceback, printed text, changes and state."""
    old, new = recorded.blender or {}, now.blender or {}
    found = [*_outcome(old, new)]
    if recorded.returncode != now.returncode and not found:
        found += [Difference("exit status", str(recorded.returncode), str(now.returncode))]
    if without_chance(recorded.exception) != without_chance(now.exception):
        found += [Difference("exception", recorded.exception or NOTHING, now.exception or NOTHING)]
    if not found and (old.get("outcome") in _STOPPED or recorded.exception):
        return []
    texts = [
        *first_line("traceback", _traceback(old), _traceback(new)),
        *first_line("printed line", _lines(old, "log", "lines"), _lines(new, "log", "lines")),
        *first_line("scene change", _lines(old, "changes"), _lines(new, "changes")),
    ]
    # each of these stands in the output too, where the rest of the report is
    if not texts and not found:
        texts = [*first_line("output line", recorded.output, now.output, ignored=_NOT_COMPARED)]
    found += texts
    return [*found, *compare_states(recorded, now)]


def compare_states(recorded: Execution, now: Execution) -> list[Difference]:
    """The hash of the scene after a step, where both have one."""
    old, new = (recorded.blender or {}).get("state_hash"), (now.blender or {}).get("state_hash")
    return [Difference("state", f"hash {old[:12]}", f"hash {new[:12]}")] if old and new and old != new else []


def first_line(what: str, recorded: str, now: str, *, ignored: tuple[str, ...] = ()) -> Iterator[Difference]:
    """The first line that is not the same, if any, by its number; lines that start with one of `ignored` left out."""
    for old, new in zip_longest(_numbered(recorded, ignored), _numbered(now, ignored)):
        number = (old or new)[0]
        if old is None or new is None or without_chance(old[1]) != without_chance(new[1]):
            yield Difference(f"{what} {number}", old[1] if old else NOTHING, new[1] if new else NOTHING)
            return


def without_chance(text: str) -> str:
    """`text` with a sign in place of what differs from run to run."""
    return _CHANCE.sub(lambda match: f"<{match.lastgroup}>", text)


def _numbered(text: str, ignored: tuple[str, ...]) -> list[tuple[int, str]]:
    lines = enumerate(text.splitlines(), start=1)
    return [(number, line) for number, line in lines if not line.startswith(ignored)]


def _outcome(old: dict[str, Any], new: dict[str, Any]) -> Iterator[Difference]:
    if old.get("outcome") != new.get("outcome"):
        yield Difference("outcome", _outcome_text(old), _outcome_text(new))
    elif _codes(old) != _codes(new):
        yield Difference("problems", ", ".join(_codes(old)) or "none", ", ".join(_codes(new)) or "none")


def _outcome_text(blender: dict[str, Any]) -> str:
    error = blender.get("error")
    raised = f"{error.get('type')}: {error.get('message')}" if isinstance(error, dict) else ""
    reason = blender.get("reason") or raised
    return f"{blender.get('outcome', 'not run')}{f' ({reason})' if reason else ''}"


def _codes(blender: dict[str, Any]) -> list[str]:
    problems = blender.get("problems")
    return [str(p.get("code")) for p in problems if isinstance(p, dict)] if isinstance(problems, list) else []


def _traceback(blender: dict[str, Any]) -> str:
    error = blender.get("error")
    return str(error.get("traceback", "")) if isinstance(error, dict) else ""


def _lines(blender: dict[str, Any], *keys: str) -> str:
    value: Any = blender
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return "\n".join(map(str, value)) if isinstance(value, list) else ""


def _shown(text: str) -> str:
    return repr(text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}...")
