"""Every type of check is measured, judged, tried both ways and documented."""

from importlib import import_module
from pathlib import Path

import pytest

from harness.checks.reference import parameters, reference_text, summary, types_text
from harness.checks.types import CHECK_TYPES
from tests.harness.checks.judging import Case

ROOT = Path(__file__).resolve().parents[3]
MODULES = ("existence", "naming", "placement", "contact", "mesh", "looks", "camera", "animated", "nodes_and_files")

NEVER_UNKNOWN = {
    "object_exists", "object_count", "forbidden_object", "instance_count", "name_pattern", "no_default_names",
    "collection_membership", "parent_of", "scale_applied", "modifier_exists", "no_unapplied_modifiers",
    "active_camera", "keyframes", "interpolation", "cyclic", "frame_range", "driver_valid", "shape_key",
    "rigid_body", "physics_modifier", "cache_baked", "gn_modifier", "gn_nodes", "gn_responds", "output_path",
    "no_external_files", "images_packed", "no_orphans", "scene_layout", "no_embedded_code", "file", "uv_exists",
}  # fmt: skip
"""They read what is always there: nothing about a file that opens leaves them open."""


def all_cases() -> list[Case]:
    """Of all test modules."""
    return [case for name in MODULES for case in import_module(f"tests.harness.checks.test_{name}").CASES]


def test_there_are_many_types() -> None:
    """At least 45, over all groups of the catalogue."""
    assert len(CHECK_TYPES) >= 45
    assert len({each.group for each in CHECK_TYPES.values()}) >= 14


@pytest.mark.parametrize("outcome", ["pass", "fail", "unknown"])
def test_every_type_is_tried(outcome: str) -> None:
    """Each has a scene that passes, one that fails and, where that can be, one that is unknown."""
    tried = {case.type for case in all_cases() if case.outcome == outcome}
    assert set(CHECK_TYPES) - tried - (NEVER_UNKNOWN if outcome == "unknown" else set()) == set()


@pytest.mark.parametrize("kind", CHECK_TYPES)
def test_every_type_says_what_it_is(kind: str) -> None:
    """A sentence for the type and one for each of its parameters."""
    assert summary(CHECK_TYPES[kind]).endswith(".")
    for name, words, _, text in parameters(CHECK_TYPES[kind]):
        assert words
        assert text, f"{kind}.{name}"


def test_the_reference_is_current() -> None:
    """docs/checks.md is what the types say; write it again with `python -m harness.checks.reference`."""
    assert (ROOT / "docs/checks.md").read_text(encoding="utf-8") == reference_text()


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md"])
def test_their_number_is_right(name: str) -> None:
    """Where it is told."""
    assert f"{len(CHECK_TYPES)} types of" in (ROOT / name).read_text(encoding="utf-8")


def test_the_list_names_every_type() -> None:
    """As `blendscribe check --types` prints it."""
    assert all(f"\n{name}: " in types_text() for name in CHECK_TYPES)
