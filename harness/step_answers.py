"""Reads what a live Blender answered: how a step failed, and what was drawn after it.

Whatever is in an answer is a claim: a step's code could reach the pipe that it came through.
"""

import base64
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from harness.execution import ScriptError, parse_script_error
from harness.plain_text import one_line
from harness.settings import HarnessSettings
from harness.step_result import StepOutcome, StepView

Failure = tuple[StepOutcome, str, ScriptError | None]
"""Outcome, the reason in words, and the step's own error where it raised one."""


@dataclass(frozen=True)
class Answer:
    """What came back for one request, before it is judged."""

    messages: Mapping[str, Mapping[str, Any]]
    """By kind. Claims: a step's code could reach the pipe."""
    end: str
    """`until` when the session answered, else the limit that was passed, or `ended`."""
    output: str


def failure_of(failed: Mapping[str, Any] | None, answer: Answer, settings: HarnessSettings) -> Failure:
    """How a step failed. `failed`: the session's own word on it; None where it did not live to give one."""
    if failed is None:
        return _lost(answer, settings)
    fate = failed.get("fate")
    if fate == "timeout":
        return "timeout", f"timed out after {settings.exec_timeout:g} s; it was stopped", None
    if fate == "out_of_memory":
        return "out_of_memory", f"out of memory: it used more than {settings.memory_mb} MiB", None
    if fate == "crash":
        return "crash", f"Blender crashed ({_signal_name(failed.get('signal'))})", None
    if fate == "no_result":
        return "no_result", "the process ended without a verdict (os._exit?)", None
    error = parse_script_error(failed.get("error"))
    if failed.get("refused"):
        return "refused", str(failed["refused"])[:500], error
    if error is not None and error.type == "MemoryError":
        return "out_of_memory", f"out of memory: an allocation failed ({settings.memory_mb} MiB)", error
    return "step_error", f"{error.type}: {error.message}" if error else "it failed", error


def _lost(answer: Answer, settings: HarnessSettings) -> Failure:
    """The whole session went down with the step."""
    if answer.end == "timeout":
        return "timeout", f"timed out after {settings.exec_timeout:g} s; Blender did not answer and was ended", None
    if answer.end == "memory":
        return "out_of_memory", f"out of memory: it used more than {settings.memory_mb} MiB", None
    if answer.end in ("output", "disk", "files", "processes"):
        return "limit", f"stopped at the {answer.end} limit ({_limit(answer.end, settings)})", None
    return "crash", "the step ended the whole Blender session", None


def _limit(name: str, settings: HarnessSettings) -> str:
    return {
        "output": f"{settings.max_output_mb} MiB printed",
        "disk": f"{settings.max_disk_mb} MiB written",
        "files": f"{settings.limits.max_files} files",
        "processes": f"{settings.max_processes} processes",
    }[name]


def _signal_name(number: Any) -> str:
    try:
        return f"signal {number}, {signal.Signals(number).name}"
    except ValueError:
        return f"signal {number}"


def views_note(drawn: Any) -> str:
    """Why there is no picture of something, on one line: names of the scene's objects are in it."""
    notes = [str(v["note"]) for v in (drawn if isinstance(drawn, list) else []) if isinstance(v, dict) and "note" in v]
    return one_line("; ".join(notes))[:300]


def views_of(drawn: Any) -> list[StepView]:
    """The pictures; what is not in the form of one is passed over."""
    views = []
    for view in drawn if isinstance(drawn, list) else []:
        try:
            picture = base64.b64decode(view["jpeg"], validate=True)
            size = int(view["width"]), int(view["height"])
            views.append(StepView(one_line(str(view["label"]))[:200], int(view["frame"]), *size, picture))
        except (KeyError, TypeError, ValueError):
            continue
    return views
