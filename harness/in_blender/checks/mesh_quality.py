"""Measures meshes: see `harness/checks/mesh_quality.py` and `mesh_measures.py`."""

from typing import Any

import bpy
import numpy as np
from mathutils.kdtree import KDTree

from harness.in_blender.checks.mesh_arrays import MeshArrays, components, shells_of
from harness.in_blender.checks.opened import OpenedScene, Unmeasurable, tree_of
from harness.in_blender.checks.solids import Solid, share_of_vertices_inside

_MAX_SPOTS = 8
_MAX_VERTICES = 300_000
_MAX_TRIANGLES = 200_000
_LARGEST = 1e7
"""A coordinate beyond this is no place in a scene: floats are a unit apart there."""


def manifold(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    edges, counts, _ = mesh.face_keys
    pinched = _pinched(mesh)
    bad = edges[counts != 2]
    spots = [_spot(i, mesh.points[i]) for i in [*bad[:_MAX_SPOTS, 0], *pinched[:_MAX_SPOTS]]]
    return {
        "n_boundary": int((counts == 1).sum()),
        "n_wire": len(mesh.edges) - len(edges),
        "n_crowded": int((counts > 2).sum()),
        "n_pinched": len(pinched),
        "spots": spots,
    }


def loose_geometry(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    has_edge = np.zeros(len(mesh.points), dtype=bool)
    has_edge[mesh.edges.reshape(-1)] = True
    loose = np.flatnonzero(~has_edge)
    return {
        "n_vertices": len(loose),
        "n_edges": len(mesh.edges) - len(mesh.face_keys[0]),
        "n_shells": int(mesh.shells.max()) + 1,
        "spots": [_spot(i, mesh.points[i]) for i in loose[:_MAX_SPOTS]],
    }


def normals_consistent(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    edges, counts, upward = mesh.face_keys
    flipped = edges[(counts == 2) & (upward != 1)]
    return {
        "n_flipped": len(flipped),
        "is_closed": mesh.is_closed,
        "n_inward": _inward_shells(mesh) if mesh.is_closed and not len(flipped) else 0,
        "spots": [_spot(edge[0], mesh.points[edge].mean(axis=0)) for edge in flipped[:_MAX_SPOTS]],
    }


def degenerate_faces(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    least = max(parameters["tolerance"] * mesh.diagonal, 1e-12)
    lengths = np.linalg.norm(mesh.points[mesh.half_edges[:, 0]] - mesh.points[mesh.half_edges[:, 1]], axis=1)
    is_bad = mesh.face_areas < least**2
    np.logical_or.at(is_bad, mesh.corner_faces[lengths < least], True)
    bad = np.flatnonzero(is_bad)
    spots = [_spot(i, mesh.face_centers[i]) for i in bad[:_MAX_SPOTS]]
    return {"n": len(bad), "of": mesh.n_faces, "noun": "degenerate faces", "spots": spots}


def duplicate_vertices(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    if len(mesh.points) > _MAX_VERTICES:
        raise Unmeasurable(f"it has {len(mesh.points)} vertices; the most for this is {_MAX_VERTICES}")
    reach = max(parameters["tolerance"] * mesh.diagonal, 1e-9)
    tree = KDTree(len(mesh.points))
    for i, point in enumerate(mesh.points):
        tree.insert(point, i)
    tree.balance()
    doubles = [i for i, point in enumerate(mesh.points) if any(j < i for _, j, _ in tree.find_range(point, reach))]
    spots = [_spot(i, mesh.points[i]) for i in doubles[:_MAX_SPOTS]]
    return {"n": len(doubles), "of": len(mesh.points), "noun": "vertices in one place with another", "spots": spots}


def self_intersection(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    if len(mesh.triangles) > _MAX_TRIANGLES:
        raise Unmeasurable(f"it has {len(mesh.triangles)} triangles; the most for this is {_MAX_TRIANGLES}")
    tree = tree_of(mesh)
    pairs = np.array(tree.overlap(tree), dtype=int).reshape(-1, 2)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    places = _places(mesh)[mesh.triangles]
    first, second = places[pairs[:, 0]], places[pairs[:, 1]]
    are_neighbours = (first[:, :, np.newaxis] == second[:, np.newaxis, :]).any(axis=(1, 2))
    faces = mesh.triangle_faces[pairs[~are_neighbours]]
    faces = np.unique(faces[faces[:, 0] != faces[:, 1]], axis=0)
    spots = [_spot(face, mesh.face_centers[face]) for face in faces[:_MAX_SPOTS, 0]]
    return {"n": len(faces), "of": mesh.n_faces, "noun": "pairs of faces that cut each other", "spots": spots}


def finite_geometry(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = opened.mesh(o, parameters["mesh"])
    if not len(mesh.points):
        raise Unmeasurable("its mesh has no vertices")
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(np.abs(mesh.points) < _LARGEST).all(axis=1))
    is_mended = False
    if o.type == "MESH":
        copy = o.data.copy()  # `validate` edits
        is_mended = bool(copy.validate())
        bpy.data.meshes.remove(copy)
    spots = [{"index": int(i)} for i in bad[:_MAX_SPOTS]]
    noun = "vertices that are no places" if len(bad) or not is_mended else "faults that Blender's validation mends"
    return {"n": len(bad) + is_mended, "of": len(mesh.points), "noun": noun, "spots": spots}


def ngon_ratio(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    ngons = np.flatnonzero(mesh.sizes > 4)
    if parameters["ignore_flat"]:
        ngons = np.array([i for i in ngons if not _is_flat(mesh, int(i))], dtype=int)
    return {
        "n_triangles": int((mesh.sizes == 3).sum()),
        "n_quads": int((mesh.sizes == 4).sum()),
        "n_ngons": len(ngons),
        "spots": [_spot(i, mesh.face_centers[i]) for i in ngons[:_MAX_SPOTS]],
    }


def triangle_budget(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    meshes = [opened.mesh(o, parameters["mesh"])]
    if parameters["include_instances"]:
        meshes += [part.mesh for part in opened.parts() if part.is_instance and part.owner == o.name_full]
    return {
        "n_triangles": sum(len(mesh.triangles) for mesh in meshes),
        "n_faces": sum(mesh.n_faces for mesh in meshes),
        "n_vertices": sum(len(mesh.points) for mesh in meshes),
    }


def volume(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    return {"volume": mesh.volume, "area": float(mesh.face_areas.sum()), "is_closed": mesh.is_closed}


surface_area = volume


def shading(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = _mesh(opened, o, parameters)
    n_smooth = int(mesh.smooth.sum())
    return {"n_faces": mesh.n_faces, "n_smooth": n_smooth, "n_sharp_edges": int(mesh.sharp.sum())}


def _mesh(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> MeshArrays:
    return opened.finite_mesh(o, parameters["mesh"])


def _spot(index: Any, place: Any) -> dict[str, Any]:
    return {"index": int(index), "world_co": place}


def _pinched(mesh: MeshArrays) -> np.ndarray:
    """Vertices at which faces meet in more than one fan: their corners hang together by shared edges."""
    pairs = np.sort(mesh.half_edges, axis=1)
    _, edge_of = np.unique(pairs, axis=0, return_inverse=True)
    edge_of = edge_of.reshape(-1)
    n = len(mesh.corners)
    following = np.arange(1, n + 1)
    following[mesh.starts + mesh.sizes - 1] = mesh.starts
    # each corner stands at an edge twice: at the one that it begins, and at the end of the one before
    stands = np.concatenate([np.arange(n), following])
    keys = np.stack([np.concatenate([edge_of, edge_of]), mesh.corners[stands]], axis=1)
    order = np.lexsort(keys.T)
    same = (keys[order][1:] == keys[order][:-1]).all(axis=1)
    links = np.stack([stands[order][1:][same], stands[order][:-1][same]], axis=1)
    fans = np.unique(np.stack([mesh.corners, components(n, links)], axis=1), axis=0)
    return np.flatnonzero(np.bincount(fans[:, 0], minlength=len(mesh.points)) > 1)


def _inward_shells(mesh: MeshArrays) -> int:
    """Closed shells of negative volume that are no cavity of another one: a cavity lies inside it as a whole, while a
    part that is stuck into another one may begin there."""
    shells = [Solid("", shell) for shell in shells_of(mesh)]
    outer = [shell for shell in shells if shell.mesh.volume > 0]
    inward = [shell for shell in shells if shell.mesh.volume < 0]
    return sum(not any(share_of_vertices_inside(shell, o) == 1 for o in outer) for shell in inward)


def _places(mesh: MeshArrays) -> np.ndarray:
    """The number of each vertex's place: vertices in one place have the same."""
    grid = np.round(mesh.points / max(mesh.diagonal * 1e-6, 1e-12)).astype(np.int64)
    return np.asarray(np.unique(grid, axis=0, return_inverse=True)[1].reshape(-1))


def _is_flat(mesh: MeshArrays, face: int) -> bool:
    start = mesh.starts[face]
    points = mesh.points[mesh.corners[start : start + mesh.sizes[face]]]
    centred = points - points.mean(axis=0)
    lengths = np.linalg.svd(centred, compute_uv=False)
    return bool(lengths[2] <= 1e-4 * max(lengths[0], 1e-12))
