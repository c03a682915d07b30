"""Scenes for existence, placement and relations: hidden, instanced, stale, turned, symmetric objects."""

import math
from typing import Any

import bpy

from tests.harness.checks.scenes.making import add, ball, collection, cube, layer_collection, plane, solid


def hidden_objects() -> None:
    cube("Seen")
    cube("HiddenInViewports", hide_viewport=True)
    cube("HiddenInRenders", hide_render=True)
    cube("HiddenByEye").hide_set(True)
    collection("Left out", cube("InLeftOut"))
    layer_collection("Left out").exclude = True
    collection("Unseen", cube("InUnseen")).hide_viewport = True
    collection("Unrendered", cube("InUnrendered")).hide_render = True
    unlinked = bpy.data.collections.new("Unlinked")
    unlinked.use_fake_user = True
    unlinked.objects.link(bpy.data.objects.new("InNoScene", bpy.data.meshes.new("InNoScene")))
    subdivided = cube("Subdivided", hide_viewport=True)
    subdivided.modifiers.new("S", "SUBSURF").levels = 1


def shrunk() -> None:
    """Scaled to nothing: for good, in this frame, by a parent."""
    cube("Nothing", scale=(0, 0, 0))
    cube("Flat", scale=(1, 1, 0))
    child = cube("ChildOfNothing")
    child.parent = bpy.data.objects["Nothing"]
    growing = cube("Growing", scale=(0, 0, 0))
    growing.keyframe_insert("scale", frame=1)
    growing.scale = (1, 1, 1)
    growing.keyframe_insert("scale", frame=20)
    bpy.context.scene.frame_set(1)
    add("Marker", None, scale=(0, 0, 0))


def two_scenes() -> None:
    """The second scene is the active one."""
    cube("InFirstScene")
    second = bpy.data.scenes.new("Second")
    bpy.context.window.scene = second
    cube("InSecondScene")


def instances() -> None:
    source = collection("Tree", cube("Trunk", size=1), cube("Crown", (0, 0, 1), size=1))
    bpy.context.scene.collection.children.unlink(source)
    for i in range(3):
        add(f"Copy{i}", None, (5 * i, 0, 0), instance_type="COLLECTION", instance_collection=source)
    hidden = add("HiddenCopy", None, (0, 9, 0), instance_type="COLLECTION", instance_collection=source)
    hidden.hide_set(True)
    ground = plane("Ground", size=4)
    ground.instance_type = "VERTS"
    leaf = ball("Leaf", radius=0.1)
    leaf.parent = ground
    add("Alone", None)


def copies() -> None:
    first = cube("First")
    add("Linked", first.data, (3, 0, 0))
    add("Copied", first.data.copy(), (6, 0, 0), scale=(2, 2, 2))
    ball("Other", (9, 0, 0))


def placed() -> None:
    ball("TurnedBall", (0, 0, 1), rotation_euler=(0, 0, math.radians(45)))
    cube("TurnedCube", (5, 0, 1), rotation_euler=(0, 0, math.radians(45)))
    offset = cube("Offset", (10, 0, 0))
    for vertex in offset.data.vertices:
        vertex.co.z += 3
    cube("Scaled", (15, 0, 2), scale=(2, 2, 2))
    cube("Mirrored", (20, 0, 1), scale=(-1, 1, 1))
    parent = add("Parent", None, (25, 0, 4), scale=(3, 3, 3))
    cube("Child").parent = parent
    cube("Stretched", (30, 0, 1)).modifiers.new("Array", "ARRAY").count = 3
    add("Words", bpy.data.curves.new("Words", "FONT"), (40, 0, 0)).data.body = "abc"
    solid("Nothing", [], [])
    infinite = solid("Infinite", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], at=(50, 0, 0))
    infinite.data.vertices[0].co.x = float("nan")
    add("Target", None, (0, -10, 0))
    looker = cube("Looker", (0, 0, 60))
    constraint: Any = looker.constraints.new("TRACK_TO")
    constraint.target = bpy.data.objects["Target"]
    constraint.track_axis, constraint.up_axis = "TRACK_NEGATIVE_Z", "UP_Y"
    cube("Flat", (60, 0, 0), scale=(1, 1, 0))


def relations() -> None:
    plane("Table", (0, 0, 1), size=4)
    cube("Cup", (0, 0, 1.6), size=1)
    cube("Shelf", (10, 0, 3), size=1)
    ball("Bowl", (20, 0, 0), radius=3)
    cube("Inside", (20, 0, 0), size=1)
    cube("Halfway", (23, 0, 0), size=1)
    cube("InBoxOnly", (22.6, 2.6, 2.4), size=0.2)
    for i in range(5):
        cube(f"Post{i}", (i * 2, 40, 0), size=1)
    for i in range(4):
        cube(f"Uneven{i}", (i * 2 + (0.5 if i == 2 else 0), 50, 0), size=1)
    lopsided = cube("Lopsided", (0, 60, 0))
    lopsided.data.vertices[0].co.x -= 0.3
    half = cube("Half", (0, 70, 0))
    for vertex in half.data.vertices:
        vertex.co.x += 1
    half.modifiers.new("Mirror", "MIRROR")


def far_away() -> None:
    cube("Near")
    cube("Far", (900, 0, 0))
    source = collection("Source", cube("InSource"))
    bpy.context.scene.collection.children.unlink(source)
    add("Placed", None, (0, 2000, 0), instance_type="COLLECTION", instance_collection=source)


SCENES = {
    "hidden": hidden_objects,
    "shrunk": shrunk,
    "two_scenes": two_scenes,
    "instances": instances,
    "copies": copies,
    "placed": placed,
    "relations": relations,
    "far_away": far_away,
    "empty": lambda: None,
}
