"""The score of a checked file."""

import pytest

from harness.checks.score import Judged, score_of
from harness.checks.verdict import Outcome


def judged(outcome: Outcome, weight: float = 1.0, required: bool = True) -> Judged:
    return Judged(f"{outcome}{weight}", outcome, weight, required)


def test_strict_pass_needs_every_required_check() -> None:
    """A failing check that is not required does no harm to it."""
    assert score_of([judged("pass"), judged("fail", required=False)]).is_strict_pass
    assert not score_of([judged("pass"), judged("fail")]).is_strict_pass


def test_unknown_is_no_pass() -> None:
    """Neither strictly, nor in the weighted score, where it is left out and counted apart."""
    score = score_of([judged("pass", 3), judged("unknown", 2), judged("fail", 1)])
    assert not score.is_strict_pass
    assert score.weighted == pytest.approx(0.75)
    assert score.judged_share == pytest.approx(4 / 6)
    assert score.not_judged == ("unknown2",)


def test_nothing_judged_is_no_score() -> None:
    """Not zero: there is no number to give."""
    score = score_of([judged("unknown"), judged("unknown")])
    assert score.weighted is None
    assert score.judged_share == 0
    assert not score.is_strict_pass


def test_no_checks_pass_nothing() -> None:
    """An empty list vouches for nothing."""
    assert not score_of([]).is_strict_pass
