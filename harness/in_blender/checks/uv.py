"""Measures UV layers of evaluated meshes: see `harness/checks/uv.py`."""

from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks.mesh_arrays import MeshArrays
from harness.in_blender.checks.opened import OpenedScene, Unmeasurable

_GRID = 512
_MAX_FACES = 50_000


def uv_exists(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh = opened.finite_mesh(o)
    name = parameters["layer"] or mesh.render_uv
    if name not in mesh.uvs:
        return {"layers": list(mesh.uvs), "layer": None, "unwrapped": 0.0}
    areas, total = mesh.face_areas, mesh.face_areas.sum()
    if total <= 0:
        raise Unmeasurable("its mesh has no faces with an area")
    # a face counts as a point or a line below a millionth of the layer's mean
    uv_areas = _uv_areas(mesh, mesh.uvs[name])
    is_flat = uv_areas <= 1e-6 * max(uv_areas.mean(), 1e-12)
    return {"layers": list(mesh.uvs), "layer": name, "unwrapped": float(areas[~is_flat].sum() / total)}


def uv_bounds(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    _, name, uv = _layer(opened, o, parameters)
    return {"layer": name, "low": uv.min(axis=0), "high": uv.max(axis=0)}


def uv_overlap(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh, name, uv = _layer(opened, o, parameters)
    if mesh.n_faces > _MAX_FACES:
        raise Unmeasurable(f"it has {mesh.n_faces} faces; the most for this is {_MAX_FACES}")
    low, extent = uv.min(axis=0), max(float((uv.max(axis=0) - uv.min(axis=0)).max()), 1e-12)
    # a little off the grid, so that edges on round numbers run through no cell's centre
    places = (uv - low) / extent * (_GRID - 1) + (0.3137, 0.2719)
    counts = np.zeros((_GRID + 1, _GRID + 1), dtype=np.int32)
    last = np.full(counts.shape, -1, dtype=np.int64)
    for corners, face in zip(mesh.corner_triangles, mesh.triangle_faces, strict=True):
        _cover(counts, last, places[corners], int(face))
    return {"layer": name, "n_covered": int((counts > 0).sum()), "n_doubled": int((counts > 1).sum())}


def uv_stretch(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    mesh, name, uv = _layer(opened, o, parameters)
    areas, uv_areas = mesh.face_areas, _uv_areas(mesh, uv)
    if areas.sum() <= 0 or uv_areas.sum() <= 0:
        raise Unmeasurable("its faces have no area in the world or in the layer")
    real = areas > 1e-9 * areas.sum()
    due = areas[real] / areas.sum()
    given = np.maximum(uv_areas[real] / uv_areas.sum(), 1e-12)
    factors = np.maximum(due / given, given / due)
    stretched = float(due[factors > parameters["max_factor"]].sum())
    return {"layer": name, "stretched": min(1.0, stretched), "worst": float(factors.max())}


def _layer(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> tuple[MeshArrays, str, np.ndarray]:
    mesh = opened.finite_mesh(o)
    name = parameters["layer"] or mesh.render_uv
    if name not in mesh.uvs or not len(mesh.uvs[name]):
        raise Unmeasurable(f"it has no UV layer{f' {name!r}' if name else ''}")
    uv = mesh.uvs[name].astype(np.float64)
    if not np.isfinite(uv).all():
        raise Unmeasurable(f"its UV layer '{name}' holds coordinates that are not finite")
    return mesh, name, uv


def _uv_areas(mesh: MeshArrays, uv: np.ndarray) -> np.ndarray:
    """The area of each face in the layer."""
    a, b, c = (uv[mesh.corner_triangles[:, i]].astype(np.float64) for i in range(3))
    doubled = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    return np.bincount(mesh.triangle_faces, weights=np.abs(doubled) / 2, minlength=mesh.n_faces)


def _cover(counts: np.ndarray, last: np.ndarray, corners: np.ndarray, face: int) -> None:
    """Count the cells whose centre lies in a triangle, once for each face."""
    low = np.floor(corners.min(axis=0)).astype(int)
    high = np.ceil(corners.max(axis=0)).astype(int) + 1
    xs, ys = np.arange(low[0], high[0]), np.arange(low[1], high[1])
    (ax, ay), (bx, by), (cx, cy) = corners
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if area == 0:
        return
    x, y = xs[:, np.newaxis], ys[np.newaxis, :]
    u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
    v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
    inside = (u > 0) & (v > 0) & (u + v < 1)
    window = (slice(low[0], high[0]), slice(low[1], high[1]))
    inside &= last[window] != face
    counts[window] += inside
    last[window][inside] = face
