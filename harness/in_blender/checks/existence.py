"""Measures objects, instances and shapes: see `harness/checks/existence.py`."""

import hashlib
from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks.opened import GEOMETRY, OpenedScene, Unmeasurable

_MAX_NAMES = 50


def object_exists(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    problem = ""
    if o.data is not None and o.data.is_missing:
        problem = "its data is in a library that is missing"
    elif o.type in GEOMETRY and not parameters["target"]["include_hidden"] and _is_nothing(opened, o):
        problem = "its scale is zero, so that nothing is shown of it"
    return {"type": o.type, "problem": problem}


def _is_nothing(opened: OpenedScene, o: bpy.types.Object) -> bool:
    """Scaled to a point for good: what is animated or constrained may grow in another frame."""
    if np.array(o.evaluated_get(opened.graph).matrix_world)[:3, :3].any():
        return False
    chain = [o]
    while chain[-1].parent is not None and len(chain) < _MAX_NAMES:
        chain.append(chain[-1].parent)
    return not any(one.animation_data or one.constraints for one in chain)


def object_count(opened: OpenedScene, parameters: dict[str, Any]) -> dict[str, Any]:
    return _matching(opened, parameters["among"])


def forbidden_object(opened: OpenedScene, parameters: dict[str, Any]) -> dict[str, Any]:
    return _matching(opened, parameters["forbidden"] | {"include_hidden": parameters["also_hidden"]})


def instance_count(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    source = parameters["source"]
    n = 0
    for instance in opened.graph.object_instances:
        if instance.is_instance and instance.parent.original == o:
            n += source is None or instance.instance_object.original.name == source
    return {"n": n}


def distinct_meshes(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    mesh = opened.local_mesh(o)
    if not len(mesh.points) or not mesh.is_finite:
        raise Unmeasurable("its mesh has no vertices, or coordinates that are not finite")
    # neither where it stands nor the order of its vertices is its shape
    rounded = np.round(mesh.points, 4) + 0.0
    rows = rounded[np.lexsort(rounded.T[::-1])]
    sizes = np.bincount(mesh.sizes) if len(mesh.sizes) else np.zeros(0)
    shape = hashlib.sha256(rows.tobytes() + sizes.astype(np.int64).tobytes()).hexdigest()[:16]
    return {"type": o.type, "mesh": o.data.name, "shape": shape}


def _matching(opened: OpenedScene, selector: dict[str, Any]) -> dict[str, Any]:
    found, _ = opened.select(selector)
    return {"n": len(found), "matching": [o.name for o in found[:_MAX_NAMES]]}
