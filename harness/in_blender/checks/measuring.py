"""Measures every declared check, frame by frame: each frame is evaluated once for all checks that look at it.

A measurement that raises says so in its own message and stops no other. Those that try something out in the scene come
last, so that the others see the file as it is.
"""

import math
import signal
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from harness.in_blender.checks.opened import OpenedScene, Unmeasurable
from harness.in_blender.checks.table import MEASURES
from harness.in_blender.result_pipe import ResultPipe

MAX_ROWS = 2_000
MAX_SAMPLES = 64
TOO_LONG = "measuring it takes too long"


def measure_all(opened: OpenedScene, request: list[dict[str, Any]], pipe: ResultPipe, seconds: float = 20.0) -> None:
    """Send one `measured` message for each check and frame, and `measuring` before it.

    A check may take so many `seconds` in one frame: a slow one takes no time from the others.
    """
    signal.signal(signal.SIGALRM, _too_long)
    too_slow: set[str] = set()
    for changes_scene, as_rendered in ((False, False), (False, True), (True, False)):
        phase = (changes_scene, as_rendered)
        asked = [check for check in request if (check["changes_scene"], check["as_rendered"]) == phase]
        at: dict[int, list[dict[str, Any]]] = {}
        if asked:
            opened.show_as_rendered(as_rendered)
        for check in asked:
            for frame in _frames(opened, check["frames"]):
                at.setdefault(frame, []).append(check)
        for frame in sorted(at):
            try:
                opened.go_to(frame)
                error = ""
            except Exception as raised:  # noqa: BLE001 - the file is not ours; its checks are unknown then
                error = f"frame {frame} cannot be evaluated ({raised})"
            for check in at[frame]:
                pipe.send("measuring", id=check["id"])
                if check["id"] in too_slow:  # in one frame: it would take as long in each other one
                    content = _unevaluated(TOO_LONG)
                else:
                    content = _unevaluated(error) if error else _measure(opened, check, seconds)
                if content["error"] == TOO_LONG:
                    too_slow.add(check["id"])
                pipe.send("measured", id=check["id"], frame=frame, **content)
                if changes_scene:
                    opened.refresh()


def _frames(opened: OpenedScene, wanted: list[int] | dict[str, int | None]) -> list[int]:
    if isinstance(wanted, list):
        return wanted or [opened.saved_frame]
    first = wanted["from"] if wanted["from"] is not None else opened.scene.frame_start
    last = wanted["to"] if wanted["to"] is not None else opened.scene.frame_end
    n = min(max(2, wanted["samples"] or 2), MAX_SAMPLES, abs(last - first) + 1)
    return sorted({round(first + i * (last - first) / max(1, n - 1)) for i in range(n)})


def _measure(opened: OpenedScene, check: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The content of its message."""
    begun = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, seconds)
    content: dict[str, Any] = {"rows": [], "error": "", "n_matched": None, "n_hidden": 0}
    try:
        measure, is_per_object = MEASURES[check["type"]]
        parameters = check["parameters"]
        targets: list[Any] = []
        if "target" in parameters:
            targets, content["n_hidden"] = opened.select(parameters["target"])
            content["n_matched"] = len(targets)
        if len(targets) > MAX_ROWS:
            raise Unmeasurable(f"the target selects {len(targets)} objects; the most is {MAX_ROWS}")
        if is_per_object:
            for target in targets:
                content["rows"] += _rows(opened, partial(measure, opened, target, parameters), target.name)
        else:
            content["rows"] = _rows(opened, partial(measure, opened, parameters), "")
        if len(content["rows"]) > MAX_ROWS:
            raise Unmeasurable(f"there are more than {MAX_ROWS} things to judge")
        content["rows"] = [_jsonable(row) for row in content["rows"]]
    except (Exception, TooLong) as error:  # noqa: BLE001 - becomes `unknown`
        content |= {"rows": [], "error": _why(error)}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return content | {"seconds": time.perf_counter() - begun}


def _too_long(*_: object) -> None:
    raise TooLong(TOO_LONG)


class TooLong(BaseException):
    """Not an Exception: no measurement's own handling may swallow it."""


def _rows(opened: OpenedScene, measure: Callable[[], Any], name: str) -> list[dict[str, Any]]:
    """The rows of one object (or of the scene): a single dict, or several."""
    try:
        measured = measure()
        found = [measured] if isinstance(measured, dict) else list(measured)
        return [{"object": name, "frame": opened.frame, **row} for row in found]
    except Exception as error:  # noqa: BLE001 - one object that cannot be measured leaves the others
        return [{"object": name, "frame": opened.frame, "unknown": _why(error)}]


def _why(error: BaseException) -> str:
    if isinstance(error, Unmeasurable | TooLong):
        return str(error)[:500]
    return f"measuring it failed ({type(error).__name__}: {error})"[:500]


def _unevaluated(error: str) -> dict[str, Any]:
    return {"rows": [], "error": error, "n_matched": None, "n_hidden": 0, "seconds": 0.0}


def _jsonable(value: Any) -> Any:
    """Plain JSON. Numbers that are not finite become None: whoever judges them has to say unknown."""
    if isinstance(value, dict):
        return {key: _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray):
        return [_jsonable(item) for item in value]
    if isinstance(value, np.generic):
        return _jsonable(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
