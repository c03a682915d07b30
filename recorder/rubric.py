"""A task's rubric: weighted criteria for one who sees the renders alone. Its review is in `rubric_review.py`."""

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from recorder.records import Record

CriterionId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")]


class Criterion(Record):
    """One thing to look for."""

    id: CriterionId
    text: Annotated[str, StringConstraints(min_length=1, max_length=2000, strip_whitespace=True)]
    """A statement that is true of good work and can be judged from still pictures."""
    weight: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = 1.0


class Rubric(Record):
    """`rubric.json`."""

    criteria: Annotated[tuple[Criterion, ...], Field(min_length=1, max_length=100)]

    @property
    def ids(self) -> list[str]:
        return [criterion.id for criterion in self.criteria]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        if doubles := sorted({id for id in self.ids if self.ids.count(id) > 1}):
            raise ValueError(f"criteria ids stand in it more than once: {', '.join(doubles)}")
        return self
