"""Measures the scene that a script left: bounded facts for a prompt, with counts of what they leave out.

No opinion here. "Outside the view" means that the object's evaluated bounding box lies wholly beyond one
plane of the camera's frustum: conservative, so that nothing visible is ever called invisible.
"""

import bpy
import numpy as np
from mathutils import Matrix

DRAWN_TYPES = {"MESH", "CURVE", "SURFACE", "FONT", "META", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL"}
"""Object types that a Workbench render draws."""
MAX_OBJECTS = 4_000
MAX_INSTANCES = 50_000
MAX_MOVING = 8
MAX_NAMES = 40
_PHYSICS_MODIFIERS = {"CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "DYNAMIC_PAINT", "OCEAN", "NODES"}


def measure(n_samples: int) -> dict[str, object]:
    """Facts about `bpy.context.scene`; leaves it at another frame."""
    scene = bpy.context.scene
    frames = sample_frames(scene.frame_start, scene.frame_end, n_samples)
    drawn = [o for o in scene.objects if o.type in DRAWN_TYPES and not o.hide_render][:MAX_OBJECTS]
    matrices, n_outside = _sample(scene, drawn, frames)
    moving = [i for i in range(len(drawn)) if _moves(matrices[:, i])]
    n_instances, n_faces = _count_instances()
    animated = [(o.name, how) for o in scene.objects if (how := _animation_sources(o))]
    return {
        "frame_start": scene.frame_start,
        "frame_end": scene.frame_end,
        "frame_step": scene.frame_step,
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
    points = np.concatenate([corners, np.ones((*corners.shape[:2], 1))], axis=2) @ np.swapaxes(to_clip, 1, 2)
    xyz, w = points[..., :3], points[..., 3:]
    beyond = np.concatenate([xyz > w, xyz < -w], axis=2)
    is_beyond_plane = np.asarray(beyond.all(axis=1))
    return np.asarray(is_beyond_plane.any(axis=1))


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
    if o.rigid_body or any(m.type in _PHYSICS_MODIFIERS for m in o.modifiers):
        sources.append("simulation or nodes")
    return sources
