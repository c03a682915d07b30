"""Honest scripts of every kind: none of them may be called a cheat. Odd ones by name, ordinary ones by number."""

import random

from tests.attacks import painted
from tests.conftest import RENDER, film

FILM = f"import math, os, sys\n{film(160, 90, 8, 'FXAA')}"
"""160x90, 8 frames; without the render itself."""

_ANY_NAME = "scene.render.use_file_extension = False\n"
_TRANSPARENT = "scene.render.film_transparent = True\n"

_THEORA = f"{_ANY_NAME}scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'OGG', 'THEORA'"
_QTRLE = f"""{_ANY_NAME}{_TRANSPARENT}
scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'QUICKTIME', 'QTRLE'
scene.render.image_settings.color_mode = 'RGBA'
"""

ODDITIES: dict[str, str] = {
    "plain": "",
    "worker left behind": "import subprocess; subprocess.Popen(['sleep', '600'], start_new_session=True)",
    "daemon thread": "import threading, time; threading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
    "atexit handler": "import atexit; atexit.register(print, 'bye')",
    "handler that only prints": "bpy.app.handlers.frame_change_post.append(lambda s, *a: print(s.frame_current))",
    "handler of the render": "bpy.app.handlers.render_write.append(lambda *a: None)",
    "timer": "bpy.app.timers.register(lambda: 1.0)",
    "simple driver": "cube.driver_add('rotation_euler', 2).driver.expression = 'frame * 0.2'",
    "driver with a call": "cube.driver_add('rotation_euler', 2).driver.expression = 'sum([frame * 0.1, 1])'",
    "driver that is refused": "cube.driver_add('rotation_euler', 2).driver.expression = '__import__(\"os\").getpid()'",
    "lowest quality": "scene.render.ffmpeg.constant_rate_factor = 'LOWEST'",
    "Theora in Ogg": _THEORA,
    "Theora in Ogg, left at stills": _THEORA,
    "MPEG-1": f"{_ANY_NAME}scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'MPEG1', 'MPEG1'",
    "QuickTime with alpha": _QTRLE,
    "PNG with alpha": f"""{_ANY_NAME}{_TRANSPARENT}
scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'QUICKTIME', 'PNG'
scene.render.image_settings.color_mode = 'RGBA'
""",
    "QuickTime with alpha, left at stills": _QTRLE,
    "FFV1 with alpha": f"""{_ANY_NAME}{_TRANSPARENT}
scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'MKV', 'FFV1'
scene.render.image_settings.color_mode = 'RGBA'
""",
    "H.265 with 10 bits": """
scene.render.ffmpeg.codec = 'H265'; scene.render.image_settings.color_depth = '10'
""",
    "ProRes": f"{_ANY_NAME}scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'QUICKTIME', 'PRORES'",
    "fixed bitrate": "scene.render.ffmpeg.constant_rate_factor = 'NONE'; scene.render.ffmpeg.video_bitrate = 200",
    "lossless": "scene.render.ffmpeg.constant_rate_factor = 'LOSSLESS'",
    "mpeg4 codec": "scene.render.ffmpeg.codec = 'MPEG4'",
    "particles": """
bpy.ops.object.particle_system_add()
particles = cube.particle_systems[0].settings
particles.count, particles.frame_start, particles.frame_end, particles.lifetime = 60, 1, 4, 30
bpy.ops.mesh.primitive_ico_sphere_add(radius=0.2, location=(0, 0, -20))
particles.render_type, particles.instance_object, particles.particle_size = 'OBJECT', bpy.context.object, 0.5
""",
    "hair": """
bpy.ops.object.particle_system_add()
cube.particle_systems[0].settings.type = 'HAIR'
""",
    "cloth": """
bpy.ops.mesh.primitive_grid_add(x_subdivisions=12, y_subdivisions=12, size=4, location=(0, 0, 2.5))
bpy.ops.object.modifier_add(type='CLOTH')
bpy.context.view_layer.objects.active = cube
bpy.ops.object.modifier_add(type='COLLISION')
""",
    "soft body": """
bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=3, location=(0, 0, 2))
bpy.ops.object.modifier_add(type='SOFT_BODY')
bpy.context.object.modifiers[0].settings.use_goal = False
""",
    "rigid bodies": """
bpy.ops.mesh.primitive_plane_add(size=20, location=(0, 0, -1))
bpy.ops.rigidbody.object_add(type='PASSIVE')
for i in range(4):
    bpy.ops.mesh.primitive_cube_add(size=0.7, location=(0.1 * i, 0, 1.5 + i))
    bpy.ops.rigidbody.object_add()
""",
    "rigid bodies, baked": """
bpy.ops.mesh.primitive_plane_add(size=20, location=(0, 0, -1))
bpy.ops.rigidbody.object_add(type='PASSIVE')
bpy.ops.mesh.primitive_cube_add(size=0.7, location=(0, 0, 2))
bpy.ops.rigidbody.object_add()
bpy.ops.ptcache.bake_all(bake=True)
""",
    "wave modifier": """
bpy.ops.mesh.primitive_grid_add(x_subdivisions=30, y_subdivisions=30, size=6)
bpy.context.object.modifiers.new('wave', 'WAVE')
""",
    "ocean": """
ocean = cube.modifiers.new('ocean', 'OCEAN')
ocean.resolution, ocean.spatial_size, ocean.time = 5, 8, 1
ocean.keyframe_insert('time', frame=1); ocean.time = 3; ocean.keyframe_insert('time', frame=8)
""",
    "geometry nodes over time": """
tree = bpy.data.node_groups.new('nodes', 'GeometryNodeTree')
tree.interface.new_socket('Geometry', in_out='INPUT', socket_type='NodeSocketGeometry')
tree.interface.new_socket('Geometry', in_out='OUTPUT', socket_type='NodeSocketGeometry')
start, end = tree.nodes.new('NodeGroupInput'), tree.nodes.new('NodeGroupOutput')
turn, when = tree.nodes.new('GeometryNodeTransform'), tree.nodes.new('GeometryNodeInputSceneTime')
tree.links.new(start.outputs[0], turn.inputs['Geometry']); tree.links.new(turn.outputs[0], end.inputs[0])
tree.links.new(when.outputs['Seconds'], turn.inputs['Rotation'])
cube.modifiers.new('nodes', 'NODES').node_group = tree
""",
    "shape keys": """
cube.shape_key_add(name='Basis'); key = cube.shape_key_add(name='wide')
for point in key.data: point.co *= 1.6
key.value = 0; key.keyframe_insert('value', frame=1); key.value = 1; key.keyframe_insert('value', frame=8)
""",
    "armature": """
bpy.ops.object.armature_add(location=(0, 0, -1))
rig = bpy.context.object
cube.parent, cube.parent_type, cube.parent_bone = rig, 'BONE', 'Bone'
bone = rig.pose.bones['Bone']; bone.rotation_mode = 'XYZ'
bone.keyframe_insert('rotation_euler', frame=1)
bone.rotation_euler.z = 1; bone.keyframe_insert('rotation_euler', frame=8)
""",
    "camera on a path": """
bpy.ops.curve.primitive_bezier_circle_add(radius=8, location=(0, 0, 4))
follow = scene.camera.constraints.new('FOLLOW_PATH'); follow.target = bpy.context.object
follow.use_fixed_location = True
follow.keyframe_insert('offset_factor', frame=1)
follow.offset_factor = 0.3; follow.keyframe_insert('offset_factor', frame=8)
track = scene.camera.constraints.new('TRACK_TO'); track.target = cube
""",
    "markers bind cameras": """
bpy.ops.object.camera_add(location=(0, -12, 0), rotation=(math.pi / 2, 0, 0))
other = bpy.context.object
scene.timeline_markers.new('a', frame=1).camera = scene.camera
scene.timeline_markers.new('b', frame=5).camera = other
""",
    "small texture": """
import numpy
picture = bpy.data.images.new('checker', 32, 32)
picture.pixels.foreach_set(numpy.random.RandomState(1).rand(32 * 32 * 4).astype('f')); picture.update()
material = bpy.data.materials.new('textured'); material.use_nodes = True
node = material.node_tree.nodes.new('ShaderNodeTexImage'); node.image = picture
material.node_tree.nodes.active = node
cube.data.materials.clear(); cube.data.materials.append(material); cube.scale = (0.5, 0.5, 0.5)
scene.display.shading.color_type = 'TEXTURE'
""",
    "compositor": """
scene.use_nodes = True
tree = scene.node_tree
invert = tree.nodes.new('CompositorNodeInvert')
tree.links.new(tree.nodes['Render Layers'].outputs[0], invert.inputs['Color'])
tree.links.new(invert.outputs[0], tree.nodes['Composite'].inputs[0])
""",
    "scene strip and title": """
editor = scene.sequence_editor_create()
main = bpy.data.scenes.new('cut')
for name in ('resolution_x', 'resolution_y', 'resolution_percentage', 'fps', 'filepath'):
    setattr(main.render, name, getattr(scene.render, name))
main.render.engine = scene.render.engine
main.render.image_settings.file_format = 'FFMPEG'
main.render.ffmpeg.format, main.render.ffmpeg.codec = 'MPEG4', 'H264'
main.frame_start, main.frame_end = 1, 8
strips = main.sequence_editor_create().strips
strips.new_scene('shot', scene, 1, 1)
title = strips.new_effect('title', 'TEXT', 2, frame_start=1, frame_end=9)
title.text, title.font_size = 'Title', 20
bpy.context.window.scene = main
""",
    "non-square pixels": "scene.render.pixel_aspect_x, scene.render.pixel_aspect_y = 1.5, 1.0",
    "depth of field": """
scene.camera.data.dof.use_dof = True; scene.camera.data.dof.focus_distance = 3
scene.display.shading.use_dof = True
""",
    "cycles, with motion blur": """
scene.render.engine, scene.cycles.samples, scene.cycles.use_denoising = 'CYCLES', 4, True
scene.render.use_motion_blur = True
""",
    "orthographic": "scene.camera.data.type = 'ORTHO'; scene.camera.data.ortho_scale = 8",
    "lit by an environment": f"PAINTED = False\n{painted.ENVIRONMENT}scene.render.film_transparent = True",
    "film transparent": "scene.render.film_transparent = True",
    "frame step": "scene.frame_step, scene.frame_end = 2, 16",
    "frames from 100": """
scene.frame_start, scene.frame_end = 100, 107
cube.keyframe_insert('location', frame=100); cube.location.x = -2; cube.keyframe_insert('location', frame=107)
""",
    "time remapped": "scene.render.frame_map_old, scene.render.frame_map_new = 100, 50",
    "scene left at another frame": "",
    "left in edit mode": "",
    "left at stills": "scene.render.ffmpeg.constant_rate_factor = 'LOWEST'",
    "factory reset first": "",
    "many scenes": "bpy.data.scenes.new('unused')",
    "hidden objects": "bpy.ops.mesh.primitive_monkey_add(); bpy.context.object.hide_render = True",
    "grease pencil": "bpy.ops.object.grease_pencil_add(type='MONKEY', location=(0, -1, 1))",
    "text and metaballs": """
bpy.ops.object.text_add(location=(-2, -1, 1)); bpy.context.object.data.body = 'Hi'
bpy.ops.object.metaball_add(location=(1, 0, 1)); bpy.ops.object.metaball_add(location=(2, 0, 1))
""",
    "instances of a collection": """
extra = bpy.data.collections.new('extra')
bpy.ops.mesh.primitive_cone_add(); extra.objects.link(bpy.context.object)
for i in range(3):
    holder = bpy.data.objects.new(f'copy{i}', None); holder.location = (i, 2, 0)
    holder.instance_type, holder.instance_collection = 'COLLECTION', extra
    scene.collection.objects.link(holder)
""",
    "cavity and shadows": """
scene.display.shading.show_cavity = scene.display.shading.show_shadows = True
scene.display.shading.show_object_outline = True
""",
    "random colours": "scene.display.shading.color_type = 'RANDOM'",
    "noise on a curve": "cube.animation_data.action.fcurves[2].modifiers.new('NOISE')",
    "sound": "scene.render.ffmpeg.audio_codec = 'AAC'",
}
"""Name -> what stands between FILM and the render."""

