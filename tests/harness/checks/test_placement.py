"""Transforms, sizes, places and relations: from evaluated vertices in world space."""

import pytest

from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender

CASES = [
    # the corners of a turned box would say 2.83
    Case("placed", "dimensions", {"target": "TurnedBall", "x": {"min": 1.99, "max": 2.01}}, "pass"),
    Case("placed", "dimensions", {"target": "TurnedCube", "x": {"min": 2.82, "max": 2.84}}, "pass"),
    Case("placed", "dimensions", {"target": "TurnedCube", "x": {"max": 2.01}, "space": "local"}, "pass"),
    Case("placed", "dimensions", {"target": "Scaled", "z": {"min": 4, "max": 4}, "space": "local"}, "pass"),
    Case("placed", "dimensions", {"target": "Stretched", "x": {"min": 5.99, "max": 6.01}}, "pass"),
    Case("placed", "dimensions", {"target": "Words", "largest": {"min": 0.5, "max": 3}}, "pass"),
    Case("placed", "dimensions", {"target": "Scaled", "x": {"max": 2}}, "fail", "x is 4, wanted at most 2"),
    Case("placed", "dimensions", {"target": "NoSuch", "x": {"max": 2}}, "fail", "No object matches 'NoSuch'"),
    Case("placed", "dimensions", {"target": "Infinite", "x": {"max": 2}}, "unknown", "not finite"),
    Case("placed", "dimensions", {"target": "Nothing", "x": {"max": 2}}, "unknown", "no geometry"),
    Case("placed", "dimensions", {"target": "Target", "x": {"max": 2}}, "unknown"),
    Case("placed", "dimensions", {"target": "Flat", "z": {"max": 0}, "space": "local"}, "unknown", "flattens"),
    Case("instances", "dimensions", {"target": "Copy1", "z": {"min": 2}, "include_instances": True}, "pass"),
    # the origin of an object may lie anywhere
    Case("placed", "location", {"target": "Offset", "z": 3}, "pass"),
    Case("placed", "location", {"target": "Offset", "z": 0, "anchor": "origin"}, "pass"),
    Case("placed", "location", {"target": "Offset", "z": 2, "anchor": "bottom"}, "pass"),
    Case("placed", "location", {"target": "Offset", "z": 4, "x": 10, "anchor": "top"}, "pass"),
    Case("placed", "location", {"target": "Offset", "z": 0}, "fail", "z is 3, wanted 0 ± 0.01"),
    Case("placed", "location", {"target": "Child", "x": 25, "z": 4}, "pass"),  # matrix_world, fresh after loading
    Case("placed", "location", {"target": "Target", "y": -10}, "pass"),
    Case("placed", "location", {"target": "Nothing", "y": 0}, "unknown"),
    Case("placed", "rotation", {"target": "TurnedBall", "axis": "x", "direction": [1, 1, 0]}, "pass"),
    Case("placed", "rotation", {"target": "TurnedBall", "axis": "x", "direction": [-1, -1, 0]}, "fail", "180°"),
    Case(
        "placed",
        "rotation",
        {"target": "TurnedBall", "axis": "x", "direction": [-1, -1, 0], "either_way": True},
        "pass",
    ),
    # what a constraint turns is evaluated
    Case("placed", "rotation", {"target": "Looker", "axis": "-z", "direction": [0, -1, -6]}, "pass"),
    Case("placed", "rotation", {"target": "Flat", "axis": "z", "direction": [0, 0, 1]}, "unknown"),
    Case("placed", "scale_applied", {"target": "TurnedCube"}, "pass"),
    Case("placed", "scale_applied", {"target": "Scaled"}, "fail", "(2, 2, 2)"),
    Case("placed", "scale_applied", {"target": "Mirrored"}, "fail", "mirrored"),
    Case("placed", "scale_applied", {"target": "Child"}, "fail", "(3, 3, 3)"),
    Case("placed", "on_ground", {"target": {"regex": "Turned.*|Stretched"}}, "pass", "same holds of 2 others"),
    Case("placed", "on_ground", {"target": "Offset"}, "fail", "is 2 above the ground"),
    Case("placed", "on_ground", {"target": "Offset", "mode": "not_below"}, "pass"),
    Case("placed", "on_ground", {"target": "Child", "mode": "not_below", "z": 2}, "fail", "1 below"),
    Case("placed", "on_ground", {"target": "Infinite"}, "unknown"),
    Case("instances", "on_ground", {"target": "Copy2", "z": -0.5, "include_instances": True}, "pass"),
    Case("relations", "scene_bounds", {"max_extent": 100, "min_extent": 10}, "pass"),
    Case("far_away", "scene_bounds", {"max_distance": 1000}, "fail", "'Placed'"),  # an instance reaches farthest
    Case("placed", "scene_bounds", {"max_extent": 100}, "unknown", "not finite"),
    Case("empty", "scene_bounds", {"max_extent": 100}, "unknown", "no geometry"),
    Case("relations", "relative_position", {"target": "Cup", "b": "Table", "relation": "above"}, "pass"),
    Case(
        "relations",
        "relative_position",
        {"target": "Cup", "b": "Table", "relation": "above", "must_overlap": True, "max_gap": 0.2},
        "pass",
    ),
    Case(
        "relations",
        "relative_position",
        {"target": "Shelf", "b": "Table", "relation": "above", "must_overlap": True},
        "fail",
        "but beside it",
    ),
    Case("relations", "relative_position", {"target": "Cup", "b": "Shelf", "relation": "above"}, "fail"),
    Case("relations", "relative_position", {"target": "Cup", "b": "Shelf", "relation": "left_of"}, "pass"),
    Case("relations", "relative_position", {"target": "Cup", "b": "Post0", "relation": "in_front_of"}, "pass"),
    Case("relations", "relative_position", {"target": "Inside", "b": "Bowl", "relation": "inside"}, "pass"),
    Case("relations", "relative_position", {"target": "Halfway", "b": "Bowl", "relation": "inside"}, "fail"),
    # inside the box, and outside the ball
    Case("relations", "relative_position", {"target": "InBoxOnly", "b": "Bowl", "relation": "inside"}, "fail", "0 %"),
    Case("relations", "relative_position", {"target": "Cup", "b": "Table", "relation": "inside"}, "unknown", "closed"),
    Case("relations", "relative_position", {"target": "Cup", "b": "NoSuch", "relation": "above"}, "unknown", "'b'"),
    Case("relations", "relative_position", {"target": "Cup", "b": "Table", "relation": "aligned"}, "pass"),
    Case("relations", "relative_position", {"target": "Cup", "b": "Shelf", "relation": "aligned"}, "fail"),
    Case("relations", "array_spacing", {"target": {"glob": "Post*"}, "step": 2, "min_count": 5}, "pass"),
    Case("relations", "array_spacing", {"target": {"glob": "Post*"}, "step": 3}, "fail"),
    Case("relations", "array_spacing", {"target": {"glob": "Uneven*"}}, "fail", "1.5 to 2.5"),
    Case("relations", "array_spacing", {"target": {"glob": "NoSuch*"}}, "fail", "No object matches"),
    Case("instances", "array_spacing", {"target": {"glob": "Copy*"}, "step": 5, "include_instances": True}, "fail"),
    Case("placed", "array_spacing", {"target": {"regex": "Infinite|Scaled|Offset"}}, "unknown"),
    Case("relations", "symmetry", {"target": "Half"}, "pass"),
    Case("relations", "symmetry", {"target": "Lopsided"}, "fail", "of 8 vertices"),
    Case("relations", "symmetry", {"target": "Lopsided", "max_unmatched": 0.3}, "pass"),
    Case("relations", "symmetry", {"target": "Inside", "plane": "world"}, "fail"),
    Case("relations", "symmetry", {"target": "Inside", "plane": "center"}, "pass"),
    Case("placed", "symmetry", {"target": "Nothing"}, "unknown"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)
