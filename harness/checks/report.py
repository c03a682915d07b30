"""What checking a file gives: a record that is written as JSON."""

from collections.abc import Sequence
from typing import Any

from harness.checks.file_findings import FileFinding
from harness.checks.score import Judged, Score, score_of
from harness.checks.verdict import Outcome, Record, Spot

SCHEMA_VERSION = 1


class JudgedCheck(Record):
    """One check with its verdict: the same in every run of a file that is the same."""

    id: str
    type: str
    weight: float
    required: bool
    outcome: Outcome
    message: str
    measured: Any
    expected: dict[str, Any]
    """The check's parameters."""
    tolerance: dict[str, Any]
    """Those of them that are tolerances."""
    evidence: list[Spot]


class CheckResult(JudgedCheck):
    """The same, with what it cost."""

    seconds: float
    """That measuring took in the opened file."""


class CheckReport(Record):
    """All checks of one file."""

    schema_version: int = SCHEMA_VERSION
    file: str
    sha256: str
    """Of the bytes that were opened; '' where none were."""
    error: str
    """Why the file could not be opened; '' where it could."""
    blender_version: tuple[int, int, int] | None
    """Of the Blender that saved the file."""
    findings: list[FileFinding]
    """What the file brings along, whatever the checks ask."""
    checks: list[CheckResult]
    isolation: str
    """Of the Blender that opened it: `bwrap`, `landlock+seccomp`, `limits-only`; '' where none was started."""
    n_starts: int
    """Blenders that were started."""
    open_seconds: float
    seconds: float

    @property
    def score(self) -> Score:
        return score_of_checks(self.checks)

    @property
    def ok(self) -> bool:
        """Every required check passes, and the file could be opened."""
        return not self.error and all(c.outcome == "pass" for c in self.checks if c.required)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values, the derived ones included."""
        from dataclasses import asdict

        return {"ok": self.ok, "score": asdict(self.score), **self.model_dump(mode="json")}


def score_of_checks(checks: Sequence[JudgedCheck]) -> Score:
    """The score of these results."""
    return score_of([Judged(c.id, c.outcome, c.weight, c.required) for c in checks])
