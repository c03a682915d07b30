"""Makes the opened scene ready to be drawn: what a final render shows is what is measured, in its true colours."""

from collections.abc import Callable
from contextlib import suppress

import bpy
import numpy as np
from mathutils import Vector

from harness.in_blender.renders.surfaces import show_surfaces
from harness.in_blender.views.framing import Extent, measure_extent, quoted
from harness.in_blender.views.grouping import size_of, together
from harness.in_blender.views.neutral import make_neutral, show_plain_colors
from harness.in_blender.views.timing import is_simulated

_FAR = 2000.0
"""Farther from the origin than so many times its size, geometry shakes in single precision."""
SIMPLE_LEVELS = 2
"""Of subdivision, where a scene is too heavy as it is."""
_LIGHT = "paint.sl"
"""The most even of Blender's studio lights: whatever its side, a surface is near its own colour."""
Note = Callable[[str], None]


def make_ready(scene: bpy.types.Scene, note: Note, *, simplify: bool) -> bool:
    """Plain render settings, one view layer, and shown in Blender what a render shows.

    Whether something is hidden since its coordinates are absurd.
    """
    make_neutral(scene)
    show_plain_colors(scene)
    _write_plain_pictures(scene.render)
    if simplify:
        _simplify(scene.render)
    _use_one_layer(scene)
    _show_what_renders(scene)
    return _hide_endless(note)


def show_true_colors(scene: bpy.types.Scene) -> None:
    """Workbench with base colours, opacity, and pictures where they are the base colour; edges and shadows."""
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.film_transparent = True
    show_plain_colors(scene)
    shading = scene.display.shading
    shading.color_type, shading.cavity_type = "TEXTURE", "BOTH"
    shading.show_cavity = shading.show_shadows = True
    shading.use_dof = False
    shading.light = "STUDIO"
    with suppress(TypeError):  # a build without it
        shading.studio_light = _LIGHT
    shading.use_world_space_lighting = False
    shading.object_outline_color = (0.0, 0.0, 0.0)
    shading.shadow_intensity = 0.35
    scene.display.matcap_ssao_samples = 16
    scene.display.light_direction = (0.45, 0.45, 0.77)
    show_surfaces()


def _write_plain_pictures(render: bpy.types.RenderSettings) -> None:
    image = render.image_settings
    image.file_format, image.color_mode, image.color_depth, image.compression = "PNG", "RGBA", "8", 10
    image.views_format = "INDIVIDUAL"
    for name in (name for name in dir(render) if name.startswith("use_stamp")):
        setattr(render, name, False)  # else equal pixels make other bytes
    render.use_file_extension = render.use_placeholder = False
    render.use_overwrite, render.threads_mode, render.dither_intensity = True, "AUTO", 0.0
    render.use_motion_blur = render.use_simplify = False


def _simplify(render: bpy.types.RenderSettings) -> None:
    """Before anything is evaluated as a render has it."""
    render.use_simplify = True
    render.simplify_subdivision = render.simplify_subdivision_render = SIMPLE_LEVELS
    render.simplify_child_particles = render.simplify_child_particles_render = 0.1


def _use_one_layer(scene: bpy.types.Scene) -> None:
    """Draw the first layer in use alone: what is measured is then what is drawn."""
    layer = next((layer for layer in scene.view_layers if layer.use), scene.view_layers[0])
    if bpy.context.window:
        bpy.context.window.view_layer = layer
    for other in scene.view_layers:
        other.use = other == layer
    layer.material_override = None
    layer.use_solid = layer.use_strand = layer.use_volumes = True


def _show_what_renders(scene: bpy.types.Scene) -> None:
    """A render heeds other switches than the evaluation that is measured: set these to those."""
    for collection in bpy.data.collections:
        collection.hide_viewport = collection.hide_render
    waiting = [bpy.context.view_layer.layer_collection]
    while waiting:
        layer_collection = waiting.pop()
        layer_collection.hide_viewport = layer_collection.holdout = layer_collection.indirect_only = False
        waiting += layer_collection.children
    for o in scene.objects:
        o.hide_viewport, o.is_holdout = o.hide_render and not _hides_at_times(o), False
        if o.display_type in {"WIRE", "BOUNDS"}:  # Workbench would leave them out, Cycles draws them
            o.display_type = "TEXTURED"
        o.show_in_front = False
    for o in bpy.context.view_layer.objects:
        o.hide_set(False)
    bpy.context.view_layer.update()


def _hides_at_times(o: bpy.types.Object) -> bool:
    """Whether keyframes or a driver say when it is rendered."""
    data = o.animation_data
    curves = [*(data.action.fcurves if data.action else ()), *data.drivers] if data else []
    return any(curve.data_path == "hide_render" for curve in curves)


def _hide_endless(note: Note) -> bool:
    """Faces with an infinite vertex would go right across every picture. Whether there are any."""
    endless = measure_extent().endless
    for name in endless:
        if name in bpy.data.objects:
            bpy.data.objects[name].hide_render = bpy.data.objects[name].hide_viewport = True
    if endless:
        verb = "is" if len(endless) == 1 else "are"
        note(f"{quoted(endless)} {verb} not drawn: coordinates that are no finite numbers, or beyond 1e9 units")
    bpy.context.view_layer.update()
    return bool(endless)


def bring_near(scene: bpy.types.Scene, extent: Extent) -> Extent:
    """Move all of a scene that is far from the origin there. What a simulation moves by itself stays."""
    corners = together(extent.boxes)
    center = (corners.min(axis=0) + corners.max(axis=0)) / 2
    if np.linalg.norm(center) < _FAR * max(size_of(corners), 1e-9) or is_simulated(scene):
        return extent
    base = bpy.data.objects.new("base", None)
    scene.collection.objects.link(base)
    base.location = -Vector(center)
    roots = [o for o in scene.objects if o.parent is None and o != base]
    for o in roots:
        o.parent = base
        o.matrix_parent_inverse.identity()
    bpy.context.view_layer.update()
    near = measure_extent()
    if near.boxes and np.abs(together(near.boxes)).max() < np.abs(corners).max() / 10:
        return near
    for o in roots:  # held where it is by constraints or drivers
        o.parent = None
    bpy.context.view_layer.update()
    return measure_extent()
