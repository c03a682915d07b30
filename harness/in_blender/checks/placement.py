"""Measures where things are and how large: see `harness/checks/placement.py` and `relations.py`."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from mathutils.kdtree import KDTree

from harness.in_blender.checks.inside import share_inside
from harness.in_blender.checks.opened import GEOMETRY, OpenedScene, Unmeasurable

_AXES = {"x": 0, "y": 1, "z": 2}


def dimensions(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    points = opened.points_of(o, parameters["include_instances"])
    if parameters["space"] == "local":
        # along the object's own axes, in world units: turned back, not scaled back
        matrix = opened.matrix(o)[:3, :3]
        lengths = np.linalg.norm(matrix, axis=0)
        if (lengths < 1e-12).any():
            raise Unmeasurable("its world matrix flattens it, so that it has no axes of its own")
        points = points @ (matrix / lengths)
    return box(points)


def location(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    anchor = parameters["anchor"]
    if anchor == "origin" or o.type not in GEOMETRY:
        return {"place": opened.matrix(o)[:3, 3]}
    points = opened.points_of(o, include_instances=False)
    low, high = points.min(axis=0), points.max(axis=0)
    place = (low + high) / 2
    if anchor != "center":
        place[2] = high[2] if anchor == "top" else low[2]
    return {"place": place}


def rotation(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    axis = parameters["axis"]
    direction = opened.matrix(o)[:3, _AXES[axis[-1]]] * (-1 if axis[0] == "-" else 1)
    if np.linalg.norm(direction) < 1e-12:
        raise Unmeasurable("its scale along this axis is zero")
    return {"direction": direction}


def scale_applied(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    matrix = opened.matrix(o)[:3, :3]
    return {"scale": np.linalg.norm(matrix, axis=0), "is_mirrored": bool(np.linalg.det(matrix) < 0)}


def on_ground(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    points = opened.points_of(o, parameters["include_instances"])
    lowest = int(points[:, 2].argmin())
    return {
        "lowest": points[lowest, 2],
        "spots": [{"object": o.name, "world_co": points[lowest]}],
    }


def relative_position(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    other = opened.one(parameters["b"], "b")
    points, other_points = opened.points_of(o, False), opened.points_of(other, False)
    a, b = box(points), box(other_points)
    inside = None
    if parameters["relation"] == "inside":
        mesh = opened.finite_mesh(other)
        inside = share_inside(points, mesh, opened.tree(other)) if mesh.is_closed else None
    return {"other": other.name, **a, "other_low": b["low"], "other_high": b["high"], "share_inside": inside}


def array_spacing(opened: OpenedScene, parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    targets = opened.some(parameters["target"], "target")
    if parameters["include_instances"]:
        owners = {o.name_full for o in targets}
        pieces = [(p.name, p.mesh.points) for p in opened.parts() if p.is_instance and p.owner in owners]
    else:
        pieces = [(o.name, opened.points_of(o, False)) for o in targets]
    centers = [(points.min(axis=0) + points.max(axis=0)) / 2 for _, points in pieces[:2000]]
    yield {"centers": centers, "labels": [name for name, _ in pieces[:2000]]}


def symmetry(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    points, axis = opened.finite_mesh(o).points, _AXES[parameters["axis"]]
    matrix = opened.matrix(o)
    normal = np.eye(3)[axis]
    through = np.zeros(3)
    if parameters["plane"] == "origin":
        through, normal = matrix[:3, 3], matrix[:3, axis] / max(np.linalg.norm(matrix[:3, axis]), 1e-12)
    elif parameters["plane"] == "center":
        through = (points.min(axis=0) + points.max(axis=0)) / 2
    diagonal = float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    if len(points) > 200_000:
        raise Unmeasurable(f"it has {len(points)} vertices; the most for this is 200000")
    mirrored = points - 2 * ((points - through) @ normal)[:, np.newaxis] * normal
    tree = KDTree(len(points))
    for i, point in enumerate(points):
        tree.insert(point, i)
    tree.balance()
    reach = parameters["tolerance"] * diagonal + 1e-9
    alone = [i for i, point in enumerate(mirrored) if tree.find(point)[2] > reach]
    spots = [{"object": o.name, "index": i, "world_co": points[i]} for i in alone[:8]]
    return {"n_vertices": len(points), "n_unmatched": len(alone), "diagonal": diagonal, "spots": spots}


def scene_bounds(opened: OpenedScene, _: dict[str, Any]) -> dict[str, Any]:
    parts = opened.parts()
    if not parts:
        raise Unmeasurable("the scene shows no geometry")
    lows = np.array([part.mesh.points.min(axis=0) for part in parts])
    highs = np.array([part.mesh.points.max(axis=0) for part in parts])
    if not (np.isfinite(lows).all() and np.isfinite(highs).all()) or np.abs([lows, highs]).max() > 1e30:
        raise Unmeasurable("the scene holds coordinates that are not finite")
    reach = np.maximum(np.abs(lows), np.abs(highs)).max(axis=1)
    return {
        "low": lows.min(axis=0),
        "high": highs.max(axis=0),
        "n_parts": len(parts),
        "farthest": parts[int(reach.argmax())].owner,
    }


def box(points: np.ndarray) -> dict[str, Any]:
    return {"low": points.min(axis=0), "high": points.max(axis=0)}
