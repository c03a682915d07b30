"""Scenes of animation, rigs, physics."""

import math
from typing import Any

import bpy

from tests.harness.checks.scenes.making import add, ball, cube, plane


def key(o: Any, path: str, values: dict[int, Any], index: int = -1) -> None:
    """Key a property."""
    for frame, value in values.items():
        if index < 0:
            setattr(o, path, value)
        else:
            getattr(o, path)[index] = value
        o.keyframe_insert(path, frame=frame, index=index)


def motion() -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 41, 24
    key(cube("Slider"), "location", {1: (0, 0, 0), 41: (4, 0, 0)})
    key(cube("Spinner", (0, 5, 0)), "rotation_euler", {1: (0, 0, 0), 41: (0, 0, math.pi)})
    key(cube("Returner", (0, 10, 0)), "location", {1: (0, 10, 0), 21: (2, 10, 0), 41: (0, 10, 0)})
    key(cube("Constant", (0, 15, 0)), "location", {1: (0, 15, 0), 41: (0, 15, 0)})
    cube("Still", (0, 20, 0))
    linear = cube("Linear", (0, 25, 0))
    key(linear, "location", {1: 0, 41: 8}, index=0)
    curve = linear.animation_data.action.layers[0].strips[0].channelbag(linear.animation_data.action_slot).fcurves[0]
    for point in curve.keyframe_points:
        point.interpolation = "LINEAR"
    curve.modifiers.new("CYCLES")
    two_slots()
    no_slot = cube("NoSlot", (0, 40, 0))
    no_slot.animation_data_create().action = bpy.data.objects["Slider"].animation_data.action
    no_slot.animation_data.action_slot = None
    by_strip()
    follower = cube("Follower", (0, 50, 0))
    copying: Any = follower.constraints.new("COPY_LOCATION")
    copying.target, copying.use_offset = bpy.data.objects["Slider"], True
    hidden = cube("Blinker", (0, 60, 0))
    key(hidden, "hide_render", {1: False, 20: True})
    lamp = add("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    lamp.data.energy = 10
    lamp.data.keyframe_insert("energy", frame=1)
    lamp.data.energy = 110
    lamp.data.keyframe_insert("energy", frame=41)
    drivers()
    shape_keys()
    scene.frame_set(1)


def two_slots() -> None:
    """Two objects share an action; `action.fcurves` would show the first one's curves for both."""
    first, second = cube("FirstSlot", (0, 30, 0)), cube("SecondSlot", (0, 35, 0))
    key(first, "location", {1: (0, 30, 0), 41: (9, 30, 0)})
    action = first.animation_data.action
    second.animation_data_create().action = action
    second.animation_data.action_slot = action.slots.new(id_type="OBJECT", name="Second")
    key(second, "scale", {1: (1, 1, 1), 41: (2, 2, 2)})


def by_strip() -> None:
    striped = cube("Striped", (0, 45, 0))
    key(striped, "location", {1: (0, 45, 0), 41: (5, 45, 0)})
    data = striped.animation_data
    action, slot = data.action, data.action_slot
    data.action = None
    strip = data.nla_tracks.new().strips.new("Strip", 1, action)
    strip.action_slot = slot
    for name, has_strip in (("Faint", True), ("Alone", False)):  # its action has no influence beside a strip
        o = cube(name, (0, 47, 0))
        key(o, "scale", {1: (1, 1, 1), 41: (2, 2, 2)})
        o.animation_data.action_influence = 0
        if has_strip:
            o.animation_data.nla_tracks.new().strips.new("Strip", 1, action)


def drivers() -> None:
    driven = cube("Driven", (0, 70, 0))
    driver = driven.driver_add("location", 2).driver
    driver.expression = "frame * 0.1"
    python = cube("NeedsPython", (0, 75, 0))
    python.driver_add("scale", 0).driver.expression = "__import__('math').sin(frame) + 2"
    broken = cube("Broken", (0, 80, 0))
    driver = broken.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name = "var"
    driver.expression = "var"
    wrong = cube("WrongPath", (0, 85, 0))
    driver = wrong.driver_add("location", 0).driver
    variable = driver.variables.new()
    variable.name = "var"
    variable.targets[0].id, variable.targets[0].data_path = bpy.data.objects["Still"], "no_such_property"
    driver.expression = "var"


def shape_keys() -> None:
    keyed = cube("Keyed", (0, 90, 0))
    keyed.shape_key_add(name="Basis")
    keyed.shape_key_add(name="Tall").points[0].co.z += 2
    keyed.shape_key_add(name="Same")
    keys = keyed.data.shape_keys.key_blocks
    for frame, value in ((1, 0.0), (41, 1.0)):
        keys["Tall"].value = value
        keys["Tall"].keyframe_insert("value", frame=frame)


def rigs() -> None:
    rig = add("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    lower = bones.new("lower")
    lower.head, lower.tail = (0, 0, 0), (0, 0, 2)
    upper = bones.new("upper")
    upper.head, upper.tail, upper.parent = (0, 0, 2), (0, 0, 4), lower
    control = bones.new("control")
    control.head, control.tail, control.use_deform = (1, 0, 0), (1, 0, 1), False
    bpy.ops.object.mode_set(mode="OBJECT")
    lower_pose = rig.pose.bones["lower"]
    lower_pose.rotation_mode = "XYZ"
    key(lower_pose, "rotation_euler", {1: (0, 0, 0), 20: (1, 0, 0)})
    follow: Any = rig.pose.bones["upper"].constraints.new("COPY_ROTATION")
    follow.target, follow.subtarget = rig, "control"
    skins(rig)
    constraints()


def skins(rig: Any) -> None:
    for name, groups in (
        ("Skin", {"lower": range(4), "upper": range(4, 8)}),
        ("HalfSkin", {"lower": range(4)}),
        ("OnConstrained", {"upper": range(8)}),
        ("WrongGroups", {"no_such_bone": range(8)}),
        ("OnControl", {"control": range(8)}),
        ("NoModifier", {"lower": range(8)}),
    ):
        skin = cube(name, (0, 0, 2))
        for group, vertices in groups.items():
            skin.vertex_groups.new(name=group).add(list(vertices), 1.0, "REPLACE")
        if name != "NoModifier":
            skin.modifiers.new("Armature", "ARMATURE").object = rig
    still = cube("TurnedOffGroups", (0, 0, 2))
    still.vertex_groups.new(name="lower").add(list(range(8)), 1.0, "REPLACE")
    modifier = still.modifiers.new("Armature", "ARMATURE")
    modifier.object, modifier.use_vertex_groups = rig, False


def constraints() -> None:
    goal = add("Goal", None, (5, 0, 0))
    for name, change in (
        ("Tracker", {}),
        ("MutedTracker", {"mute": True}),
        ("Aimless", {"target": None}),
        ("Weak", {"influence": 0.0}),
    ):
        tracker = cube(name, (10, 10, 0))
        made = tracker.constraints.new("TRACK_TO")
        made.target = goal
        for attribute, value in change.items():
            setattr(made, attribute, value)
    idle = cube("Idle", (5, 0, 0))
    idle.constraints.new("COPY_LOCATION").target = goal


def physics() -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 60
    # made without operators, which need a window: bodies come with their membership in the world's collection
    bpy.ops.rigidbody.world_add()
    bodies = bpy.data.collections.new("Bodies")
    scene.rigidbody_world.collection = bodies
    for o in (plane("Floor", size=20), ball("Falling", (0, 0, 5)), cube("Resting", (5, 0, 1))):
        bodies.objects.link(o)
    bpy.data.objects["Floor"].rigid_body.type = "PASSIVE"
    bpy.data.objects["Falling"].rigid_body.collision_shape = "SPHERE"
    bpy.data.objects["Falling"].rigid_body.mass = 2
    cube("NoBody", (10, 0, 5))
    sheet = plane("Sheet", (-8, 0, 3), size=2)
    for _ in range(2):
        sheet.data.transform(sheet.matrix_basis.Identity(4))
    sheet.modifiers.new("Subdivision", "SUBSURF").levels = 2
    sheet.modifiers["Subdivision"].subdivision_type = "SIMPLE"
    sheet.modifiers.new("Cloth", "CLOTH")
    emitter = cube("Emitter", (-14, 0, 0))
    emitter.modifiers.new("Particles", "PARTICLE_SYSTEM")
    off = cube("Off", (-18, 0, 0))
    off.modifiers.new("Collision", "COLLISION").show_viewport = False
    scene.frame_set(1)


def baked() -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 5
    sheet = plane("Sheet", (0, 0, 3))
    cache = sheet.modifiers.new("Cloth", "CLOTH").point_cache
    cache.frame_start, cache.frame_end = 1, 5
    with bpy.context.temp_override(point_cache=cache):
        bpy.ops.ptcache.bake(bake=True)
    cube("Unsimulated")


SCENES = {"motion": motion, "rigs": rigs, "physics": physics, "baked": baked}
