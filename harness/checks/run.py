"""Checks a .blend of any origin: measured in a sandboxed Blender with scripts off, judged here.

One Blender start serves all checks. What Blender says is a claim of an untrusted file: each message is parsed strictly,
and what does not hold together is unknown, as is what was not measured because Blender stopped.
"""

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.blender import BlenderRun, run_in_blender
from harness.checks.blend_header import NotABlend, read_header
from harness.checks.check_type import Measured, Unmeasured
from harness.checks.declared import DeclaredCheck
from harness.checks.file_findings import FileFacts, findings_of, size_finding
from harness.checks.report import CheckReport, CheckResult
from harness.checks.verdict import Verdict
from harness.folders import private_folder
from harness.sandbox import Bind, Limits
from harness.settings import HarnessSettings

MAX_FILE_MB = 512
"""A larger .blend is not opened."""
LIMITS = Limits(timeout_seconds=120, max_file_mb=64, disk_mb=64, output_mb=16)
"""Of one Blender that measures. It has nothing to write but its shader cache."""
_INSIDE = "/checked/scene.blend"


def run_checks(
    file: Path, checks: Sequence[DeclaredCheck], settings: HarnessSettings, limits: Limits = LIMITS
) -> CheckReport:
    """Judge every check on the file.

    Raises InterpreterMissing, SandboxUnavailable or SandboxFailed where the machine fails; whatever is wrong with the
    file is in the report.
    """
    begun = time.monotonic()
    file = file.resolve()
    size_mb = file.stat().st_size / 2**20
    problem = _refusal(file, size_mb)
    run = None if problem else _measure(file, checks, settings, limits)
    opened = run.message("opened") if run else None
    facts = _facts(opened)
    if run and not facts:
        problem = _why_not_opened(run, limits)
    findings = [*size_finding(size_mb, MAX_FILE_MB), *(findings_of(facts) if facts else [])]
    reason = problem or (_why_stopped(run, limits) if run else "")
    results = [_result(check, _messages(run, check.id), problem or reason) for check in checks]
    return CheckReport(
        file=file.name,
        error=problem,
        blender_version=facts.version if facts else None,
        findings=findings,
        checks=results,
        open_seconds=facts.seconds if facts else 0.0,
        seconds=time.monotonic() - begun,
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


def _measure(file: Path, checks: Sequence[DeclaredCheck], settings: HarnessSettings, limits: Limits) -> BlenderRun:
    request = [
        {
            "id": declared.id,
            "type": declared.type,
            "parameters": declared.check.model_dump(mode="json"),
            "frames": declared.check.frames(),
            "changes_scene": declared.check.changes_scene,
        }
        for declared in checks
    ]
    with private_folder("checks") as folder, private_folder("checked") as workspace:
        asked = folder / "request.json"
        asked.write_text(json.dumps(request), encoding="utf-8")
        # the copy has a name of ours, is the only file beside which relative paths could lead, and other users read it
        binds = [Bind(file, _INSIDE), Bind(asked, "/checks/request.json")]
        folder.chmod(0o755)
        asked.chmod(0o644)
        return run_in_blender(
            "check_scene.py", [file, asked], workspace=workspace, settings=settings, limits=limits, binds=binds
        )


def _facts(message: dict[str, Any] | None) -> FileFacts | None:
    try:
        return FileFacts.model_validate({k: v for k, v in message.items() if k != "kind"}) if message else None
    except ValidationError:
        return None


def _why_not_opened(run: BlenderRun, limits: Limits) -> str:
    unreadable = run.message("unreadable")
    if unreadable and isinstance(unreadable.get("why"), str):
        return f"Blender cannot open it: {' '.join(unreadable['why'].split())[:300]}"
    return f"Blender could not open it: {_why_stopped(run, limits) or 'it ended without a word'}"


def _why_stopped(run: BlenderRun, limits: Limits) -> str:
    """Why measurements are missing, or '' where Blender finished."""
    if run.message("finished"):
        return ""
    if run.exit.stopped_by == "timeout":
        return f"Blender was stopped after {limits.timeout_seconds:g} s, before this was measured"
    if run.exit.stopped_by:
        return f"Blender was stopped at its limit of {run.exit.stopped_by}, before this was measured"
    if run.exit.signal_name:
        return f"Blender crashed ({run.exit.signal_name}), before this was measured"
    return f"Blender ended early (status {run.exit.returncode}): {run.exit.output.text().strip()[-200:]}"


def _messages(run: BlenderRun | None, check_id: str) -> list[dict[str, Any]]:
    return [m for m in run.messages if m["kind"] == "measured" and m.get("id") == check_id] if run else []


def _result(declared: DeclaredCheck, messages: Sequence[dict[str, Any]], reason: str) -> CheckResult:
    try:
        verdict = _verdict(declared, messages, reason)
    except (ValidationError, ValueError, ArithmeticError) as error:
        first = str(error).splitlines()[0]
        verdict = Verdict(outcome="unknown", message=f"What was measured does not hold together ({first})")
    parameters = declared.check.model_dump(mode="json", exclude_none=True)
    return CheckResult(
        id=declared.id,
        type=declared.type,
        weight=declared.weight,
        required=declared.required,
        outcome=verdict.outcome,
        message=verdict.message,
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
    if reason and isinstance(check.frames(), dict):
        return Verdict(outcome="unknown", message=reason)  # some of its frames are missing
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
