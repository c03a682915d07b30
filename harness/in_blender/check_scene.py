"""Examines a .blend: what it brings along, its scene state, what checks ask. Trusted code; nothing in the file runs.

    python -P -s check_scene.py RESULT_FD SCENE_FILE REQUEST_FILE         (cwd: an empty folder for raw renders)

The request is JSON: `seconds` for each check and frame; `checks`, a list of `{id, type, parameters, frames,
changes_scene, as_rendered}`; `state`, whether the canonical scene state is wanted, which may take `state_seconds` and
have `state_mb`; `renders`, what to draw, or null. The file was made by untrusted code and is opened with its scripts
off, anew for each part: none sees what another did. Messages: `opened` (version, what the file brings along), one
`measured` a check and frame, `checked`, `state` or `no_state`, those of `renders/draw.py`, `finished`.
No opinion here: the verdicts are given outside.
"""

import json
import os
import signal
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender.opening import NotOpened, open_untrusted
from harness.in_blender.result_pipe import ResultPipe, encode

_MAX_ERROR = 500


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    scene_file, request_file = sys.argv[2:4]
    with open(request_file, encoding="utf-8") as file:
        request = json.load(file)
    import bpy

    pipe.send("started", version=list(bpy.app.version))
    begun = time.perf_counter()
    _open(pipe, scene_file)
    from harness.in_blender.checks import file_facts, measuring
    from harness.in_blender.checks.opened import OpenedScene

    try:
        facts = file_facts.read()  # before anything is evaluated
        opened = OpenedScene()
    except Exception as error:  # noqa: BLE001 - a damaged file: told as such, in one line
        _end(pipe, "unreadable", why=_unread(error))
    pipe.send("opened", seconds=time.perf_counter() - begun, **facts)
    measuring.measure_all(opened, request["checks"], pipe, request["seconds"])
    pipe.send("checked")
    if request["state"]:  # after the verdicts: a scene of very many objects takes minutes
        if request["checks"]:
            _open(pipe, scene_file)
        _send_state(pipe, request["state_seconds"], request["state_mb"])
    if request["renders"]:
        _open(pipe, scene_file)
        from harness.in_blender.renders.draw import draw_renders

        draw_renders(request["renders"], os.getcwd(), pipe.send)
    _end(pipe, "finished", was_script_blocked=bool(bpy.app.autoexec_fail))


def _open(pipe: ResultPipe, scene_file: str) -> None:
    """The file as it was saved, but for names that are no text; ends the process where Blender cannot open it."""
    try:
        open_untrusted(scene_file)
    except NotOpened as error:
        _end(pipe, "unreadable", why=str(error)[:_MAX_ERROR])
    from harness.in_blender.checks import file_facts

    try:
        file_facts.name_readably()
    except Exception as error:  # noqa: BLE001 - a damaged file: told as such, in one line
        _end(pipe, "unreadable", why=_unread(error))


def _unread(error: Exception) -> str:
    return f"what it holds cannot be read ({type(error).__name__}: {error})"[:_MAX_ERROR]


def _send_state(pipe: ResultPipe, seconds: float, max_mb: int) -> None:
    """The canonical state, or why it cannot be read."""
    from harness.in_blender.checks.measuring import TooLong
    from harness.in_blender.scene_state import scene_state, why_not_json

    signal.signal(signal.SIGALRM, _too_long)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    state = None
    try:
        state = scene_state()
        line = encode("state", state=state)
    except TooLong:
        pipe.send("no_state", why=f"reading it takes more than {seconds:g} s: the scene holds too much")
    except Exception as error:  # noqa: BLE001 - odd data must not keep the pictures from being drawn
        why = (why_not_json(state) if state else "") or f"{type(error).__name__}: {error}"
        pipe.send("no_state", why=why[:_MAX_ERROR])
    else:
        signal.setitimer(signal.ITIMER_REAL, 0)
        if len(line) > max_mb << 20:
            pipe.send("no_state", why=f"it has {len(line) >> 20} MiB; the most that is read is {max_mb} MiB")
        else:
            pipe.write(line)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _too_long(*_: object) -> None:
    from harness.in_blender.checks.measuring import TooLong

    raise TooLong


def _end(pipe: ResultPipe, kind: str, **content: Any) -> None:
    sys.stdout.flush()
    pipe.send(kind, **content)
    os._exit(0)  # Python's own exit may hang (see run_script)


if __name__ == "__main__":
    try:
        main()
    finally:
        sys.stderr.flush()
        if error := sys.exc_info()[1]:
            print(repr(error)[:_MAX_ERROR], file=sys.stderr, flush=True)
        os._exit(1)
