"""How much of the frame pictures fill: pixels that change when each picture is replaced by its mean colour.

Independent of how a picture gets into the frame (texture, compositor, grease pencil), and of the engine: what is
drawn by geometry stays the same. Colour attributes and per-frame meshes are not pictures and are not seen here.
Changes the scene; the last thing done in a process.
"""

import os
from typing import Any

import bpy
import numpy as np

N_SAMPLES = 4
WIDTH = 160
"""Pixels of the two small renders that are compared."""
DIFFERENCE = 8
"""Grey levels of 255 in any channel from which a pixel counts as changed."""
_MAX_PIXELS = 64_000_000
_FLAT = 8
"""Pixels a side of a flattened picture."""


def measure(scene: bpy.types.Scene, n_frames: int) -> dict[str, Any]:
    """Count and pixels of the pictures in use, and the largest share (0..1) of a sampled frame that they fill."""
    pictures = [image for image in bpy.data.images if _is_picture(image)]
    n_pixels = sum(image.size[0] * image.size[1] for image in pictures)
    share = 0.0
    if n_pixels > _MAX_PIXELS:
        share = 1.0  # too large to look at: counted as the whole frame
    elif pictures:
        frames = [scene.frame_start + i * (n_frames - 1) // max(1, N_SAMPLES - 1) for i in range(N_SAMPLES)]
        frames = sorted({f for f in frames if f <= scene.frame_end})
        before = _small_renders(scene, frames)
        for image in pictures:
            _flatten(image)
        after = _small_renders(scene, frames)
        share = max(float((np.abs(a - b).max(axis=-1) >= DIFFERENCE / 255).mean()) for a, b in zip(before, after))  # noqa: B905 - of one list
    return {"n": len(pictures), "pixels": n_pixels, "share": round(share, 4)}


def _is_picture(image: bpy.types.Image) -> bool:
    return bool(image.users) and image.type in {"IMAGE", "UV_TEST"} and image.source in {"FILE", "GENERATED", "TILED"}


def _small_renders(scene: bpy.types.Scene, frames: list[int]) -> list[np.ndarray]:
    render = scene.render
    render.resolution_percentage = 100
    height = max(16, round(WIDTH * render.resolution_y / render.resolution_x))
    render.resolution_x, render.resolution_y = WIDTH, height
    render.image_settings.file_format, render.image_settings.color_mode = "PNG", "RGB"
    found = []
    for frame in frames:
        scene.frame_set(frame)
        render.filepath = os.path.join(os.getcwd(), "share.png")
        bpy.ops.render.render(write_still=True)
        found.append(_pixels(render.filepath))
    return found


def _pixels(path: str) -> np.ndarray:
    """(height, width, 4) float32, 0..1."""
    image = bpy.data.images.load(path, check_existing=False)
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    shaped = pixels.reshape(image.size[1], image.size[0], -1)
    bpy.data.images.remove(image)
    return shaped


def _flatten(image: bpy.types.Image) -> None:
    if not len(image.pixels):
        return  # it cannot be read, so that it draws nothing of its own
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    mean = pixels.reshape(-1, image.channels).mean(axis=0)
    image.scale(_FLAT, _FLAT)
    image.pixels.foreach_set(np.tile(mean, _FLAT * _FLAT).astype(np.float32))
    image.update()
