"""Makes one file of the corpus, in whatever Blender runs it: `python make.py FILE.blend`, from 2.79 to 5.x.

The same scene in every version, made by what that version has for it: layers or collections, auto smooth or sharp
edges, flat or layered actions. Written for the oldest interpreter among them (3.6). README.md says which Blenders
made the files.
"""

import math
import os
import struct
import sys
import zlib
from pathlib import Path
from typing import Any

import bpy

VERSION = bpy.app.version[:2]
HAS_COLLECTIONS = VERSION >= (2, 80)
SOCKETS = (  # Principled BSDF: its names today, up to 3.x, the value
    ("Metallic", "Metallic", 0.25),
    ("Roughness", "Roughness", 0.4),
    ("Specular IOR Level", "Specular", 0.3),
    ("Transmission Weight", "Transmission", 0.2),
    ("Coat Weight", "Clearcoat", 0.6),
)


def main(path: str) -> None:
    clear()
    scene = bpy.context.scene
    scene.name = "Scene"
    settings(scene)
    world(scene)
    cube = solid("Cube", (0, 0, 1))
    cube["serial"] = 7
    cube.data.materials.append(red())
    bevel = cube.modifiers.new("Bevel", "BEVEL")
    bevel.width = 0.1
    cube.modifiers.new("Subdivision", "SUBSURF").levels = 1
    painted_ground(path)
    smooth_drum()
    walker()
    rig()
    keyed_shapes()
    hairy()
    curve_and_label()
    camera_and_light(scene, cube)
    drivers()
    offstage()
    if VERSION >= (3, 0):
        nodes_object()
    falling(scene)
    text = bpy.data.texts.new("startup.py")
    text.write("print('hello')\n")
    text.use_module = True
    bpy.data.scenes.new("Second")
    link_library(path)
    scene.frame_set(1)
    bpy.ops.wm.save_as_mainfile(filepath=path, compress=True)


def clear() -> None:
    for name in ("objects", "meshes", "materials", "cameras", "worlds", "lamps", "lights", "collections", "brushes"):
        blocks: Any = getattr(bpy.data, name, ())
        for block in list(blocks):
            blocks.remove(block)


def add(name: str, data: Any, at: Any = (0, 0, 0)) -> Any:
    o = bpy.data.objects.new(name, data)
    (bpy.context.scene.collection if HAS_COLLECTIONS else bpy.context.scene).objects.link(o)
    o.location = at
    return o


def solid(name: str, at: Any, half: float = 1.0) -> Any:
    """A cube of six quads, with a UV map."""
    points = [(x * half, y * half, z * half) for z in (-1, 1) for y in (-1, 1) for x in (-1, 1)]
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return add(name, mesh(name, points, faces), at)


def mesh(name: str, points: Any, faces: Any) -> Any:
    made = bpy.data.meshes.new(name)
    made.from_pydata(points, [], faces)
    layer = made.uv_layers.new() if HAS_COLLECTIONS else (made.uv_textures.new(), made.uv_layers[0])[1]
    for face in made.polygons:
        for n, loop in enumerate(face.loop_indices):
            column, row = face.index % 8, face.index // 8
            layer.data[loop].uv = ((column + (n in (1, 2))) / 8, (row + (n > 1)) / 8)
    made.update()
    return made


def settings(scene: Any) -> None:
    scene.unit_settings.system = "METRIC"
    scene.unit_settings.scale_length = 0.01
    scene.frame_start, scene.frame_end = 1, 24
    scene.render.fps = 30
    scene.render.resolution_x, scene.render.resolution_y = 320, 240
    scene.render.resolution_percentage = 100
    scene.render.filepath = "//out_"
    engines = {"BLENDER_RENDER", "BLENDER_EEVEE", "BLENDER_EEVEE_NEXT"}
    for engine in sorted(engines, reverse=True):  # each version knows one of them
        try:
            scene.render.engine = engine
        except TypeError:
            continue


def world(scene: Any) -> None:
    scene.world = bpy.data.worlds.new("World")
    scene.world.use_nodes = True
    background = next(n for n in scene.world.node_tree.nodes if n.type == "BACKGROUND")
    background.inputs["Color"].default_value = (0.1, 0.2, 0.3, 1)
    background.inputs["Strength"].default_value = 0.5


