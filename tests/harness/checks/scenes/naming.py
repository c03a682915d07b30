"""Scenes for names, collections, parents, custom properties; and for contact."""

import math

import bpy

from tests.harness.checks.scenes.making import add, ball, collection, cube, plane, solid


def named() -> None:
    arm = collection("Arm")
    hand = bpy.data.collections.new("Hand")
    arm.children.link(hand)
    finger = cube("finger_01")
    bpy.context.scene.collection.objects.unlink(finger)
    hand.objects.link(finger)
    both = cube("in_both")
    arm.objects.link(both)
    base, middle, tip = cube("base"), cube("middle"), cube("tip")
    middle.parent, tip.parent = base, middle
    armature = add("rig", bpy.data.armatures.new("rig"))
    bpy.context.view_layer.objects.active = armature
    bpy.ops.object.mode_set(mode="EDIT")
    armature.data.edit_bones.new("wrist").tail = (0, 0, 1)
    bpy.ops.object.mode_set(mode="OBJECT")
    glove = cube("glove")
    glove.parent, glove.parent_type, glove.parent_bone = armature, "BONE", "wrist"
    base["price"], base["count"], base["is_sold"], base["label"] = 2.5, 3, True, "x"
    base["size"] = [1.0, 2.0]
    base["more"] = {"nested": 1}


def default_names() -> None:
    cube("Cube.001")
    cube("Bowl").data.materials.append(bpy.data.materials.new("Material"))
    add("B\u00e9zierCircle", bpy.data.curves.new("C", "CURVE"))
    collection("Collection 2")


def contacts() -> None:
    cube("Floor", (0, 0, -1))
    cube("OnFloor", (0, 0, 0.5), size=1)
    cube("Sunk", (5, 0, 0.3), size=1)
    plane("Sheet", (5, 0, 0), size=8)
    cube("Floating", (10, 0, 2), size=1)
    cube("Shell", (20, 0, 0), size=4)
    ball("Kernel", (20, 0, 0), radius=0.5)
    # long bars that cross at a distance: no vertex is near the other
    cube("BarX", (30, 0, 0), size=1, scale=(10, 0.2, 0.2))
    cube("BarY", (30.3, 0, 0.25), size=1, scale=(0.2, 10, 0.2))
    cube("BarZ", (30.3, 1, 0.05), size=1, scale=(0.2, 0.2, 10))
    # one object far from its origin and turned: a tree in local space would miss it
    parent = add("Turned", None, (40, 0, 0), rotation_euler=(0, 0, math.radians(90)), scale=(2, 2, 2))
    cube("Carried", (2, 0, 0), size=1).parent = parent
    cube("Carrier", (40, 6, 0))
    add("NoMesh", None)
    solid("Wire", [(0, 0, 9), (1, 0, 9)], [], [(0, 1)])


def table() -> None:
    cube("top", (0, 0, 1), size=1, scale=(2, 2, 0.1))
    for i, (x, y) in enumerate(((-0.9, -0.9), (0.9, -0.9), (-0.9, 0.9))):
        cube(f"leg{i}", (x, y, 0.475), size=1, scale=(0.1, 0.1, 0.95))
    cube("short_leg", (0.9, 0.9, 0.425), size=1, scale=(0.1, 0.1, 0.95))
    two = solid(
        "two_shells",
        [(0, 0, 5), (1, 0, 5), (0, 1, 5), (0, 0, 7), (1, 0, 7), (0, 1, 7)],
        [(0, 1, 2), (3, 4, 5)],
    )
    two.name = "two_shells"
    source = collection("Bead", ball("bead", radius=0.5))
    bpy.context.scene.collection.children.unlink(source)
    for i in range(3):
        add(f"string{i}", None, (10 + i, 0, 0), instance_type="COLLECTION", instance_collection=source)


def long_name() -> None:
    cube("x" * 63)


def many() -> None:
    """Objects that share one mesh: their state takes a while to read."""
    first = cube("Many0")
    for number in range(1, 3000):
        add(f"Many{number}", first.data, (number, 0, 0))


def not_finite() -> None:
    cube("Sound")
    cube("Broken").data.vertices[0].co.x = float("nan")


SCENES = {
    "long_name": long_name,
    "many": many,
    "not_finite": not_finite,
    "named": named,
    "default_names": default_names,
    "contacts": contacts,
    "table": table,
}
