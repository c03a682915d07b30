"""Draws what a step left, in a forked child that may change everything: views for the model to look at.

The scene camera's view if there is one, and a framing three-quarter view; several frames where something is
animated. Workbench ignores shader nodes, so that each material's base colour is copied to its viewport colour first.
Pixel content of textures is not shown, only its average.
"""

import base64
import os
import tempfile
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
from mathutils import Vector

from harness.in_blender.views.colors import show_base_colors
from harness.in_blender.views.framing import Extent, add_camera, measure_extent, place, quoted
from harness.in_blender.views.neutral import make_neutral, set_size, show_plain_colors
from harness.in_blender.views.timing import frames_to_show, release_cameras, run_through

_DIRECTIONS = (Vector((0.75, -1.0, 0.62)).normalized(), Vector((-0.9, -0.5, 0.45)).normalized())
"""From the scene to the camera; the second for what the first sees edge-on."""
_SLIVER = 0.01
"""A share of the picture: what shows less than this is looked at from the second direction too."""
_SIMULATING_SECONDS = 8.0


def draw(width: int, height: int, n_frames: int) -> Iterator[dict[str, Any]]:
    """Pictures as they come: {label, frame, width, height, jpeg (base64)}; {note} tells why there is none."""
    scene = bpy.context.scene
    _prepare(scene, width, height)
    frames: list[int] = []
    corners: list[np.ndarray] = []
    left_out: dict[str, None] = {}
    has_camera = scene.camera is not None
    for frame in run_through(scene, frames_to_show(scene, n_frames), _SIMULATING_SECONDS):
        frames.append(frame)
        extent = measure_extent()
        corners += extent.corners
        left_out |= dict.fromkeys(_left_out(extent))
        if has_camera:
            yield _draw(f"scene camera '{scene.camera.name}'", frame)[0]
    if not corners:
        why = "because it holds nothing that a render would show"
        yield {"note": "; ".join([f"none of the whole scene, {why}", *left_out])}
        return
    release_cameras(scene)
    camera, label = add_camera(scene), _label(list(left_out))
    for frame in frames[:1] if has_camera else frames:
        scene.frame_set(frame)
        best: tuple[dict[str, Any], float] = ({}, -1.0)
        for direction in _DIRECTIONS:
            if best[1] < _SLIVER:
                place(camera, np.concatenate(corners), direction, width / height)
                best = max(best, _draw(label, frame), key=lambda drawn: drawn[1])
        yield best[0]


def _prepare(scene: bpy.types.Scene, width: int, height: int) -> None:
    make_neutral(scene)
    show_plain_colors(scene)
    set_size(scene, width, height)
    image = scene.render.image_settings
    image.file_format, image.color_mode, image.quality = "JPEG", "RGB", 85
    scene.world = bpy.data.worlds.new("background")
    scene.world.color = (0.05, 0.05, 0.05)
    show_base_colors()


def _left_out(extent: Extent) -> Iterator[str]:
    """What the view does not frame, and why."""
    if extent.outsized:
        yield f"too large for it: {quoted(extent.outsized_names)}"
    if extent.far:
        yield f"too far from the rest for it: {quoted(extent.far_names)}"
    if extent.endless:
        yield f"left out for coordinates that are no numbers or absurdly large: {quoted(extent.endless)}"


def _label(left_out: list[str]) -> str:
    if not left_out:
        return "three-quarter view of the whole scene"
    return "; ".join(["three-quarter view", *left_out])


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
