"""Animation, rigs and physics."""

from typing import Any

import pytest

from harness.checks.verdict import Outcome
from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender


def on(scene: str, kind: str, target: str, outcome: Outcome, words: str = "", /, **parameters: Any) -> Case:
    """A case on one object of a scene."""
    return Case(scene, kind, {"target": target, **parameters}, outcome, words)


CASES = [
    on("motion", "moves", "Slider", "pass", min_distance=3.9, max_distance=4.1),
    on("motion", "moves", "Slider", "pass", direction=[1, 0, 0]),
    on("motion", "moves", "Slider", "fail", "towards (0, 1, 0)", direction=[0, 1, 0]),
    on("motion", "moves", "Returner", "pass", min_distance=3.9),  # it ends where it began
    on("motion", "moves", "Returner", "pass", min_distance=1.9, start=1, end=21, samples=2),
    on("motion", "moves", "Spinner", "pass", min_degrees=170, max_distance=0),
    on("motion", "moves", "Slider", "fail", "a turn of at least 10°", min_degrees=10),
    on("motion", "moves", "Still", "fail", "goes 0", min_distance=1),
    on("motion", "moves", "Still", "pass", max_distance=0),
    on("motion", "moves", "Constant", "fail", min_distance=0.1),
    on("motion", "moves", "Follower", "pass", min_distance=3.9),  # by its constraint
    on("motion", "moves", "Driven", "pass", min_distance=3.9),  # by its driver
    on("motion", "moves", "Striped", "pass", min_distance=4.9),  # by a strip
    on("motion", "moves", "NoSlot", "fail", min_distance=0.1),
    on("motion", "moves", "FirstSlot", "pass", min_distance=8.9),
    on("motion", "moves", "SecondSlot", "fail", min_distance=0.1),
    on("motion", "moves", "Keyed", "pass", of="center", min_distance=0.2),
    on("motion", "moves", "Keyed", "fail", min_distance=0.2),
    on("meshes", "moves", "Empty", "unknown", "no geometry", of="center", min_distance=1),
    on("placed", "moves", "Flat", "unknown", "scale is zero", min_distance=1),
    on("motion", "value_at_frame", "Slider", "pass", frame=41, path="world_location.x", value=4),
    on("motion", "value_at_frame", "Slider", "pass", frame=21, path="location", value=[2, 0, 0], tolerance=0.01),
    on("motion", "value_at_frame", "Slider", "fail", "is 2", frame=21, path="world_location.x", value=4),
    on("motion", "value_at_frame", "Follower", "pass", frame=41, path="world_location", value=[4, 50, 0]),
    on("motion", "value_at_frame", "Blinker", "pass", frame=10, path="hide_render", value=False),
    on("motion", "value_at_frame", "Blinker", "fail", "1 hidden one", frame=30, path="hide_render", value=False),
    on("motion", "value_at_frame", "Spinner", "fail", frame=41, path="world_rotation_degrees", value=[0, 0, 90]),
    on("motion", "value_at_frame", "Lamp", "pass", frame=41, path="data.energy", op=">=", value=100),
    on("motion", "value_at_frame", "Spinner", "pass", frame=41, path="world_rotation_degrees.z", value=180),
    on("motion", "value_at_frame", "Keyed", "pass", frame=41, path='data.shape_keys.key_blocks["Tall"].value', value=1),
    on("rigs", "value_at_frame", "Rig", "pass", frame=20, path='pose.bones["lower"].rotation_euler.x', value=1),
    on("motion", "value_at_frame", "Slider", "unknown", "no property 'nope'", frame=1, path="nope", value=1),
    on("motion", "value_at_frame", "Slider", "unknown", "no plain value", frame=1, path="animation_data", value=1),
    on("motion", "keyframes", "Slider", "pass", data_path="location", index=0, at=[1, 41]),
    on("motion", "keyframes", "Slider", "fail", "none at frame 20", data_path="location", at=[20]),
    on("motion", "keyframes", "Slider", "fail", "has 0 keys", data_path="scale"),
    on("motion", "keyframes", "Constant", "fail", "all of one value"),
    on("motion", "keyframes", "Constant", "pass", must_change=False),
    # action.fcurves shows the first slot's curves, whoever looks
    on("motion", "keyframes", "SecondSlot", "pass", data_path="scale"),
    on("motion", "keyframes", "SecondSlot", "fail", data_path="location"),
    on("motion", "keyframes", "NoSlot", "fail", "has no slot for it"),
    on("motion", "keyframes", "Striped", "pass", data_path="location"),
    on("motion", "keyframes", "Faint", "fail", "has 0 keys", data_path="scale"),
    on("motion", "keyframes", "Alone", "pass", data_path="scale"),  # without strips its influence is not looked at
    on("motion", "keyframes", "Lamp", "pass", on="data", data_path="energy"),
    on("motion", "keyframes", "Keyed", "pass", on="shape_keys"),
    on("motion", "interpolation", "Slider", "pass", mode="BEZIER"),
    on("motion", "interpolation", "Slider", "fail", "joined by BEZIER", mode="LINEAR"),
    on("motion", "interpolation", "Linear", "pass", mode="LINEAR"),
    on("motion", "interpolation", "Still", "fail", "no curves", mode="LINEAR"),
    on("motion", "cyclic", "Linear", "pass"),
    on("motion", "cyclic", "Slider", "fail", "0 of 3 curves"),
    Case("motion", "frame_range", {"start": 1, "end": 41, "fps": 24}, "pass"),
    Case("motion", "frame_range", {"min_frames": 100}, "fail", "from frame 1 to 41"),
    on("motion", "driver_valid", "Driven", "pass", data_path="location", contains="frame"),
    on("motion", "driver_valid", "Driven", "fail", "without 'sin'", contains="sin"),
    on("motion", "driver_valid", "NeedsPython", "fail", "needs Python"),
    on("motion", "driver_valid", "NeedsPython", "fail", "is not valid", allow_python=True),  # scripts are off
    on("motion", "driver_valid", "Broken", "fail", "1 variable without a target"),
    on("motion", "driver_valid", "WrongPath", "fail", "without a target"),
    on("motion", "driver_valid", "Still", "fail", "no driver"),
    on("rigs", "constraint", "Tracker", "pass", constraint="TRACK_TO", to="Goal", effective=True),
    on("rigs", "constraint", "Tracker", "fail", "aims at 'Goal'", constraint="TRACK_TO", to="Rig"),
    on("rigs", "constraint", "MutedTracker", "fail", "turned off", constraint="TRACK_TO"),
    on("rigs", "constraint", "Aimless", "fail", "no target", constraint="TRACK_TO"),
    on("rigs", "constraint", "Weak", "fail", "influence of 0", constraint="TRACK_TO"),
    on("rigs", "constraint", "Idle", "fail", "changes nothing", constraint="COPY_LOCATION", effective=True),
    on("rigs", "constraint", "Idle", "pass", constraint="COPY_LOCATION"),
    on("rigs", "constraint", "Goal", "fail", "has no IK", constraint="IK"),
    on("rigs", "constraint", "Rig", "pass", constraint="COPY_ROTATION", bone="upper"),
    on("rigs", "constraint", "Rig", "unknown", "no bone 'tail'", constraint="COPY_ROTATION", bone="tail"),
    on("rigs", "armature", "Rig", "pass", min_bones=3, min_deform=2, parents={"upper": "lower", "lower": ""}),
    on("rigs", "armature", "Rig", "fail", "no 'tail'", bones=["tail"]),
    on("rigs", "armature", "Rig", "fail", "is none, wanted: 'upper'", parents={"control": "upper"}),
    on("rigs", "armature", "Rig", "fail", min_deform=3),
    on("rigs", "armature", "Skin", "unknown", "no armature"),
    on("rigs", "skinning", "Skin", "pass", armature="Rig", min_bones=2, max_influences=1),
    on("rigs", "skinning", "HalfSkin", "fail", "4 of 8 vertices have none"),
    on("rigs", "skinning", "HalfSkin", "pass", max_unweighted=0.5),
    on("rigs", "skinning", "OnConstrained", "pass", frame=20),  # a constraint and keys hold its bones
    on("rigs", "skinning", "WrongGroups", "fail", "0 bones"),
    on("rigs", "skinning", "OnControl", "fail", "0 bones"),
    on("rigs", "skinning", "NoModifier", "fail", "no armature modifier"),
    on("rigs", "skinning", "TurnedOffGroups", "fail", "does not move it"),
    on("rigs", "skinning", "Goal", "unknown", "no mesh"),
    on("motion", "shape_key", "Keyed", "pass", keys=["Tall"]),
    on("motion", "shape_key", "Keyed", "fail", "'Same' is not among these", keys=["Same"]),
    on("motion", "shape_key", "Keyed", "pass", keys=["Tall"], min_value=1, frame=41),
    on("motion", "shape_key", "Keyed", "fail", "greatest value is 0", keys=["Tall"], min_value=0.5, frame=1),
    on("motion", "shape_key", "Still", "fail", "0 shape keys"),
    on("physics", "rigid_body", "Falling", "pass", body="ACTIVE", shape="SPHERE", min_mass=2),
    on("physics", "rigid_body", "Floor", "fail", "PASSIVE", body="ACTIVE"),
    on("physics", "rigid_body", "NoBody", "fail", "no rigid body"),
    # a jump to the frame would simulate nothing; `location` never changes
    on("physics", "sim_result", "Falling", "pass", frame=50, z=1, min_distance=3.5),
    on("physics", "sim_result", "Falling", "fail", "from its start", frame=50, z=5),
    on("physics", "sim_result", "Resting", "pass", frame=50, max_distance=0.1),
    on("physics", "sim_result", "Sheet", "pass", frame=20, min_distance=0.5),  # cloth falls
    on("physics", "sim_result", "Falling", "pass", frame=10, z=4.4, tolerance=0.3),
    on("physics", "value_at_frame", "Falling", "pass", frame=50, path="location.z", value=5),
    on("physics", "value_at_frame", "Falling", "pass", frame=50, path="world_location.z", op="<=", value=1.2),
    on("physics", "moves", "Falling", "pass", min_distance=3.5, direction=[0, 0, -1]),
    on("meshes", "sim_result", "Empty", "unknown", "no geometry", frame=2, max_distance=1),
    on("physics", "physics_modifier", "Sheet", "pass", kind="CLOTH"),
    on("physics", "physics_modifier", "Emitter", "pass", kind="PARTICLE_SYSTEM"),
    on("physics", "physics_modifier", "Falling", "pass", kind="RIGID_BODY"),
    on("physics", "physics_modifier", "Off", "fail", kind="COLLISION"),
    on("physics", "cache_baked", "Sheet", "fail", "is not baked"),
    on("physics", "cache_baked", "NoBody", "fail", "no simulation"),
    on("baked", "cache_baked", "Sheet", "pass", kind="CLOTH", until=5),
    on("baked", "cache_baked", "Sheet", "fail", "up to frame 5", until=50),
    on("baked", "cache_baked", "Unsimulated", "fail"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)
