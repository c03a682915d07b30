"""Compiles the shaders of Blender's Workbench engine, so that no run has to. Started by `harness.setup.shaders`.

    python -P -s warm_shaders.py RESULT_FD        (cwd: an empty folder, which receives `shader_cache`)

Renders one small scene with the settings that scripts use, which fills Mesa's cache, and copies that to the
working directory. Message: `warmed` (Blender's version, the GL strings, the library files that drew).
Not covered: EEVEE, whose shaders depend on each material.
"""

import itertools
import os
import shutil
import sys
import time
from collections.abc import Iterator

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender import graphics
from harness.in_blender.result_pipe import ResultPipe

SIZE = (160, 90)
"""Neither is a power of two, like the sizes of most videos: llvmpipe compiles other code for those that are (512x512
still compiles five shaders, half a second, at its first frame)."""

_CACHE = os.environ["MESA_SHADER_CACHE_DIR"]


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    _empty(_CACHE)
    import bpy

    bpy.context.preferences.system.use_gpu_subdivision = False
    _make_scene()
    n_renders = 0
    for _ in _settings():
        bpy.ops.render.render()
        n_renders += 1
    _wait_until_written(_CACHE)
    shutil.copytree(_CACHE, "shader_cache")
    pipe.send("warmed", blender=bpy.app.version_string, n_renders=n_renders, **graphics.in_use())
    os._exit(0)


def _make_scene() -> None:
    """What draws differently: mesh, curve, text; opaque and see-through; textured; in front."""
    import bpy

    scene = bpy.context.scene
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = *SIZE, 100
    cube = bpy.data.objects["Cube"]
    cube.data.materials[0].diffuse_color = (0.8, 0.2, 0.1, 0.5)
    cube.data.color_attributes.new("Color", "BYTE_COLOR", "CORNER")
    bpy.ops.mesh.primitive_monkey_add(location=(2, 0, 0))
    monkey = bpy.context.object
    monkey.data.materials.append(_textured_material())
    for polygon in monkey.data.polygons:
        polygon.use_smooth = True
    bpy.ops.mesh.primitive_plane_add(size=20, location=(0, 0, -1))
    bpy.ops.curve.primitive_bezier_circle_add(location=(-2, 0, 0))
    bpy.context.object.data.bevel_depth = 0.1
    bpy.ops.object.text_add(location=(0, -2, 0))
    bpy.ops.mesh.primitive_uv_sphere_add(location=(0, 2, 0))
    bpy.context.object.show_in_front = True


def _textured_material() -> object:
    import bpy

    material = bpy.data.materials.new("Textured")
    material.use_nodes = True
    node = material.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("Image", 8, 8)
    material.node_tree.nodes.active = node
    return material


def _settings() -> Iterator[None]:
    """Sets every combination whose shaders differ, one after the other."""
    import bpy

    scene = bpy.context.scene
    shading, display, render = scene.display.shading, scene.display, scene.render
    display.render_aa = "FXAA"
    for light, color in itertools.product(
        ("FLAT", "MATCAP", "STUDIO"), ("TEXTURE", "VERTEX", "OBJECT", "RANDOM", "SINGLE", "MATERIAL")
    ):
        shading.light, shading.color_type = light, color
        yield
    shading.show_xray = True
    yield
    shading.show_xray = False
    for samples in ("OFF", "5", "8", "11", "16", "32", "FXAA"):
        display.render_aa = samples
        yield
    for cavity, shadows, outline, depth_of_field in itertools.product(
        ("", "WORLD", "SCREEN", "BOTH"), (False, True), (False, True), (False, True)
    ):
        shading.show_cavity = bool(cavity)
        shading.cavity_type = cavity or "WORLD"
        shading.show_shadows, shading.show_object_outline = shadows, outline
        shading.use_dof = scene.camera.data.dof.use_dof = depth_of_field
        yield
    shading.show_cavity = shading.show_shadows = shading.show_object_outline = shading.use_dof = False
    shading.show_specular_highlight = False
    for background, transparent, depth in itertools.product(("THEME", "WORLD", "VIEWPORT"), (False, True), ("8", "32")):
        shading.background_type, render.film_transparent = background, transparent
        render.image_settings.file_format = "PNG" if depth == "8" else "OPEN_EXR"
        render.image_settings.color_depth = depth
        yield
    shading.show_backface_culling = True
    yield


def _empty(folder: str) -> None:
    """The cache mounted here may hold shaders of another Mesa."""
    for name in os.listdir(folder) if os.path.isdir(folder) else []:
        path = os.path.join(folder, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)


def _wait_until_written(folder: str) -> None:
    """Mesa writes its cache in a thread of its own: wait until nothing has come for a while."""
    before, quiet_since, give_up = -1, time.monotonic(), time.monotonic() + 10
    while time.monotonic() < min(quiet_since + 0.5, give_up):
        n_bytes = sum(os.stat(os.path.join(at, f)).st_size for at, _, files in os.walk(folder) for f in files)
        if n_bytes != before:
            before, quiet_since = n_bytes, time.monotonic()
        time.sleep(0.05)


if __name__ == "__main__":
    main()
