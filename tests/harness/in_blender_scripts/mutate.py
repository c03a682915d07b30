"""Builds the rich scene, then changes one thing at a time, each in a fork, and tells how the state came out.

    python -P -s mutate.py RESULT_JSON WORK_DIR [base]

With `base`, only the state of the scene as built.
"""

# ruff: noqa: E402 - the path has to be set before our own imports, and the processors before Blender's

import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # no worker threads, which a fork would lose
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

import bpy

from harness.in_blender.scene_state import prepare, scene_state, state_hash
from tests.harness.in_blender_scripts import mutations, rich_scene


def in_fork(change: Callable[[], None], before: dict[str, Any] | None) -> dict[str, Any]:
    """The hash after `change`, with the entries that differ; or its traceback."""
    read_end, write_end = os.pipe()
    if not os.fork():
        try:
            change()
            state = scene_state()
            answer: dict[str, Any] = {"hash": state_hash(state)}
            answer["state" if before is None else "differs"] = state if before is None else differing(before, state)
        except BaseException:  # noqa: BLE001
            answer = {"error": traceback.format_exc()}
        with os.fdopen(write_end, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        answer = json.loads(pipe.read() or '{"error": "died"}')
    os.wait()
    return answer


def differing(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    found = {}
    for part in ("blocks", "evaluated"):
        for key in before[part].keys() | after[part].keys():
            old, new = before[part].get(key, {}), after[part].get(key, {})
            for name in old.keys() | new.keys():
                if old.get(name) != new.get(name):
                    found[f"{part}:{key}.{name}"] = [old.get(name), new.get(name)]
    return dict(sorted(found.items())[:40])


def main() -> None:
    result, folder = sys.argv[1:3]
    rich_scene.build()
    prepare()
    base = in_fork(lambda: None, None)
    before = base["state"]
    answer: dict[str, Any] = {"base": base}
    if len(sys.argv) == 3:
        answer |= all_answers(before, folder)
    Path(result).write_text(json.dumps(answer))
    os._exit(0)


def all_answers(before: dict[str, Any], folder: str) -> dict[str, Any]:
    return {
        "changes": {f.__name__: in_fork(f, before) for f in mutations.CHANGES},
        "same": {f.__name__: in_fork(f, before) for f in mutations.NO_CHANGES},
        "saved": in_fork(lambda: save(f"{folder}/saved.blend"), None),
        "played": in_fork(lambda: play_and_save(f"{folder}/played.blend"), None),
    }


def play_and_save(path: str) -> None:
    """Physics runs for some frames before the file is saved."""
    for frame in range(1, 13):
        bpy.context.scene.frame_set(frame)
    save(path)


def save(path: str) -> None:
    """As the end of a session does: what was painted goes into the file."""
    for image in bpy.data.images:
        if image.is_dirty:
            image.pack()
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)


main()
