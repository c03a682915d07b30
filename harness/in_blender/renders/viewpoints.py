"""From where to look at a scene: the side that shows most of it, and the part that holds the most."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector

from harness.in_blender.views.framing import Extent, quoted
from harness.in_blender.views.grouping import size_of, together

_SIDES = ("front", "front right", "right", "back right", "back", "back left", "left", "front left")
_MAX_FACES = 1_000_000
"""In all; search trees of more would take seconds."""
_MAX_TARGETS = 60
_BETTER = 0.15
"""So much more of what is there a later direction must show to be taken."""
_FLAT = 0.03
_MAX_POINTS_EACH = 200
_CELLS = 8


def direction_of(azimuth: float, elevation: float) -> Vector:
    """From the scene to the camera, in degrees: azimuth 0 is the front (-Y), 90 the right (+X)."""
    a, e = math.radians(azimuth), math.radians(elevation)
    return Vector((math.sin(a) * math.cos(e), -math.cos(a) * math.cos(e), math.sin(e)))


def side_of(azimuth: float) -> str:
    """In words."""
    return _SIDES[round(azimuth / 45) % 8]


def is_edge_on(corners: np.ndarray, direction: Vector) -> bool:
    """Whether what is there looks like a line from this direction."""
    seen = (corners - corners.mean(axis=0)) @ np.array(direction.to_track_quat("Z", "Y").to_matrix())[:, :2]
    widths = np.linalg.svd(seen, compute_uv=False)
    return bool(widths[1] < _FLAT * widths[0])


def clearest(extent: Extent, directions: Sequence[Vector], targets: Sequence[np.ndarray]) -> tuple[int, list[bool]]:
    """The first direction that shows about as many of the targets as any, and which of them show from there.

    A target is the corners of a box. One that looks like a line in a direction is not shown by it.
    """
    chosen = _spread(targets)
    if not _can_be_searched():
        return next((n for n, d in enumerate(directions) if not is_edge_on(together(extent.boxes), d)), 0), []
    best, best_score, best_seen = 0, -1.0, [True]
    for number, direction in enumerate(directions):
        seen = [_is_seen(target, direction, extent) for target in chosen]
        score = sum(seen) / len(seen) - is_edge_on(np.concatenate(list(targets)), direction)
        if score > best_score + (_BETTER if number else 0):
            best, best_score, best_seen = number, score, seen
    return best, best_seen


def hidden(extent: Extent, direction: Vector) -> list[np.ndarray]:
    """The boxes, of some of the things, that others hide in this direction."""
    return [box for box in _spread(extent.corners) if not _is_seen(box, direction, extent)]


def depth_of(box: np.ndarray, corners: np.ndarray, direction: Vector) -> float:
    """How far towards the camera a box reaches from the middle of the corners."""
    center = (corners.min(axis=0) + corners.max(axis=0)) / 2
    return float(((box - center) @ np.array(direction)).max())


def _spread(targets: Sequence[np.ndarray]) -> list[np.ndarray]:
    """At most so many of them, evenly chosen."""
    return list(targets)[:: math.ceil(len(targets) / _MAX_TARGETS)]


def _can_be_searched() -> bool:
    meshes = [o.data for o in bpy.context.evaluated_depsgraph_get().objects if o.type == "MESH" and o.data]
    return sum(len(mesh.polygons) for mesh in meshes) <= _MAX_FACES


def _is_seen(box: np.ndarray, direction: Vector, extent: Extent) -> bool:
    """Whether nothing stands between the middle of the box and a far camera, but in the box itself."""
    center = Vector((box.min(axis=0) + box.max(axis=0)) / 2)
    far = 2 * size_of(together(extent.boxes)) + 1e-5
    scene = bpy.context.scene
    hit, at, *_ = scene.ray_cast(bpy.context.evaluated_depsgraph_get(), center + direction * far, -direction)
    return not hit or (at - center).dot(direction) <= size_of(box) / 2 * 1.01


@dataclass(frozen=True)
class Part:
    """A place in the scene that holds much on little room."""

    corners: np.ndarray
    owners: str
    """Names of what is there."""


def densest_part(extent: Extent) -> Part | None:
    """Where most vertices are, each object counting alike; None where that is about the whole scene."""
    points, owners = _points(extent.outsized_names)
    framed = together(extent.boxes)
    slack = 1e-3 * size_of(framed)
    near = ((points >= framed.min(axis=0) - slack) & (points <= framed.max(axis=0) + slack)).all(axis=1)
    points, owners = points[near], owners[near]
    if len(points) < _CELLS:
        return None
    low, high = np.percentile(points, (0.5, 99.5), axis=0)
    cell = float((high - low).max()) / _CELLS
    if not cell > 0:
        return None
    numbers = np.clip(((points - low) / cell).astype(int), 0, _CELLS - 1)
    counts = np.zeros((_CELLS + 2,) * 3)
    np.add.at(counts, tuple((numbers + 1).T), 1)
    inner = range(_CELLS)
    sums = {(i, j, k): counts[i : i + 3, j : j + 3, k : k + 3].sum() for i in inner for j in inner for k in inner}
    center = np.array(max(sums, key=lambda at: sums[at]))
    inside = (np.abs(numbers - center) <= 1).all(axis=1)
    part = points[inside]
    if size_of(part) > 0.75 * size_of(together(extent.boxes)) or not size_of(part) > 0:
        return None
    names, n_points = np.unique(owners[inside], return_counts=True)
    named = [str(name) for name in names[np.argsort(-n_points, kind="stable")]]
    lowest, highest = part.min(axis=0), part.max(axis=0)
    corners = np.array([[(lowest, highest)[b][a] for a, b in enumerate(bits)] for bits in np.ndindex(2, 2, 2)])
    return Part(corners, quoted(named))


def _points(without: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Vertices [n, 3] in the world, at most 200 of each object or instance, and the objects' names [n]."""
    found: list[np.ndarray] = [np.empty((0, 3))]
    owners: list[str] = []
    for instance in bpy.context.evaluated_depsgraph_get().object_instances:
        o = instance.object
        if o.type != "MESH" or o.name in without or not instance.show_self or o.hide_render:
            continue
        if not len(o.data.vertices):
            continue
        places = np.empty(len(o.data.vertices) * 3, dtype=np.float32)
        o.data.vertices.foreach_get("co", places)
        local = places.reshape(-1, 3)[:: max(1, len(places) // 3 // _MAX_POINTS_EACH)]
        matrix = np.array(instance.matrix_world)
        found.append(local @ matrix[:3, :3].T + matrix[:3, 3])
        owners += [o.name] * len(local)
        if len(owners) > 200_000:
            break
    return np.concatenate(found), np.array(owners)
