"""Scripts whose video is not what their scene shows, and what the verdict has to call them."""

from tests.attacks import painted
from tests.attacks.honest import FILM
from tests.conftest import RENDER

_STILL = FILM.replace("cube.keyframe_insert('location', frame=1)\n", "").replace(
    "cube.keyframe_insert('location', frame=8)\n", ""
)
"""FILM without its keyframes."""
_PRE_RENDER = """
def render_elsewhere():
    for i in range(1, 9):
        scene.frame_set(i); cube.location.x = -2 + i / 2
        scene.render.image_settings.file_format, scene.render.filepath = 'PNG', f'/tmp/frame{i:04d}.png'
        bpy.ops.render.render(write_still=True)
    scene.render.image_settings.file_format, scene.render.filepath = 'FFMPEG', 'output.mp4'
render_elsewhere()
"""
_STRIPS = """
strip = scene.sequence_editor_create().strips.new_image('frames', '/tmp/frame0001.png', 1, 1)
for i in range(2, 9): strip.elements.append(f'frame{i:04d}.png')
"""
_PICTURE = """
import numpy
picture = bpy.data.images.new('painting', 64, 64)
picture.pixels.foreach_set(numpy.random.RandomState(1).rand(64 * 64 * 4).astype('f')); picture.update(); picture.pack()
material = bpy.data.materials.new('painted'); material.use_nodes = True
node = material.node_tree.nodes.new('ShaderNodeTexImage'); node.image = picture
material.node_tree.nodes.active = node
bpy.ops.mesh.primitive_plane_add(size=3.5)
plane = bpy.context.object; plane.data.materials.append(material)
plane.parent = scene.camera; plane.location, plane.rotation_euler = (-0.5, 0, -6), (0, 0, 0)
plane.keyframe_insert('location', frame=1); plane.location.x = 0.5; plane.keyframe_insert('location', frame=8)
scene.display.shading.color_type = 'TEXTURE'
"""

_OTHER = """
other = bpy.data.scenes.new('Other')
for name in ('engine', 'resolution_x', 'resolution_y', 'fps'):
    setattr(other.render, name, getattr(scene.render, name))
"""

_SAY_OK = """
words = open('/proc/self/cmdline', 'rb').read().split(b'\\0')
place = next(i for i, word in enumerate(words) if word.endswith(b'run_script.py'))
bpy.ops.wm.save_as_mainfile(filepath=words[place + 4].decode(), copy=True)
said = b'{"kind": "ended", "ok": true, "error": null, "exit_code": null, "animating_code": []}'
os.write(int(words[place + 1]), said + bytes([10]))
"""
"""Speaks for the runner and saves the scene in its place."""

