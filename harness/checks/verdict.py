"""What a check came to: pass, fail or unknown, with what was measured, where, and one plain sentence.

`unknown` means that it could not be judged, and says why. It is never a pass and never a fail: what was not judged is
counted apart (see `score.py`).
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Outcome = Literal["pass", "fail", "unknown"]
Name = Annotated[str, StringConstraints(max_length=300)]
Vector = tuple[float, float, float]

MAX_EVIDENCE = 20
MAX_MEASURED = 20
"""Objects whose values a verdict lists; how many there are is in its message."""


class Record(BaseModel):
    """Frozen, with no key but the named ones."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Spot(Record):
    """Where something was seen."""

    object: Name = ""
    index: int | None = None
    """Of the face, edge, vertex, bone or key that the sentence speaks of."""
    world_co: Vector | None = None
    """Place in the world, in Blender units."""


class Verdict(Record):
    """One check's outcome, without the check's own words (weight, parameters)."""

    outcome: Outcome
    message: str
    """One plain sentence for a person."""
    measured: Any = None
    """JSON value: of a single object its value, of several a mapping from object to value."""
    evidence: Annotated[list[Spot], Field(max_length=MAX_EVIDENCE)] = []


class Finding(Record):
    """What one row of a measurement came to."""

    outcome: Outcome
    message: str
    measured: Any = None
    spots: list[Spot] = []


def passed(message: str, measured: Any = None) -> Finding:
    """The row is as it has to be."""
    return Finding(outcome="pass", message=message, measured=measured)


def failed(message: str, measured: Any = None, spots: list[Spot] | None = None) -> Finding:
    """The row is not as it has to be."""
    return Finding(outcome="fail", message=message, measured=measured, spots=spots or [])


def unsure(message: str, measured: Any = None) -> Finding:
    """The row could not be judged."""
    return Finding(outcome="unknown", message=message, measured=measured)


def finding(is_good: bool, message: str, measured: Any = None, spots: list[Spot] | None = None) -> Finding:
    """`passed` or `failed`; the message says what was measured, so that it holds for both."""
    return passed(message, measured) if is_good else failed(message, measured, spots)


def number(value: float) -> str:
    """A number for a sentence: four significant digits, no trailing noise."""
    return f"{value:.4g}" if abs(value) < 1e6 else f"{value:.3e}"


def vector(values: "tuple[float, ...] | list[float]") -> str:
    """`(1, 0.5, -2)`."""
    return f"({', '.join(number(value) for value in values)})"


def plural(n: int, noun: str, nouns: str = "") -> str:
    """`1 face`, `2 faces`."""
    return f"{n} {noun if n == 1 else nouns or noun + 's'}"


def names(values: "list[str]", most: int = 3) -> str:
    """`'a', 'b' and 4 more`."""
    shown = ", ".join(f"'{value}'" for value in values[:most])
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown
