"""Scenes of modifiers, materials, UV maps, lights, worlds and cameras."""

import math
from typing import Any

import bpy

from tests.harness.checks.scenes.making import add, ball, collection, cube, layer_collection, plane, solid


def modifiers() -> None:
    stacked = cube("Stacked")
    stacked.modifiers.new("Mirror", "MIRROR").use_axis = (True, False, True)
    stacked.modifiers.new("Bevel", "BEVEL").width = 0.1
    stacked.modifiers.new("Subdivision", "SUBSURF").levels = 2
    off = cube("TurnedOff", (4, 0, 0))
    off.modifiers.new("Subdivision", "SUBSURF").show_viewport = False
    idle = cube("Idle", (8, 0, 0))
    idle.modifiers.new("Boolean", "BOOLEAN")
    idle.modifiers.new("Bevel", "BEVEL").width = 0
    idle.modifiers.new("Array", "ARRAY").count = 1
    cut = cube("Cut", (12, 0, 0))
    cut.modifiers.new("Boolean", "BOOLEAN").object = ball("Cutter", (13, 1, 1), hide_render=True)
    outline = [(0, 0), (2, 0), (2, 2), (1, 3), (0, 2)]
    sides = [(i, (i + 1) % 5, (i + 1) % 5 + 5, i + 5) for i in range(5)]
    missed = solid(
        "Missed", [(24 + x, y, z) for z in (0, 1) for x, y in outline], [(4, 3, 2, 1, 0), (5, 6, 7, 8, 9), *sides]
    )
    missed.data.uv_layers.new(name="UVMap").uv[0].vector = (0.5, 0.5)
    missed.data.set_sharp_from_angle(angle=1.0)
    bpy.data.objects["Cutter"].data.uv_layers.new(name="Brought along")
    missed.modifiers.new("Boolean", "BOOLEAN").object = bpy.data.objects["Cutter"]
    weighted = cube("Weighted", (16, 0, 0))
    weighted.modifiers.new("WeightedNormal", "WEIGHTED_NORMAL")
    add("Plain", bpy.data.meshes.new("Plain"), (20, 0, 0))


def material(name: str, **values: Any) -> Any:
    """A material with a Principled BSDF."""
    made = bpy.data.materials.new(name)
    made.use_nodes = True
    for socket, value in values.items():
        made.node_tree.nodes["Principled BSDF"].inputs[socket.replace("_", " ")].default_value = value
    return made


def link(made: Any, output: tuple[str, str], target: tuple[str, str] = ("Principled BSDF", "Base Color")) -> None:
    tree = made.node_tree
    tree.links.new(tree.nodes[output[0]].outputs[output[1]], tree.nodes[target[0]].inputs[target[1]])


def materials() -> None:
    cube("Bare")
    red = material("Red", Base_Color=(0.8, 0.05, 0.05, 1), Roughness=0.3, Metallic=1.0)
    cube("RedCube").data.materials.append(red)
    half = cube("HalfRed")
    half.data.materials.append(red)
    half.data.materials.append(bpy.data.materials.new("NoNodes"))
    bpy.data.materials["NoNodes"].diffuse_color = (0, 0, 1, 1)
    for polygon in half.data.polygons[:3]:
        polygon.material_index = 1
    empty = cube("EmptySlot")
    empty.data.materials.append(None)
    beyond = cube("BeyondSlots")
    beyond.data.materials.append(red)
    for polygon in beyond.data.polygons:
        polygon.material_index = 5
    slot = cube("ObjectSlot")
    slot.data.materials.append(red)
    slot.material_slots[0].link = "OBJECT"
    slot.material_slots[0].material = bpy.data.materials["NoNodes"]
    followed = material("Followed")
    followed.node_tree.nodes.new("ShaderNodeRGB").outputs[0].default_value = (0, 1, 0, 1)
    followed.node_tree.nodes.new("NodeReroute").name = "Reroute"
    link(followed, ("RGB", "Color"), ("Reroute", "Input"))
    link(followed, ("Reroute", "Output"))
    cube("FollowedCube").data.materials.append(followed)
    grouped_material()
    noisy = material("Noisy")
    noisy.node_tree.nodes.new("ShaderNodeTexNoise")
    link(noisy, ("Noise Texture", "Color"))
    noisy.node_tree.nodes.new("ShaderNodeTexVoronoi")  # leads nowhere
    cube("NoisyCube").data.materials.append(noisy)
    muted = noisy.copy()
    muted.name = "Muted"
    muted.node_tree.nodes["Noise Texture"].mute = True
    cube("MutedCube").data.materials.append(muted)
    mixed = material("Mixed")
    mixed.node_tree.nodes.new("ShaderNodeMixShader")
    link(mixed, ("Principled BSDF", "BSDF"), ("Mix Shader", "Shader"))
    link(mixed, ("Mix Shader", "Shader"), ("Material Output", "Surface"))
    cube("MixedCube").data.materials.append(mixed)
    unlinked = material("Unlinked", Base_Color=(1, 0, 0, 1))
    unlinked.node_tree.links.clear()
    cube("UnlinkedCube").data.materials.append(unlinked)
    add("NoFaces", bpy.data.meshes.new("NoFaces"))
    textured("Packed", True)
    textured("Unpacked", False)
    textured("Missing", None)


