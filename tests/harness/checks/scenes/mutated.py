"""A good scene, and ways to spoil it: each is seen by the checks that claim to see it (see test_mutations.py)."""

from collections.abc import Callable
from typing import Any

import bpy

from tests.harness.checks.scenes.animated import key
from tests.harness.checks.scenes.looks import camera_at, link, material
from tests.harness.checks.scenes.making import add, ball, collection, cube, plane
from tests.harness.checks.scenes.nodes import join, modifier, tree


def good() -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 31
    scene.render.resolution_x, scene.render.resolution_y = 640, 360
    scene.render.filepath = "//render_"
    wood, red = material("Wood", Base_Color=(0.4, 0.2, 0.1, 1)), material("Red", Base_Color=(0.8, 0.05, 0.05, 1))
    node = wood.node_tree.nodes.new("ShaderNodeTexImage")
    node.image = bpy.data.images.new("grain", 16, 16)
    node.image.pixels = [0.4, 0.2, 0.1, 1.0] * 256
    node.image.pack()
    link(wood, ("Image Texture", "Color"))
    top = cube("top", (0, 0, 1.05), size=1)
    for vertex in top.data.vertices:
        vertex.co.x, vertex.co.y, vertex.co.z = vertex.co.x * 2, vertex.co.y * 2, vertex.co.z * 0.1
    top.data.materials.append(wood)
    top.modifiers.new("Bevel", "BEVEL").width = 0.02
    legs = [
        cube(f"leg{i}", (x, y, 0.5), size=1)
        for i, (x, y) in enumerate(((-0.9, -0.9), (0.9, -0.9), (-0.9, 0.9), (0.9, 0.9)))
    ]
    for leg in legs:
        for vertex in leg.data.vertices:
            vertex.co.x, vertex.co.y = vertex.co.x * 0.1, vertex.co.y * 0.1
        leg.data.materials.append(wood)
        leg.parent = top
        leg.matrix_parent_inverse = top.matrix_basis.inverted()
    collection("Table", top, *legs)
    red_ball = ball("ball", (0, 0, 1.35), radius=0.25)
    red_ball.data.materials.append(red)
    red_ball.shape_key_add(name="Basis")
    red_ball.shape_key_add(name="Squash").points[0].co.z += 0.2
    key(red_ball, "location", {1: (-0.6, 0, 1.35), 31: (0.6, 0, 1.35)})
    plane("ground", size=6).data.materials.append(wood)
    more(scene)


def more(scene: Any) -> None:
    grass = tree("Grass", ("Density", "NodeSocketFloat", 5.0))
    for idname in ("GeometryNodeDistributePointsOnFaces", "GeometryNodeInstanceOnPoints", "GeometryNodeMeshCone"):
        grass.nodes.new(idname)
    join(
        grass,
        ("In", "Geometry", "Distribute Points on Faces", "Mesh"),
        ("In", "Density", "Distribute Points on Faces", "Density"),
        ("Distribute Points on Faces", "Points", "Instance on Points", "Points"),
        ("Cone", "Mesh", "Instance on Points", "Instance"),
        ("Instance on Points", "Instances", "Out", "Geometry"),
    )
    meadow = plane("meadow", (0, 4, 0))
    modifier(meadow, grass)
    scene.camera = camera_at("Shot", (0, -6, 1), (90, 0, 0))
    lamp = bpy.data.lights.new("Key", "AREA")
    lamp.energy = 300
    add("Key", lamp, (0, 0, 4))
    world = bpy.data.worlds.new("World")
    world.use_nodes = True
    scene.world = world
    rig = add("rig", bpy.data.armatures.new("rig"), (3, 0, 0))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones.new("bone").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    skin = cube("skin", (3, 0, 0.5), size=0.5)
    skin.vertex_groups.new(name="bone").add(list(range(8)), 1.0, "REPLACE")
    skin.modifiers.new("Armature", "ARMATURE").object = rig
    watcher = cube("watcher", (-3, 0, 0.5), size=0.5)
    watcher.constraints.new("TRACK_TO").target = bpy.data.objects["ball"]
    driven = cube("driven", (-3, 3, 0.5), size=0.5)
    driven.driver_add("rotation_euler", 2).driver.expression = "frame * 0.1"
    scene.frame_set(1)


def objects(name: str) -> Any:
    return bpy.data.objects[name]


def curves(name: str) -> Any:
    data = objects(name).animation_data
    return data.action.layers[0].strips[0].channelbag(data.action_slot).fcurves


def unlink(name: str) -> None:
    for owner in list(objects(name).users_collection):
        owner.objects.unlink(objects(name))


def paint(name: str, color: tuple[float, float, float, float]) -> None:
    bpy.data.materials[name].node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = color


def set_value(owner: Any, path: str, value: Any) -> None:
    setattr(owner, path, value)


def shift(name: str, axis: int, by: float) -> None:
    objects(name).location[axis] += by


def drop_keys() -> None:
    for curve in list(curves("ball")):
        while len(curve.keyframe_points) > 1:
            curve.keyframe_points.remove(curve.keyframe_points[-1])


def mute_curves() -> None:
    for curve in curves("ball"):
        curve.mute = True


def open_up(name: str) -> None:
    """Take a face away."""
    import bmesh

    made = bmesh.new()
    made.from_mesh(objects(name).data)
    made.faces.ensure_lookup_table()
    made.faces.remove(made.faces[0])
    made.to_mesh(objects(name).data)


