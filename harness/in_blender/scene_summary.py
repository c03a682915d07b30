"""Measures the scene that a script left: bounded facts for a prompt, with counts of what they leave out.

No opinion here. "Outside the view" means that the object's evaluated bounding box lies wholly beyond one
plane of the camera's frustum: conservative, so that nothing visible is ever called invisible. "Cut" means that an
object in view reaches beyond the picture's edge; see `_cut`.
"""

import bpy
import numpy as np
from mathutils import Matrix

from harness.in_blender.node_time import has_timed_nodes

DRAWN_TYPES = {"MESH", "CURVE", "SURFACE", "FONT", "META", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL"}
"""Object types that a Workbench render draws."""
MAX_OBJECTS = 4_000
MAX_INSTANCES = 50_000
MAX_MOVING = 8
MAX_NAMES = 40
MAX_EXACT = 200
MAX_EXACT_VERTICES = 20_000
"""How many objects are looked at vertex by vertex to see whether they are cut, and how large ones."""
SIDES = ("left", "right", "bottom", "top")
_SEEN, _OVER = 0.98, 1.02
"""From the middle of the picture to its edge is 1: a hundredth of the picture is neither seen nor missed."""
_PHYSICS_MODIFIERS = {"CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "DYNAMIC_PAINT", "OCEAN"}


def measure(n_samples: int) -> dict[str, object]:
    """Facts about `bpy.context.scene`; leaves it at another frame."""
    scene = bpy.context.scene
    frames = sample_frames(scene.frame_start, scene.frame_end, n_samples)
    drawn = [o for o in scene.objects if o.type in DRAWN_TYPES and not o.hide_render][:MAX_OBJECTS]
    frame_current = scene.frame_current
    cut = _cut(scene, drawn) if scene.camera else []
    matrices, n_outside = _sample(scene, drawn, frames)
    moving = [i for i in range(len(drawn)) if _moves(matrices[:, i])]
    n_instances, n_faces = _count_instances()
    animated = [(o.name, how) for o in scene.objects if (how := _animation_sources(o))]
    return {
        "frame_start": scene.frame_start,
        "frame_end": scene.frame_end,
        "frame_step": scene.frame_step,
        "frame_current": frame_current,
        "fps": scene.render.fps / scene.render.fps_base,
        "engine": scene.render.engine,
        "resolution": _resolution(scene),
        "camera": scene.camera.name if scene.camera else None,
        "n_objects": len(scene.objects),
        "objects_by_type": _count_types(scene),
        "n_drawn": sum(1 for o in scene.objects if o.type in DRAWN_TYPES and not o.hide_render),
        "n_instances": n_instances,
        "n_faces": n_faces,
        "n_animated": len(animated),
        "animated": [{"name": name, "by": how} for name, how in animated[:MAX_NAMES]],
        "sampled_frames": frames,
        "n_moving": len(moving),
        "moving": [
            {
                "name": drawn[i].name,
                "positions": [[round(float(x), 3) for x in m[:3, 3]] for m in matrices[:, i]],
            }
            for i in moving[:MAX_MOVING]
        ],
        "n_outside": sum(1 for n in n_outside if n),
        "outside": [{"name": o.name, "n_frames": int(n)} for o, n in zip(drawn, n_outside, strict=True) if n][
            :MAX_NAMES
        ],
        "n_cut": len(cut),
        "cut": [{"name": name, "sides": sides} for name, sides in cut[:MAX_NAMES]],
        "n_always_outside": int(sum(n == len(frames) for n in n_outside)) if scene.camera else 0,
    }


def sample_frames(start: int, end: int, count: int) -> list[int]:
    """At most `count` distinct frames, evenly spaced, first and last included."""
    if end <= start or count == 1:
        return [start]
    count = min(count, end - start + 1)
    return [start + round(i * (end - start) / (count - 1)) for i in range(count)]


def _sample(
    scene: bpy.types.Scene, objects: list[bpy.types.Object], frames: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """World matrices [frame, object, 4, 4], and for each object in how many frames it lies outside the view."""
    matrices = np.zeros((len(frames), len(objects), 4, 4))
    n_outside = np.zeros(len(objects), dtype=int)
    for i, frame in enumerate(frames):
        scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        evaluated = [o.evaluated_get(graph) for o in objects]
        if not evaluated:
            continue
        matrices[i] = [o.matrix_world for o in evaluated]
        if scene.camera:
            corners = np.array([o.bound_box for o in evaluated])
            view = np.array(_view_matrix(scene, graph))
            n_outside += _is_outside(view @ matrices[i], corners) & ~_draws_instances(evaluated)
    return matrices, n_outside


def _cut(scene: bpy.types.Scene, objects: list[bpy.types.Object]) -> list[tuple[str, list[str]]]:
    """Objects that the picture's edge cuts in the current frame, and the sides on which they reach beyond it.

    Not listed, because they are hardly meant to be in the picture as a whole: what reaches behind the camera, what is
    larger than the picture both ways, and what goes beyond three sides of it (a room, a ground, a backdrop).
    """
    graph = bpy.context.evaluated_depsgraph_get()
    evaluated = [o.evaluated_get(graph) for o in objects]
    if not evaluated:
        return []
    corners = np.array([o.bound_box for o in evaluated])
    to_clip = np.array(_view_matrix(scene, graph)) @ np.array([o.matrix_world for o in evaluated])
    is_cut = _sides_cut(to_clip, corners).any(axis=1)
    found = np.flatnonzero(is_cut & ~_is_outside(to_clip, corners) & ~_draws_instances(evaluated))
    cut = []
    for number, i in enumerate(found):
        # a box has corners where a ball has none
        points = _vertices(evaluated[i], corners[i]) if number < MAX_EXACT else corners[i]
        sides = _sides_cut(to_clip[i : i + 1], points[np.newaxis])[0]
        if sides.any():
            cut.append((objects[i].name, [name for name, is_there in zip(SIDES, sides, strict=True) if is_there]))
    return cut


def _vertices(o: bpy.types.Object, corners: np.ndarray) -> np.ndarray:
    """The points of an evaluated mesh; the corners of its box for what is no mesh, or is a large one."""
    if o.type != "MESH" or not 0 < len(o.data.vertices) <= MAX_EXACT_VERTICES:
        return corners
    points = np.empty(3 * len(o.data.vertices), dtype=np.float32)
    o.data.vertices.foreach_get("co", points)
    return points.reshape(-1, 3)


def _sides_cut(to_clip: np.ndarray, points: np.ndarray) -> np.ndarray:
    """For each object [object, SIDES], whether the picture's edge cuts it there: all False for what is not listed."""
    xyz, w = _to_clip_space(to_clip, points)
    is_in_front = (xyz[..., 2:] >= -w).all(axis=(1, 2))
    with np.errstate(all="ignore"):
        places = xyz[..., :2] / w
    low, high = places.min(axis=1), places.max(axis=1)
    beyond = np.stack([low[:, 0] < -_OVER, high[:, 0] > _OVER, low[:, 1] < -_OVER, high[:, 1] > _OVER], axis=1)
    is_seen = (low < _SEEN).all(axis=1) & (high > -_SEEN).all(axis=1)
    is_around = (high - low >= 2).all(axis=1) | (beyond.sum(axis=1) > 2)
    return np.asarray(beyond & (is_in_front & is_seen & ~is_around)[:, np.newaxis])


def _draws_instances(objects: list[bpy.types.Object]) -> np.ndarray:
    """Objects that also draw copies elsewhere cannot be called outside by their own box."""
    return np.array([o.is_instancer or _has_nodes(o) for o in objects], dtype=bool)


def _has_nodes(o: bpy.types.Object) -> bool:
    return any(m.type in {"NODES", "PARTICLE_SYSTEM"} for m in o.modifiers)


def _view_matrix(scene: bpy.types.Scene, graph: bpy.types.Depsgraph) -> Matrix:
    """World to clip space of the scene's camera."""
    width, height = _resolution(scene)
    camera = scene.camera.evaluated_get(graph)
    projection = camera.calc_matrix_camera(
        graph, x=width, y=height, scale_x=scene.render.pixel_aspect_x, scale_y=scene.render.pixel_aspect_y
    )
    # the renderer ignores the camera's scale
    return projection @ Matrix(camera.matrix_world.normalized()).inverted_safe()


def _is_outside(to_clip: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """For each object, whether all 8 corners lie beyond one of the 6 clip planes |x|, |y|, |z| <= w."""
    xyz, w = _to_clip_space(to_clip, corners)
    beyond = np.concatenate([xyz > w, xyz < -w], axis=2)
    is_beyond_plane = np.asarray(beyond.all(axis=1))
    return np.asarray(is_beyond_plane.any(axis=1))


def _to_clip_space(to_clip: np.ndarray, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points [object, point, 3] under each object's matrix: (x, y, z) and w."""
    clipped = np.concatenate([points, np.ones((*points.shape[:2], 1))], axis=2) @ np.swapaxes(to_clip, 1, 2)
    return clipped[..., :3], clipped[..., 3:]


def _moves(matrices: np.ndarray) -> bool:
    return bool(np.abs(matrices - matrices[0]).max() > 1e-4)


def _resolution(scene: bpy.types.Scene) -> tuple[int, int]:
    share = scene.render.resolution_percentage / 100
    return int(scene.render.resolution_x * share), int(scene.render.resolution_y * share)


def _count_types(scene: bpy.types.Scene) -> dict[str, int]:
    counts: dict[str, int] = {}
    for o in scene.objects:
        counts[o.type] = counts.get(o.type, 0) + 1
    return dict(sorted(counts.items()))


def _count_instances() -> tuple[int, int]:
    """(instances made by objects, evaluated faces of all that is drawn), up to MAX_INSTANCES."""
    n_instances = n_faces = 0
    graph = bpy.context.evaluated_depsgraph_get()
    for n, instance in enumerate(graph.object_instances):
        if n >= MAX_INSTANCES:
            break
        n_instances += instance.is_instance
        o = instance.object
        if o.type == "MESH":
            n_faces += len(o.data.polygons)
        elif o.type in {"CURVE", "SURFACE", "FONT", "META"} and not instance.is_instance:
            n_faces += _faces_of_mesh(o)
    return n_instances, n_faces


def _faces_of_mesh(o: bpy.types.Object) -> int:
    try:
        mesh = o.to_mesh()
    except RuntimeError:
        return 0
    n = len(mesh.polygons) if mesh else 0
    o.to_mesh_clear()
    return n


def _animation_sources(o: bpy.types.Object) -> list[str]:
    """What may move or change an object: keyframes, drivers, constraints, parent, physics."""
    blocks = [o, o.data, getattr(o.data, "shape_keys", None)]
    data = [b.animation_data for b in blocks if getattr(b, "animation_data", None)]
    sources = []
    if any(d.action or d.nla_tracks for d in data):
        sources.append("keyframes")
    if any(len(d.drivers) for d in data):
        sources.append("drivers")
    if o.constraints:
        sources.append("constraints")
    if o.rigid_body or any(m.type in _PHYSICS_MODIFIERS for m in o.modifiers) or has_timed_nodes(o):
        sources.append("simulation or nodes")
    return sources