def grouped_material() -> None:
    """A colour that comes through a group's input, and a noise inside the group."""
    group = bpy.data.node_groups.new("Group", "ShaderNodeTree")
    group.interface.new_socket("Tint", in_out="INPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Out", in_out="OUTPUT", socket_type="NodeSocketColor")
    group.interface.new_socket("Bump", in_out="OUTPUT", socket_type="NodeSocketFloat")
    start, end = group.nodes.new("NodeGroupInput"), group.nodes.new("NodeGroupOutput")
    noise = group.nodes.new("ShaderNodeTexNoise")
    group.links.new(start.outputs["Tint"], end.inputs["Out"])
    group.links.new(noise.outputs[0], end.inputs["Bump"])
    for name, socket in (("Tinted", "Base Color"), ("Bumped", "Roughness")):
        made = material(name)
        node = made.node_tree.nodes.new("ShaderNodeGroup")
        node.node_tree = group
        node.name = "G"
        node.inputs["Tint"].default_value = (0.2, 0.4, 0.6, 1)
        link(made, ("G", "Out" if name == "Tinted" else "Bump"), ("Principled BSDF", socket))
        cube(f"{name}Cube").data.materials.append(made)


def textured(name: str, packed: bool | None) -> None:
    made = material(f"{name}Material")
    node = made.node_tree.nodes.new("ShaderNodeTexImage")
    link(made, ("Image Texture", "Color"))
    if packed is None:
        image = bpy.data.images.new(name, 4, 4)
        image.source = "FILE"
        image.filepath = "//no_such.png"
    else:
        image = bpy.data.images.new(name, 64, 64)
        image.pixels = [0.2, 0.7, 0.4, 1.0] * (64 * 64)
        if packed:
            image.pack()
    node.image = image
    cube(f"{name}Cube").data.materials.append(made)


def uvs() -> None:
    cube("Mapped")
    solid("Unmapped", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)])
    points = cube("AllAtOnePoint")
    points.data.uv_layers[0].uv.foreach_set("vector", [0.5] * (24 * 2))
    grid = plane("Square")
    grid.data.uv_layers.new(name="Second")
    shifted = plane("Shifted")
    for item in shifted.data.uv_layers[0].uv:
        item.vector.x += 1
    stacked = cube("Stacked")
    stacked.data.uv_layers[0].uv.foreach_set("vector", [0, 0, 1, 0, 1, 1, 0, 1] * 6)
    stretched = plane("TwoFaces")
    stretched.data.clear_geometry()
    points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0), (2, 1, 0)]
    stretched.data.from_pydata(points, [], [(0, 1, 2, 3), (1, 4, 5, 2)])
    layer = stretched.data.uv_layers.new(name="UV")
    layer.uv.foreach_set("vector", [0, 0, 0.9, 0, 0.9, 1, 0, 1, 0.9, 0, 1, 0, 1, 1, 0.9, 1])
    bad = plane("NotFinite")
    bad.data.uv_layers[0].uv[0].vector.x = math.nan


