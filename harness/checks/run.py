"""Checks a .blend of any origin: measured in a sandboxed Blender with scripts off, judged here.

One Blender start serves all checks. What Blender says is a claim of an untrusted file: each message is parsed strictly,
and what does not hold together is unknown, as is what was not measured because Blender stopped.
"""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
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
"""Of one Blender that measures. It has nothing to write but its shader cache, and one small picture."""
_INSIDE = "/checked/scene.blend"
_MAX_STARTS = 3
_ITS_PLACE = re.compile(r"""(?:(?:blend )?file )?["']?[^ "']*/scene\.blend["']?""")


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
    begun = time.monotonic()
    size_mb = file.stat().st_size / 2**20
    problem = _refusal(file, size_mb)
    with private_folder("checked") as folder:
        # a copy that does not change meanwhile, and that the sandbox's user may read
        copy = folder / "scene.blend"
        sha256 = "" if problem else _copy(file, copy)
        session = None if problem else _measure(copy, checks, settings, limits, seconds)
    if session and not session.facts:
        problem = session.reason or f"What Blender says of '{file.name}' does not hold together"
    facts = session.facts if session else None
    findings = [*size_finding(size_mb, MAX_FILE_MB), *(findings_of(facts) if facts else [])]
    return CheckReport(
        file=file.name,
        sha256=sha256,
        error=problem,
        blender_version=facts.version if facts else None,
        findings=findings,
        checks=[_result(check, session, problem) for check in checks],
        isolation=session.isolation if session else "",
        n_starts=session.n_starts if session else 0,
        open_seconds=facts.seconds if facts else 0.0,
        seconds=time.monotonic() - begun,
    )


@dataclass
class _Session:
    """What one or more Blenders said of the file."""

    facts: FileFacts | None = None
    messages: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Check id -> its messages, where all of its frames were measured."""
    culprits: dict[str, str] = field(default_factory=dict)
    """Check id -> how Blender ended while it was being measured."""
    reason: str = ""
    """Why what is missing is missing."""
    isolation: str = ""
    n_starts: int = 0


def _measure(
    copy: Path, checks: Sequence[DeclaredCheck], settings: HarnessSettings, limits: Limits, seconds: float
) -> _Session:
    """Measure all checks. Where Blender itself dies of one, another Blender measures those that are left."""
    session, left = _Session(), list(checks)
    while left and session.n_starts < _MAX_STARTS:
        run = _start(copy, left, settings, limits, seconds)
        session.n_starts += 1
        session.isolation = run.level
        session.facts = session.facts or _facts(run.message("opened"))
        session.reason = _why_stopped(run, limits) if run.message("opened") else _why_not_opened(run, limits)
        culprit = _last_begun(run) if session.reason else None
        measured = [m for m in run.messages if m["kind"] == "measured"]
        unfinished = _unfinished(run, left) if session.reason else set()
        for message in measured:
            if message.get("id") not in unfinished:
                session.messages.setdefault(str(message.get("id")), []).append(message)
        if culprit is None or run.exit.stopped_by == "timeout":
            break
        session.culprits[culprit] = session.reason
        left = [check for check in left if check.id in unfinished and check.id != culprit]
    return session


def _unfinished(run: BlenderRun, checks: Sequence[DeclaredCheck]) -> set[str]:
    """Checks of which a frame may be missing: those of several frames too, since how many these are Blender says."""
    measured = {m.get("id") for m in run.messages if m["kind"] == "measured"}
    return {c.id for c in checks if c.id not in measured or isinstance(c.check.frames(), dict)}


def _last_begun(run: BlenderRun) -> str | None:
    """The check that was being measured when Blender ended."""
    last = next((m for m in reversed(run.messages) if m["kind"] in ("measuring", "measured")), None)
    return str(last.get("id")) if last and last["kind"] == "measuring" else None


def _copy(file: Path, copy: Path) -> str:
    """Copy the file, readable for the sandbox's user; its SHA-256."""
    shutil.copyfile(file, copy)
    _let_sandbox_read(copy)
    with copy.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def _refusal(file: Path, size_mb: float) -> str:
    """Why Blender is not started for this file, or ''."""
    try:
        read_header(file)
    except NotABlend as error:
        return f"'{file.name}' is {error}"
    if size_mb > MAX_FILE_MB:
        return f"'{file.name}' has {size_mb:.0f} MiB; the most that is opened is {MAX_FILE_MB} MiB"
    return ""


def request_of(checks: Sequence[DeclaredCheck]) -> list[dict[str, Any]]:
    """What Blender is asked to measure, as JSON values."""
    return [
        {
            "id": declared.id,
            "type": declared.type,
            "parameters": declared.check.model_dump(mode="json"),
            "frames": declared.check.frames(),
            "changes_scene": declared.check.changes_scene,
        }
        for declared in checks
    ]


def _start(
    copy: Path, checks: Sequence[DeclaredCheck], settings: HarnessSettings, limits: Limits, seconds: float
) -> BlenderRun:
    asked = copy.with_name("request.json")
    asked.write_text(json.dumps({"seconds": seconds, "checks": request_of(checks)}), encoding="utf-8")
    _let_sandbox_read(asked)
    binds = [Bind(copy, _INSIDE), Bind(asked, "/checks/request.json")]
    with private_folder("measured") as workspace:
        return run_in_blender(
            "check_scene.py", [copy, asked], workspace=workspace, settings=settings, limits=limits, binds=binds
        )


def _let_sandbox_read(file: Path) -> None:
    """Where root runs the harness, the sandbox is another user."""
    if os.geteuid() == 0:
        file.chmod(0o644)
        file.parent.chmod(0o755)


def _facts(message: dict[str, Any] | None) -> FileFacts | None:
    try:
        return FileFacts.model_validate({k: v for k, v in message.items() if k != "kind"}) if message else None
    except ValidationError:
        return None


def _why_not_opened(run: BlenderRun, limits: Limits) -> str:
    unreadable = run.message("unreadable")
    if unreadable and isinstance(unreadable.get("why"), str):
        words = " ".join(unreadable["why"].split()).removeprefix("Error: ")
        # where it lay for Blender tells nobody anything
        return f"Blender cannot open it: {_ITS_PLACE.sub('the file', words)[:300]}"
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


def _result(declared: DeclaredCheck, session: _Session | None, problem: str) -> CheckResult:
    messages = session.messages.get(declared.id, []) if session else []
    reason = problem or (session.culprits.get(declared.id) or session.reason if session else "")
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
