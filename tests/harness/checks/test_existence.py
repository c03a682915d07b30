"""Existence and counts: what a scene shows, hides, instances and copies."""

import pytest

from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender

HIDDEN = ("HiddenInViewports", "HiddenInRenders", "HiddenByEye", "InLeftOut", "InUnseen", "InUnrendered")
CASES = [
    Case("hidden", "object_exists", {"target": "Seen"}, "pass"),
    *(Case("hidden", "object_exists", {"target": name}, "fail", "1 hidden one would match") for name in HIDDEN),
    *(Case("hidden", "object_exists", {"target": {"name": n, "include_hidden": True}}, "pass") for n in HIDDEN),
    # an object in a collection that no scene shows is not there, whatever bpy.data says
    Case("hidden", "object_exists", {"target": {"name": "InNoScene", "include_hidden": True}}, "fail"),
    Case("hidden", "object_exists", {"target": {"glob": "See?", "type": "MESH"}}, "pass"),
    Case("hidden", "object_exists", {"target": {"regex": "S.*n", "max": 1}}, "pass"),
    Case("hidden", "object_exists", {"target": {"regex": "ee"}}, "fail"),  # it has to match the whole name
    Case("hidden", "object_exists", {"target": {"collection": "Unseen", "include_hidden": True}}, "pass"),
    Case("hidden", "object_exists", {"target": {"min": 2}}, "fail", "wanted: at least 2"),
    Case("hidden", "object_exists", {"target": {"type": "LIGHT"}}, "fail"),
    # modifiers of what is hidden in viewports are not evaluated: its size is not known
    Case(
        "hidden", "dimensions", {"target": {"name": "Subdivided", "include_hidden": True}, "x": {"max": 9}}, "unknown"
    ),
    Case("hidden", "dimensions", {"target": {"name": "HiddenByEye", "include_hidden": True}, "x": {"max": 9}}, "pass"),
    Case("hidden", "object_count", {"max": 1}, "pass"),
    Case("hidden", "object_count", {"among": {"include_hidden": True}, "min": 8, "max": 8}, "pass", measured=8),
    Case("hidden", "object_count", {"among": {"type": "MESH"}, "min": 2}, "fail", "1 object matches"),
    Case("hidden", "forbidden_object", {"forbidden": "Cube"}, "pass"),
    Case("hidden", "forbidden_object", {"forbidden": {"glob": "Hidden*"}}, "fail", "3 objects match"),
    Case("hidden", "forbidden_object", {"forbidden": {"glob": "Hidden*"}, "also_hidden": False}, "pass"),
    *(
        Case("shrunk", "object_exists", {"target": name}, "fail", "scale is zero")
        for name in ("Nothing", "ChildOfNothing")
    ),
    *(Case("shrunk", "object_exists", {"target": name}, "pass") for name in ("Flat", "Growing", "Marker")),
    Case("shrunk", "object_exists", {"target": {"name": "Nothing", "include_hidden": True}}, "pass"),
    Case("lost", "object_exists", {"target": {"name": "Lent", "include_hidden": True}}, "fail", "No object"),
    Case("lost", "object_exists", {"target": "Borrower"}, "fail", "library that is missing"),
    # the active scene's view layer
    Case("two_scenes", "object_exists", {"target": "InSecondScene"}, "pass"),
    Case("two_scenes", "object_exists", {"target": {"name": "InFirstScene", "include_hidden": True}}, "fail"),
    # instances count apart from objects
    Case("instances", "object_count", {"among": {"type": "MESH"}, "max": 2}, "pass", measured=2),
    Case("instances", "instance_count", {"target": "Copy0", "min": 2, "max": 2}, "pass"),
    Case("instances", "instance_count", {"target": "Copy0", "source": "Crown", "min": 1, "max": 1}, "pass"),
    Case("instances", "instance_count", {"target": {"glob": "Copy*"}, "min": 3}, "fail", "(and 2 more such)"),
    Case("instances", "instance_count", {"target": "Ground", "min": 4, "max": 4}, "pass"),
    # what is hidden is not in the list of instances
    Case("instances", "instance_count", {"target": {"name": "HiddenCopy", "include_hidden": True}, "min": 1}, "fail"),
    Case("instances", "instance_count", {"target": "Alone", "min": 1}, "fail", "draws 0 instances"),
    Case("copies", "distinct_meshes", {"target": {"type": "MESH"}, "min": 2}, "pass", measured=2),
    Case("copies", "distinct_meshes", {"target": {"regex": "First|Linked|Copied"}, "min": 2}, "fail", measured=1),
    Case("placed", "distinct_meshes", {"target": {"regex": "Infinite|Nothing"}, "min": 2}, "unknown"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)


def test_hidden_instancers_draw_nothing(judge: Judge) -> None:
    """What is not shown has no place in the evidence either."""
    case = next(case for case in CASES if case.type == "forbidden_object" and case.outcome == "fail")
    spots = judge.result(case, CASES).evidence
    assert {spot.object for spot in spots} == {"HiddenInViewports", "HiddenInRenders", "HiddenByEye"}
