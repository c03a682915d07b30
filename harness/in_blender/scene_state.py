"""The canonical scene state: every data-block that the scenes lead to, and what evaluation makes of them.

    {"version": 1, "scene": "Scene",
     "blocks": {"Object/Cube": {"location": [0, 0, 1], "modifiers[Bevel].width": 0.1, ...}, ...},
     "evaluated": {"Object/Cube": {"n_vertices": 8, "bounds": ..., "hash": ...}, "instances": {...}}}

Two runs of a deterministic script give the same state, in different processes too, and so does the saved and reopened
file. Tolerances: `state_values`. What is left out: `state_exclusions`. Evaluation is at the current frame only;
keyframes, drivers and settings of simulations are in the blocks whatever the frame.

Reading leaves edit mode and evaluates animation at the current frame: call it in a short-lived fork,
of a process that called `prepare()` once. Blender may print warnings on standard output meanwhile.
"""

import hashlib
import json
import math
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import bpy

from harness.in_blender.state_exclusions import NOT_FOLLOWED
from harness.in_blender.state_extras import extras, meshes_with_groups
from harness.in_blender.state_geometry import evaluated_state
from harness.in_blender.state_plans import class_names, prepare, unreadable
from harness.in_blender.state_rna import Reader, block_key
from harness.in_blender.state_values import Value

__all__ = ["prepare", "scene_state", "state_hash"]

VERSION = 1
PRINT_CELL = 1e-3
"""Of the state hash, as in `harness.state_diff`."""


def scene_state(*, evaluate: bool = True) -> dict[str, Value]:
    """The state, as JSON can hold it; without `evaluate` the blocks as they stand, and nothing evaluated."""
    evaluated: dict[str, Value] = {}
    if evaluate:
        with _no_handlers():
            _settle()
            evaluated = evaluated_state()
    return {
        "version": VERSION,
        "scene": bpy.context.scene.name,
        "blocks": read_blocks(),
        "evaluated": evaluated,
    }


def state_hash(state: dict[str, Any]) -> str:
    """SHA-256 of what is hashed of a state; `harness.state_diff` gives the same.

    Evaluated meshes count by their numbers, bounds and a coarse print: what they follow from is hashed in full, and
    their last bits follow the order of elements.
    """
    hashed = {**state, "evaluated": {key: _coarse(value) for key, value in state["evaluated"].items()}}
    text = json.dumps(hashed, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _coarse(value: Any) -> Any:
    if not isinstance(value, dict) or "print" not in value:
        return value
    cell = PRINT_CELL * max(1, value["n_vertices"]) ** 0.5
    return {**value, "hash": None, "print": [round(wave / cell) for wave in value["print"]]}


def read_blocks() -> dict[str, Value]:
    """Every reachable data-block, in the order of their keys."""
    waiting: deque[bpy.types.ID] = deque(bpy.data.scenes)
    seen = {block.as_pointer() for block in waiting}
    blocks: dict[str, Value] = {}

    def found(block: bpy.types.ID) -> None:
        if block.as_pointer() not in seen:
            seen.add(block.as_pointer())
            waiting.append(block)

    reader = Reader(found)
    grouped = meshes_with_groups()
    while waiting:
        block = waiting.popleft()
        if not NOT_FOLLOWED.intersection(class_names(block.bl_rna)):
            blocks[block_key(block)] = _read_block(reader, block, grouped)
    return dict(sorted(blocks.items()))


def _read_block(reader: Reader, block: bpy.types.ID, grouped: set[int]) -> Value:
    values = reader.read(block)
    try:
        values.update(extras(block, grouped))
    except Exception as error:  # noqa: BLE001 - odd data must not hide the rest
        values["extras"] = unreadable(error)
    return values


def _settle() -> None:
    """Bring the scene to where saving and opening it would: out of edit mode, animated values as animated.

    A value that a script sets on an animated property lasts until the next evaluation of its animation.
    """
    for o in bpy.data.objects:
        if o.mode == "EDIT":
            _leave_edit_mode(o)
    scene = bpy.context.scene
    scene.frame_set(scene.frame_current, subframe=scene.frame_subframe)


def _leave_edit_mode(o: bpy.types.Object) -> None:
    """What is edited lives in a buffer of its own, and the data-block hides its attributes meanwhile."""
    o.update_from_editmode()
    try:
        bpy.context.view_layer.objects.active = o
        bpy.ops.object.mode_set(mode="OBJECT")
    except RuntimeError:
        return  # not in this view layer: what was written back is read


@contextmanager
def _no_handlers() -> Iterator[None]:
    """Handlers of a script are not part of its scene, and are not there when the file is opened again."""
    handlers = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    kept = [(functions, functions[:]) for functions in handlers if isinstance(functions, list) and functions]
    for functions, _ in kept:
        functions.clear()
    try:
        yield
    finally:
        for functions, contents in kept:
            functions[:] = contents


def why_not_json(state: dict[str, Any]) -> str:
    """Which thing of the state holds a number that JSON lacks, in words; '' where all are finite."""
    for part in ("evaluated", "blocks"):
        for key, value in state[part].items():
            field = _not_finite(value)
            if field is not None:
                kind, _, name = key.partition("/")
                what = f"{kind.lower()} '{name}'" if name else kind
                when = ", evaluated," if part == "evaluated" else ""
                return f"{what}{when} holds a number that is not finite (NaN or infinity), at '{field}'"
    return ""


def _not_finite(value: Any, path: str = "") -> str | None:
    """Where in the value the first number is that is not finite."""
    if isinstance(value, float):
        return None if math.isfinite(value) else path
    inner: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inner = value.items()
    elif isinstance(value, list | tuple):
        inner = enumerate(value)
    found = (_not_finite(item, f"{path}.{key}".lstrip(".")) for key, item in inner)
    return next((place for place in found if place is not None), None)
