"""Touching, crossing and hanging together: surfaces in world space."""

import pytest

from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender

CASES = [
    Case("contacts", "contact_gap", {"target": "OnFloor", "b": "Floor"}, "pass"),
    # touching gives crossing faces, and no depth
    Case("contacts", "contact_gap", {"target": "OnFloor", "b": "Floor", "max_penetration": 0.001}, "pass"),
    Case("contacts", "contact_gap", {"target": "Floating", "b": "Sheet"}, "fail", "apart"),
    Case("contacts", "contact_gap", {"target": "Sunk", "b": "Sheet", "max_penetration": 0.1}, "fail", "0.2 deep"),
    # the one inside the other: their surfaces do not cross
    Case("contacts", "contact_gap", {"target": "Kernel", "b": "Shell"}, "fail", "the one inside the other"),
    Case("contacts", "contact_gap", {"target": "Kernel", "b": "Shell", "max_gap": None, "min_gap": 0.1}, "fail"),
    Case("contacts", "contact_gap", {"target": "Floating", "b": "Floor", "max_gap": None, "min_gap": 1}, "pass"),
    Case("contacts", "contact_gap", {"target": "BarX", "b": "BarY", "max_gap": 0.051, "min_gap": 0.049}, "pass"),
    Case("contacts", "contact_gap", {"target": "BarX", "b": "BarY", "max_gap": 0.049}, "fail", "0.05 apart"),
    # a tree in local space would put the carried cube elsewhere
    Case("contacts", "contact_gap", {"target": "Carried", "b": "Carrier", "max_gap": 0.01}, "pass"),
    Case("contacts", "contact_gap", {"target": "Carried", "b": "NoSuch"}, "unknown", "0 objects match 'b'"),
    Case("contacts", "contact_gap", {"target": "Carried", "b": "NoMesh"}, "unknown", "no mesh"),
    Case("contacts", "contact_gap", {"target": "Carried", "b": "Wire"}, "unknown", "no faces"),
    Case("contacts", "no_intersection", {"target": {"regex": "Floor|OnFloor|Floating|Bar[XY]", "min": 5}}, "pass"),
    Case("contacts", "no_intersection", {"target": {"regex": "Sunk|Sheet|Floating"}}, "fail", "0.2 deep"),
    Case("contacts", "no_intersection", {"target": {"regex": "Sunk|Sheet"}, "allow": [["Sheet", "Sunk"]]}, "pass"),
    Case("contacts", "no_intersection", {"target": {"regex": "Kernel|Shell"}}, "fail", "lies inside"),
    Case("contacts", "no_intersection", {"target": {"regex": "BarX|BarZ"}}, "pass"),
    Case("contacts", "no_intersection", {"target": {"regex": "BarY|BarZ"}}, "fail", "deep into"),
    Case("contacts", "no_intersection", {"target": {"regex": "Sunk|Wire"}}, "unknown"),
    Case("contacts", "no_intersection", {"target": {"glob": "NoSuch*"}}, "fail", "No object"),
    Case("table", "connected_assembly", {"target": {"regex": "top|leg."}}, "pass", measured=None),
    Case("table", "connected_assembly", {"target": {"regex": "top|.*leg.*"}}, "fail", "'short_leg'"),
    Case("table", "connected_assembly", {"target": {"regex": "top|.*leg.*"}, "max_gap": 0.06}, "pass"),
    Case("table", "connected_assembly", {"target": {"regex": "leg."}, "ground": 0}, "pass"),
    Case("table", "connected_assembly", {"target": {"regex": "leg."}}, "fail", "3 groups"),
    Case("table", "connected_assembly", {"target": "two_shells"}, "pass"),
    Case("table", "connected_assembly", {"target": "two_shells", "split_meshes": True}, "fail", "the gap is 2"),
    Case("table", "connected_assembly", {"target": {"glob": "string*"}, "max_gap": 0.02}, "pass"),
    Case("table", "connected_assembly", {"target": {"regex": "string[02]"}}, "fail"),
    Case("table", "connected_assembly", {"target": {"glob": "string*"}, "include_instances": False}, "unknown"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)
