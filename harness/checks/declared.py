"""One entry of a checks.json: a type with its parameters, and what the outcome counts for."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from harness.checks.check_type import CheckType

CheckId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,79}$")]


class DeclaredCheck(BaseModel):
    """A check as its task declares it."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    id: CheckId
    """Unique in the file."""
    type: str
    """One of the types of docs/checks.md."""
    parameters: Any
    """The type's own; validated as such."""
    weight: Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)] = 1.0
    """What it counts for in the weighted score."""
    required: bool = True
    """Whether a strict pass needs it."""

    @property
    def check(self) -> CheckType[Any]:
        """The type, with its parameters."""
        assert isinstance(self.parameters, CheckType)
        return self.parameters
