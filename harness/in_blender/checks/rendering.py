"""Measures render settings, and a small picture of our own: see `harness/checks/rendering.py`."""

import os
from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks.opened import OpenedScene, Unmeasurable

_WIDTH = 160
_GREYS = 64


def render_setting(opened: OpenedScene, _: dict[str, Any]) -> dict[str, Any]:
    scene, render = opened.scene, opened.scene.render
    share = render.resolution_percentage / 100
    samples: dict[str, Any] = {}
    if hasattr(scene, "eevee"):
        samples["BLENDER_EEVEE_NEXT"] = scene.eevee.taa_render_samples
    if hasattr(scene, "cycles"):
        samples["CYCLES"] = scene.cycles.samples
    return {
        "engine": render.engine,
        "resolution": [int(render.resolution_x * share), int(render.resolution_y * share)],
        "percentage": render.resolution_percentage,
        "samples": samples.get(render.engine),
        "view_transform": scene.view_settings.view_transform,
        "look": scene.view_settings.look,
        "film_transparent": bool(render.film_transparent),
        "file_format": render.image_settings.file_format,
    }


def output_path(opened: OpenedScene, _: dict[str, Any]) -> dict[str, Any]:
    path = opened.scene.render.filepath
    is_drive = path[1:3] in (":\\", ":/")
    is_absolute = is_drive or (path.startswith(("/", "\\")) and not path.startswith("//"))
    return {"path": path[:300], "is_absolute": is_absolute}


def render_not_blank(opened: OpenedScene, _: dict[str, Any]) -> dict[str, Any]:
    scene = opened.scene
    if scene.camera is None or scene.camera.type != "CAMERA":
        raise Unmeasurable("the scene has no active camera")
    grey = _picture(scene)
    low, high = np.percentile(grey, [1, 99])
    counts = np.bincount(np.clip(grey * _GREYS, 0, _GREYS - 1).astype(int), minlength=_GREYS)
    return {"luma_range": float(high - low), "uniform_share": float(counts.max() / len(grey))}


def _picture(scene: Any) -> np.ndarray:
    """The brightness of each pixel. Nothing of the file's own that writes, or paints over the picture, has a say."""
    render = scene.render
    height = max(16, min(_WIDTH * 4, round(_WIDTH * render.resolution_y / max(1, render.resolution_x))))
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = _WIDTH, height, 100
    render.use_compositing = render.use_sequencer = render.use_stamp = render.use_border = False
    render.use_multiview = render.film_transparent = render.use_freestyle = False
    scene.display.shading.light, scene.display.shading.color_type = "STUDIO", "MATERIAL"
    scene.display.shading.background_type = "THEME"
    scene.display.render_aa = "OFF"
    scene.view_settings.view_transform, scene.view_settings.look = "Standard", "None"
    scene.view_settings.exposure, scene.view_settings.gamma = 0, 1
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    path = os.path.join(os.getcwd(), "small.png")
    render.filepath, render.use_file_extension, render.use_overwrite = path, False, True
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(path)
    pixels = np.zeros(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    os.unlink(path)
    return np.asarray(pixels.reshape(-1, 4)[:, :3] @ np.array([0.2126, 0.7152, 0.0722]))
