"""Replaces every picture of a scene by its mean colour, so that a second render shows what pictures fill of the frame.

Independent of how a picture gets into the frame (texture, compositor, grease pencil), of its kind (tiles, layers) and
of the engine: what geometry draws stays the same. An environment counts by the same rule: seen behind the scene or in a
mirror it is a picture like any other, as light alone by the pixels that it makes clearly lighter or darker. Colour
attributes and per-frame meshes are not pictures and stay.
The replacement has the picture's size, which a driver could read.
"""

import bpy
import numpy as np

_RESULTS = {"RENDER_RESULT", "COMPOSITING"}
_MAX_PIXELS = 64_000_000
"""Of one picture; a larger one becomes grey, which counts as all that it shows."""


def flatten_all() -> tuple[int, int]:
    """Returns how many pictures there were, and their pixels (those of a tiled one: its first tile's)."""
    pictures = [image for image in bpy.data.images if image.users and image.type not in _RESULTS]
    n_pixels = 0
    for image in pictures:
        width, height = max(1, image.size[0]), max(1, image.size[1])
        n_pixels += width * height
        image.user_remap(_flat(image, width, height))
    return len(pictures), n_pixels


def _flat(image: bpy.types.Image, width: int, height: int) -> bpy.types.Image:
    flat = bpy.data.images.new("flat", width, height, alpha=True, float_buffer=image.is_float)
    flat.colorspace_settings.name = image.colorspace_settings.name
    flat.alpha_mode = image.alpha_mode
    flat.generated_color = _mean(image)
    return flat


def _mean(image: bpy.types.Image) -> tuple[float, ...]:
    grey = (0.5, 0.5, 0.5, 1.0)
    if not 0 < len(image.pixels) <= 4 * _MAX_PIXELS or not image.channels:
        return grey
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    mean = [float(value) for value in pixels.reshape(-1, image.channels).mean(axis=0)]
    if not np.isfinite(mean).all():
        return grey
    return tuple(mean) if len(mean) == 4 else (*[*mean, *mean, *mean][:3], 1.0)