def double(name: str) -> None:
    """Every face twice, in the same place."""
    import bmesh

    made = bmesh.new()
    made.from_mesh(objects(name).data)
    bmesh.ops.duplicate(made, geom=made.verts[:] + made.edges[:] + made.faces[:])
    made.to_mesh(objects(name).data)


def wall() -> None:
    cube("wall", (0, -3, 1), size=3)


def external() -> None:
    image = bpy.data.images["grain"]
    image.unpack(method="REMOVE")
    image.source, image.filepath = "FILE", "/somewhere/grain.png"


def python_text() -> None:
    text = bpy.data.texts.new("run.py")
    text.write("print(1)")
    text.use_module = True


def stretch_uv(name: str) -> None:
    for item in objects(name).data.uv_layers[0].uv:
        item.vector = (0.5, 0.5)


def take_out_of_table() -> None:
    bpy.context.scene.collection.objects.link(objects("leg0"))
    bpy.data.collections["Table"].objects.unlink(objects("leg0"))


def flatten_key() -> None:
    basis, squash = objects("ball").data.shape_keys.key_blocks
    squash.points[0].co = basis.points[0].co


def cut(tree: Any, node: str, socket: str) -> None:
    """Take away what feeds an input."""
    tree.links.remove(tree.nodes[node].inputs[socket].links[0])


def need_python() -> None:
    objects("driven").animation_data.drivers[0].driver.expression = "__import__('math').pi"


MUTATIONS: dict[str, Callable[[], Any]] = {
    "a leg is gone": lambda: bpy.data.objects.remove(objects("leg3")),
    "a leg is taken out of the scene": lambda: unlink("leg3"),
    "a leg is hidden in renders": lambda: set_value(objects("leg3"), "hide_render", True),
    "a leg is hidden in viewports": lambda: set_value(objects("leg3"), "hide_viewport", True),
    "a leg has another name": lambda: set_value(objects("leg3"), "name", "Cube.003"),
    "a leg floats": lambda: shift("leg0", 2, 0.2),
    "a leg sinks": lambda: shift("leg0", 2, -0.2),
    "a leg is unparented": lambda: set_value(objects("leg0"), "parent", None),
    "a leg is not in its collection": take_out_of_table,
    "the top is scaled": lambda: set_value(objects("top"), "scale", (1.5, 1, 1)),
    "the top is mirrored": lambda: set_value(objects("top"), "scale", (-1, 1, 1)),
    "the top is inside out": lambda: objects("top").data.flip_normals(),
    "a face of the top is turned": lambda: objects("top").data.polygons[0].flip(),
    "the top has a hole": lambda: open_up("top"),
    "the top is there twice": lambda: double("top"),
    "the bevel has no width": lambda: set_value(objects("top").modifiers[0], "width", 0.0),
    "the bevel is off": lambda: set_value(objects("top").modifiers[0], "show_viewport", False),
    "the bevel is gone": lambda: objects("top").modifiers.clear(),
    "the ball is blue": lambda: paint("Red", (0, 0, 1, 1)),
    "the ball has no material": lambda: objects("ball").data.materials.clear(),
    "the ball's shader is unlinked": lambda: bpy.data.materials["Red"].node_tree.links.clear(),
    "the ball lost its keys": drop_keys,
    "the ball's action is unassigned": lambda: set_value(objects("ball").animation_data, "action_slot", None),
    "the ball's curves are muted": mute_curves,
    "the ball's shape key does nothing": flatten_key,
    "the image is outside the file": external,
    "the texture is unlinked": lambda: cut(bpy.data.materials["Wood"].node_tree, "Principled BSDF", "Base Color"),
    "the UV map is one point": lambda: stretch_uv("top"),
    "the camera looks away": lambda: set_value(objects("Shot"), "rotation_euler", (1.57, 0, 3.14)),
    "there is no camera": lambda: set_value(bpy.context.scene, "camera", None),
    "a wall hides the ball": wall,
    "the lamp is weak": lambda: set_value(bpy.data.lights["Key"], "energy", 1),
    "the lamp looks up": lambda: set_value(objects("Key"), "rotation_euler", (3.14, 0, 0)),
    "the lamp is hidden": lambda: set_value(objects("Key"), "hide_render", True),
    "there is no world": lambda: set_value(bpy.context.scene, "world", None),
    "the meadow is unlinked": lambda: cut(bpy.data.node_groups["Grass"], "Out", "Geometry"),
    "the density is not used": lambda: cut(bpy.data.node_groups["Grass"], "Distribute Points on Faces", "Density"),
    "the skin has no weights": lambda: objects("skin").vertex_groups.clear(),
    "the skin has no armature": lambda: set_value(objects("skin").modifiers[0], "object", None),
    "the bone does not deform": lambda: set_value(objects("rig").data.bones[0], "use_deform", False),
    "the watcher has no target": lambda: set_value(objects("watcher").constraints[0], "target", None),
    "the watcher's constraint is muted": lambda: set_value(objects("watcher").constraints[0], "mute", True),
    "the driver needs Python": need_python,
    "the scene is shorter": lambda: set_value(bpy.context.scene, "frame_end", 11),
    "the picture is smaller": lambda: set_value(bpy.context.scene.render, "resolution_percentage", 50),
    "the output path is absolute": lambda: set_value(bpy.context.scene.render, "filepath", "/tmp/x"),
    "a text runs by itself": python_text,
    "a material is left over": lambda: set_value(bpy.data.materials.new("left"), "use_fake_user", True),
    "something is far away": lambda: cube("stray", (500, 0, 0)),
}  # fmt: skip
"""What is done to the good scene."""

SCENES = {"good": good}