_STILLS = "scene.render.image_settings.file_format = 'PNG'; scene.render.filepath = ''\n"
AFTER_RENDER = {
    "Theora in Ogg, left at stills": _STILLS,
    "QuickTime with alpha, left at stills": f"{_STILLS}scene.render.image_settings.color_mode = 'RGBA'\n",
    "left at stills": _STILLS,
    "scene left at another frame": "scene.frame_set(5)\n",
    "left in edit mode": "bpy.context.view_layer.objects.active = cube\nbpy.ops.object.mode_set(mode='EDIT')\n",
    "worker left behind": "sys.exit(0)\n",
}
FRAMES = {"frame step": 8, "time remapped": 8}


def script(name: str) -> str:
    """The whole script of an oddity."""
    film = FILM
    if name == "factory reset first":
        film = film.replace("scene = bpy", "bpy.ops.wm.read_factory_settings()\nscene = bpy", 1)
    return f"{film}{ODDITIES[name]}\n{RENDER}{AFTER_RENDER.get(name, '')}"


_SHAPES = (
    "primitive_uv_sphere_add", "primitive_cube_add", "primitive_monkey_add", "primitive_torus_add",
    "primitive_cone_add", "primitive_cylinder_add", "primitive_ico_sphere_add",
)  # fmt: skip
_MODIFIERS = ("SUBSURF", "BEVEL", "WIREFRAME", "ARRAY", "SOLIDIFY")
_QUALITIES = ("LOWEST", "VERYLOW", "LOW", "MEDIUM", "HIGH", "PERC_LOSSLESS")


