"""What one step of a live Blender came to. Plain records; `step_session.py` fills them, `step_report.py` words them."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.execution import Log, ScriptError
from harness.sandbox import LevelName
from harness.scene_facts import SceneFacts

StepOutcome = Literal["ok", "refused", "step_error", "timeout", "crash", "out_of_memory", "limit", "no_result"]
"""How a step ended. Whatever is not `ok` left no mark: scene, names and files are as before.

ok             it took effect
refused        it cannot be part of one script (`from __future__` later than the first step, sys.exit, …)
step_error     it raised, or could not be parsed
timeout        it was stopped after exec_timeout seconds
crash          the process died of a signal
out_of_memory  it was stopped at memory_mb, or an allocation failed
limit          it was stopped for what it printed, wrote or started
no_result      the process ended without a verdict (os._exit)
"""


@dataclass(frozen=True)
class StepView:
    """A picture that the harness drew of the scene after a step."""

    label: str
    frame: int
    width: int
    height: int
    jpeg: bytes


@dataclass(frozen=True)
class StepResult:
    """Everything the harness ran and measured for one step."""

    number: int
    """From 1, failed steps included; the code ran as step_NN.py."""
    code: str
    outcome: StepOutcome
    reason: str
    """Why it failed, in one sentence; empty for a good step."""
    error: ScriptError | None
    seconds: float
    """From the request to the verdict, measuring and drawing included."""
    log: Log
    changes: tuple[str, ...]
    """What is different in the scene since the last good step, for a model to read."""
    n_changes: int
    state_hash: str | None
    """Of the canonical scene state after the step; None where it could not be measured, or for a failed step."""
    scene: SceneFacts | None
    views: tuple[StepView, ...]
    views_failed: bool
    """Not all that should be there could be drawn in time."""
    files_put_back: tuple[str, ...]
    """Workspace files that the failed step had written or removed."""
    rebuilt: bool
    """The session had been lost and was made again from the good steps."""
    rebuilt_differs: bool
    """The rebuilt scene is not the one that was lost: the earlier steps do not reproduce."""
    sandbox_level: LevelName
    steps_lost: tuple[int, ...] = ()
    """Numbers of earlier good steps that failed when they were run again, and count no more."""
    views_note: str = ""
    """Why there are fewer views than one may expect."""
    state_patch: dict[str, Any] | None = None
    """What makes the recorded state out of that of the last step that has a patch (`state_patch.py`); the first leads
    on from the start. None where the step failed or could not be measured."""

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"

    def to_json(self) -> dict[str, Any]:
        """All but the pictures and the state, as JSON-able values."""
        return {
            "ok": self.ok,
            "number": self.number,
            "outcome": self.outcome,
            "reason": self.reason,
            "error": asdict(self.error) if self.error else None,
            "seconds": round(self.seconds, 3),
            "log": {"lines": list(self.log.lines), "n_left_out": self.log.n_left_out},
            "changes": list(self.changes),
            "n_changes": self.n_changes,
            "state_hash": self.state_hash,
            "scene": self.scene.model_dump(mode="json") if self.scene else None,
            "views": [{"label": v.label, "frame": v.frame} for v in self.views],
            "views_note": self.views_note,
            "files_put_back": list(self.files_put_back),
            "rebuilt": self.rebuilt,
            "rebuilt_differs": self.rebuilt_differs,
            "steps_lost": list(self.steps_lost),
            "sandbox_level": self.sandbox_level,
        }
