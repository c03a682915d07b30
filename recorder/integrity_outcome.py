"""Does the outcome in episode.json follow from the facts that stand beside it?

The verdict from exit status, final execution and score; the score from the report of the checks; the report from the
pinned checks and the scene; the number of good steps from the trajectory. What an older record does not hold is not
compared.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.checks.score import Judged, score_of
from harness.checks.verdict import Outcome
from recorder.declared_checks import Entry, counts_of, pinned_checks
from recorder.errors import CorruptEpisode
from recorder.files import Finding
from recorder.integrity_files import good_steps
from recorder.records import CheckScore, EpisodeSummary, Header, Step

_MAX_WEIGHT = 1000
"""That a check can be declared with."""


def check_outcome(root: Path, header: Header, steps: Sequence[Step], summary: EpisodeSummary) -> Iterator[Finding]:
    """Each contradiction in episode.json. A pinned task that cannot be read is `check_pinned_task`'s."""
    try:
        declared = pinned_checks(root)
    except CorruptEpisode:
        return
    against = list(against_pass(summary, declared))
    if summary.verdict == "pass":
        yield from (_finding(f"the verdict is pass, but {why}") for why in against)
    elif summary.verdict == "fail" and not against:
        yield _finding("the verdict is fail, but nothing in it speaks against a pass")
    yield from map(_finding, _of_execution(header, steps, summary))
    yield from map(_finding, _of_checks(header, summary, declared))


def contradiction(root: Path, summary: EpisodeSummary) -> str:
    """Why a pass cannot be one, by its own facts; '' for nothing, and for another verdict. Raises CorruptEpisode."""
    if summary.verdict != "pass":
        return ""
    return next(against_pass(summary, pinned_checks(root)), "")


def against_pass(summary: EpisodeSummary, declared: Sequence[Entry] | None) -> Iterator[str]:
    """What of the facts is not as a pass needs it."""
    if summary.exit_status != "Submitted":
        yield f"the exit status is {summary.exit_status!r}"
    final = summary.final_execution
    if final is None:
        yield "there was no final execution"
        return
    if final.get("ok", True) is not True or final.get("outcome", "ok") != "ok":
        yield "the final execution failed"
    for problem in _problems(final):
        if problem.get("severity") == "error":
            yield f"the final execution found '{problem.get('code')}'"
    report = _report(final)
    if report is not None and (report.get("ok", True) is not True or report.get("error")):
        yield "the report of the checks is no pass"
    missed = [r.id for r in _results(report) if r.required and r.outcome != "pass"]
    if missed:
        yield f"the required check '{missed[0]}' does not pass"
    if summary.score is not None and not summary.score.is_strict_pass:
        yield "the score is no strict pass"
    if declared is not None and (summary.score is None or report is None):
        yield "the checks that the task declares were not judged"


def _of_execution(header: Header, steps: Sequence[Step], summary: EpisodeSummary) -> Iterator[str]:
    final = summary.final_execution or {}
    n_good = final.get("n_good_steps")
    if header.task_kind == "scene" and n_good is not None and n_good != (found := len(good_steps(steps))):
        yield f"n_good_steps is {n_good!r}, the trajectory has {found}"
    stated = final.get("problems")
    if isinstance(stated, list) and all(isinstance(problem, dict) for problem in stated):
        codes = [problem.get("code") for problem in stated]
        report = _report(final)
        codes += ["check_failed"] if report is not None and report.get("ok") is False else []
        if codes != summary.problems:
            yield f"problems is {summary.problems!r}, the final execution found {codes!r}"


def _of_checks(header: Header, summary: EpisodeSummary, declared: Sequence[Entry] | None) -> Iterator[str]:
    """Score, report and pinned checks: three accounts of the same."""
    report = _report(summary.final_execution or {})
    if declared is None:
        if report is not None or summary.score is not None:
            yield "it holds a score or a report of checks, and the task declares none"
        return
    if report is None:
        if summary.score is not None and summary.score != _not_judged(declared):
            yield "the score is not that of checks of which no report was made"
        return
    if [counts_of(entry) for entry in _entries(report)] != [counts_of(entry) for entry in declared]:
        yield "the report of the checks is not about the checks that the task declares"
    if summary.score is None or not _is_same(summary.score, _score_of(_results(report))):
        yield "the score is not what the report of the checks comes to"
    scene = summary.files.get("scene.blend", "")
    if header.task_kind == "scene" and not report.get("error") and report.get("sha256", scene) != scene:
        yield "the report of the checks is about another scene than 'scene.blend'"


def _problems(final: dict[str, Any]) -> list[dict[str, Any]]:
    stated = final.get("problems")
    return [one for one in stated if isinstance(one, dict)] if isinstance(stated, list) else []


def _report(final: dict[str, Any]) -> dict[str, Any] | None:
    report = final.get("checks")
    return report if isinstance(report, dict) else None


def _entries(report: dict[str, Any] | None) -> list[dict[str, Any]]:
    stated = (report or {}).get("checks")
    return [one for one in stated if isinstance(one, dict)] if isinstance(stated, list) else []


def _results(report: dict[str, Any] | None) -> list[Judged]:
    """What cannot be read of a result counts against it."""
    results = []
    for entry in _entries(report):
        name, _, weight, required = counts_of(entry)
        outcome = entry.get("outcome")
        number = float(weight) if isinstance(weight, int | float) and 0 <= weight <= _MAX_WEIGHT else 0.0
        known: Outcome = "pass" if outcome == "pass" else "fail" if outcome == "fail" else "unknown"
        results.append(Judged(str(name), known, number, required is not False))
    return results


def _score_of(results: Sequence[Judged]) -> CheckScore:
    score = score_of(results)
    return CheckScore(
        is_strict_pass=score.is_strict_pass,
        weighted=score.weighted,
        judged_share=score.judged_share,
        n_passed=score.n_passed,
        failed=[result.id for result in results if result.outcome == "fail"],
        not_judged=list(score.not_judged),
    )


def _not_judged(declared: Sequence[Entry]) -> CheckScore:
    ids = [str(entry.get("id")) for entry in declared]
    return CheckScore(
        is_strict_pass=False, weighted=None, judged_share=0.0, n_passed=0, failed=[], not_judged=ids
    )  # fmt: skip


def _is_same(stated: CheckScore, found: CheckScore) -> bool:
    pairs = ((stated.weighted, found.weighted), (stated.judged_share, found.judged_share))
    if not all(a == b or (a is not None and b is not None and math.isclose(a, b, abs_tol=1e-9)) for a, b in pairs):
        return False
    return stated.model_copy(update={"weighted": found.weighted, "judged_share": found.judged_share}) == found


def _finding(why: str) -> Finding:
    return Finding(code="outcome", file="episode.json", message=why)
