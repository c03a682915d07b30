"""The verdict on a replay is a pure function of two states, or of what was measured of two films."""

from typing import Any

import pytest

from harness.replay_diff import compare_states, film_verdict
from harness.video import Shape
from harness.video_compare import Block, VideoComparison

SHAPE = Shape(64, 36, (1, 1), "yuv420p", (1, 1, 1, 1))


def state(x: float = 1.0, more: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "version": 1,
        "scene": "Scene",
        "blocks": {"Object/Cube": {"location": [x, 0.0, 2.0], "name": "Cube"}, **(more or {})},
        "evaluated": {"Object/Cube": {"n_vertices": 8, "bounds": [[0.0, 0.0, 0.0], [x, 1.0, 1.0]], "hash": str(x)}},
    }


def films(*differences: float, whole: float = 0.0, n: tuple[int, int] = (4, 4)) -> VideoComparison:
    blocks = tuple(Block(frame, 0, 0, difference) for frame, difference in enumerate(differences))
    return VideoComparison(n, (SHAPE, SHAPE), blocks, tuple(whole for _ in differences))


def test_equal_states_are_identical() -> None:
    """There is nothing that differs most then."""
    compared = compare_states(state(), state())
    assert (compared.verdict, compared.changes, compared.worst) == ("identical", (), None)


def test_a_state_within_the_tolerance_says_how_far_off_it_is() -> None:
    """The last bits of a float, told with their place."""
    before, after = state(100.0), state(100.0004)
    after["evaluated"]["Object/Cube"]["hash"] = before["evaluated"]["Object/Cube"]["hash"]
    compared = compare_states(before, after)
    assert (compared.verdict, compared.changes) == ("within_tolerance", ())
    assert compared.worst is not None
    assert compared.worst.path in ("Object/Cube.location", "Object/Cube.evaluated.bounds")
    assert compared.worst.magnitude == pytest.approx(0.0004)


def test_a_moved_object_differs_by_how_far_it_moved() -> None:
    """The worst magnitude is that of a change, with its path."""
    compared = compare_states(state(1.0), state(1.5))
    assert compared.verdict == "differs"
    assert {change.path for change in compared.changes} >= {"Object/Cube.location"}
    assert compared.worst is not None
    assert compared.worst.magnitude == 0.5


def test_what_came_or_went_has_no_magnitude() -> None:
    """A scene with one object more differs, though no number does."""
    compared = compare_states(state(), state(more={"Object/Ball": {"location": [0.0, 0.0, 0.0]}}))
    assert (compared.verdict, [c.kind for c in compared.changes], compared.worst) == ("differs", ["added"], None)


def test_prints_of_arrays_are_no_distance() -> None:
    """Noise in the last bits of a mesh is told by its bounds, not by its hash or print."""
    before, after = state(), state()
    for value, wave in ((before, 0.5), (after, 0.500001)):
        value["evaluated"]["Object/Cube"] |= {"print": [wave], "hash": f"{wave}"}
    compared = compare_states(before, after)
    assert (compared.verdict, compared.worst) == ("within_tolerance", None)


def test_states_of_two_versions_cannot_be_compared() -> None:
    """They say different things by the same names."""
    with pytest.raises(ValueError, match="versions 1 and 2"):
        compare_states(state(), state() | {"version": 2})


@pytest.mark.parametrize(
    ("comparison", "verdict"),
    [
        (films(0.0, 0.0, 0.0, 0.0), "identical"),
        (films(5.0, 0.0, 0.0, 0.0, whole=0.3), "within_tolerance"),
        (films(5.0, 5.0, 5.0, 0.0), "differs"),
        (films(0.0, 0.0, 0.0, 0.0, whole=1.5), "differs"),
        (films(n=(4, 5)), "differs"),
    ],
    ids=["equal", "one noisy frame", "lasting", "a whole frame", "another length"],
)
def test_films(comparison: VideoComparison, verdict: str) -> None:
    """By the thresholds of `video_compare`; identical only where not one pixel differs."""
    assert film_verdict(comparison) == verdict
