"""Measures touching, crossing and hanging together: see `harness/checks/contact.py`."""

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks.mesh_arrays import components, shells_of
from harness.in_blender.checks.opened import GEOMETRY, OpenedScene, Unmeasurable
from harness.in_blender.checks.solids import (
    Solid,
    box_distance,
    contains_point,
    depth,
    share_of_vertices_inside,
    surface_gap,
)

_MAX_PIECES = 600
_MAX_CROSSINGS = 200


def contact_gap(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    other = opened.one(parameters["b"], "b")
    if other == o:
        raise Unmeasurable("'b' is the object itself")
    a, b = solid(opened, o), solid(opened, other)
    return {
        "other": other.name,
        "gap": surface_gap(a, b),
        "depth": depth(a, b),
        "share_inside": share_of_vertices_inside(a, b),
    }


def no_intersection(opened: OpenedScene, parameters: dict[str, Any]) -> dict[str, Any]:
    solids = [solid(opened, o) for o in opened.some(parameters["target"], "target")]
    if len(solids) > _MAX_PIECES:
        raise Unmeasurable(f"there are {len(solids)} objects; the most is {_MAX_PIECES}")
    tolerance = parameters["tolerance"]
    pairs = list(near_pairs(solids, 0.0))
    crossings = [found for i, j in pairs if (found := _crossing(solids[i], solids[j], tolerance))]
    return {
        "n_objects": len(solids),
        "n_pairs": len(pairs),
        "n_crossings": len(crossings),
        "crossings": sorted(crossings, key=lambda found: -found["depth"])[:_MAX_CROSSINGS],
    }


def connected_assembly(opened: OpenedScene, parameters: dict[str, Any]) -> dict[str, Any]:
    pieces = _pieces(opened, parameters)
    if not pieces:
        raise Unmeasurable("the target shows no geometry")
    if len(pieces) > _MAX_PIECES:
        raise Unmeasurable(f"there are {len(pieces)} pieces; the most is {_MAX_PIECES}")
    most, ground = parameters["max_gap"], parameters["ground"]
    gaps = {(i, j): surface_gap(pieces[i], pieces[j]) for i, j in near_pairs(pieces, most)}
    links = [pair for pair, gap in gaps.items() if gap <= most]
    if ground is not None:
        standing = [i for i, piece in enumerate(pieces) if abs(piece.low[2] - ground) <= most]
        links += [(standing[0], i) for i in standing[1:]]
    groups = components(len(pieces), np.array(links, dtype=int).reshape(-1, 2))
    sizes = np.bincount(groups)
    # the group that the rest has to touch: the one on the ground, else the largest
    main = int(groups[standing[0]]) if ground is not None and standing else int(sizes.argmax())
    floating = [int(np.flatnonzero(groups == group)[0]) for group in range(len(sizes)) if group != main]
    return {
        "n_pieces": len(pieces),
        "n_groups": len(sizes),
        "floating": [pieces[i].name for i in floating[:100]],
        "gaps": [_gap_of_group(pieces, groups, int(groups[i])) for i in floating[:5]],
    }


def near_pairs(solids: list[Solid], reach: float) -> Iterator[tuple[int, int]]:
    """Pairs whose bounding boxes are at most `reach` apart."""
    for i, a in enumerate(solids):
        for j in range(i + 1, len(solids)):
            if box_distance(a, solids[j]) <= reach:
                yield i, j


def solid(opened: OpenedScene, o: bpy.types.Object) -> Solid:
    """An object's own evaluated surface."""
    return Solid(o.name, opened.finite_mesh(o), opened.tree(o))


def _crossing(a: Solid, b: Solid, tolerance: float) -> dict[str, Any] | None:
    overlap = np.minimum(a.high, b.high) - np.maximum(a.low, b.low)
    if (overlap <= tolerance).any() and a.is_closed and b.is_closed:
        return None  # the boxes themselves overlap no deeper
    does_cross = bool(a.tree.overlap(b.tree))
    is_contained = not does_cross and (contains_point(b, a.mesh.points[0]) or contains_point(a, b.mesh.points[0]))
    if not does_cross and not is_contained:
        return None
    deep = depth(a, b)
    if deep <= tolerance:
        return None
    place = (np.minimum(a.high, b.high) + np.maximum(a.low, b.low)) / 2
    return {"a": a.name, "b": b.name, "depth": deep, "is_contained": is_contained, "place": place}


def _pieces(opened: OpenedScene, parameters: dict[str, Any]) -> list[Solid]:
    targets = opened.some(parameters["target"], "target")
    meshes = [(o.name, opened.mesh(o)) for o in targets if o.type in GEOMETRY]
    if parameters["include_instances"]:
        owners = {o.name_full for o in targets}
        meshes += [(p.owner, p.mesh) for p in opened.parts() if p.is_instance and p.owner in owners]
    if parameters["split_meshes"]:
        meshes = [(name, shell) for name, mesh in meshes for shell in shells_of(mesh)]
    return [Solid(name, mesh) for name, mesh in meshes if len(mesh.triangles)]


def _gap_of_group(pieces: list[Solid], groups: np.ndarray, group: int) -> float:
    """To the nearest piece of any other group; over the 40 nearest boxes."""
    inside, outside = np.flatnonzero(groups == group), np.flatnonzero(groups != group)
    pairs = sorted((box_distance(pieces[i], pieces[j]), i, j) for i in inside[:20] for j in outside)
    return min(surface_gap(pieces[i], pieces[j]) for _, i, j in pairs[:40])
