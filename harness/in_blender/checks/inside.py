"""Whether points lie inside a closed surface."""

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from harness.in_blender.checks.mesh_arrays import MeshArrays

_DIRECTIONS = (Vector((0.5773, 0.5771, 0.5776)), Vector((-0.2673, 0.5345, 0.8018)), Vector((0.8729, -0.4364, -0.2182)))
"""Slanted, so that rays hardly run along edges; the majority of three decides."""
_MAX_HITS = 400
_MAX_POINTS = 500


def is_inside(point: Vector, tree: BVHTree, diagonal: float) -> bool:
    """By how often rays from it cross the surface: an odd number means inside."""
    votes = sum(_crossings(point, direction, tree, diagonal) % 2 for direction in _DIRECTIONS)
    return votes >= 2


def share_inside(points: np.ndarray, mesh: MeshArrays, tree: BVHTree) -> float:
    """The share of the points (at most 500 of them, evenly taken) that lie inside."""
    low, high = mesh.points.min(axis=0), mesh.points.max(axis=0)
    chosen = points[:: max(1, len(points) // _MAX_POINTS)]
    within = ((chosen > low) & (chosen < high)).all(axis=1)
    n = sum(is_inside(Vector(point), tree, mesh.diagonal) for point in chosen[within])
    return n / len(chosen)


def _crossings(point: Vector, direction: Vector, tree: BVHTree, diagonal: float) -> int:
    step = max(diagonal, 1e-9) * 1e-6
    n = 0
    while n < _MAX_HITS:
        place, _, _, _ = tree.ray_cast(point, direction)
        if place is None:
            break
        n += 1
        point = place + direction * step
    return n
