"""Draws what a step left, in a forked child that may change everything: views for the model to look at.

The scene camera's view if there is one, and a framing three-quarter view; several frames where something is
animated. Workbench ignores shader nodes, so that each material's base colour is copied to its viewport colour first.
Pixel content of textures is not shown, only its average.
"""

import base64
import math
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from harness.in_blender.node_time import has_timed_nodes, simulates

_DIRECTIONS = (Vector((0.75, -1.0, 0.62)).normalized(), Vector((-0.9, -0.5, 0.45)).normalized())
"""From the scene to the camera; the second for what the first sees edge-on."""
_SLIVER = 0.01
"""A share of the picture: what shows less than this is looked at from the second direction too."""
_LENS_DEGREES = 40.0
_MARGIN = 1.06
_SMALLEST = 1e-5
_DRAWN_TYPES = {"MESH", "CURVE", "SURFACE", "FONT", "META", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL"}
_MAX_INSTANCES = 20_000
_OUTSIZED = 8.0
"""A ground or sky this many times larger than all the rest together is not framed, and the label says so."""
_MAX_NAMES = 2
_SIMULATING_SECONDS = 8.0
_SIMULATIONS = {"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT"}
_MAX_NODES_DEEP = 12
_MAX_PIXELS = 4_000_000


def draw(width: int, height: int, n_frames: int) -> Iterator[dict[str, Any]]:
    """Pictures as they come: {label, frame, width, height, jpeg (base64)}; {note} tells why there is none."""
    scene = bpy.context.scene
    _prepare(scene, width, height)
    frames: list[int] = []
    corners: list[np.ndarray] = []
    outsized: dict[str, None] = {}
    has_camera = scene.camera is not None
    for frame in _run_through(scene, _frames(scene, n_frames)):
        frames.append(frame)
        found, names = _bounds()
        corners += found
        outsized |= dict.fromkeys(names)
        if has_camera:
            yield _draw(f"scene camera '{scene.camera.name}'", frame)[0]
    if not corners:
        yield {"note": "none of the whole scene, because it holds nothing that a render would show"}
        return
    camera, label = _add_camera(scene), _label(list(outsized))
    for frame in frames[:1] if has_camera else frames:
        scene.frame_set(frame)
        best: tuple[dict[str, Any], float] = ({}, -1.0)
        for direction in _DIRECTIONS:
            if best[1] < _SLIVER:
                _place(camera, np.concatenate(corners), direction, width / height)
                best = max(best, _draw(label, frame), key=lambda drawn: drawn[1])
        yield best[0]


def _prepare(scene: bpy.types.Scene, width: int, height: int) -> None:
    for name in dir(bpy.app.handlers):
        if name.startswith("render_"):
            getattr(bpy.app.handlers, name).clear()
    render, shading, view = scene.render, scene.display.shading, scene.view_settings
    render.engine = "BLENDER_WORKBENCH"
    scene.display.render_aa = "FXAA"
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_object_outline, shading.show_xray, shading.show_backface_culling = True, False, False
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.pixel_aspect_x = render.pixel_aspect_y = 1.0
    render.use_border = render.use_compositing = render.use_sequencer = render.use_stamp = False
    render.film_transparent = render.use_freestyle = render.use_multiview = False
    image = render.image_settings
    image.file_format, image.color_mode, image.quality = "JPEG", "RGB", 85
    image.color_management = "FOLLOW_SCENE"
    view.view_transform, view.look, view.exposure, view.gamma = "Standard", "None", 0.0, 1.0
    view.use_curve_mapping = False
    if not any(layer.use for layer in scene.view_layers):
        bpy.context.view_layer.use = True
    scene.world = bpy.data.worlds.new("background")
    scene.world.color = (0.05, 0.05, 0.05)
    for material in bpy.data.materials:
        color = _base_color(material)
        if color is not None:
            material.diffuse_color = (*color, 1.0)


# colours


def _base_color(material: bpy.types.Material) -> list[float] | None:
    """One colour that stands for the material's nodes; None where they tell none."""
    if not material.use_nodes or material.node_tree is None:
        return None
    outputs = [node for node in material.node_tree.nodes if node.type == "OUTPUT_MATERIAL"]
    output = next((node for node in outputs if node.is_active_output), None)
    if output is None or not output.inputs["Surface"].is_linked:
        return None
    try:
        return _shader_color(output.inputs["Surface"].links[0].from_node, 0)
    except (KeyError, IndexError, AttributeError, TypeError, RuntimeError):
        return None  # odd nodes: the viewport colour is what there is


def _shader_color(node: bpy.types.Node, depth: int) -> list[float] | None:
    if depth > _MAX_NODES_DEEP:
        return None
    if node.type == "BSDF_PRINCIPLED":
        glow = min(1.0, node.inputs["Emission Strength"].default_value)
        base, light = (_socket_color(node.inputs[name], depth) for name in ("Base Color", "Emission Color"))
        return [min(1.0, b + glow * c) for b, c in zip(base, light, strict=True)] if base and light else base
    shaders = [s.links[0].from_node for s in node.inputs if s.type == "SHADER" and s.is_linked]
    if shaders:
        return _average(_shader_color(shader, depth + 1) for shader in shaders)
    color = next((s for s in node.inputs if s.type == "RGBA"), None)
    return _socket_color(color, depth) if color else None


def _socket_color(socket: bpy.types.NodeSocket, depth: int) -> list[float] | None:
    """The colour that arrives at a socket, averaged over what varies."""
    if not socket.is_linked:
        value = socket.default_value
        return [float(x) for x in value[:3]] if socket.type == "RGBA" else [float(value)] * 3
    node = socket.links[0].from_node
    if depth > _MAX_NODES_DEEP:
        return None
    if node.type == "RGB":
        return [float(x) for x in node.outputs[0].default_value[:3]]
    if node.type == "VALTORGB":
        return _average([float(x) for x in element.color[:3]] for element in node.color_ramp.elements)
    if node.type == "TEX_IMAGE":
        return _image_color(node.image)
    colors = [s for s in node.inputs if s.type == "RGBA" and s.enabled and not s.is_unavailable]
    return _average(_socket_color(s, depth + 1) for s in colors) if colors else None


def _image_color(image: bpy.types.Image | None) -> list[float] | None:
    if image is None or image.channels < 3 or not 0 < image.size[0] * image.size[1] <= _MAX_PIXELS:
        return None
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    color = pixels.reshape(-1, image.channels)[:, :3].mean(axis=0)
    if not image.is_float:  # stored as shown, wanted as light
        color = color**2.2
    return [float(x) for x in color]


def _average(colors: Iterable[list[float] | None]) -> list[float] | None:
    known = [color for color in colors if color]
    return [sum(channel) / len(known) for channel in zip(*known, strict=True)] if known else None


# time


def _frames(scene: bpy.types.Scene, n_frames: int) -> list[int]:
    """The current frame, or frames over the range where something is animated."""
    start, end = scene.frame_start, scene.frame_end
    if end <= start or n_frames < 2 or not (_is_animated(scene) or _is_simulated(scene)):
        return [scene.frame_current]
    return sorted({start + round(i * (end - start) / (n_frames - 1)) for i in range(n_frames)})


def _is_animated(scene: bpy.types.Scene) -> bool:
    handlers = bpy.app.handlers
    return (
        any(action.users for action in bpy.data.actions)
        or any((o.animation_data and o.animation_data.drivers) or has_timed_nodes(o) for o in scene.objects)
        or any(handlers.frame_change_pre)
        or any(handlers.frame_change_post)
    )


def _is_simulated(scene: bpy.types.Scene) -> bool:
    world = scene.rigidbody_world
    return bool(world and world.enabled and world.collection and world.collection.objects) or any(
        _simulates(modifier) for o in scene.objects for modifier in o.modifiers
    )


def _simulates(modifier: bpy.types.Modifier) -> bool:
    if modifier.type == "NODES":
        return simulates(modifier)
    if modifier.type == "PARTICLE_SYSTEM":
        return bool(modifier.particle_system.settings.type == "EMITTER")
    return modifier.type in _SIMULATIONS


def _run_through(scene: bpy.types.Scene, frames: list[int]) -> Iterator[int]:
    """Bring the scene to each frame; a simulation needs every frame on the way, and ends early when that takes long."""
    deadline = time.monotonic() + _SIMULATING_SECONDS
    is_simulated = len(frames) > 1 and _is_simulated(scene)
    now = frames[0]
    for frame in frames:
        for between in range(now + 1, frame) if is_simulated else ():
            if time.monotonic() > deadline:
                return
            scene.frame_set(between)
        scene.frame_set(frame)
        now = frame
        yield frame


# space


def _bounds() -> tuple[list[np.ndarray], list[str]]:
    """The box [corner, 3] of each thing drawn, instances included, and names of what is left out as far larger."""
    boxes: list[tuple[str, np.ndarray]] = []
    for number, instance in enumerate(bpy.context.evaluated_depsgraph_get().object_instances):
        if number > _MAX_INSTANCES:
            break
        o = instance.object
        if o.type in _DRAWN_TYPES and instance.show_self and not o.hide_render:
            matrix = instance.matrix_world
            corners = np.array([matrix @ Vector(corner) for corner in o.bound_box])
            if np.isfinite(corners).all():
                boxes.append((o.name, corners))
    boxes.sort(key=lambda named: _size(named[1]), reverse=True)
    outsized = []
    while len(boxes) > 1 and _size(boxes[0][1]) > _OUTSIZED * _size(np.concatenate([box for _, box in boxes[1:]])) > 0:
        outsized.append(boxes.pop(0)[0])
    return [box for _, box in boxes], outsized


def _label(outsized: list[str]) -> str:
    if not outsized:
        return "three-quarter view of the whole scene"
    more = f" and {n} more" if (n := len(outsized) - _MAX_NAMES) > 0 else ""
    names = ", ".join(map(repr, outsized[:_MAX_NAMES]))
    return f"three-quarter view; too large for it: {names}{more}"


def _size(corners: np.ndarray) -> float:
    return float(np.linalg.norm(np.ptp(corners, axis=0)))


def _add_camera(scene: bpy.types.Scene) -> bpy.types.Object:
    data = bpy.data.cameras.new("view")
    data.angle = math.radians(_LENS_DEGREES)
    scene.camera = bpy.data.objects.new("view", data)
    scene.collection.objects.link(scene.camera)
    return scene.camera


def _place(camera: bpy.types.Object, corners: np.ndarray, direction: Vector, aspect: float) -> None:
    """As near as all corners are in view, with a margin.

    In the camera's own axes each corner (x, y, z) asks for |x - camera x| <= slope * (camera z - z), and the same in y.
    The strictest corner on either side gives the place between them, and how far back the camera has to be.
    """
    rotation = direction.to_track_quat("Z", "Y").to_matrix()
    center = (corners.min(axis=0) + corners.max(axis=0)) / 2
    x, y, z = ((corners - center) @ np.array(rotation)).T
    slope = math.tan(camera.data.angle / 2) / _MARGIN
    slope_x, slope_y = slope * min(1.0, aspect), slope / max(1.0, aspect)  # the angle is that of the longer side
    right, left = (slope_x * z + x).max(), (slope_x * z - x).max()
    upper, lower = (slope_y * z + y).max(), (slope_y * z - y).max()
    size = max(_size(corners), _SMALLEST)
    back = max((right + left) / (2 * slope_x), (upper + lower) / (2 * slope_y), z.max() + size / 2)
    place = Vector(((right - left) / 2, (upper - lower) / 2, back))
    camera.data.clip_start, camera.data.clip_end = max((back - z.max()) / 10, 1e-6), back - z.min() + 100 * size
    camera.matrix_world = Matrix.Translation(Vector(center) + rotation @ place) @ rotation.to_4x4()


def _draw(label: str, frame: int) -> tuple[dict[str, Any], float]:
    """The view, or a note where it would be empty, and how much of it is not background."""
    render = bpy.context.scene.render
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "view.jpg")
        render.filepath = path
        bpy.ops.render.render(write_still=True)
        share = _figure_share(path)
        if not share:
            return {"note": f"{label}, frame {frame}, is left out: it is one even colour"}, share
        with open(path, "rb") as file:
            jpeg = base64.b64encode(file.read()).decode()
    size = {"width": render.resolution_x, "height": render.resolution_y}
    return {"label": label, "frame": frame, "jpeg": jpeg, **size}, share


def _figure_share(path: str) -> float:
    """How much of the picture has another colour than its corner."""
    image = bpy.data.images.load(path)
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    colors = pixels.reshape(-1, 4)[:, :3]
    return float((np.abs(colors - colors[0]).max(axis=1) > 0.02).mean())
