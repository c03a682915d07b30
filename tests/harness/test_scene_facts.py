"""Scene facts come from a process that ran untrusted code: what does not hold together is no fact."""

import pytest

from harness.scene_facts import parse_scene_facts
from tests.harness.test_problems import scene

GOOD = scene().model_dump(mode="json")


def test_good_facts_are_read() -> None:
    """What Blender measured is read as it was sent; unknown fields are nobody's business."""
    assert parse_scene_facts({**GOOD, "kind": "scene"}) == scene()


@pytest.mark.parametrize(
    "change",
    [
        {"fps": "fast"}, {"sampled_frames": []}, {"moving": [{"name": "x"}]}, {"fps": float("inf")},
        {"camera": "x" * 10_000}, {"outside": [{"name": "x", "n_frames": 1}] * 100},
        {"cut": [{"name": "x", "sides": ["top"] * 5}]},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
def test_forged_facts_are_no_facts(change: dict[str, object]) -> None:
    """Wrong types, endless numbers and endless lists are dropped whole."""
    assert parse_scene_facts({**GOOD, **change}) is None


def test_nothing_is_nothing() -> None:
    """No message, no facts."""
    assert parse_scene_facts(None) is None
    assert parse_scene_facts({}) is None