def shader(name: str) -> Any:
    """A material whose output is fed by a Principled BSDF; that and its tree."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    output = tree.nodes.new("ShaderNodeOutputMaterial")
    principled = tree.nodes.new("ShaderNodeBsdfPrincipled")
    tree.links.new(principled.outputs[0], output.inputs["Surface"])
    return material, tree, principled


def red() -> Any:
    material, _, principled = shader("Red")
    principled.inputs["Base Color"].default_value = (0.8, 0.1, 0.05, 1)
    for today, before, value in SOCKETS:
        (principled.inputs.get(today) or principled.inputs[before]).default_value = value
    return material


def painted_ground(path: str) -> None:
    """A floor with a packed picture of 4 x 4 pixels."""
    material, tree, principled = shader("Painted")
    file = Path(path + ".png")
    file.write_bytes(png())
    picture = bpy.data.images.load(str(file))
    picture.pack()
    picture.name, picture.filepath = "Picture", "//picture.png"
    file.unlink()
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = picture
    tree.links.new(texture.outputs["Color"], principled.inputs["Base Color"])
    ground = add("Ground", mesh("Ground", [(-8, -8, 0), (8, -8, 0), (8, 8, 0), (-8, 8, 0)], [(0, 1, 2, 3)]))
    ground.data.materials.append(material)


def png() -> bytes:
    """4 x 4 pixels of green. By hand, since the Blender that made the file of 2.79 was built without PNG."""
    rows = (b"\0" + bytes((50, 150, 80)) * 4) * 4
    parts = (b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(held)) + kind + held + struct.pack(">I", zlib.crc32(kind + held)) for kind, held in parts
    )


def smooth_drum() -> None:
    """All faces smooth, but for the edges over 30 degrees."""
    n = 16
    ring = [(math.cos(2 * math.pi * i / n), math.sin(2 * math.pi * i / n)) for i in range(n)]
    points = [(x, y, z) for z in (-1, 1) for x, y in ring]
    faces: Any = [(i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)]
    faces += [tuple(range(n - 1, -1, -1)), tuple(range(n, 2 * n))]
    drum = add("Drum", mesh("Drum", points, faces), (4, 0, 1))
    for face in drum.data.polygons:
        face.use_smooth = True
    if hasattr(drum.data, "use_auto_smooth"):
        drum.data.use_auto_smooth = True
        drum.data.auto_smooth_angle = math.radians(30)
    else:
        drum.data.set_sharp_from_angle(angle=math.radians(30))


def walker() -> None:
    """Moves 6 along X in 24 frames, linear, and over again."""
    o = solid("Walker", (-3, -4, 0.5), 0.5)
    for frame, x in ((1, -3), (24, 3)):
        o.location[0] = x
        o.keyframe_insert("location", index=0, frame=frame)
    for curve in curves(o.animation_data.action):
        curve.modifiers.new("CYCLES")
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"


def curves(action: Any) -> Any:
    return action.fcurves if hasattr(action, "fcurves") else action.layers[0].strips[0].channelbags[0].fcurves


def activate(o: Any) -> None:
    if HAS_COLLECTIONS:
        bpy.context.view_layer.objects.active = o
        o.select_set(True)
    else:
        bpy.context.scene.objects.active = o
        o.select = True


def rig() -> None:
    """A skin of two boxes' height on two bones, the upper one turned by a key."""
    armature = bpy.data.armatures.new("Rig")
    o = add("Rig", armature, (-4, 0, 0))
    activate(o)
    bpy.ops.object.mode_set(mode="EDIT")
    root, tip = armature.edit_bones.new("Root"), armature.edit_bones.new("Tip")
    root.head, root.tail = (0, 0, 0), (0, 0, 1)
    tip.head, tip.tail, tip.parent = (0, 0, 1), (0, 0, 2), root
    bpy.ops.object.mode_set(mode="OBJECT")
    skin = solid("Skin", (0, 0, 1))
    skin.parent = o
    for name, low in (("Root", True), ("Tip", False)):
        group = skin.vertex_groups.new(name=name)
        group.add([v.index for v in skin.data.vertices if (v.co.z < 0) == low], 1.0, "REPLACE")
    modifier = skin.modifiers.new("Armature", "ARMATURE")
    modifier.object = o
    bone = o.pose.bones["Tip"]
    bone.rotation_mode = "XYZ"
    for frame, angle in ((1, 0.0), (24, 0.5)):
        bone.rotation_euler[0] = angle
        bone.keyframe_insert("rotation_euler", index=0, frame=frame)


def keyed_shapes() -> None:
    o = solid("Shaped", (-4, 4, 1))
    o.shape_key_add(name="Basis")
    key = o.shape_key_add(name="Tall")
    for point in key.data:
        point.co[2] *= 2
    key.value = 0.5


def hairy() -> None:
    """A particle system of 20 hairs."""
    o = solid("Hairy", (4, 4, 1))
    o.modifiers.new("Hair", "PARTICLE_SYSTEM")
    settings = o.particle_systems[0].settings
    settings.type = "HAIR"
    settings.count = 20


