"""Measures the camera and what it sees: see `harness/checks/camera.py`."""

import fnmatch
from collections import Counter
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree

from harness.in_blender.checks.mesh_arrays import MeshArrays
from harness.in_blender.checks.opened import GEOMETRY, HOLDOUT, OpenedScene, Part, Unmeasurable
from harness.in_blender.checks.outline import clipped_hull_area
from harness.in_blender.checks.see_through import looks_of
from harness.in_blender.checks.solids import Solid, contains_point

_MAX_OUTLINE = 20_000
_CLEAR = "its material lets everything through"


def active_camera(opened: OpenedScene, _: dict[str, Any]) -> dict[str, Any]:
    camera = opened.scene.camera
    if camera is None or camera.type != "CAMERA":
        return {"camera": None}
    data = camera.evaluated_get(opened.graph).data
    return {
        "camera": camera.name,
        "type": data.type,
        "lens": data.lens,
        "sensor": data.sensor_width,
        "clip_start": data.clip_start,
        "clip_end": data.clip_end,
        "has_dof": bool(data.dof.use_dof),
    }


def in_frame(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    places, is_front = project(opened, opened.points_of(o, parameters["include_instances"]))
    unseen = _why_unseen(opened, o, parameters["include_instances"])
    inside = _is_inside(places, is_front, parameters.get("margin", 0.0))
    fill = None
    if is_front.all():
        fill = clipped_hull_area(places[:: max(1, len(places) // _MAX_OUTLINE)])
    return {
        "share_inside": float(inside.mean()),
        "share_behind": float((~is_front).mean()),
        "fill": fill,
        "unseen": unseen,
    }


frame_fill = in_frame


def visible_from_camera(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    camera = _camera(opened)
    mesh = opened.finite_mesh(o)
    points, normals, faces = samples(mesh, parameters["samples"])
    is_solid = looks_of(opened.evaluated(o), mesh.materials)[faces] == "solid"
    places, is_front = project(opened, points)
    in_picture = _is_inside(places, is_front, 0.0)
    origins = _ray_origins(opened, camera, points)
    facing = ((origins - points) * normals).sum(axis=1) > 0
    chosen = np.flatnonzero(in_picture & (facing | (not mesh.is_closed)))
    tree, owners = shown_tree(opened)
    reach = 1e-4 * max(mesh.diagonal, 1e-6)
    blockers: Counter[str] = Counter()
    n_visible = 0
    unseen = opened.unseen(o) or ("" if is_solid.any() else _CLEAR)
    for i in chosen if not unseen else ():
        if not is_solid[i]:
            continue
        way = Vector(points[i] - origins[i])
        place, _, index, _ = tree.ray_cast(origins[i], way.normalized())
        if place is None or (place - Vector(points[i])).length <= reach or owners[index] == o.name_full:
            # what an object hides of itself is its shape
            n_visible += 1
        else:
            blockers[owners[index]] += 1
    return {
        "n_samples": len(points),
        "n_in_frame": int(in_picture.sum()),
        "n_facing": len(chosen),
        "n_visible": n_visible,
        "blocker": blockers.most_common(1)[0][0] if blockers else "",
        "unseen": unseen,
    }


def _why_unseen(opened: OpenedScene, o: bpy.types.Object, include_instances: bool) -> str:
    """Why no camera sees anything of it, or ''."""
    if why := opened.unseen(o):
        return why
    reasons: list[str] = []
    if o.type in GEOMETRY and len(opened.mesh(o).points):
        reasons.append(_why_clear(looks_of(opened.evaluated(o), opened.mesh(o).materials)))
    if include_instances:
        parts = [part for part in opened.parts() if part.is_instance and part.owner == o.name_full]
        reasons += [part.unseen or _why_clear(part.looks) for part in parts]
    return reasons[0] if reasons and all(reasons) else ""


def _why_clear(looks: np.ndarray) -> str:
    return "" if not len(looks) or (looks == "solid").any() else _CLEAR


def camera_not_inside(opened: OpenedScene, parameters: dict[str, Any]) -> dict[str, Any]:
    camera = _camera(opened)
    place = opened.matrix(camera)[:3, 3]
    inside, nearest, nearest_object = "", None, ""
    for part in opened.parts():
        if any(fnmatch.fnmatchcase(part.owner, glob) for glob in parameters["ignore"]) or not len(part.mesh.triangles):
            continue
        solid = Solid(part.owner, part.mesh)
        if not inside and contains_point(solid, place):
            inside = part.owner
        low = float(np.linalg.norm(np.maximum(0, np.maximum(solid.low - place, place - solid.high))))
        if nearest is None or low < nearest:
            distance = solid.tree.find_nearest(place)[3]
            if distance is not None and (nearest is None or distance < nearest):
                nearest, nearest_object = distance, part.owner
    clip_start = camera.evaluated_get(opened.graph).data.clip_start
    return {
        "camera": camera.name,
        "inside": inside,
        "nearest": nearest,
        "nearest_object": nearest_object,
        "clip_start": clip_start,
    }


def project(opened: OpenedScene, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(places in the picture, -1..1 in both directions, [n, 2]; whether each is between its clipping planes)."""
    camera, scene = _camera(opened), opened.scene
    evaluated = camera.evaluated_get(opened.graph)
    if evaluated.data.type == "PANO":
        raise Unmeasurable("a panoramic camera has no flat picture")
    share = scene.render.resolution_percentage / 100
    projection = evaluated.calc_matrix_camera(
        opened.graph,
        x=max(1, int(scene.render.resolution_x * share)),
        y=max(1, int(scene.render.resolution_y * share)),
        scale_x=scene.render.pixel_aspect_x,
        scale_y=scene.render.pixel_aspect_y,
    )
    # the renderer ignores the camera's scale
    view = np.array(projection @ Matrix(evaluated.matrix_world.normalized()).inverted_safe())
    clip = np.concatenate([points, np.ones((len(points), 1))], axis=1) @ view.T
    is_front = (np.abs(clip[:, 2]) <= clip[:, 3] * (1 + 1e-6)) & (clip[:, 3] > 0)
    with np.errstate(all="ignore"):
        places = clip[:, :2] / clip[:, 3:]
    return np.where(is_front[:, np.newaxis], places, np.inf), is_front


def samples(mesh: MeshArrays, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points on the surface spread by area, their outward normals, and the face of each; the same in every run (a
    Halton sequence)."""
    crosses = mesh.triangle_crosses
    areas = np.linalg.norm(crosses, axis=1)
    if not len(areas) or areas.sum() <= 0:
        raise Unmeasurable("its mesh has no faces with an area")
    numbers = np.arange(1, n + 1)
    chosen = np.searchsorted(np.cumsum(areas) / areas.sum(), (numbers - 0.5) / n).clip(max=len(areas) - 1)
    u, v = np.sqrt(_halton(numbers, 2)), _halton(numbers, 3)
    a, b, c = (mesh.points[mesh.triangles[chosen, i]] for i in range(3))
    points = a * (1 - u)[:, np.newaxis] + b * (u * (1 - v))[:, np.newaxis] + c * (u * v)[:, np.newaxis]
    # a mirrored world matrix turns the winding round, and so does a mesh that is inside out
    sign = (-1 if mesh.is_mirrored else 1) * (-1 if mesh.is_closed and mesh.volume < 0 else 1)
    return points, sign * crosses[chosen] / areas[chosen][:, np.newaxis], mesh.triangle_faces[chosen]


def shown_tree(opened: OpenedScene) -> tuple[BVHTree, list[str]]:
    """One search tree of all that cameras see, and the owner of each triangle. `scene.ray_cast` would hit what renders
    hide. Holes are in it: they hide what is behind them."""
    parts: list[Part] = [part for part in opened.parts() if part.mesh.is_finite and not _lets_through(part)]
    if not parts:
        return BVHTree.FromPolygons([], []), []
    kept = [part.looks[part.mesh.triangle_faces] != "clear" for part in parts]
    offsets = np.cumsum([0, *(len(part.mesh.points) for part in parts)])
    points = np.concatenate([part.mesh.points for part in parts])
    triangles = np.concatenate(
        [part.mesh.triangles[keep] + offset for part, keep, offset in zip(parts, kept, offsets, strict=False)]
    )
    owners = [part.owner for part, keep in zip(parts, kept, strict=True) for _ in range(int(keep.sum()))]
    return BVHTree.FromPolygons(points.tolist(), triangles.tolist(), all_triangles=True), owners


def _lets_through(part: Part) -> bool:
    """Whether rays of the camera pass it. A holdout stops them."""
    return bool(part.unseen) and not part.unseen.startswith(HOLDOUT)


def _camera(opened: OpenedScene) -> bpy.types.Object:
    camera = opened.scene.camera
    if camera is None or camera.type != "CAMERA":
        raise Unmeasurable("the scene has no active camera")
    return camera


def _ray_origins(opened: OpenedScene, camera: bpy.types.Object, points: np.ndarray) -> np.ndarray:
    """Where the rays to these points start: all at the camera, or side by side in an orthographic one."""
    matrix = opened.matrix(camera)
    place, forward = matrix[:3, 3], -matrix[:3, 2] / np.linalg.norm(matrix[:3, 2])
    if camera.evaluated_get(opened.graph).data.type != "ORTHO":
        return np.broadcast_to(place, points.shape)
    depths = (points - place) @ forward
    return np.asarray(points - depths[:, np.newaxis] * forward)


def _is_inside(places: np.ndarray, is_front: np.ndarray, margin: float) -> np.ndarray:
    edge = 1 - 2 * margin + 1e-6
    return np.asarray(is_front & (np.abs(places) <= edge).all(axis=1))


def _halton(numbers: np.ndarray, base: int) -> np.ndarray:
    """Halton's low-discrepancy sequence (Halton 1960)."""
    left, found, weight = numbers.copy(), np.zeros(len(numbers)), 1.0
    while left.any():
        weight /= base
        found += weight * (left % base)
        left //= base
    return found