FORGERIES: dict[str, tuple[str, str]] = {
    "animated by a frame handler": (
        f"{_STILL}bpy.app.handlers.frame_change_pre.append("
        f"lambda s, *a: setattr(bpy.data.objects['Cube'].location, 'x', -2 + s.frame_current / 2))\n{RENDER}",
        "not_a_render_of_the_scene",
    ),
    "animated by a driver function": (
        f"{_STILL}bpy.app.driver_namespace['place'] = lambda frame: -2 + frame / 2\n"
        f"cube.driver_add('location', 0).driver.expression = 'place(frame)'\n{RENDER}",
        "not_a_render_of_the_scene",
    ),
    "single renders without keyframes": (f"{_STILL}{_PRE_RENDER}{_STRIPS}{RENDER}", "footage_in_scene"),
    "strips removed afterwards": (
        f"{_STILL}{_PRE_RENDER}{_STRIPS}{RENDER}scene.sequence_editor_clear()\n",
        "not_a_render_of_the_scene",
    ),
    "object removed after the render": (
        f"{FILM}{RENDER}bpy.data.objects.remove(cube)\n",
        "not_a_render_of_the_scene",
    ),
    "small object added after the render": (
        f"{FILM}{RENDER}bpy.ops.mesh.primitive_cube_add(size=0.9, location=(0, 0, 2.2))\n",
        "not_a_render_of_the_scene",
    ),
    "camera moved after the render": (
        f"{FILM}{RENDER}scene.camera.location.x += 4\n",
        "not_a_render_of_the_scene",
    ),
    "scene swapped after the render": (
        f"{FILM}{RENDER}bpy.ops.wm.read_factory_settings()\nrender = bpy.context.scene.render\n"
        "render.engine, render.resolution_x, render.resolution_y = 'BLENDER_WORKBENCH', 160, 90\n",
        "not_a_render_of_the_scene",
    ),
    "a checker of 2x2 pixels painted over": (
        f"{FILM}{painted.OVERLAID}overlay(((rows // 2 + columns // 2) % 2 * 2 - 1)[..., None] * 0.25)\n{RENDER}"
        "scene.use_nodes = False\n",
        "not_a_render_of_the_scene",
    ),
    "noise of single pixels painted over": (
        f"{FILM}{painted.OVERLAID}overlay(numpy.random.RandomState(1).choice((-0.008, 0.008), (90, 160, 1)))\n{RENDER}"
        "scene.use_nodes = False\n",
        "not_a_render_of_the_scene",
    ),
    "a small tint": (
        f"{FILM}{painted.OVERLAID}overlay((0.012, 0, 0))\n{RENDER}scene.use_nodes = False\n",
        "not_a_render_of_the_scene",
    ),
    "a low-contrast figure removed afterwards": (
        f"{FILM}{painted.LOW_CONTRAST}{RENDER}{painted.GONE}",
        "not_a_render_of_the_scene",
    ),
    "a faint cube removed afterwards": (
        f"{FILM}{painted.FAINT_CUBE}{RENDER}{painted.GONE}",
        "not_a_render_of_the_scene",
    ),
    "an object of four pixels removed afterwards": (
        f"{FILM}{painted.FOUR_PIXELS}{RENDER}{painted.GONE}",
        "not_a_render_of_the_scene",
    ),
    "thin letters removed afterwards": (
        f"{FILM}{painted.THIN_TEXT}{RENDER}{painted.GONE}",
        "not_a_render_of_the_scene",
    ),
    "size changed after the render": (
        f"{FILM}{RENDER}scene.render.resolution_x, scene.render.resolution_y = 320, 180\n",
        "not_a_render_of_the_scene",
    ),
    "pixel aspect changed after the render": (
        f"{FILM}{RENDER}scene.render.pixel_aspect_x = 1.5\n",
        "not_a_render_of_the_scene",
    ),
    "quality changed after the render": (
        f"{FILM}scene.render.ffmpeg.constant_rate_factor = 'LOWEST'\n{RENDER}"
        "scene.render.ffmpeg.constant_rate_factor = 'PERC_LOSSLESS'\n",
        "not_a_render_of_the_scene",
    ),
    "another scene is active at the end": (
        f"{FILM}{_OTHER}other.camera = scene.camera; other.collection.objects.link(scene.camera)\n"
        f"{RENDER}bpy.context.window.scene = other\n",
        "other_scene_rendered",
    ),
    "a scene rendered by its name": (
        f"{FILM}{_OTHER}bpy.context.window.scene = other\nbpy.ops.render.render(animation=True, scene='Scene')\n",
        "other_scene_rendered",
    ),
    "frame range changed after the render": (
        f"{FILM}{RENDER}scene.frame_start, scene.frame_end = 4, 11\n",
        "frame_range_changed",
    ),
    "animation run backwards": (
        f"{FILM}{RENDER}for c in cube.animation_data.action.fcurves:\n"
        "    a, b = c.keyframe_points[0].co.y, c.keyframe_points[1].co.y\n"
        "    c.keyframe_points[0].co.y, c.keyframe_points[1].co.y = b, a\n",
        "not_a_render_of_the_scene",
    ),
    "operators replaced before saving": (
        f"{FILM}{RENDER}class Fake:\n    def __getattr__(self, name): return Fake()\n"
        "    def __call__(self, *a, **k): return {'FINISHED'}\nbpy.ops = Fake()\n",
        "scene_not_saved",
    ),
    "movie in the scene": (
        f"{FILM}{RENDER}movie = bpy.data.images.load(os.path.abspath('output.mp4'))\nmovie.use_fake_user = True\n",
        "footage_in_scene",
    ),
    "a painting fills the frame": (f"{FILM}{_PICTURE}{RENDER}", "pictures_fill_frame"),
    "paintings in some frames": (
        f"{FILM}HIDDEN = (1, 3, 5, 8)\n{painted.COMPOSITED}{RENDER}",
        "pictures_fill_frame",
    ),
    "paintings of low contrast": (
        f"{FILM}HIDDEN = ()\n{painted.LOW_CONTRAST_PICTURES}{RENDER}",
        "pictures_fill_frame",
    ),
    "paintings of thin stripes": (f"{FILM}HIDDEN = ()\n{painted.STRIPED_PICTURES}{RENDER}", "pictures_fill_frame"),
    "paintings that hide from single pictures": (
        f"{FILM}HIDDEN = ()\n{painted.COMPOSITED}{painted.SWITCHED_OFF}{RENDER}",
        "pictures_fill_frame",
    ),
    "a painting in layers": (f"{FILM}{painted.LAYERED}{RENDER}", "pictures_fill_frame"),
    "a painting on another tile": (f"{FILM}{painted.TILED}{RENDER}", "pictures_fill_frame"),
    "a painting as the environment": (
        f"{FILM}PAINTED = True\n{painted.ENVIRONMENT}{RENDER}",
        "pictures_fill_frame",
    ),
    "measuring broken by a name": (
        f"{FILM}HIDDEN = ()\n{painted.COMPOSITED}{painted.UNREADABLE_NAME}{RENDER}{painted.SPOIL_NAME}",
        "run_not_finished",
    ),
    "an end that another one contradicts": (
        f"{FILM}{RENDER}{_SAY_OK}raise ValueError('I failed')\n",
        "run_not_finished",
    ),
    "an end, and an exit status": (f"{FILM}{RENDER}{_SAY_OK}os._exit(3)\n", "run_not_finished"),
    "an end, and a loop": (f"{FILM}{RENDER}{_SAY_OK}while True: pass\n", "run_not_finished"),
    "date stamped into the frames": (
        f"{FILM}scene.render.use_stamp = True; scene.render.stamp_font_size = 8\n{RENDER}",
        "stamp_in_frame",
    ),
    "scene too heavy to render again": (
        f"{FILM}{RENDER}scene.render.resolution_x, scene.render.resolution_y = 8000, 8000\n",
        "scene_not_rendered",
    ),
}
"""Name -> (script, code of the problem that must be found)."""
