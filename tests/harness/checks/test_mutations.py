"""A good scene is spoilt in many ways: every check that claims to see one sees it, and the good scene passes all."""

from typing import Any

import pytest

from harness.checks.verdict import Outcome
from tests.harness.checks.judging import Case, Judge, outcomes_of_mutations

pytestmark = pytest.mark.blender

LEGS = {"glob": "leg*", "min": 4}
CHECKS: dict[str, tuple[str, dict[str, Any]]] = {
    "legs": ("object_exists", {"target": LEGS}),
    "names": ("no_default_names", {"kinds": ["objects", "materials"]}),
    "in table": ("collection_membership", {"target": LEGS, "collection": "Table"}),
    "parent": ("parent_of", {"target": LEGS, "parent": "top"}),
    "assembly": ("connected_assembly", {"target": {"regex": "top|leg."}}),
    "stands": ("on_ground", {"target": LEGS}),
    "size": ("dimensions", {"target": "top", "x": {"min": 1.9, "max": 2.1}}),
    "scale": ("scale_applied", {"target": "top"}),
    "normals": ("normals_consistent", {"target": "top"}),
    "closed": ("manifold", {"target": "top"}),
    "doubles": ("duplicate_vertices", {"target": "top"}),
    "volume": ("volume", {"target": "top", "min": 0.35, "max": 0.45}),
    "bevel": ("modifier_exists", {"target": "top", "modifier": "BEVEL"}),
    "bevel works": ("modifier_effective", {"target": "top", "modifier": "BEVEL"}),
    "red": ("base_color", {"target": "ball", "color": [0.8, 0.05, 0.05]}),
    "has material": ("material_assigned", {"target": "ball"}),
    "moves": ("moves", {"target": "ball", "min_distance": 1, "direction": [1, 0, 0]}),
    "keys": ("keyframes", {"target": "ball", "data_path": "location", "at": [1, 31]}),
    "key works": ("shape_key", {"target": "ball", "keys": ["Squash"]}),
    "packed": ("images_packed", {}),
    "alone": ("no_external_files", {}),
    "texture": ("texture_image", {"target": "top"}),
    "image node": ("shader_node", {"target": "top", "node": "ShaderNodeTexImage"}),
    "uv": ("uv_exists", {"target": "top"}),
    "camera": ("active_camera", {}),
    "framed": ("in_frame", {"target": "ball"}),
    "seen": ("visible_from_camera", {"target": "ball"}),
    "lamp": ("light", {"light": "AREA", "min": 1, "min_energy": 100}),
    "lit": ("light_aims_at", {"target": {"type": "LIGHT"}, "at": "top"}),
    "world": ("world", {}),
    "grass": ("gn_modifier", {"target": "meadow"}),
    "blades": ("gn_output", {"target": "meadow", "of": "instances", "min": 5}),
    "parametric": ("gn_responds", {"target": "meadow", "socket": "Density", "to": 50, "metric": "instances"}),
    "skin": ("skinning", {"target": "skin", "armature": "rig"}),
    "bones": ("armature", {"target": "rig", "min_deform": 1}),
    "watches": ("constraint", {"target": "watcher", "constraint": "TRACK_TO", "to": "ball", "effective": True}),
    "drives": ("driver_valid", {"target": "driven", "data_path": "rotation_euler"}),
    "time": ("frame_range", {"start": 1, "end": 31}),
    "picture": ("render_setting", {"resolution": [640, 360]}),
    "path": ("output_path", {}),
    "code": ("no_embedded_code", {}),
    "orphans": ("no_orphans", {}),
    "bounds": ("scene_bounds", {"max_extent": 50}),
}

SEEN_BY: dict[str, set[str]] = {
    "a leg is gone": {"legs", "stands", "parent", "in table"},
    "a leg is taken out of the scene": {"legs"},
    "a leg is hidden in renders": {"legs"},
    "a leg is hidden in viewports": {"legs"},
    "a leg has another name": {"legs", "names"},
    "a leg floats": {"stands"},
    "a leg sinks": {"stands", "assembly"},
    "a leg is unparented": {"parent"},
    "a leg is not in its collection": {"in table"},
    "the top is scaled": {"size", "scale", "volume"},
    "the top is mirrored": {"scale"},
    "the top is inside out": {"normals", "volume"},
    "a face of the top is turned": {"normals"},
    "the top has a hole": {"closed"},
    "the top is there twice": {"doubles", "volume"},
    "the bevel has no width": {"bevel works"},
    "the bevel is off": {"bevel", "bevel works"},
    "the bevel is gone": {"bevel", "bevel works"},
    "the ball is blue": {"red"},
    "the ball has no material": {"red", "has material"},
    "the ball's shader is unlinked": {"red"},
    "the ball lost its keys": {"moves", "keys"},
    "the ball's action is unassigned": {"moves", "keys"},
    "the ball's curves are muted": {"moves", "keys"},
    "the ball's shape key does nothing": {"key works"},
    "the image is outside the file": {"packed", "alone", "texture"},
    "the texture is unlinked": {"texture", "image node"},
    "the UV map is one point": {"uv"},
    "the camera looks away": {"framed", "seen"},
    "there is no camera": {"camera", "framed", "seen"},
    "a wall hides the ball": {"seen"},
    "the lamp is weak": {"lamp"},
    "the lamp looks up": {"lit"},
    "the lamp is hidden": {"lamp", "lit"},
    "there is no world": {"world"},
    "the meadow is unlinked": {"grass", "blades", "parametric"},
    "the density is not used": {"parametric"},
    "the skin has no weights": {"skin"},
    "the skin has no armature": {"skin"},
    "the bone does not deform": {"bones", "skin"},
    "the watcher has no target": {"watches"},
    "the watcher's constraint is muted": {"watches"},
    "the driver needs Python": {"drives", "code"},
    "the scene is shorter": {"time"},
    "the picture is smaller": {"picture"},
    "the output path is absolute": {"path"},
    "a text runs by itself": {"code"},
    "a material is left over": {"orphans"},
    "something is far away": {"bounds"},
}
"""Mutation -> the checks that have to see it. Others may too."""

DECLARED = {
    name: Case("good", kind, parameters, "pass").declared.model_copy(update={"id": name.replace(" ", "-")})
    for name, (kind, parameters) in CHECKS.items()
}


@pytest.fixture(scope="module")
def outcomes(judge: Judge, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Outcome]]:
    """Mutation -> check -> outcome."""
    folder, good = tmp_path_factory.mktemp("mutations"), judge.folder / "good.blend"
    found = outcomes_of_mutations("measure_mutations.py", good, list(DECLARED.values()), folder)
    return {
        mutation: {name: outcomes[declared.id] for name, declared in DECLARED.items()}
        for mutation, outcomes in found.items()
    }


def test_the_good_scene_passes_all(outcomes: dict[str, dict[str, Outcome]]) -> None:
    """The control: what is seen below is the spoiling."""
    assert {name for name, outcome in outcomes["nothing"].items() if outcome != "pass"} == set()


def test_there_are_many_mutations(outcomes: dict[str, dict[str, Outcome]]) -> None:
    """At least 30, and every one of them is in the table below."""
    assert set(outcomes) == {"nothing", *SEEN_BY}
    assert len(SEEN_BY) >= 30


@pytest.mark.parametrize("mutation", SEEN_BY)
def test_a_mutation_is_seen(mutation: str, outcomes: dict[str, dict[str, Outcome]]) -> None:
    """By every check that claims to see it."""
    blind = {name for name in SEEN_BY[mutation] if outcomes[mutation][name] == "pass"}
    assert blind == set()
