"""`verification/decision.json`: a person's last word on an episode. How one comes about: `decisions.py`."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from recorder.records import SCHEMA_VERSION, Record

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=4000)]


class Override(Record):
    """Why an episode is accepted in spite of what speaks against it."""

    reason: Words
    faults: Annotated[list[str], Field(min_length=1)]
    """What did, line by line, when it was decided."""


class Decided(Record):
    """One decision."""

    decision: Literal["accept", "reject"]
    reason: str
    by: str
    decided_at: str
    """UTC."""
    about: dict[str, str] = Field(default_factory=dict)
    """Name -> SHA-256 of what was decided on: the episode's files, its verification and its list of renders. Empty in
    records from before it was kept."""
    override: Override | None = None


class Decision(Decided):
    """The one that holds, and those before it."""

    schema_version: int = SCHEMA_VERSION
    history: list[Decided] = Field(default_factory=list)
    """Earlier ones, the oldest first."""