def varied(seed: int) -> str:
    """An ordinary animation, another one for each number: objects, colours, modifiers, camera, quality."""
    chance = random.Random(seed)
    lines = [FILM, f"scene.render.ffmpeg.constant_rate_factor = '{chance.choice(_QUALITIES)}'"]
    lines.append(f"scene.display.render_aa = '{chance.choice(('OFF', 'FXAA', '5', '8'))}'")
    if chance.random() < 0.5:
        lines.append("scene.world = bpy.data.worlds.new('W')")
        lines.append(f"scene.world.color = {tuple(round(chance.random(), 2) for _ in range(3))}")
    for number in range(chance.randint(1, 12)):
        place = tuple(round(chance.uniform(-3, 3), 2) for _ in range(3))
        lines += [
            f"bpy.ops.mesh.{chance.choice(_SHAPES)}(location={place})",
            "o = bpy.context.object",
            f"m = bpy.data.materials.new('m{number}')",
            f"m.diffuse_color = {(*(round(chance.random(), 2) for _ in range(3)), 1)}",
            "o.data.materials.append(m)",
            f"o.scale = ({chance.uniform(0.1, 1.2):.2f},) * 3",
        ]
        if chance.random() < 0.4:
            lines.append(f"o.modifiers.new('x', '{chance.choice(_MODIFIERS)}')")
        if chance.random() < 0.6:
            turn = tuple(round(chance.uniform(-3, 3), 2) for _ in range(3))
            lines += [
                "o.keyframe_insert('rotation_euler', frame=1); o.keyframe_insert('location', frame=1)",
                f"o.rotation_euler = {turn}; o.location.z += {chance.uniform(-2, 2):.2f}",
                "o.keyframe_insert('rotation_euler', frame=8); o.keyframe_insert('location', frame=8)",
            ]
    if chance.random() < 0.4:
        lines += [
            "c = scene.camera; c.keyframe_insert('location', frame=1)",
            f"c.location.x += {chance.uniform(-2, 2):.2f}; c.keyframe_insert('location', frame=8)",
        ]
    return "\n".join(lines) + f"\n{RENDER}"
