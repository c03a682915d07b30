"""Cycles on the processor: light and materials as a final render has them, with few samples."""

import bpy
import numpy as np
from mathutils import Vector

_DARK = 0.06
"""Of the brightest parts, 1 for white: less says that next to no light falls on what is there."""
_SUNS = ((3.0, (-0.5, -1.0, 1.4)), (1.0, (1.2, -0.6, 0.5)))
"""Strength, and where it stands."""


def use_cycles(scene: bpy.types.Scene, n_samples: int, seconds: float) -> None:
    """Each picture may take about so many seconds."""
    scene.render.engine = "CYCLES"
    cycles = scene.cycles
    cycles.device, cycles.feature_set, cycles.shading_system = "CPU", "SUPPORTED", False
    cycles.samples, cycles.use_adaptive_sampling, cycles.time_limit = n_samples, True, seconds
    cycles.seed, cycles.use_animated_seed, cycles.film_exposure = 0, False, 1.0
    try:
        cycles.denoiser = "OPENIMAGEDENOISE"
        cycles.use_denoising, cycles.denoising_use_gpu = True, False
    except TypeError:  # a build without it
        cycles.use_denoising = False
    bpy.context.view_layer.cycles.use_denoising = True
    scene.render.film_transparent = not _has_pictured_sky(scene.world)


def _has_pictured_sky(world: bpy.types.World | None) -> bool:
    """A world of one colour only lights the scene; a sky or panorama is shown."""
    if world is None or not world.use_nodes or world.node_tree is None:
        return False
    return any(node.type in {"TEX_ENVIRONMENT", "TEX_SKY", "TEX_IMAGE"} for node in world.node_tree.nodes)


def is_dark(path: str) -> bool:
    """Whether nearly nothing of the picture's figure is lit."""
    image = bpy.data.images.load(path)
    image.colorspace_settings.name = "Non-Color"
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    colors = pixels.reshape(-1, 4)
    figure = colors[colors[:, 3] > 0.5][:, :3]
    return len(figure) > 0 and float(np.percentile(figure.max(axis=1), 95)) < _DARK


def add_light(scene: bpy.types.Scene) -> None:
    """Two suns, the weaker one against black shadows."""
    for strength, place in _SUNS:
        light = bpy.data.lights.new("added", "SUN")
        light.energy, light.angle = strength, 0.2
        o = bpy.data.objects.new("added", light)
        o.rotation_euler = Vector(place).to_track_quat("Z", "Y").to_euler()
        scene.collection.objects.link(o)
    scene.view_settings.exposure = 0.0
