"""The camera and what it sees."""

import pytest

from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender

CASES = [
    Case("camera", "active_camera", {"camera": "Front", "type": "PERSP", "min_lens": 50, "max_lens": 50}, "pass"),
    Case("camera", "active_camera", {"max_lens": 35}, "fail", "wanted: at most 35 mm"),
    Case("camera", "active_camera", {"depth_of_field": True}, "fail", "depth of field is off"),
    Case("camera", "active_camera", {"camera": "Other", "frame": 25}, "pass"),  # a marker binds it
    Case("empty", "active_camera", {}, "fail", "no active camera"),
    Case("camera", "in_frame", {"target": "Middle", "margin": 0.1}, "pass"),
    Case("camera", "in_frame", {"target": "Behind"}, "fail", "100 % behind the camera"),
    Case("camera", "in_frame", {"target": "Half"}, "fail", "50 %"),
    Case("camera", "in_frame", {"target": "Half", "min_share": 0.5}, "pass"),
    Case("camera", "in_frame", {"target": "Half", "frame": 25}, "fail"),
    Case("camera", "in_frame", {"target": "Tracked", "margin": 0.4}, "pass"),  # as its constraint places it
    Case("camera", "in_frame", {"target": "Instancer", "include_instances": True}, "pass"),
    Case("camera", "in_frame", {"target": "Instancer"}, "unknown", "no geometry"),
    Case("empty", "in_frame", {"target": {"min": 0}}, "unknown"),
    Case("panorama", "in_frame", {"target": "Cube"}, "unknown", "panoramic"),
    Case("camera", "frame_fill", {"target": "Middle", "min": 0.02, "max": 0.05}, "pass"),
    Case("camera", "frame_fill", {"target": "Middle", "min": 0.3}, "fail", "wanted: at least 0.3"),
    Case("camera", "frame_fill", {"target": "Behind", "min": 0.3}, "unknown", "behind the camera"),
    Case("near", "frame_fill", {"target": "Far", "min": 0.01, "max": 0.05}, "pass"),
    Case("camera", "visible_from_camera", {"target": "Middle"}, "pass"),
    Case("camera", "visible_from_camera", {"target": "Bare", "min_share": 1}, "pass"),
    Case("camera", "visible_from_camera", {"target": "Covered"}, "fail", "'Middle' hides it"),
    # what is not rendered hides nothing, though scene.ray_cast hits it
    Case("camera", "visible_from_camera", {"target": "Veiled", "min_share": 1}, "pass"),
    Case("camera", "visible_from_camera", {"target": "Backside", "min_share": 1}, "pass"),
    Case("camera", "visible_from_camera", {"target": "Behind"}, "fail", "in the picture"),
    Case("near", "visible_from_camera", {"target": "Far"}, "pass"),  # parallel rays pass beside the wall
    Case("camera", "visible_from_camera", {"target": "Front"}, "unknown"),
    Case("panorama", "visible_from_camera", {"target": "Cube"}, "unknown"),
    Case("clipped", "visible_from_camera", {"target": "Drawn"}, "pass"),
    Case("clipped", "visible_from_camera", {"target": "Cut"}, "fail", "in the picture"),
    Case("clipped", "in_frame", {"target": "Drawn"}, "pass"),
    Case("clipped", "in_frame", {"target": "Cut"}, "fail", "or clipped"),
    *(
        Case("unseen", kind, {"target": name} | more, "fail", "No camera sees")
        for name in ("Clear", "Open", "Hollow", "NotForCameras", "Holdout", "InHoldout", "InIndirect")
        for kind, more in (("visible_from_camera", {}), ("in_frame", {}), ("frame_fill", {"min": 0.001}))
    ),
    *(Case("unseen", "visible_from_camera", {"target": name}, "pass") for name in ("Tinted", "Half")),
    # what is not seen hides nothing; a hole in the picture does
    *(
        Case("unseen", "visible_from_camera", {"target": f"Behind{name}", "min_share": 1}, "pass")
        for name in ("Clear", "Open", "NotForCameras", "InIndirect")
    ),
    *(
        Case("unseen", "visible_from_camera", {"target": f"Behind{name}"}, "fail", f"'{name}' hides it")
        for name in ("Tinted", "Half", "Hollow", "Holdout", "InHoldout")
    ),
    # what counts is the geometry of renders
    *(
        Case("unseen", "visible_from_camera", {"target": name}, "unknown", "no vertices")
        for name in ("MaskedInRenders", "GrownInViewports", "GrownByNode")
    ),
    Case("unseen", "visible_from_camera", {"target": "MaskedInViewports", "min_share": 1}, "pass"),
    Case("unseen", "in_frame", {"target": "MaskedInRenders"}, "unknown", "no geometry"),
    # and of viewports for all else
    Case("unseen", "dimensions", {"target": "GrownByNode", "x": {"min": 1.9, "max": 2.1}}, "pass"),
    Case("unseen", "modifier_effective", {"target": "BevelledInViewports"}, "fail", "turned off in renders"),
    Case("unseen", "modifier_effective", {"target": "GrownByNode"}, "pass"),
    Case("camera", "camera_not_inside", {}, "pass"),
    Case("inside", "camera_not_inside", {}, "fail", "inside 'Room'"),
    Case("inside", "camera_not_inside", {"ignore": ["Ro*"]}, "pass"),
    Case("near", "camera_not_inside", {}, "fail", "nearer than its clipping"),
    Case("empty", "camera_not_inside", {}, "unknown", "no active camera"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)
