"""Measures a good scene and each spoilt one: what `check_scene.py` would do in as many Blenders, in one.

A spoilt scene is saved, opened again and measured, so that what a save drops is dropped.
"""

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import bpy

from harness.in_blender.checks import measuring
from harness.in_blender.checks.opened import OpenedScene

NOTHING = "nothing"
"""The control: the good scene itself, saved and opened again."""


class Kept:
    """Stands for the result pipe: the messages, as they would come out of it."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def send(self, kind: str, **content: Any) -> None:
        self.messages.append(json.loads(json.dumps({"kind": kind, **content}, allow_nan=False)))


def measure_spoilt(
    good: str, checks: list[dict[str, Any]], mutations: Mapping[str, Callable[[], Any]], out: Path
) -> None:
    """Write `{mutation: messages}`, the control among them, to `out`."""
    spoilt = str(out.with_suffix(".blend"))
    bpy.context.preferences.filepaths.save_version = 0
    found = {}
    for name, mutate in {NOTHING: lambda: None, **mutations}.items():
        bpy.ops.wm.open_mainfile(filepath=good, load_ui=False, use_scripts=False)
        bpy.context.preferences.system.use_gpu_subdivision = False
        mutate()
        bpy.ops.wm.save_as_mainfile(filepath=spoilt, check_existing=False, relative_remap=False)
        bpy.ops.wm.open_mainfile(filepath=spoilt, load_ui=False, use_scripts=False)
        pipe = Kept()
        measuring.measure_all(OpenedScene(), checks, pipe)  # type: ignore[arg-type]
        found[name] = pipe.messages
    out.write_text(json.dumps(found))


def end_with(main: Callable[[], None]) -> None:
    """Run a program to its end: Python's own exit may hang in Blender."""
    status = 1
    try:
        main()
        status = 0
    finally:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(status)
