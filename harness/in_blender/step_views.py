"""Draws what a step left, in a forked child that may change everything: views for the model to look at.

The scene camera's view if there is one, and a framing three-quarter view; several frames where something is
animated. Workbench ignores shader nodes, so that each material's Base Color is copied to its viewport colour first.
"""

import base64
import math
import os
import tempfile
from typing import Any

import bpy
from mathutils import Matrix, Vector

_DIRECTION = Vector((0.75, -1.0, 0.62)).normalized()
_LENS_DEGREES = 40.0
_MARGIN = 1.12


def draw(width: int, height: int, n_frames: int) -> list[dict[str, Any]]:
    """JPEG pictures with their labels: [{label, frame, width, height, jpeg (base64)}]."""
    scene = bpy.context.scene
    _prepare(scene, width, height)
    frames = _frames(scene, n_frames)
    views = [_draw(scene, f"scene camera '{scene.camera.name}'", frame) for frame in frames] if scene.camera else []
    scene.frame_set(frames[0])
    bounds = _bounds()
    if bounds is not None:
        _place_camera(scene, bounds, width / height)
        wanted = frames if not views else frames[:1]
        views += [_draw(scene, "three-quarter view of the whole scene", frame) for frame in wanted]
    return views


def _prepare(scene: bpy.types.Scene, width: int, height: int) -> None:
    render, shading = scene.render, scene.display.shading
    render.engine = "BLENDER_WORKBENCH"
    scene.display.render_aa = "FXAA"
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_object_outline = True
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.use_border = render.use_compositing = render.use_sequencer = render.use_stamp = False
    render.film_transparent = render.use_freestyle = render.use_multiview = False
    render.image_settings.file_format, render.image_settings.quality = "JPEG", 85
    scene.view_settings.view_transform = "Standard"
    if scene.world is None:
        scene.world = bpy.data.worlds.new("background")
        scene.world.color = (0.05, 0.05, 0.05)
    for material in bpy.data.materials:
        _show_base_color(material)


def _show_base_color(material: bpy.types.Material) -> None:
    if not material.use_nodes or material.node_tree is None:
        return
    for node in material.node_tree.nodes:
        name = {"BSDF_PRINCIPLED": "Base Color", "BSDF_DIFFUSE": "Color", "EMISSION": "Color"}.get(node.type)
        if name and not node.inputs[name].is_linked:
            material.diffuse_color = node.inputs[name].default_value
            return


def _frames(scene: bpy.types.Scene, n_frames: int) -> list[int]:
    """The current frame, or frames over the range where something is animated."""
    is_animated = any(action.users for action in bpy.data.actions) or any(
        o.animation_data and o.animation_data.drivers for o in scene.objects
    )
    start, end = scene.frame_start, scene.frame_end
    if not is_animated or end <= start or n_frames < 2:
        return [scene.frame_current]
    return sorted({start + round(i * (end - start) / (n_frames - 1)) for i in range(n_frames)})


def _bounds() -> tuple[Vector, Vector] | None:
    """Corners of the box around all that is drawn, instances included."""
    graph = bpy.context.evaluated_depsgraph_get()
    low, high = Vector((math.inf,) * 3), Vector((-math.inf,) * 3)
    for number, instance in enumerate(graph.object_instances):
        o = instance.object
        if number > 20_000:
            break
        if o.type not in {"MESH", "CURVE", "SURFACE", "FONT", "META", "CURVES", "VOLUME"} or not instance.show_self:
            continue
        matrix = instance.matrix_world
        for corner in o.bound_box:
            point = matrix @ Vector(corner)
            low, high = Vector(map(min, low, point)), Vector(map(max, high, point))
    return (low, high) if low.x <= high.x and math.isfinite((high - low).length) else None


def _place_camera(scene: bpy.types.Scene, bounds: tuple[Vector, Vector], aspect: float) -> None:
    low, high = bounds
    center, radius = (low + high) / 2, max((high - low).length / 2, 1e-4)
    data = bpy.data.cameras.new("view")
    data.angle = math.radians(_LENS_DEGREES)
    half = math.atan(math.tan(data.angle / 2) / max(aspect, 1.0))
    distance = radius * _MARGIN / math.sin(half)
    data.clip_start, data.clip_end = max(distance - 2 * radius, distance * 1e-3), distance + 4 * radius
    camera = bpy.data.objects.new("view", data)
    rotation = _DIRECTION.to_track_quat("Z", "Y").to_matrix().to_4x4()
    camera.matrix_world = Matrix.Translation(center + _DIRECTION * distance) @ rotation
    scene.collection.objects.link(camera)
    scene.camera = camera


def _draw(scene: bpy.types.Scene, label: str, frame: int) -> dict[str, Any]:
    scene.frame_set(frame)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "view.jpg")
        scene.render.filepath = path
        bpy.ops.render.render(write_still=True)
        with open(path, "rb") as file:
            picture = base64.b64encode(file.read()).decode()
    size = {"width": scene.render.resolution_x, "height": scene.render.resolution_y}
    return {"label": label, "frame": frame, "jpeg": picture, **size}
