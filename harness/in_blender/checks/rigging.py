"""Measures constraints, armatures, skinning and shape keys: see `harness/checks/rigging.py`."""

from typing import Any

import bpy
import numpy as np
from mathutils import Euler

from harness.in_blender.checks.mesh_arrays import column
from harness.in_blender.checks.opened import OpenedScene, Unmeasurable

_TURN = 0.6
"""Radians by which bones are turned to see whether a skin follows."""


def constraint(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    bone = parameters["bone"]
    if bone is None:
        owner = o
    else:
        owner = o.pose.bones.get(bone) if o.pose else None
        if owner is None:
            raise Unmeasurable(f"it has no bone '{bone}'")
    found = []
    for one in [c for c in owner.constraints if c.type == parameters["constraint"]][:200]:
        found.append(
            {
                "name": one.name,
                "bone": bone or "",
                "target": _target(one),
                "influence": one.influence,
                "is_on": bool(one.enabled and not one.mute),
                "is_valid": bool(one.is_valid),
                "effect": _effect(opened, o, bone, one) if parameters["effective"] else None,
            }
        )
    return {"constraints": found}


def _target(one: Any) -> str | None:
    if one.type == "ARMATURE":
        return next((target.target.name for target in one.targets if target.target), "")
    if "target" not in one.bl_rna.properties:
        return None
    return one.target.name if one.target else ""


def _effect(opened: OpenedScene, o: bpy.types.Object, bone: str | None, one: Any) -> float:
    whole = _matrix(opened, o, bone)
    was = one.mute
    one.mute = True
    opened.refresh()
    without = _matrix(opened, o, bone)
    one.mute = was
    opened.refresh()
    return float(np.abs(whole - without).max())


def _matrix(opened: OpenedScene, o: bpy.types.Object, bone: str | None) -> np.ndarray:
    if bone is None:
        return opened.matrix(o)
    return np.array(o.evaluated_get(opened.graph).pose.bones[bone].matrix)


def armature(_: OpenedScene, o: bpy.types.Object, __: dict[str, Any]) -> dict[str, Any]:
    if o.type != "ARMATURE":
        raise Unmeasurable(f"it is no armature (its type is {o.type})")
    return {
        "bones": [
            {
                "name": bone.name,
                "parent": bone.parent.name if bone.parent else "",
                "is_deform": bool(bone.use_deform),
                "length": bone.length,
            }
            for bone in o.data.bones[:2000]
        ]
    }


def skinning(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    if o.type != "MESH":
        raise Unmeasurable(f"it is no mesh (its type is {o.type})")
    rigs = [m.object for m in o.modifiers if m.type == "ARMATURE" and m.show_viewport and m.object]
    rig = rigs[0] if rigs else None
    none = {"armature": "", "n_unweighted": 0, "max_influences": 0, "n_bones": 0, "moved": None}
    if rig is None or rig.type != "ARMATURE":
        return none | {"n_vertices": len(o.data.vertices)}
    deforming = {b.name for b in rig.data.bones if b.use_deform}
    groups = {group.index: group.name for group in o.vertex_groups if group.name in deforming}
    n_unweighted, most, used = 0, 0, set()
    for vertex in o.data.vertices:
        pulling = [element.group for element in vertex.groups if element.group in groups and element.weight > 1e-4]
        n_unweighted += not pulling
        most = max(most, len(pulling))
        used.update(pulling)
    bones = [groups[index] for index in sorted(used)]
    return {
        "armature": rig.name,
        "n_vertices": len(o.data.vertices),
        "n_unweighted": n_unweighted,
        "max_influences": most,
        "n_bones": len(bones),
        "moved": _moved_by(opened, o, rig, bones) if bones else None,
    }


def _moved_by(opened: OpenedScene, o: bpy.types.Object, rig: Any, bones: list[str]) -> float:
    """How far the mesh goes, as a share of its diagonal, when these bones are turned in the pose."""
    before = opened.finite_mesh(o)
    position, rig.data.pose_position = rig.data.pose_position, "POSE"
    kept = [(rig.pose.bones[name], rig.pose.bones[name].matrix_basis.copy()) for name in bones]
    muted = [one for bone, _ in kept for one in bone.constraints if not one.mute]  # they would turn the bone back
    for one in muted:
        one.mute = True
    for bone, basis in kept:
        bone.matrix_basis = basis @ Euler((_TURN, _TURN, 0)).to_matrix().to_4x4()
    opened.refresh()
    after = opened.finite_mesh(o)
    for bone, basis in kept:
        bone.matrix_basis = basis
    for one in muted:
        one.mute = False
    rig.data.pose_position = position
    opened.refresh()
    if len(before.points) != len(after.points):
        return 1.0
    return float(np.linalg.norm(after.points - before.points, axis=1).max() / max(before.diagonal, 1e-12))


def shape_key(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    keys = getattr(o.data, "shape_keys", None)
    if keys is None:
        return {"keys": [], "has_basis": False}
    evaluated = keys.evaluated_get(opened.graph)
    found = []
    for key in keys.key_blocks[1:501]:
        base = key.relative_key or keys.reference_key
        moved = _places(key) - _places(base) if len(key.data) == len(base.data) else np.array([[np.inf]])
        found.append(
            {
                "name": key.name,
                "value": evaluated.key_blocks[key.name].value,
                "is_muted": bool(key.mute or (o.show_only_shape_key and o.active_shape_key != key)),
                "moved": float(np.linalg.norm(moved, axis=1).max()) if len(moved) else 0.0,
            }
        )
    return {"keys": found, "has_basis": True}


def _places(key: Any) -> np.ndarray:
    return column(key.data, "co", np.float32, 3)
