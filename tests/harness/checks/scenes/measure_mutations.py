"""Spoils the good scene in every way and measures it: `measure_mutations.py GOOD.blend REQUEST.json OUT.json`.

One Blender does what `check_scene.py` would do in as many: the spoilt scene is saved, opened again and measured.
"""

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[4]))

import bpy

from harness.in_blender.checks import measuring
from harness.in_blender.checks.opened import OpenedScene
from tests.harness.checks.scenes.mutated import MUTATIONS


class Kept:
    """Stands for the result pipe: the messages, as they would come out of it."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def send(self, kind: str, **content: Any) -> None:
        self.messages.append(json.loads(json.dumps({"kind": kind, **content}, allow_nan=False)))


def main() -> None:
    good, request, out = sys.argv[1:4]
    checks = json.loads(Path(request).read_text())
    spoilt = str(Path(out).with_suffix(".blend"))
    bpy.context.preferences.filepaths.save_version = 0
    found = {}
    for name, mutate in {"nothing": lambda: None, **MUTATIONS}.items():
        bpy.ops.wm.open_mainfile(filepath=good, load_ui=False, use_scripts=False)
        mutate()
        bpy.ops.wm.save_as_mainfile(filepath=spoilt, check_existing=False, relative_remap=False)
        bpy.ops.wm.open_mainfile(filepath=spoilt, load_ui=False, use_scripts=False)
        pipe = Kept()
        measuring.measure_all(OpenedScene(), checks, pipe)  # type: ignore[arg-type]
        found[name] = pipe.messages
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    status = 1
    try:
        main()
        status = 0
    finally:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
