"""What a sandboxed Blender says of a .blend that it opens: in one start, in more where it dies of a check.

Everything here is a claim of an untrusted file; `run.py` judges it.
"""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.blender import BlenderRun, run_in_blender
from harness.checks.declared import DeclaredCheck
from harness.checks.file_findings import FileFacts
from harness.renders import RenderRequest, why_stopped
from harness.sandbox import Bind, Limits
from harness.settings import HarnessSettings
from harness.state_diff import parse_state

_INSIDE = "/checked/scene.blend"
_MAX_STARTS = 3
_STATE_SECONDS = 90.0
"""That reading the scene state may take: what is drawn after it keeps its time."""
_STATE_MB = 48
"""Of its message, below `Limits.result_mb`: what is said before and after it has room too."""
_ITS_PLACE = re.compile(r"""(?:(?:blend )?file )?["']?[^ "']*/scene\.blend["']?""")


@dataclass(frozen=True)
class Wanted:
    """What is to be found out about a file."""

    checks: tuple[DeclaredCheck, ...] = ()
    state: bool = False
    """The canonical scene state too."""
    renders: RenderRequest | None = None
    """Pictures too."""
    seconds: float = 20.0
    """That measuring one check in one frame may take."""


@dataclass
class OpenedFile:
    """What one or more Blenders said of the file."""

    facts: FileFacts | None = None
    messages: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Check id -> its messages, where all of its frames were measured."""
    culprits: dict[str, str] = field(default_factory=dict)
    """Check id -> how Blender ended while it was being measured."""
    reason: str = ""
    """Why measurements are missing."""
    state: dict[str, Any] | None = None
    why_no_state: str = ""
    drawn: tuple[dict[str, Any], ...] = ()
    """What it said of the raw pictures."""
    why_not_drawn: str = ""
    """Why pictures may be missing."""
    isolation: str = ""
    n_starts: int = 0


def open_file(copy: Path, wanted: Wanted, settings: HarnessSettings, limits: Limits, raw: Path) -> OpenedFile:
    """Find out all that is wanted. Where Blender itself dies of a check, another Blender measures those that are left.

    What comes after the checks (state, pictures) gets another Blender too where the first did not come so far.
    `copy` lies alone in a folder of ours, and the sandbox may read it. Raw pictures come into the empty folder `raw`.
    """
    opened, left = OpenedFile(), list(wanted.checks)
    wants_more, is_over = wanted.state or wanted.renders is not None, False
    while opened.n_starts == 0 or ((left or (wants_more and not is_over)) and opened.n_starts < _MAX_STARTS):
        request = request_of(left, wanted.seconds, state=wanted.state, renders=wanted.renders)
        run = _start(copy, request, settings, limits, raw)
        opened.n_starts += 1
        opened.isolation = run.level
        opened.facts = opened.facts or _facts(run.message("opened"))
        is_over = run.message("checked") is not None or run.message("opened") is None
        if left or not opened.reason:
            stopped = _why_stopped(run, limits, "checked")
            opened.reason = stopped if run.message("opened") else _why_not_opened(run, limits)
        if wanted.state:
            opened.state, opened.why_no_state = _state(run, limits)
        opened.drawn = tuple(m for m in run.messages if m["kind"].startswith("render"))
        opened.why_not_drawn = why_stopped(run, limits)
        culprit = _last_begun(run) if opened.reason else None
        measured = [m for m in run.messages if m["kind"] == "measured"]
        unfinished = _unfinished(run, left) if opened.reason else set()
        for message in measured:
            if message.get("id") not in unfinished:
                opened.messages.setdefault(str(message.get("id")), []).append(message)
        if culprit is None:
            break
        opened.culprits[culprit] = opened.reason
        is_late = run.exit.stopped_by == "timeout"  # of checks there were enough
        left = [] if is_late else [check for check in left if check.id in unfinished and check.id != culprit]
    return opened


def request_of(
    checks: Sequence[DeclaredCheck],
    seconds: float = 20.0,
    *,
    state: bool = False,
    renders: RenderRequest | None = None,
) -> dict[str, Any]:
    """What Blender is asked, as JSON values."""
    asked = [
        {
            "id": declared.id,
            "type": declared.type,
            "parameters": declared.check.model_dump(mode="json"),
            "frames": declared.check.frames(),
            "changes_scene": declared.check.changes_scene,
            "as_rendered": declared.check.as_rendered,
        }
        for declared in checks
    ]
    drawing = renders.model_dump(mode="json") if renders else None
    asks_state = {"state": state, "state_seconds": _STATE_SECONDS, "state_mb": _STATE_MB}
    return {"seconds": seconds, "checks": asked, **asks_state, "renders": drawing}


def _start(copy: Path, request: dict[str, Any], settings: HarnessSettings, limits: Limits, raw: Path) -> BlenderRun:
    asked = copy.with_name("request.json")
    asked.write_text(json.dumps(request), encoding="utf-8")
    if os.geteuid() == 0:  # the sandbox is another user then
        asked.chmod(0o644)
    binds = [Bind(copy, _INSIDE), Bind(asked, "/checks/request.json")]
    return run_in_blender("check_scene.py", [copy, asked], workspace=raw, settings=settings, limits=limits, binds=binds)


def _unfinished(run: BlenderRun, checks: Sequence[DeclaredCheck]) -> set[str]:
    """Checks of which a frame may be missing: those of several frames too, since how many these are Blender says."""
    measured = {m.get("id") for m in run.messages if m["kind"] == "measured"}
    return {c.id for c in checks if c.id not in measured or isinstance(c.check.frames(), dict)}


def _last_begun(run: BlenderRun) -> str | None:
    """The check that was being measured when Blender ended."""
    last = next((m for m in reversed(run.messages) if m["kind"] in ("measuring", "measured")), None)
    return str(last.get("id")) if last and last["kind"] == "measuring" else None


def _facts(message: dict[str, Any] | None) -> FileFacts | None:
    try:
        return FileFacts.model_validate({k: v for k, v in message.items() if k != "kind"}) if message else None
    except ValidationError:
        return None


def _state(run: BlenderRun, limits: Limits) -> tuple[dict[str, Any] | None, str]:
    """The state, or why there is none."""
    state = parse_state((run.message("state") or {}).get("state"))
    if state is not None:
        return state, ""
    told = (run.message("no_state") or {}).get("why")
    why = " ".join(str(told).split())[:300] if told else _why_stopped(run, limits, "state")
    return None, f"its scene state cannot be read: {why or 'what Blender sent is none, or over the limit of a message'}"


def _why_not_opened(run: BlenderRun, limits: Limits) -> str:
    unreadable = run.message("unreadable")
    if unreadable and isinstance(unreadable.get("why"), str):
        words = " ".join(unreadable["why"].split()).removeprefix("Error: ")
        # where it lay for Blender tells nobody anything
        return f"Blender cannot open it: {_ITS_PLACE.sub('the file', words)[:300]}"
    return f"Blender could not open it: {_why_stopped(run, limits, 'opened') or 'it ended without a word'}"


def _why_stopped(run: BlenderRun, limits: Limits, last: str) -> str:
    """Why a part is missing that ends with a message of the kind `last`, or '' where it was finished."""
    if run.message(last) or run.message("finished"):
        return ""
    if run.exit.stopped_by == "timeout":
        return f"Blender was stopped after {limits.timeout_seconds:g} s, before this was measured"
    if run.exit.stopped_by:
        return f"Blender was stopped at its limit of {run.exit.stopped_by}, before this was measured"
    if run.exit.signal_name:
        return f"Blender crashed ({run.exit.signal_name}), before this was measured"
    return f"Blender ended early (status {run.exit.returncode}): {run.exit.output.text().strip()[-200:]}"
