"""Modifiers, materials, UV maps, lights and world."""

from typing import Any

import pytest

from harness.checks.verdict import Outcome
from tests.harness.checks.judging import Case, Judge, assert_case

pytestmark = pytest.mark.blender


def on(scene: str, kind: str, target: str, outcome: Outcome, words: str = "", /, **parameters: Any) -> Case:
    """A case on one object of a scene."""
    return Case(scene, kind, {"target": target, **parameters}, outcome, words)


CASES = [
    on("modifiers", "modifier_exists", "Stacked", "pass", modifier="SUBSURF", min=1),
    on("modifiers", "modifier_exists", "Stacked", "pass", modifier="BEVEL", before="SUBSURF"),
    on("modifiers", "modifier_exists", "Stacked", "fail", "below MIRROR", modifier="BEVEL", before="MIRROR"),
    on("modifiers", "modifier_exists", "TurnedOff", "fail", "1 turned off", modifier="SUBSURF"),
    on("modifiers", "modifier_exists", "TurnedOff", "pass", modifier="SUBSURF", on="render"),
    on("modifiers", "modifier_exists", "Plain", "fail", "has 0 ARRAY", modifier="ARRAY"),
    on("modifiers", "modifier_param", "Stacked", "pass", modifier="SUBSURF", path="levels", value=2),
    on("modifiers", "modifier_param", "Stacked", "fail", "is 2", modifier="SUBSURF", path="levels", op=">=", value=3),
    on("modifiers", "modifier_param", "Stacked", "pass", modifier="MIRROR", path="use_axis[2]", value=True),
    on("modifiers", "modifier_param", "Stacked", "pass", modifier="MIRROR", path="use_axis", value=[True, False, True]),
    on(
        "modifiers",
        "modifier_param",
        "Stacked",
        "pass",
        modifier="BEVEL",
        path="width",
        op="between",
        value=[0.05, 0.15],
    ),
    on("modifiers", "modifier_param", "Cut", "pass", modifier="BOOLEAN", path="object", value="Cutter"),
    on("modifiers", "modifier_param", "Idle", "fail", modifier="BOOLEAN", path="object", value="Cutter"),
    on("modifiers", "modifier_param", "Plain", "fail", "has no BOOLEAN", modifier="BOOLEAN", path="object", value="x"),
    on("modifiers", "modifier_param", "Cut", "unknown", "no property 'nope'", modifier="BOOLEAN", path="nope", value=1),
    on("modifiers", "modifier_param", "Stacked", "unknown", "compared", modifier="SUBSURF", path="levels", value="2"),
    on("modifiers", "modifier_effective", "Stacked", "pass"),
    on("modifiers", "modifier_effective", "Cut", "pass", "changes its vertices", modifier="BOOLEAN"),
    on("modifiers", "modifier_effective", "Idle", "fail", "BOOLEAN 'Boolean'", modifier="BOOLEAN"),
    on("modifiers", "modifier_effective", "Missed", "fail", "BOOLEAN 'Boolean'", modifier="BOOLEAN"),
    on("modifiers", "modifier_effective", "Idle", "fail", "BEVEL 'Bevel'", modifier="BEVEL"),
    on("modifiers", "modifier_effective", "Idle", "fail", "ARRAY 'Array'", modifier="ARRAY"),
    on("modifiers", "modifier_effective", "TurnedOff", "fail", "turned off"),
    on("modifiers", "modifier_effective", "Plain", "fail", "has no modifier"),
    on("modifiers", "modifier_effective", "Weighted", "unknown", "not compared"),
    Case("hidden", "modifier_effective", {"target": {"name": "Subdivided", "include_hidden": True}}, "unknown"),
    on("modifiers", "no_unapplied_modifiers", "Plain", "pass"),
    on("modifiers", "no_unapplied_modifiers", "Stacked", "fail", "'Mirror', 'Bevel', 'Subdivision'"),
    on("modifiers", "no_unapplied_modifiers", "Cut", "pass", allow=["BOOLEAN"]),
    on("materials", "material_assigned", "RedCube", "pass"),
    on("materials", "material_assigned", "HalfRed", "pass", min_materials=2),
    on("materials", "material_assigned", "HalfRed", "fail", "50 %", material="R*"),
    on("materials", "material_assigned", "HalfRed", "pass", material="R*", min_share=0.5),
    on("materials", "material_assigned", "Bare", "fail", "0 %"),
    on("materials", "material_assigned", "EmptySlot", "fail"),
    on("materials", "material_assigned", "BeyondSlots", "fail"),
    on("materials", "material_assigned", "NoFaces", "unknown"),
    on("materials", "base_color", "RedCube", "pass", color=[0.8, 0.05, 0.05]),
    on("materials", "base_color", "RedCube", "pass", color=[0.906, 0.247, 0.247], space="srgb", tolerance=0.01),
    on("materials", "base_color", "RedCube", "fail", "(0.8, 0.05, 0.05)", color=[0, 0, 1]),
    # a new material has no nodes in 4.5: its viewport colour is what it has
    on("materials", "base_color", "ObjectSlot", "pass", color=[0, 0, 1]),
    on("materials", "base_color", "HalfRed", "pass", color=[0, 0, 1]),
    on("materials", "base_color", "HalfRed", "fail", color=[0, 0, 1], min_share=0.6),
    on("materials", "base_color", "FollowedCube", "pass", color=[0, 1, 0]),
    on("materials", "base_color", "TintedCube", "pass", color=[0.2, 0.4, 0.6], tolerance=0.001),
    on("materials", "base_color", "NoisyCube", "unknown", "Noise Texture", color=[0, 1, 0]),
    on("materials", "base_color", "MixedCube", "unknown", "Mix Shader", color=[0, 1, 0]),
    on("materials", "base_color", "UnlinkedCube", "unknown", "nothing is linked", color=[1, 0, 0]),
    on("materials", "base_color", "Bare", "fail", color=[1, 0, 0]),
    on("materials", "principled_param", "RedCube", "pass", socket="Metallic", min=1),
    on("materials", "principled_param", "RedCube", "fail", "is 0.3", socket="Roughness", min=0.5),
    on("materials", "principled_param", "RedCube", "pass", socket="Base Color", max=0.8),
    on("materials", "principled_param", "HalfRed", "fail", "'NoNodes'", socket="Metallic", min=1),
    on("materials", "principled_param", "UnlinkedCube", "fail", "no Principled BSDF", socket="Metallic", max=1),
    on("materials", "principled_param", "BumpedCube", "unknown", "is fed by", socket="Roughness", max=1),
    on("materials", "shader_node", "NoisyCube", "pass", node="ShaderNodeTexNoise"),
    on("materials", "shader_node", "NoisyCube", "fail", node="ShaderNodeTexVoronoi"),  # leads nowhere
    on("materials", "shader_node", "MutedCube", "fail", node="ShaderNodeTexNoise"),
    on("materials", "shader_node", "BumpedCube", "pass", node="ShaderNodeTexNoise"),  # in the group
    on("materials", "shader_node", "TintedCube", "fail", node="ShaderNodeTexNoise"),  # its output is not used
    on("materials", "shader_node", "BumpedCube", "pass", node="ShaderNodeGroup"),
    on("materials", "shader_node", "NoFaces", "unknown", node="ShaderNodeTexNoise"),
    on("materials", "texture_image", "PackedCube", "pass", min_size=64),
    on("materials", "texture_image", "PackedCube", "fail", "64 x 64", min_size=128),
    on("materials", "texture_image", "UnpackedCube", "fail", "not packed"),
    on("materials", "texture_image", "MissingCube", "fail", "file is missing"),
    on("materials", "texture_image", "RedCube", "fail", "use no image"),
    on("materials", "texture_image", "NoFaces", "unknown"),
    Case("materials", "material_count", {"target": {"regex": "RedCube|HalfRed"}, "min": 2, "max": 2}, "pass"),
    Case("materials", "material_count", {"target": {"regex": "RedCube|HalfRed"}, "min": 3}, "fail", "'NoNodes', 'Red'"),
    Case("materials", "material_count", {"target": {"regex": "NoFaces|Bare"}, "max": 3}, "unknown"),
    on("uvs", "uv_exists", "Mapped", "pass"),
    on("uvs", "uv_exists", "Unmapped", "fail", "are: none"),
    on("uvs", "uv_exists", "AllAtOnePoint", "fail", "0 %"),
    on("uvs", "uv_exists", "Square", "pass", layer="Second", min_layers=2),
    on("uvs", "uv_exists", "Square", "fail", "wanted: 'Third'", layer="Third"),
    on("materials", "uv_exists", "NoFaces", "unknown"),
    on("uvs", "uv_bounds", "Square", "pass"),
    on("uvs", "uv_bounds", "Shifted", "fail", "U 1 to 2"),
    on("uvs", "uv_bounds", "Shifted", "pass", high=[2, 1]),
    on("uvs", "uv_bounds", "Unmapped", "unknown", "no UV layer"),
    on("uvs", "uv_bounds", "NotFinite", "unknown", "not finite"),
    on("uvs", "uv_overlap", "Square", "pass"),
    on("uvs", "uv_overlap", "Mapped", "pass"),
    on("uvs", "uv_overlap", "TwoFaces", "pass"),
    on("uvs", "uv_overlap", "Stacked", "fail", "100 %"),
    on("uvs", "uv_overlap", "AllAtOnePoint", "unknown", "no area"),
    on("uvs", "uv_stretch", "Mapped", "pass"),
    on("uvs", "uv_stretch", "TwoFaces", "fail", "50 %"),
    on("uvs", "uv_stretch", "TwoFaces", "pass", max_factor=10),
    on("uvs", "uv_stretch", "AllAtOnePoint", "unknown"),
    Case("lights", "light", {"min": 4, "max": 4}, "pass"),  # the one hidden in renders gives no light
    Case("lights", "light", {"light": "AREA", "min": 2, "min_energy": 80}, "pass"),
    Case("lights", "light", {"light": "AREA", "min": 2, "min_energy": 200}, "fail", "1 light is as wanted, of 4 shown"),
    Case("lights", "light", {"color": [1, 0.2, 0.2], "min": 1, "max": 1}, "pass"),
    Case("lights", "light", {"light": "SPOT", "max": 0}, "pass"),
    Case("unlit", "light", {"min": 2, "max": 2}, "pass"),
    Case("unlit", "light", {"min_energy": 0.1, "min": 1, "max": 1}, "pass"),  # a black light gives nothing
    Case("unlit", "light", {"min_energy": 60, "min": 1}, "fail", "0 lights are as wanted, of 2"),
    Case("lights", "light", {"target": {"glob": "*"}, "max": 9}, "unknown", "no light"),
    on("lights", "light_aims_at", "Key", "pass", at="Subject"),
    on("lights", "light_aims_at", "Fill", "fail", "90°", at="Subject"),
    on("lights", "light_aims_at", "Bulb", "unknown", "point light", at="Subject"),
    on("lights", "light_aims_at", "Key", "unknown", "match 'at'", at="Nobody"),
    Case("lights", "world", {"color": [0.1, 0.2, 0.3], "max_strength": 1}, "pass"),
    Case("lights", "world", {"color": [1, 1, 1]}, "fail", "(0.1, 0.2, 0.3)"),
    Case("lights", "world", {"min_strength": 2}, "fail", "is 0.5"),
    Case("lights", "world", {"image": True}, "fail", "no image"),
    Case("empty", "world", {}, "fail", "no world"),
    Case("sky", "world", {"image": True}, "pass"),
    Case("sky", "world", {"node": "ShaderNodeTexEnv*"}, "pass"),
    Case("sky", "world", {"node": "ShaderNodeTexSky"}, "fail", "no say"),
    Case("sky", "world", {"color": [1, 1, 1]}, "unknown", "no single colour"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.type}-{case.outcome}")
def test_case(case: Case, judge: Judge) -> None:
    """Each comes to its outcome."""
    assert_case(case, CASES, judge)
