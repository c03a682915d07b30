"""Takes out of a scene what would come between it and a plain picture of it: handlers, compositor, exposure, borders.

The process must be one whose scene nobody uses afterwards.
"""

import bpy


def make_neutral(scene: bpy.types.Scene) -> None:
    """Workbench with each material's viewport colour, nothing before or behind the render, colours as they are."""
    for name in dir(bpy.app.handlers):
        if name.startswith("render_"):
            getattr(bpy.app.handlers, name).clear()
    render, shading = scene.render, scene.display.shading
    render.engine = "BLENDER_WORKBENCH"
    scene.display.render_aa = "FXAA"
    shading.light, shading.color_type = "STUDIO", "MATERIAL"
    shading.show_object_outline, shading.show_xray, shading.show_backface_culling = True, False, False
    render.pixel_aspect_x = render.pixel_aspect_y = 1.0
    render.use_border = render.use_compositing = render.use_sequencer = render.use_stamp = False
    render.film_transparent = render.use_freestyle = render.use_multiview = False
    render.image_settings.color_management = "FOLLOW_SCENE"
    if not any(layer.use for layer in scene.view_layers):
        bpy.context.view_layer.use = True


def show_plain_colors(scene: bpy.types.Scene) -> None:
    """No exposure, look or curve of the scene's between a colour and its picture."""
    view = scene.view_settings
    view.view_transform, view.look, view.exposure, view.gamma = "Standard", "None", 0.0, 1.0
    view.use_curve_mapping = False


def set_size(scene: bpy.types.Scene, width: int, height: int) -> None:
    """In pixels."""
    render = scene.render
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