def lights() -> None:
    cube("Subject", (0, 0, 0))
    for name, kind, energy in (("Key", "AREA", 500), ("Fill", "AREA", 100), ("Sky", "SUN", 3), ("Bulb", "POINT", 50)):
        lamp = bpy.data.lights.new(name, kind)
        lamp.energy = energy
        add(name, lamp, (0, 0, 5))
    bpy.data.lights["Fill"].color = (1, 0.2, 0.2)
    bpy.data.objects["Fill"].rotation_euler.x = math.radians(90)
    add("Hidden", bpy.data.lights.new("Hidden", "SPOT"), hide_render=True)
    world = bpy.data.worlds.new("Plain")
    world.use_nodes = True
    world.node_tree.nodes["Background"].inputs["Color"].default_value = (0.1, 0.2, 0.3, 1)
    world.node_tree.nodes["Background"].inputs["Strength"].default_value = 0.5
    bpy.context.scene.world = world


def sky() -> None:
    cube("Cube")
    world = bpy.data.worlds.new("Sky")
    bpy.context.scene.world = world
    world.use_nodes = True
    tree = world.node_tree
    environment = tree.nodes.new("ShaderNodeTexEnvironment")
    environment.image = bpy.data.images.new("hdri", 32, 16, float_buffer=True)
    environment.image.pixels = [0.5, 0.6, 0.9, 1.0] * (32 * 16)  # an untouched one is not packed
    environment.image.pack()
    tree.links.new(environment.outputs[0], tree.nodes["Background"].inputs["Color"])
    tree.nodes.new("ShaderNodeTexSky")


def camera_at(name: str, at: tuple[float, float, float], turn: tuple[float, float, float], **values: Any) -> Any:
    data = bpy.data.cameras.new(name)
    for key, value in values.items():
        setattr(data, key, value)
    return add(name, data, at, rotation_euler=[math.radians(angle) for angle in turn])


def camera() -> None:
    """A camera at -Y that looks along +Y."""
    scene = bpy.context.scene
    scene.render.resolution_x, scene.render.resolution_y = 400, 200
    scene.camera = camera_at("Front", (0, -10, 0), (90, 0, 0), lens=50)
    camera_at("Other", (0, 10, 0), (90, 0, 180), lens=85)
    cube("Middle", size=1)
    cube("Behind", (0, -20, 0), size=1)
    cube("Half", (3.6, 0, 0), size=1)
    cube("Around", (0, -10, -2.5), size=1)
    ball("Covered", (0, 4, 0), radius=0.2)
    ball("Veiled", (-1.5, 4, 0), radius=0.2)
    cube("Veil", (-1.1, 2, 0), size=0.6, hide_render=True)
    ball("Bare", (1.5, 4, 0), radius=0.2)
    plane("Backside", (1.5, 2, 1), size=0.5, rotation_euler=(math.radians(-90), 0, 0))
    source = collection("Pair", cube("InPair", (0.9, 0, 0), size=0.5))
    bpy.context.scene.collection.children.unlink(source)
    add("Instancer", None, (0, 0, -1), instance_type="COLLECTION", instance_collection=source)
    scene.timeline_markers.new("switch", frame=20).camera = bpy.data.objects["Other"]
    scene.timeline_markers.new("start", frame=1).camera = bpy.data.objects["Front"]
    tracked = cube("Tracked", (0, 0, 2), size=0.2)
    constraint = tracked.constraints.new("COPY_LOCATION")
    constraint.target = bpy.data.objects["Middle"]


def inside() -> None:
    """The camera in a box, and one near a wall."""
    bpy.context.scene.camera = camera_at("Caught", (0, 0, 0), (90, 0, 0), clip_start=0.5)
    cube("Room", size=6)


def near() -> None:
    bpy.context.scene.camera = camera_at("Near", (0, 0, 0), (90, 0, 0), clip_start=0.5, type="ORTHO", ortho_scale=4)
    plane("Wall", (0, 0.2, 0), size=1, rotation_euler=(math.radians(90), 0, 0))
    ball("Far", (1.5, 8, 0), radius=0.3)


def clipped() -> None:
    """A camera that draws nothing beyond 5 m."""
    bpy.context.scene.camera = camera_at("Short", (0, 0, 0), (90, 0, 0), clip_end=5)
    ball("Drawn", (-1, 4, 0), radius=0.3)
    ball("Cut", (1, 6, 0), radius=0.3)


def panorama() -> None:
    bpy.context.scene.camera = camera_at("Pano", (0, 0, 0), (90, 0, 0), type="PANO")
    cube("Cube", (0, 5, 0))


