"""Geometry nodes, render settings and the file itself."""

from typing import Any

import pytest

from harness.checks.verdict import Outcome
from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender


def on(kind: str, target: str, outcome: Outcome, words: str = "", /, **parameters: Any) -> Case:
    """A case on one object of the scene of geometry nodes."""
    return Case("gn", kind, {"target": target, **parameters}, outcome, words)


CASES = [
    on("gn_modifier", "Scatter", "pass", node_group="Scatter"),
    on("gn_modifier", "Scatter", "fail", "no geometry nodes modifier", node_group="Other"),
    on("gn_modifier", "PassesThrough", "fail", "only pass through"),
    on("gn_modifier", "Unlinked", "fail", "put nothing out"),
    on("gn_modifier", "NoGroup", "fail", "have no group"),
    on("gn_modifier", "TurnedOff", "fail", "turned off"),
    on("gn_modifier", "Plain", "fail"),
    on("gn_nodes", "Scatter", "pass", node="GeometryNodeInstanceOnPoints"),
    on("gn_nodes", "Scatter", "fail", node="GeometryNodeMeshCone"),  # leads nowhere
    on("gn_nodes", "Nested", "pass", node="GeometryNodeSubdivideMesh"),
    on("gn_nodes", "Nested", "fail", node="GeometryNodeSetShadeSmooth"),  # muted
    on("gn_nodes", "Zones", "pass", node="GeometryNodeSubdivideMesh"),
    on("gn_nodes", "Zones", "pass", node="FunctionNodeInputInt"),
    # inputs go by their names, whatever Blender calls them
    on("gn_input", "Scatter", "pass", socket="Density", value=20),
    on("gn_input", "Scatter", "fail", "is 3", socket="Seed", value=4),
    on("gn_input", "Scatter", "fail", "there are: 'Density', 'Seed'", socket="Socket_2", value=20),
    on("gn_input", "Nested", "pass", socket="Flag", value=True),
    on("gn_input", "Nested", "pass", socket="Offset", value=[0, 0, 0]),
    on("gn_input", "ByAttribute", "unknown", "attribute 'thick'", socket="Density", value=20),
    # what only instances has no vertices of its own
    on("gn_output", "Scatter", "pass", of="instances", min=20),
    on("gn_output", "Scatter", "fail", "gives 0 vertices", of="vertices", min=1),
    on("gn_output", "Points", "pass", of="points", min=10),
    on("gn_output", "Zones", "pass", of="faces", min=96, max=96),
    on("gn_output", "Plain", "pass", of="vertices", min=8, max=8),
    Case(
        "hidden",
        "gn_output",
        {"target": {"name": "Subdivided", "include_hidden": True}, "of": "faces", "min": 1},
        "unknown",
    ),
    on("gn_responds", "Scatter", "pass", socket="Density", to=60, metric="instances", change="grows"),
    on("gn_responds", "Scatter", "pass", socket="Seed", to=4),
    on("gn_responds", "Scatter", "fail", socket="Density", to=60, metric="vertices"),
    on("gn_responds", "Scatter", "fail", socket="Density", to=60, start=80, metric="instances", change="grows"),
    on("gn_responds", "PassesThrough", "fail", "leaves it", socket="Height", to=5),
    on("gn_responds", "Nested", "pass", socket="Offset", to=[0, 0, 5]),
    on("gn_responds", "Plain", "fail", "has no input", socket="Height", to=5),
    Case("gn", "gn_responds", {"target": {"name": "TurnedOff"}, "socket": "Density", "to": 60}, "fail", "leaves it"),
    Case("gn", "triangle_budget", {"target": "Scatter", "min": 240, "include_instances": True}, "pass"),
    Case("gn", "triangle_budget", {"target": "Scatter", "min": 1}, "fail", "has 0 triangles"),
    Case("gn", "instance_count", {"target": "Scatter", "min": 20}, "pass"),
    Case("gn", "modifier_effective", {"target": "Scatter"}, "pass"),
    Case("gn", "modifier_effective", {"target": "PassesThrough"}, "fail", "changes nothing"),
    # a simulation zone needs every frame: a jump would move it by one step only
    Case("simulated", "sim_result", {"target": "Mover", "frame": 20, "x": 9.5, "tolerance": 0.6}, "pass"),
    Case("settings", "render_setting", {"resolution": [500, 250], "engine": "BLENDER_EEVEE_NEXT"}, "pass"),
    Case("settings", "render_setting", {"resolution": [1000, 500]}, "fail", "resolution is (500, 250)"),
    Case("settings", "render_setting", {"min_samples": 32, "max_samples": 64}, "pass"),
    Case("settings", "render_setting", {"view_transform": "AgX"}, "fail", "'Standard'"),
    Case("blank", "render_setting", {"min_samples": 32}, "unknown", "no number of samples"),
    Case("settings", "output_path", {"pattern": "//renders/*"}, "pass"),
    Case("settings", "output_path", {"pattern": "//frames/*"}, "fail"),
    Case("messy", "output_path", {}, "fail", "is absolute"),
    Case("empty", "output_path", {}, "fail", "is absolute"),  # Blender's own default
    Case("settings", "render_not_blank", {}, "pass"),
    Case("blank", "render_not_blank", {}, "fail"),
    Case("empty", "render_not_blank", {}, "unknown", "no active camera"),
    Case("clean", "no_external_files", {}, "pass"),
    Case("messy", "no_external_files", {}, "fail", "'/home/somebody/outside.png'"),
    Case("messy", "no_external_files", {"allow": ["/home/*"]}, "pass"),
    Case("linked", "no_external_files", {}, "fail", "library"),
    Case("linked", "no_external_files", {"allow_relative": True}, "pass"),
    Case("clean", "images_packed", {}, "pass", "1 image is in use"),
    Case("messy", "images_packed", {}, "fail"),
    Case("clean", "no_orphans", {}, "pass"),
    Case("messy", "no_orphans", {}, "fail", "data-blocks are used by no scene"),
    Case("messy", "no_orphans", {"kinds": ["meshes"]}, "fail", "'ForgottenMesh'"),  # it has a user
    Case("messy", "no_orphans", {"kinds": ["materials"], "allow_fake_users": True}, "pass"),
    Case("clean", "scene_layout", {}, "pass"),
    Case("messy", "scene_layout", {}, "fail", "2 scenes"),
    Case("messy", "scene_layout", {"scenes": 2, "view_layers": 2, "active": "Scene"}, "pass"),
    Case("clean", "no_embedded_code", {}, "pass"),  # a simple driver is none
    Case("clean", "no_embedded_code", {"allow_texts": False}, "fail", "'notes'"),
    Case("hostile", "no_embedded_code", {}, "fail", "registered text"),
    Case("clean", "file", {"max_mb": 5, "min_version": [4, 5]}, "pass"),
    Case("clean", "file", {"max_version": [4, 4]}, "fail", "4.5"),
    Case("clean", "file", {"max_mb": 0.0001}, "fail"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)
