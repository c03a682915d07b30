"""Verdicts are pure functions of claims: bad claims are unknown, never a pass."""

import json
from typing import Any

import pytest

from harness.checks.check_type import Measured, Row, Unmeasured, combine
from harness.checks.conditions import Condition
from harness.checks.curves import Keyframes
from harness.checks.motion import nearest_turn
from harness.checks.opened_file import OpenedFile
from harness.checks.placement import Dimensions, angle
from harness.checks.run import _result
from harness.checks.selectors import Selector
from harness.checks.verdict import Spot, failed, passed
from tests.harness.checks.judging import Case

DECLARED = Case("", "dimensions", {"target": "Cube", "x": {"max": 2}}, "pass").declared
GOOD = {"object": "Cube", "frame": 1, "low": [0, 0, 0], "high": [1, 1, 1]}


def claimed(rows: Any, **more: Any) -> str:
    """The outcome when Blender says this."""
    message = {"kind": "measured", "id": "case", "rows": rows, "error": "", "n_matched": 1, "n_hidden": 0, **more}
    return _result(DECLARED, OpenedFile(messages={"case": [message]}), "").outcome


def test_an_honest_claim_is_judged() -> None:
    """The control of the ones below."""
    assert claimed([GOOD]) == "pass"
    assert claimed([GOOD | {"high": [3, 1, 1]}]) == "fail"


@pytest.mark.parametrize(
    "rows",
    [
        [GOOD | {"high": None}],
        [GOOD | {"high": [1, 1]}],
        [GOOD | {"high": ["a", "b", "c"]}],
        [GOOD | {"high": [None, 1, 1]}],
        [GOOD | {"more": 1}],
        [{"object": "Cube"}],
        [GOOD | {"object": "x" * 400}],
        [{"object": "Cube", "unknown": ""}],
        [GOOD | {"spots": [{}] * 30}],
        [],
        ["text"],
        "text",
    ],
)
def test_claims_that_do_not_hold_together_are_unknown(rows: Any) -> None:
    """Missing, short, mistyped, surplus, oversized or empty."""
    assert claimed(rows) == "unknown"


def test_counts_have_to_be_counts() -> None:
    """A number of matches that is no number proves nothing."""
    assert claimed([GOOD], n_matched="many") == "unknown"


def test_an_error_is_unknown_whatever_else_is_claimed() -> None:
    """A measurement that raised cannot pass."""
    assert claimed([GOOD], error="it raised") == "unknown"


def test_one_failing_row_fails_all_and_says_how_many() -> None:
    """Fail before unknown before pass."""
    row = Row(object="a")
    verdict = combine([(row, passed("fine")), (row, failed("bad")), (row, failed("worse"))], [Unmeasured(unknown="x")])
    assert verdict.outcome == "fail"
    assert verdict.message == "bad (and 1 more such)."
    assert verdict.evidence == [Spot(object="a"), Spot(object="a")]


def test_an_unmeasured_object_keeps_the_rest_from_passing() -> None:
    """All but one are good: unknown."""
    assert combine([(Row(object="a"), passed("fine"))], [Unmeasured(object="b", unknown="x")]).outcome == "unknown"


def test_no_match_is_a_fail_that_names_hidden_ones() -> None:
    """What a check asks for is not there."""
    check = Dimensions.model_validate({"target": "Cube", "x": {"max": 2}})
    verdict = check.judge(Measured(n_matched=0, n_hidden=2))
    assert verdict.outcome == "fail"
    assert verdict.message == "No object matches 'Cube' (2 hidden ones would match); wanted: at least 1."


@pytest.mark.parametrize(
    ("op", "value", "found", "holds"),
    [
        ("==", 2, 2.00001, True),
        ("==", 2, True, None),
        ("==", True, 1, None),
        ("==", "a", "b", False),
        ("!=", 2, 3, True),
        ("!=", 2, "2", None),
        (">=", 2, 1.5, False),
        ("<=", 2, "1", None),
        ("between", [1, 2], 1.5, True),
        ("between", [1, 2], 2.5, False),
        ("==", [1, 2], [1, 2.00001], True),
        ("==", [1, 2], [1, 2, 3], None),
        ("==", ["a", "b"], ["b", "a"], True),
    ],
)
def test_conditions(op: str, value: Any, found: Any, holds: bool | None) -> None:
    """Numbers to the tolerance, no number is true, and what cannot be compared is neither."""
    condition = Condition.model_validate_json(json.dumps({"op": op, "value": value}), strict=True)
    assert condition.holds(found) is holds


def test_angles_are_taken_modulo_a_turn() -> None:
    """180° is -180°, and 350° is 20° away from 10°."""
    assert nearest_turn(-180.0, 180) == pytest.approx(180)
    assert nearest_turn(350.0, 10) == pytest.approx(-10)
    assert angle((1, 0, 0), (0, 2, 0)) == pytest.approx(90)


def test_a_text_selects_by_name() -> None:
    """The short form of a selector."""
    assert Selector.model_validate("Cube") == Selector(name="Cube")
    assert Keyframes.model_validate({"target": "Cube"}).target.name == "Cube"
