"""The score of a checked file.

- *Strict pass*: every required check passes. An unknown one is no pass.
- *Weighted score*: the weights of the checks that pass, divided by the weights of all that were judged (pass or fail);
  None where nothing was judged. In 0..1.
- *Judged share*: the weights of what was judged, divided by all weights. Beside a weighted score it says how much of
  the declared work the score stands for: a file in which nothing can be measured cannot look good.
- *Not judged*: the ids of the unknown checks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.checks.verdict import Outcome


@dataclass(frozen=True)
class Judged:
    """What the score needs to know of one check."""

    id: str
    outcome: Outcome
    weight: float
    required: bool


@dataclass(frozen=True)
class Score:
    """Derived from the results; see the module for the formulas."""

    is_strict_pass: bool
    weighted: float | None
    judged_share: float
    n_passed: int
    n_failed: int
    not_judged: tuple[str, ...]


def score_of(results: Sequence[Judged]) -> Score:
    """The score of these results. No results: no strict pass, since nothing vouches for the file."""
    weights = {outcome: sum(r.weight for r in results if r.outcome == outcome) for outcome in ("pass", "fail")}
    judged, everything = sum(weights.values()), sum(r.weight for r in results)
    return Score(
        is_strict_pass=bool(results) and all(r.outcome == "pass" for r in results if r.required),
        weighted=weights["pass"] / judged if judged else None,
        judged_share=judged / everything if everything else 0.0,
        n_passed=sum(r.outcome == "pass" for r in results),
        n_failed=sum(r.outcome == "fail" for r in results),
        not_judged=tuple(r.id for r in results if r.outcome == "unknown"),
    )