def curve_and_label() -> None:
    curve = bpy.data.curves.new("Pipe", "CURVE")
    curve.dimensions = "3D"
    curve.bevel_depth = 0.2
    spline = curve.splines.new("POLY")
    spline.points.add(1)
    spline.points[0].co, spline.points[1].co = (0, 0, 1, 1), (0, 2, 1, 1)
    add("Pipe", curve, (2, 4, 0))
    label = bpy.data.curves.new("Label", "FONT")
    label.body = "old"
    add("Label", label, (0, -4, 0.5))


def camera_and_light(scene: Any, aim: Any) -> None:
    camera = add("Camera", bpy.data.cameras.new("Camera"), (0, -16, 8))
    camera.data.lens = 35
    track = camera.constraints.new("TRACK_TO")
    track.target, track.track_axis, track.up_axis = aim, "TRACK_NEGATIVE_Z", "UP_Y"
    scene.camera = camera
    lights = bpy.data.lights if HAS_COLLECTIONS else bpy.data.lamps
    sun = lights.new("Sun", "SUN")
    sun.energy, sun.color = 2.0, (1.0, 0.5, 0.25)
    add("Sun", sun, (0, 0, 8))
    point = lights.new("Bulb", "POINT")
    point.energy = 100.0
    add("Bulb", point, (3, -3, 5))


def drivers() -> None:
    """One that is plain, one that needs Python."""
    o = solid("Driven", (0, 6, 0.5), 0.5)
    o.driver_add("scale", 2).driver.expression = "1 + 1"
    o.driver_add("rotation_euler", 0).driver.expression = "len('ab')"


def offstage() -> None:
    """In the file, and not in the picture: on another layer, later in a collection that is left out; one is hidden."""
    aside = solid("Offstage", (0, 0, 20))
    hidden = solid("Unrendered", (6, 0, 1))
    hidden.hide_render = True
    if HAS_COLLECTIONS:
        collection = bpy.data.collections.new("Aside")
        bpy.context.scene.collection.children.link(collection)
        bpy.context.scene.collection.objects.unlink(aside)
        collection.objects.link(aside)
        bpy.context.view_layer.layer_collection.children["Aside"].exclude = True
    else:
        aside.layers = [n == 11 for n in range(20)]


def nodes_object() -> None:
    """Geometry nodes that join a grid of `Count` points a side to what comes in."""
    group = bpy.data.node_groups.new("Join grid", "GeometryNodeTree")
    if hasattr(group, "interface"):
        group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        count = group.interface.new_socket("Count", in_out="INPUT", socket_type="NodeSocketInt")
        group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        group.inputs.new("NodeSocketGeometry", "Geometry")
        count = group.inputs.new("NodeSocketInt", "Count")
        group.outputs.new("NodeSocketGeometry", "Geometry")
    count.default_value = 5
    names = ("NodeGroupInput", "GeometryNodeMeshGrid", "GeometryNodeJoinGeometry", "NodeGroupOutput")
    source, grid, join, output = (group.nodes.new(name) for name in names)
    group.links.new(source.outputs["Count"], grid.inputs["Vertices X"])
    group.links.new(source.outputs["Count"], grid.inputs["Vertices Y"])
    group.links.new(source.outputs["Geometry"], join.inputs[0])
    group.links.new(grid.outputs[0], join.inputs[0])
    group.links.new(join.outputs[0], output.inputs[0])
    solid("Noded", (-6, -4, 1)).modifiers.new("Nodes", "NODES").node_group = group


def falling(scene: Any) -> None:
    """A rigid body 5 above the floor, which is a passive one."""
    if not bpy.app.build_options.bullet:
        return
    bpy.ops.rigidbody.world_add()
    for name, kind in (("Ground", "PASSIVE"), ("Faller", "ACTIVE")):
        o = bpy.data.objects[name] if kind == "PASSIVE" else solid(name, (6, -5, 5), 0.5)
        activate(o)
        bpy.ops.rigidbody.object_add(type=kind)


def link_library(path: str) -> None:
    """An object of another file, which is then gone: as with most files that are passed on."""
    library = path + ".library.blend"
    block = solid("Linked", (-7, 4, 1), 0.5)
    bpy.data.libraries.write(library, {block})
    bpy.data.objects.remove(block, do_unlink=True)
    with bpy.data.libraries.load(library, link=True) as (_, wanted):
        wanted.objects = ["Linked"]
    (bpy.context.scene.collection if HAS_COLLECTIONS else bpy.context.scene).objects.link(wanted.objects[0])
    wanted.objects[0].library.filepath = "//library.blend"
    Path(library).unlink()


main(str(Path(sys.argv[-1]).absolute()))
sys.stdout.flush()
os._exit(0)  # the exit of Blender 4.5 as a module may hang