def unseen() -> None:
    """A camera that looks along +Y at balls side by side, each kept from it, or laid open to it, in another way."""
    scene = bpy.context.scene
    scene.camera = camera_at("Front", (0, -30, 0), (90, 0, 0), lens=50)
    covers = {
        "Clear": material("Clear", Alpha=0.0),
        "Open": material("Open"),
        "Tinted": material("Tinted"),
        "Hollow": material("Hollow"),
        "Half": material("Half", Alpha=0.5),
    }
    for name, kind, color in (("Open", "Transparent", (1, 1, 1, 1)), ("Tinted", "Transparent", (1, 0, 0, 1))):
        _surface(covers[name], f"ShaderNodeBsdf{kind}").inputs["Color"].default_value = color
    _surface(covers["Hollow"], "ShaderNodeHoldout")
    for number, (name, cover) in enumerate(covers.items()):
        ball(name, (2 * number - 8, 0, 4), radius=0.7).data.materials.append(cover)
        ball(f"Behind{name}", (2.1 * number - 8.4, 4, 4.4), radius=0.2)
    for number, name in enumerate(("NotForCameras", "Holdout", "InHoldout", "InIndirect")):
        ball(name, (2 * number - 8, 0, 2), radius=0.7)
        ball(f"Behind{name}", (2.1 * number - 8.4, 4, 2.2), radius=0.2)
    bpy.data.objects["NotForCameras"].visible_camera = False
    bpy.data.objects["Holdout"].is_holdout = True
    collection("Held out", bpy.data.objects["InHoldout"])
    layer_collection("Held out").holdout = True
    collection("Indirect", bpy.data.objects["InIndirect"])
    layer_collection("Indirect").indirect_only = True
    for number, name in enumerate(("MaskedInRenders", "MaskedInViewports", "GrownInViewports", "GrownByNode")):
        ball(name, (2 * number - 8, 0, 0), radius=0.7)
    for name, in_viewport in (("MaskedInRenders", False), ("MaskedInViewports", True)):
        masked = bpy.data.objects[name]
        mask: Any = masked.modifiers.new("Mask", "MASK")
        mask.vertex_group = masked.vertex_groups.new(name="None").name
        mask.show_viewport, mask.show_render = in_viewport, not in_viewport
    grown(bpy.data.objects["GrownInViewports"], False).show_render = False
    grown(bpy.data.objects["GrownByNode"], True)
    bevelled = cube("BevelledInViewports", (2, 0, 0), size=1)
    bevelled.modifiers.new("Bevel", "BEVEL").show_render = False


def _surface(made: Any, idname: str) -> Any:
    """Another shader as the surface of a material."""
    tree = made.node_tree
    shader = tree.nodes.new(idname)
    tree.links.new(shader.outputs[0], tree.nodes["Material Output"].inputs["Surface"])
    return shader


def grown(o: Any, asks: bool) -> Any:
    """Take its mesh away, and let nodes put a ball there: always, or where they are told that it is for a viewport."""
    o.data.clear_geometry()
    group = bpy.data.node_groups.new("Grown", "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    end, grows = group.nodes.new("NodeGroupOutput"), group.nodes.new("GeometryNodeMeshUVSphere")
    source = grows.outputs[0]
    if asks:
        viewport, switch = group.nodes.new("GeometryNodeIsViewport"), group.nodes.new("GeometryNodeSwitch")
        group.links.new(viewport.outputs[0], switch.inputs["Switch"])
        group.links.new(source, switch.inputs["True"])
        source = switch.outputs[0]
    group.links.new(source, end.inputs[0])
    made: Any = o.modifiers.new("Nodes", "NODES")
    made.node_group = group
    return made


def unlit() -> None:
    """A black light, and one of half the energy that it says."""
    for name, color in (("Black", (0, 0, 0)), ("Dim", (0.5, 0.25, 0.1))):
        lamp = add(name, bpy.data.lights.new(name, "POINT")).data
        lamp.energy, lamp.color = 100, color


SCENES = {
    "unlit": unlit,
    "unseen": unseen,
    "modifiers": modifiers,
    "materials": materials,
    "uvs": uvs,
    "lights": lights,
    "sky": sky,
    "camera": camera,
    "inside": inside,
    "near": near,
    "clipped": clipped,
    "panorama": panorama,
}
