"""Measures animation: see `harness/checks/motion.py`."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks import values
from harness.in_blender.checks.opened import GEOMETRY, OpenedScene, Unmeasurable

_MAX_CURVES = 500
_MAX_FRAMES = 500


def keyframes(_: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    notes: list[str] = []
    for owner in owners(o, parameters["on"]):
        data = owner.animation_data
        if data is None:
            continue
        if data.action and not data.action_slot:
            notes.append(f"its action '{data.action.name}' has no slot for it")
        found += [_curve(curve) for curve in _active_curves(data)]
    return {"curves": found[:_MAX_CURVES], "note": notes[0][:200] if notes else ""}


interpolation = cyclic = keyframes


def owners(o: bpy.types.Object, which: str) -> Iterator[Any]:
    """The data-blocks whose animation is meant."""
    materials = [slot.material for slot in o.material_slots if slot.material]
    found: dict[str, list[Any]] = {
        "object": [o],
        "data": [o.data],
        "shape_keys": [getattr(o.data, "shape_keys", None)],
        "material": materials,
        "nodes": [material.node_tree for material in materials],
    }
    yield from (owner for owner in found[which] if owner is not None)


def _active_curves(data: Any) -> Iterator[Any]:
    """Those of the assigned slot (`action.fcurves` shows the first slot's, whoever it is for), and of NLA strips."""
    tracks = [track for track in data.nla_tracks if not track.mute] if data.use_nla else []
    # beside strips, the action is one of the layers that are mixed; alone, Blender does not look at its influence
    if data.action_influence > 0 or not any(track.strips for track in tracks):
        yield from _curves_of(data.action, data.action_slot)
    soloed = [track for track in tracks if track.is_solo]
    for track in soloed or tracks:
        for strip in track.strips:
            if not strip.mute and (strip.influence > 0 or not strip.use_animated_influence):
                yield from _curves_of(strip.action, strip.action_slot)


def _curves_of(action: Any, slot: Any) -> Iterator[Any]:
    if action is None or slot is None:
        return
    for layer in action.layers:
        for strip in layer.strips:
            bag = strip.channelbag(slot)
            yield from (curve for curve in (bag.fcurves if bag else ()) if not curve.mute)


def _curve(curve: Any) -> dict[str, Any]:
    points = curve.keyframe_points
    n = len(points)
    places = np.zeros(2 * n, dtype=np.float32)
    points.foreach_get("co", places)
    frames, heights = places[::2], places[1::2]
    # the last key joins nothing
    kinds = {point.interpolation for point in points[: max(1, n - 1)]} if n else set()
    return {
        "path": curve.data_path[:300],
        "index": curve.array_index,
        "frames": frames[:_MAX_FRAMES],
        "n_keys": n,
        "interpolations": sorted(kinds),
        "is_cyclic": any(m.type == "CYCLES" and not m.mute for m in curve.modifiers),
        "spread": float(heights.max() - heights.min()) if n and np.isfinite(heights).all() else 0.0,
    }


def value_at_frame(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    path = parameters["path"]
    if path.startswith("world_"):
        matrix = o.evaluated_get(opened.graph).matrix_world
        opened.matrix(o)  # refuses what is not finite
        place, rotation, scale = matrix.decompose()
        found = {
            "world_location": list(place),
            "world_scale": list(scale),
            "world_rotation_degrees": [float(np.degrees(angle)) for angle in rotation.to_euler("XYZ")],
        }
        name, _, channel = path.partition(".")
        if name not in found or channel not in ("", "x", "y", "z"):
            raise Unmeasurable(f"there is no '{path}'; there are {', '.join(found)} (and .x, .y, .z of them)")
        return {"value": found[name]["xyz".index(channel)] if channel else found[name]}
    return {"value": values.read(o.evaluated_get(opened.graph), path)}


def moves(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    matrix = opened.matrix(o)
    place = matrix[:3, 3]
    if parameters["of"] == "center" and o.type in GEOMETRY:
        place = opened.points_of(o, False).mean(axis=0)
    x_axis, z_axis = matrix[:3, 0], matrix[:3, 2]
    if not x_axis.any() or not z_axis.any():
        raise Unmeasurable("its scale is zero, so that it has no direction")
    return {"place": place, "x_axis": x_axis, "z_axis": z_axis}


def frame_range(opened: OpenedScene, _: dict[str, Any]) -> dict[str, Any]:
    scene = opened.scene
    return {
        "start": scene.frame_start,
        "end": scene.frame_end,
        "step": scene.frame_step,
        "fps": scene.render.fps / scene.render.fps_base,
    }


def driver_valid(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    found = []
    for owner in owners(o, parameters["on"]):
        data = owner.animation_data
        evaluated = owner.evaluated_get(opened.graph).animation_data
        for i, curve in enumerate(data.drivers if data else ()):
            driver = curve.driver
            worked = evaluated.drivers[i].driver.is_valid if evaluated and i < len(evaluated.drivers) else True
            found.append(
                {
                    "path": curve.data_path[:300],
                    "expression": driver.expression[:300] if driver.type == "SCRIPTED" else driver.type,
                    "is_valid": bool(driver.is_valid and worked and curve.is_valid),
                    "needs_python": driver.type == "SCRIPTED" and not driver.is_simple_expression,
                    "n_broken": sum(not _has_targets(variable) for variable in driver.variables),
                }
            )
    return {"drivers": found[:_MAX_CURVES]}


def _has_targets(variable: Any) -> bool:
    if variable.type == "CONTEXT_PROP":
        return True
    targets = variable.targets
    if variable.type == "SINGLE_PROP":
        return all(target.id is not None and _resolves(target.id, target.data_path) for target in targets)
    return all(target.id is not None for target in targets)


def _resolves(owner: Any, path: str) -> bool:
    try:
        owner.path_resolve(path)
    except ValueError:
        return False
    return True
