"""Examines a .blend: what it brings along, its scene state, what checks ask. Trusted code; nothing in the file runs.

    python -P -s check_scene.py RESULT_FD SCENE_FILE REQUEST_FILE         (cwd: an empty folder for raw renders)

The request is JSON: `seconds` for each check and frame; `checks`, a list of `{id, type, parameters, frames,
changes_scene}`; `state`, whether the canonical scene state is wanted; `renders`, what to draw, or null. The file was
made by untrusted code and is opened with its scripts off, anew for each part: none sees what another did.
Messages: `opened` (version, what the file brings along), `state`, one `measured` a check and frame, `checked`, those of
`renders/draw.py`, `finished`. No opinion here: the verdicts are given outside.
"""

import json
import os
import sys
import time
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender.opening import NotOpened, open_untrusted
from harness.in_blender.result_pipe import ResultPipe

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
    if request["state"]:
        _send_state(pipe)
        if request["checks"]:
            _open(pipe, scene_file)
            opened = OpenedScene()
    measuring.measure_all(opened, request["checks"], pipe, request["seconds"])
    pipe.send("checked")
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


def _send_state(pipe: ResultPipe) -> None:
    """The canonical state, or why it cannot be read."""
    from harness.in_blender.scene_state import scene_state

    try:
        pipe.send("state", state=scene_state())
    except Exception as error:  # noqa: BLE001 - odd data must not keep the checks from being made
        pipe.send("no_state", why=f"{type(error).__name__}: {error}"[:_MAX_ERROR])


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
