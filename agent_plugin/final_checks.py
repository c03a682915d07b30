"""The declared checks of a task, judged on the scene that was handed in. They can fail a verdict, and never pass one.

The agent is gone by then: what they ask, and how it was answered, is for the record alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_plugin.tasks import Task
from harness.execution import Problem
from harness.settings import HarnessSettings
from recorder.records import CheckScore

if TYPE_CHECKING:
    from harness.checks.declared import DeclaredCheck
    from harness.checks.report import CheckReport

_MAX_TOLD = 10
"""Checks whose sentences stand in the problem; the report has all."""


@dataclass(frozen=True)
class Graded:
    """What the checks came to."""

    score: CheckScore
    problems: tuple[Problem, ...]
    report: dict[str, Any]
    """`CheckReport.to_json()`."""


def declared_checks(task: Task) -> "list[DeclaredCheck]":
    """Those of the task, ready to be judged; none where it declares none. Raises BadInput."""
    if task.checks is None:
        return []
    from agent_plugin.checks_file import parse_checks

    return parse_checks(list(task.checks), f"task '{task.id}'", "checks")


def grade(scene: Path, checks: "Sequence[DeclaredCheck]", settings: HarnessSettings) -> Graded:
    """Judge all checks on the file `scene`, in a Blender of its own. Raises HarnessError where the machine fails."""
    from harness.checks.run import run_checks

    report = run_checks(scene, checks, settings)
    score = report.score
    return Graded(
        score=CheckScore(
            is_strict_pass=score.is_strict_pass,
            weighted=score.weighted,
            judged_share=score.judged_share,
            n_passed=score.n_passed,
            failed=[check.id for check in report.checks if check.outcome == "fail"],
            not_judged=list(score.not_judged),
        ),
        problems=_problems(report),
        report=report.to_json(),
    )


def not_graded(task: Task) -> CheckScore | None:
    """The score where there is no scene: not one of the task's checks is judged. None where it has none."""
    if task.checks is None:
        return None
    return CheckScore(
        is_strict_pass=False,
        weighted=None,
        judged_share=0.0,
        n_passed=0,
        failed=[],
        not_judged=[str(check["id"]) for check in task.checks],
    )


def _problems(report: "CheckReport") -> tuple[Problem, ...]:
    if report.ok:
        return ()
    missed = [check for check in report.checks if check.required and check.outcome != "pass"]
    n_required = sum(check.required for check in report.checks)
    told = [f"{check.id}{' (not judged)' * (check.outcome == 'unknown')}: {check.message}" for check in missed]
    more = [f"and {len(told) - _MAX_TOLD} more"] if len(told) > _MAX_TOLD else []
    message = f"{len(missed)} of {n_required} required checks do not pass"
    why = [report.error] if report.error else [*told[:_MAX_TOLD], *more]
    return (Problem("check_failed", "error", "; ".join([message, *why]), where=report.file),)
