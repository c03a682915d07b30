"""How near two surfaces come, and how deep they reach into each other; both in world space."""

from functools import cached_property

import numpy as np
from mathutils import Vector
from mathutils.bvhtree import BVHTree

from harness.in_blender.checks.inside import is_inside
from harness.in_blender.checks.mesh_arrays import MeshArrays
from harness.in_blender.checks.opened import Unmeasurable, tree_of

_MAX_SAMPLES = 3_000
_MAX_DEPTH_SAMPLES = 1_000
_SEEDS, _ROUNDS = 12, 40
_GRID = 9
"""Odd, so that the middle is a point of it."""


class Solid:
    """A piece of surface with its search tree."""

    def __init__(self, name: str, mesh: MeshArrays, tree: BVHTree | None = None) -> None:
        if not mesh.is_finite:
            raise Unmeasurable(f"the mesh of '{name}' holds coordinates that are not finite")
        self.name, self.mesh, self._tree = name, mesh, tree
        self.low, self.high = mesh.points.min(axis=0), mesh.points.max(axis=0)

    @cached_property
    def tree(self) -> BVHTree:
        return self._tree or tree_of(self.mesh)

    @cached_property
    def is_closed(self) -> bool:
        return self.mesh.is_closed

    @cached_property
    def samples(self) -> np.ndarray:
        """Its vertices and points along its edges."""
        points, edges = self.mesh.points, self.mesh.edges
        n_along = max(0, min(7, (_MAX_SAMPLES - len(points)) // max(1, len(edges))))
        a, b = points[edges[:, 0]], points[edges[:, 1]]
        between = [a + (b - a) * (i / (n_along + 1)) for i in range(1, n_along + 1)]
        return np.concatenate([points, *between])


def box_distance(a: Solid, b: Solid) -> float:
    """Of their bounding boxes; never more than that of the surfaces."""
    return float(np.linalg.norm(np.maximum(0, np.maximum(a.low - b.high, b.low - a.high))))


def surface_gap(a: Solid, b: Solid) -> float:
    """Distance of the surfaces, 0 where they cross or touch. Exact for convex pieces, else an upper bound."""
    if box_distance(a, b) == 0 and a.tree.overlap(b.tree):
        return 0.0
    return min(_nearest(a, b), _nearest(b, a))


def depth(a: Solid, b: Solid) -> float:
    """How deep points of the one lie inside the other. Where that one is open, how far both its sides are reached."""
    if box_distance(a, b) > 0:
        return 0.0
    deepest = max(_depth_into(a, b), _depth_into(b, a))
    thickness = float((np.minimum(a.high, b.high) - np.maximum(a.low, b.low)).min())
    if deepest < thickness / 4 and a.is_closed and b.is_closed and a.tree.overlap(b.tree):
        # long edges cross where no sample of them lies
        deepest = max(deepest, _common_thickness(a, b))
    return deepest


def contains_point(outer: Solid, point: np.ndarray) -> bool:
    """Whether a point is inside a closed piece."""
    if not outer.is_closed or (point <= outer.low).any() or (point >= outer.high).any():
        return False
    return is_inside(Vector(point), outer.tree, outer.mesh.diagonal)


def share_of_vertices_inside(a: Solid, b: Solid) -> float:
    """Of at most 300 vertices of `a`."""
    points = a.mesh.points[:: max(1, len(a.mesh.points) // 300)]
    return sum(contains_point(b, point) for point in points) / len(points) if b.is_closed else 0.0


def _nearest(a: Solid, b: Solid) -> float:
    """The least distance from samples of `a` to the surface of `b`, refined by going to and fro between them."""
    lower_bounds = np.linalg.norm(np.maximum(0, np.maximum(a.samples - b.high, b.low - a.samples)), axis=1)
    best: list[tuple[float, Vector]] = []
    for i in np.argsort(lower_bounds, kind="stable"):
        if len(best) == _SEEDS and lower_bounds[i] > best[-1][0]:
            break
        place, _, _, distance = b.tree.find_nearest(a.samples[i])
        if place is not None:
            best = sorted([*best, (distance, place)], key=lambda found: found[0])[:_SEEDS]
    return float(min((_refined(place, distance, a, b) for distance, place in best), default=float("inf")))


def _refined(place: Vector, distance: float, a: Solid, b: Solid) -> float:
    for _ in range(_ROUNDS):
        on_a, _, _, _ = a.tree.find_nearest(place)
        place, _, _, closer = b.tree.find_nearest(on_a)
        if closer > distance - 1e-9:
            return float(min(closer, distance))
        distance = closer
    return distance


def _depth_into(a: Solid, b: Solid) -> float:
    """Of `a` into `b`."""
    if not b.is_closed:
        return _depth_through(a, b)
    within = a.samples[((a.samples > b.low) & (a.samples < b.high)).all(axis=1)]
    deepest = 0.0
    for point in within[:: max(1, len(within) // _MAX_DEPTH_SAMPLES)]:
        distance = b.tree.find_nearest(point)[3]
        if distance > deepest and is_inside(Vector(point), b.tree, b.mesh.diagonal):
            deepest = distance
    return deepest


def _common_thickness(a: Solid, b: Solid) -> float:
    """Twice the radius of the largest ball in both, on a grid over what their boxes share."""
    low, high = np.maximum(a.low, b.low), np.minimum(a.high, b.high)
    ticks = (np.arange(_GRID) + 0.5) / _GRID
    thickest = 0.0
    for share in np.stack(np.meshgrid(ticks, ticks, ticks), axis=-1).reshape(-1, 3):
        point = Vector(low + share * (high - low))
        radius = min(a.tree.find_nearest(point)[3], b.tree.find_nearest(point)[3])
        if radius * 2 > thickest and contains_point(a, np.array(point)) and contains_point(b, np.array(point)):
            thickest = radius * 2
    return thickest


def _depth_through(a: Solid, b: Solid) -> float:
    """How far `a` reaches to both sides of an open surface that it crosses: the lesser side counts."""
    if not a.tree.overlap(b.tree):
        return 0.0
    sides = [0.0, 0.0]
    for point in a.samples[:: max(1, len(a.samples) // _MAX_DEPTH_SAMPLES)]:
        place, normal, _, distance = b.tree.find_nearest(point)
        side = (Vector(point) - place).dot(normal)
        if abs(side) > 0.7 * distance:  # straight above or below it, not beside its rim
            sides[side > 0] = max(sides[side > 0], abs(side))
    return min(sides)
