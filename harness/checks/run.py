"""Checks a .blend of any origin: measured in a sandboxed Blender with scripts off, judged here.

One Blender start serves all checks, and what else is asked of the file. What Blender says is a claim of an untrusted
file: each message is parsed strictly, and what does not hold together is unknown, as is what was not measured because
Blender stopped.
"""

import hashlib
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.checks.blend_header import NotABlend, read_header
from harness.checks.check_type import Measured, Unmeasured
from harness.checks.declared import DeclaredCheck
from harness.checks.file_findings import findings_of, size_finding
from harness.checks.opened_file import OpenedFile, Wanted, open_file
from harness.checks.report import CheckReport, CheckResult
from harness.checks.verdict import Verdict
from harness.folders import private_folder
from harness.renders import LIMITS as RENDER_LIMITS
from harness.renders import Renders, finish_or_redraw
from harness.sandbox import Limits
from harness.settings import HarnessSettings

MAX_FILE_MB = 512
"""A larger .blend is not opened."""
LIMITS = Limits(timeout_seconds=120, max_file_mb=64, disk_mb=64, output_mb=16)
"""Of one Blender that measures. It has nothing to write but its shader cache, and one small picture."""


@dataclass(frozen=True)
class Examination:
    """Everything that one look at a file gives."""

    report: CheckReport
    state: dict[str, Any] | None
    """The canonical scene state; None where it was not asked for or cannot be read."""
    why_no_state: str
    renders: Renders | None = None
    """What was drawn and published; None where nothing was asked for, or the file cannot be opened."""


def run_checks(
    file: Path,
    checks: Sequence[DeclaredCheck],
    settings: HarnessSettings,
    limits: Limits = LIMITS,
    seconds: float = 20.0,
) -> CheckReport:
    """Judge every check on the file. Measuring one check in one frame may take so many `seconds`.

    Raises OSError where the file cannot be read; InterpreterMissing, SandboxUnavailable or SandboxFailed where the
    machine fails; whatever is wrong with the file is in the report.
    """
    return examine(file, Wanted(tuple(checks), seconds=seconds), settings, limits).report


def examine(
    file: Path, wanted: Wanted, settings: HarnessSettings, limits: Limits = LIMITS, *, keep: Path | None = None
) -> Examination:
    """Open the file once and see to all that is wanted of it; renders are published into the new folder `keep`.

    Raises as `run_checks`, and FileExistsError.
    """
    begun = time.monotonic()
    size_mb = file.stat().st_size / 2**20
    problem = _refusal(file, size_mb)
    renders = None
    with private_folder("checked") as folder, private_folder("raw") as raw:
        # a copy that does not change meanwhile, and that the sandbox's user may read
        copy = folder / "scene.blend"
        sha256 = "" if problem else _copy(file, copy)
        limits = _with_drawing(limits) if wanted.renders else limits
        opened = OpenedFile() if problem else open_file(copy, wanted, settings, limits, raw)
        if wanted.renders and keep and opened.facts:
            stopped = opened.why_not_drawn
            renders = finish_or_redraw(opened.drawn, raw, keep, settings, wanted.renders, sha256, stopped, copy)
    facts = opened.facts
    if not problem and not facts:
        problem = opened.reason or f"What Blender says of '{file.name}' does not hold together"
    report = CheckReport(
        file=file.name,
        sha256=sha256,
        error=problem,
        blender_version=facts.version if facts else None,
        findings=[*size_finding(size_mb, MAX_FILE_MB), *(findings_of(facts) if facts else [])],
        checks=[_result(check, opened, problem) for check in wanted.checks],
        isolation=opened.isolation,
        n_starts=opened.n_starts,
        open_seconds=facts.seconds if facts else 0.0,
        seconds=time.monotonic() - begun,
    )
    return Examination(report, opened.state, problem or opened.why_no_state, renders)


def _with_drawing(limits: Limits) -> Limits:
    """Of a Blender that draws after it has measured."""
    return replace(
        RENDER_LIMITS,
        timeout_seconds=limits.timeout_seconds + RENDER_LIMITS.timeout_seconds,
        memory_mb=limits.memory_mb,
    )


def unjudged(name: str, checks: Sequence[DeclaredCheck], why: str) -> CheckReport:
    """The report on a file that is not there: every check is unknown for that reason."""
    return CheckReport(
        file=name,
        sha256="",
        error=why,
        blender_version=None,
        findings=[],
        checks=[_result(check, OpenedFile(), why) for check in checks],
        isolation="",
        n_starts=0,
        open_seconds=0.0,
        seconds=0.0,
    )


def _refusal(file: Path, size_mb: float) -> str:
    """Why Blender is not started for this file, or ''."""
    try:
        read_header(file)
    except NotABlend as error:
        return f"'{file.name}' is {error}"
    if size_mb > MAX_FILE_MB:
        return f"'{file.name}' has {size_mb:.0f} MiB; the most that is opened is {MAX_FILE_MB} MiB"
    return ""


def _copy(file: Path, copy: Path) -> str:
    """Copy the file, readable for the sandbox's user; its SHA-256."""
    shutil.copyfile(file, copy)
    if os.geteuid() == 0:  # the sandbox is another user then
        copy.chmod(0o644)
        copy.parent.chmod(0o755)
    with copy.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _result(declared: DeclaredCheck, opened: OpenedFile, problem: str) -> CheckResult:
    messages = opened.messages.get(declared.id, [])
    reason = problem or opened.culprits.get(declared.id) or opened.reason
    try:
        verdict = _verdict(declared, messages, reason)
    except (ValueError, ArithmeticError, LookupError, TypeError, StopIteration) as error:  # a ValidationError too
        first = (str(error) or type(error).__name__).splitlines()[0]
        verdict = Verdict(outcome="unknown", message=f"What was measured does not hold together ({first})")
    parameters = declared.check.model_dump(mode="json", exclude_none=True)
    return CheckResult(
        id=declared.id,
        type=declared.type,
        weight=declared.weight,
        required=declared.required,
        outcome=verdict.outcome,
        message=" ".join(verdict.message.split()),  # names may hold line ends
        measured=verdict.measured,
        expected={k: v for k, v in parameters.items() if k not in {"target", "frame"} and "tolerance" not in k},
        tolerance={k: v for k, v in parameters.items() if "tolerance" in k},
        evidence=verdict.evidence,
        seconds=sum(s for m in messages if isinstance(s := m.get("seconds"), float)),
    )


def _verdict(declared: DeclaredCheck, messages: Sequence[dict[str, Any]], reason: str) -> Verdict:
    if not messages:
        return Verdict(outcome="unknown", message=reason or "Blender said nothing of it")
    errors = [m["error"] for m in messages if m.get("error")]
    if errors:
        return Verdict(outcome="unknown", message=f"Not measured: {errors[0]}"[:600])
    check = declared.check
    rows = [row for message in messages for row in message["rows"]]
    return check.judge(
        Measured(
            rows=[check.row.model_validate(row) for row in rows if "unknown" not in row],
            unmeasured=[Unmeasured.model_validate(row) for row in rows if "unknown" in row],
            n_matched=_count(messages[0].get("n_matched")),
            n_hidden=_count(messages[0].get("n_hidden")) or 0,
            n_frames=len(messages),
        )
    )


def _count(value: object) -> int | None:
    if value is not None and not isinstance(value, int):
        raise ValueError("a count is no number")
    return value
