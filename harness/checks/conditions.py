"""A value compared with what is wanted: shared by checks that read one property."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from harness.checks.check_type import Parameters
from harness.checks.verdict import number, vector

Path = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*|\[(\d+|\"[^\"\]]+\")\])*$", max_length=200)
]
"""An RNA path: names, dots, and [index] or ["key"]."""
Operator = Literal["==", "!=", ">=", "<=", "between"]


class Condition(Parameters):
    """What a property has to be. `between` takes a list of two numbers."""

    op: Operator = "=="
    """How it is compared."""
    value: bool | int | float | str | tuple[bool | int | float | str, ...]
    """With what. Data-blocks are compared by name, sets of flags by a list in any order."""
    tolerance: Annotated[float, Field(ge=0)] = 1e-4
    """Greatest difference of numbers that are equal."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        is_range = isinstance(self.value, tuple) and len(self.value) == 2 and all(_is_number(v) for v in self.value)
        if self.op == "between" and not is_range:
            raise ValueError("'between' takes a value of two numbers")
        if self.op in (">=", "<=") and not _is_number(self.value):
            raise ValueError(f"'{self.op}' takes a number as value")
        return self

    def holds(self, found: Any) -> bool | None:
        """Whether a value that was read is as wanted; None where the two cannot be compared."""
        if self.op in ("==", "!="):
            is_equal = equal(found, self.value, self.tolerance)
            return not is_equal if is_equal is not None and self.op == "!=" else is_equal
        if not _is_number(found):
            return None
        if self.op == "between":
            assert isinstance(self.value, tuple)
            low, high = (float(v) for v in self.value)
            return bool(low - self.tolerance <= found <= high + self.tolerance)
        assert isinstance(self.value, int | float)
        distance = found - self.value if self.op == ">=" else self.value - found
        return bool(distance >= -self.tolerance)

    @property
    def wanted(self) -> str:
        """In words."""
        return f"{'' if self.op == '==' else self.op + ' '}{shown(self.value)}"


def equal(found: Any, expected: Any, tolerance: float) -> bool | None:
    """Equal to the tolerance; None for values of kinds that cannot be equal."""
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected if isinstance(found, bool) and isinstance(expected, bool) else None
    if _is_number(found) and _is_number(expected):
        return bool(abs(found - expected) <= tolerance)
    if isinstance(found, list) and isinstance(expected, list | tuple):
        if all(isinstance(v, str) for v in [*found, *expected]):
            return sorted(found) == sorted(expected)
        if len(found) != len(expected):
            return None
        pairs = [equal(a, b, tolerance) for a, b in zip(found, expected, strict=True)]
        return None if None in pairs else all(pairs)
    return bool(found == expected) if isinstance(found, str) and isinstance(expected, str) else None


def shown(value: Any) -> str:
    """A value for a sentence."""
    if isinstance(value, list | tuple):
        return vector(list(value)) if all(_is_number(v) for v in value) else ", ".join(f"'{v}'" for v in value)
    return number(value) if _is_number(value) else f"'{value}'" if isinstance(value, str) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
