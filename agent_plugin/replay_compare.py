"""Compares what a recorded action came to with what it comes to now. Pure functions; pictures in replay_frames.py.

Left out of the comparison is what differs between two runs of the same code: times and dates, addresses, names of
temporary files, sizes of encoded videos and figures measured from their pixels (the pictures themselves are compared),
and how far a run had printed when it was stopped.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from harness.state_diff import Change
from recorder.records import Execution

NOTHING = "(nothing)"
_STOPPED = ("timeout", "crash", "out_of_memory", "limit", "no_result")
"""Outcomes that cut a run off at a moment which is not the same twice."""
_MAX_SHOWN = 200
_MAX_PATHS = 8
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
    """`output line 4`, `state, Object/Cube.location`, `frame 2`; its step and tool in front once they are known."""
    recorded: str
    now: str

    def __str__(self) -> str:
        return f"{self.where}: recorded {_shown(self.recorded)}, now {_shown(self.now)}"

    def inside(self, place: str) -> "Difference":
        """The same, found in `place`."""
        return Difference(f"{place}: {self.where}", self.recorded, self.now)


def compare_executions(
    recorded: Execution, now: Execution, changes: Sequence[Change] | None = None
) -> list[Difference]:
    """Outcome, exit status, traceback, printed text, changes and state.

    `changes` are those from the recorded scene to that of now, where both are known: if there are none, lines that tell
    what a step changed may differ, by noise.
    """
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
        *(() if changes == [] else first_line("scene change", _lines(old, "changes"), _lines(new, "changes"))),
    ]
    # each of these stands in the output too, where the rest of the report is
    if not texts and not found:
        told = _change_lines(old, new) if changes == [] else ()
        texts = [*first_line("output line", recorded.output, now.output, ignored=_NOT_COMPARED + told)]
    found += texts
    return [*found, *compare_states(recorded, now, changes)]


def compare_states(recorded: Execution, now: Execution, changes: Sequence[Change] | None = None) -> list[Difference]:
    """The scene after a step: the first paths that differ, or where `changes` are not known its hash."""
    old, new = (str((one.blender or {}).get("state_hash") or "") for one in (recorded, now))
    hashes = f"hash {old[:12]}", f"hash {new[:12]}"
    if changes is None:
        return [Difference("state", *hashes)] if old and new and old != new else []
    causes_first = sorted(changes, key=lambda change: change.name.startswith("evaluated."))
    found = [_state_difference(change) for change in causes_first[:_MAX_PATHS]]
    n_more = len(changes) - len(found)
    return [*found, Difference(f"state, {n_more} more paths", *hashes)] if n_more else found


def _state_difference(change: Change) -> Difference:
    old, new = (_text(value) if change.name else "is there" for value in (change.before, change.after))
    return Difference(
        f"state, {change.path}",
        NOTHING if change.kind == "added" else old,
        NOTHING if change.kind == "removed" else new,
    )


def _text(value: Any) -> str:
    """A value of a state, bounded also for a list of differences."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."


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


def _change_lines(*blenders: dict[str, Any]) -> tuple[str, ...]:
    """The lines of a report that tell changes."""
    return tuple(f"  {line}" for blender in blenders for line in _lines(blender, "changes").splitlines())


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
