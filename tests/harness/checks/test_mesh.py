"""Mesh quality: of evaluated meshes in world space."""

import pytest

from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender


def case(kind: str, target: str, outcome: str, words: str = "", /, **parameters: object) -> Case:
    """A case on the scene of meshes."""
    return Case("meshes", kind, {"target": target, **parameters}, outcome, words)  # type: ignore[arg-type]


CASES = [
    # a modifier makes 24 vertices of 8
    case("triangle_budget", "Arrayed", "pass", which="vertices", min=24, max=24),
    case("triangle_budget", "Arrayed", "pass", which="vertices", max=8, mesh="base"),
    case("triangle_budget", "Arrayed", "fail", "36 triangles", max=12),
    case("triangle_budget", "Text", "pass", min=10, max=1000),
    case("triangle_budget", "Text", "unknown", "only meshes", max=1000, mesh="base"),
    Case("meshes", "triangle_budget", {"target": {"regex": "Cube|Plane"}, "max": 12}, "fail", "have 14 triangles"),
    Case("meshes", "triangle_budget", {"target": {"regex": "Cube|Plane"}, "max": 12, "each": True}, "pass"),
    case("manifold", "Cube", "pass"),
    case("manifold", "Plane", "fail", "4 boundary edges"),
    case("manifold", "Plane", "pass", max_boundary=None),
    case("manifold", "AtAnEdge", "fail", "1 with more than two"),
    case("manifold", "AtAVertex", "fail", "1 pinched vertex"),
    case("manifold", "Empty", "unknown", "no vertices"),
    case("manifold", "NotFinite", "unknown", "not finite"),
    case("loose_geometry", "Cube", "pass"),
    case("loose_geometry", "Loose", "fail", "1 loose vertex, 1 loose edge"),
    case("loose_geometry", "Loose", "pass", max_vertices=1, max_edges=1),
    case("loose_geometry", "Crossed", "fail", "2 shells", max_shells=1),
    case("loose_geometry", "Empty", "unknown"),
    case("normals_consistent", "Cube", "pass"),
    case("normals_consistent", "OneFlipped", "fail", "4 edges"),
    case("normals_consistent", "InsideOut", "fail", "1 shell looks inwards"),
    case("normals_consistent", "InsideOut", "pass", outward=False),
    # Blender draws a mirrored object right side out; a mesh with the mirroring applied is inside out
    case("normals_consistent", "NegativeScale", "pass"),
    case("normals_consistent", "NegativeApplied", "fail", "inwards"),
    case("normals_consistent", "MirrorModifier", "pass"),
    case("normals_consistent", "Hollow", "pass"),  # the cavity has to look inwards
    case("normals_consistent", "StuckIn", "fail", "1 shell looks inwards"),  # it only begins inside the other one
    case("normals_consistent", "Plane", "unknown", "open"),
    case("degenerate_faces", "Cube", "pass"),
    case("degenerate_faces", "Degenerate", "fail", "1 degenerate faces (of 2)"),
    case("degenerate_faces", "Empty", "unknown"),
    case("duplicate_vertices", "Cube", "pass"),
    case("duplicate_vertices", "Doubles", "fail", "has 2 vertices in one place"),
    case("duplicate_vertices", "Doubles", "pass", max=2),
    case("duplicate_vertices", "Arrayed", "fail"),
    case("duplicate_vertices", "Arrayed", "pass", mesh="base"),
    case("duplicate_vertices", "NotFinite", "unknown"),
    case("ngon_ratio", "Ball", "pass"),
    case("ngon_ratio", "Ball", "fail", min_quads=0.9),
    case("ngon_ratio", "Cylinder", "fail", "14.29 % n-gons"),
    case("ngon_ratio", "Cylinder", "pass", ignore_flat=True),
    case("ngon_ratio", "Bent", "fail", ignore_flat=True),
    case("ngon_ratio", "Bare", "unknown", "no faces"),
    case("self_intersection", "Cube", "pass"),
    case("self_intersection", "Ball", "pass"),
    case("self_intersection", "Crossed", "fail", "cut each other"),
    case("self_intersection", "Lamp", "unknown", "no mesh"),
    case("volume", "Cube", "pass", min=8, max=8),
    case("volume", "NegativeScale", "pass", min=7.9),
    case("volume", "InsideOut", "fail", "-8", min=0),
    case("volume", "Hollow", "pass", min=1, max=3),
    case("volume", "Plane", "unknown", "not closed", min=0),
    case("surface_area", "Cube", "pass", min=24, max=24),
    case("surface_area", "Plane", "fail", "an area of 4", max=3.9),
    case("surface_area", "Empty", "unknown", max=3.9),
    case("finite_geometry", "Cube", "pass"),
    case("finite_geometry", "NotFinite", "fail", "no places"),
    case("finite_geometry", "Invalid", "fail", "validation"),
    case("finite_geometry", "Empty", "unknown"),
    case("shading", "Smooth", "pass", min_smooth=1),
    case("shading", "Smooth", "fail", max_smooth=0.5),
    case("shading", "Faceted", "pass", max_smooth=0, sharp_edges=False),
    case("shading", "Sharp", "pass", min_smooth=1, sharp_edges=True),
    case("shading", "Smooth", "fail", "0 edges are sharp", sharp_edges=True),
    case("shading", "Bare", "unknown", min_smooth=1),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)


def test_evidence_says_where(judge: Judge) -> None:
    """A failing mesh check names the object, an element and its place in the world."""
    flipped = next(case for case in CASES if "4 edges" in case.words)
    spot = judge.result(flipped, CASES).evidence[0]
    assert spot.object == "OneFlipped"
    assert spot.index is not None
    assert spot.world_co is not None
    assert 29 <= spot.world_co[1] <= 31
