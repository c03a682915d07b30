"""Names, collections, parents and custom properties."""

import pytest

from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender

CASES = [
    Case("named", "name_pattern", {"target": {"glob": "finger*"}, "regex": r"finger_\d\d"}, "pass"),
    Case("named", "name_pattern", {"target": "base", "regex": "as"}, "fail", "does not match"),
    Case("named", "no_default_names", {"kinds": ["objects", "materials", "collections"]}, "pass"),
    Case("default_names", "no_default_names", {}, "fail", measured=None),
    Case("default_names", "no_default_names", {"kinds": ["materials"]}, "fail", "'Material'"),
    Case("default_names", "no_default_names", {"kinds": ["objects"]}, "fail", "'B\u00e9zierCircle', 'Cube.001'"),
    Case("default_names", "no_default_names", {"kinds": ["collections"]}, "pass"),
    Case("default_names", "no_default_names", {"kinds": ["objects"], "ignore": ["Cube*", "B*"]}, "pass"),
    Case("named", "collection_membership", {"target": "finger_01", "collection": "Arm"}, "pass"),
    Case("named", "collection_membership", {"target": "finger_01", "collection": "Arm", "recursive": False}, "fail"),
    Case("named", "collection_membership", {"target": "in_both", "collection": "Arm", "exclusive": True}, "fail"),
    Case("named", "collection_membership", {"target": "base", "collection": "Scene Collection"}, "pass"),
    Case("named", "collection_membership", {"target": "base", "collection": "NoSuch"}, "fail"),
    Case("named", "parent_of", {"target": "middle", "parent": "base"}, "pass"),
    Case("named", "parent_of", {"target": "tip", "parent": "base"}, "fail", "'middle' → 'base'"),
    Case("named", "parent_of", {"target": "tip", "parent": "base", "direct": False}, "pass"),
    Case("named", "parent_of", {"target": "glove", "parent": "rig", "bone": "wrist"}, "pass"),
    Case("named", "parent_of", {"target": "glove", "parent": "rig", "bone": "elbow"}, "fail"),
    Case("named", "parent_of", {"target": "base", "parent": "rig"}, "fail", "is none"),
    Case("named", "custom_property", {"target": "base", "key": "price", "value": 2.5}, "pass"),
    Case("named", "custom_property", {"target": "base", "key": "count", "value": 4}, "fail", "is 3"),
    Case("named", "custom_property", {"target": "base", "key": "is_sold", "value": True}, "pass"),
    Case("named", "custom_property", {"target": "base", "key": "is_sold", "value": 1}, "fail"),
    Case("named", "custom_property", {"target": "base", "key": "label", "value": "x"}, "pass"),
    Case("named", "custom_property", {"target": "base", "key": "size", "value": [1, 2]}, "pass"),
    Case("named", "custom_property", {"target": "base", "key": "weight"}, "fail", "no custom property"),
    Case("named", "custom_property", {"target": "base", "key": "more", "value": 1}, "unknown"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)
