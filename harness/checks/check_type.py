"""What every type of check is: its parameters, what Blender has to measure for it, and how that is judged.

A type is one class whose fields are its parameters. Blender measures rows (one an object, or one in all), which arrive
as claims and are parsed strictly into `row`; `judge_row` judges each, `judge` puts them together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, model_validator

from harness.checks.selectors import Selector
from harness.checks.verdict import MAX_EVIDENCE, MAX_MEASURED, Finding, Name, Outcome, Record, Spot, Verdict, plural

Length = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Frame = Annotated[int, Field(ge=-1_048_574, le=1_048_574)]
"""Blender's own bounds of frame numbers."""


class Row(Record):
    """What was measured of one object in one frame. A claim."""

    object: Name = ""
    frame: int = 0
    spots: Annotated[tuple[Spot, ...], Field(max_length=MAX_EVIDENCE)] = ()


class Unmeasured(Record):
    """A row that could not be measured."""

    object: Name = ""
    frame: int = 0
    unknown: Annotated[str, Field(min_length=1, max_length=2000)]


R = TypeVar("R", bound=Row)


@dataclass(frozen=True)
class Measured(Generic[R]):
    """All that Blender said of one check."""

    rows: Sequence[R] = ()
    unmeasured: Sequence[Unmeasured] = ()
    n_matched: int | None = None
    """Objects that the target selects; None where there is no target."""
    n_hidden: int = 0
    """Hidden objects that it would select with `include_hidden`."""
    n_frames: int = 1
    other: dict[str, Any] = field(default_factory=dict)


class Parameters(BaseModel):
    """Refuses what it does not know; a field's docstring is its line in docs/checks.md."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


class CheckType(Parameters, Generic[R]):
    """A type of check. The class docstring is its description in docs/checks.md."""

    name: ClassVar[str]
    group: ClassVar[str]
    row: ClassVar[type[Row]]
    changes_scene: ClassVar[bool] = False
    as_rendered: ClassVar[bool] = False
    """Measured on what a final render evaluates, where viewports show other geometry."""
    """It tries something out in the opened copy: measured after all those that only look."""

    def frames(self) -> list[int] | dict[str, int | None]:
        """Frames to measure in; empty: the one in which the file was saved. A mapping {from, to, samples} means evenly
        spaced frames, None there the ends of the scene's range."""
        frame = getattr(self, "frame", None)
        return [] if frame is None else [frame]

    def judge_row(self, row: R) -> Finding:
        """What one row comes to."""
        raise NotImplementedError

    def judge(self, measured: Measured[R]) -> Verdict:
        """Good if every row is, and the target selects as many objects as it has to."""
        wrong_count = self.count_verdict(measured)
        return wrong_count or combine([(row, self.judge_row(row)) for row in measured.rows], measured.unmeasured)

    def count_verdict(self, measured: Measured[R]) -> Verdict | None:
        """The verdict where the target selects too few or too many objects."""
        selector: Selector | None = getattr(self, "target", None)
        if selector is None or measured.n_matched is None or selector.allows(measured.n_matched):
            return None
        hidden = f" ({plural(measured.n_hidden, 'hidden one')} would match)" if measured.n_hidden else ""
        n = plural(measured.n_matched, "object matches", "objects match") if measured.n_matched else "No object matches"
        return Verdict(
            outcome="fail", message=f"{n} {selector}{hidden}; wanted: {selector.wanted}.", measured=measured.n_matched
        )


class AtFrame(Parameters):
    """A check of one frame."""

    frame: Frame | None = None
    """Frame to measure in; without it, the one in which the file was saved. Simulations are stepped from the start."""


class Bounds(Parameters):
    """A number within bounds."""

    min: float | None = None
    """Least value."""
    max: float | None = None
    """Greatest value."""

    @model_validator(mode="after")
    def _is_a_question(self) -> Self:
        check_bounds(self.min, self.max)
        return self

    def holds(self, value: float) -> bool:
        """Whether the value lies within the bounds."""
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)


class CountBounds(Parameters):
    """A count within bounds."""

    min: Count | None = None
    """Least number."""
    max: Count | None = None
    """Greatest number."""

    @model_validator(mode="after")
    def _is_a_question(self) -> Self:
        check_bounds(self.min, self.max)
        return self

    def holds(self, value: int) -> bool:
        """Whether the count lies within the bounds."""
        return (self.min is None or value >= self.min) and (self.max is None or value <= self.max)


def check_bounds(low: float | None, high: float | None, names: str = "min or max") -> None:
    """Raises ValueError where neither is given, or they are the wrong way round."""
    if low is None and high is None:
        raise ValueError(f"give {names}")
    if low is not None and high is not None and low > high:
        raise ValueError(f"the least ({low:g}) is greater than the greatest ({high:g})")


def wanted(low: float | None, high: float | None) -> str:
    """The words for bounds: `2`, `at least 2`, `at most 5`, `2 to 5`."""
    if low is not None and high is not None:
        return f"{low:g}" if low == high else f"{low:g} to {high:g}"
    return f"at least {low:g}" if low is not None else f"at most {high:g}" if high is not None else "any"


def combine(findings: Sequence[tuple[Row, Finding]], unmeasured: Sequence[Unmeasured]) -> Verdict:
    """Fail where one fails, else unknown where one is, else pass. Nothing measured is unknown."""
    found = [*findings, *((Row(object=u.object, frame=u.frame), _unknown(u)) for u in unmeasured)]
    if not found:
        return Verdict(outcome="unknown", message="Nothing was measured.")
    outcomes = [finding.outcome for _, finding in found]
    outcome: Outcome = "fail" if "fail" in outcomes else "unknown" if "unknown" in outcomes else "pass"
    telling = [(row, finding) for row, finding in found if finding.outcome == outcome]
    more = f" (and {len(telling) - 1} more such)" if len(telling) > 1 and outcome != "pass" else ""
    others = (
        f" The same holds of {plural(len(telling) - 1, 'other')}." if len(telling) > 1 and outcome == "pass" else ""
    )
    spots = [
        spot if spot.object else spot.model_copy(update={"object": row.object})
        for row, finding in telling
        for spot in (finding.spots or row.spots or ([Spot(object=row.object)] if row.object else []))
    ]
    return Verdict(
        outcome=outcome,
        message=f"{telling[0][1].message.rstrip('.')}{more}.{others}",
        measured=_values(found),
        evidence=spots[:MAX_EVIDENCE] if outcome != "pass" else [],
    )


def _unknown(row: Unmeasured) -> Finding:
    where = f"'{row.object}': " if row.object else ""
    return Finding(outcome="unknown", message=f"{where}{row.unknown}")


def _values(found: Sequence[tuple[Row, Finding]]) -> Any:
    if len(found) == 1:
        return found[0][1].measured
    frames = {row.frame for row, _ in found}
    return {
        (f"{row.object} @{row.frame}" if len(frames) > 1 else row.object): finding.measured
        for row, finding in found[:MAX_MEASURED]
    }
