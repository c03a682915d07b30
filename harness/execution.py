"""What one run of a script came to. Plain records; `execute.py` fills them, `report.py` words them."""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from harness.plain_text import plain
from harness.sandbox import LevelName, Usage
from harness.scene_facts import SceneFacts
from harness.video import Frame, VideoFacts

Outcome = Literal["ok", "script_missing", "script_error", "timeout", "crash", "out_of_memory", "limit", "no_result"]
"""How the process ended. `ok` says nothing about the video yet.

ok              the script ran to its end (or to sys.exit(0))
script_missing  there is no such file, or it is not a plain file
script_error    it raised, could not be parsed, or called sys.exit with an error
timeout         it was stopped after exec_timeout seconds
crash           the process died of a signal
out_of_memory   it was stopped, or failed to allocate, at memory_mb
limit           it was stopped for what it printed, wrote or started
no_result       the process ended without the runner's own last word (os._exit, or it was killed from inside)
"""

Severity = Literal["error", "warning"]


@dataclass(frozen=True)
class Problem:
    """One finding, worded for the model."""

    code: str
    severity: Severity
    message: str
    where: str = ""
    fix: str = ""


@dataclass(frozen=True)
class ScriptError:
    """What the script raised."""

    type: str
    message: str
    line: int | None
    traceback: str
    """From the script's own first frame on; file names relative to the workspace."""


def parse_script_error(error: Any) -> ScriptError | None:
    """The error that a program in Blender described, bounded again: it ran beside untrusted code."""
    if not isinstance(error, dict):
        return None
    line = error.get("line")
    return ScriptError(
        type=plain(str(error.get("type", "Exception")))[:200],
        message=plain(str(error.get("message", "")))[:5_000],
        line=line if isinstance(line, int) else None,
        traceback=plain(str(error.get("traceback", "")))[:14_000],
    )


@dataclass(frozen=True)
class Log:
    """The end of what was printed, Blender's own chatter left out."""

    lines: tuple[str, ...]
    n_lines: int
    """Lines there were, chatter not counted."""

    @property
    def n_left_out(self) -> int:
        return self.n_lines - len(self.lines)


@dataclass(frozen=True)
class ExecutionResult:
    """Everything the harness ran and measured for one script."""

    script: str
    outcome: Outcome
    seconds: float
    """Wall time of the process, Blender's start and the render included."""
    problems: tuple[Problem, ...]
    error: ScriptError | None
    log: Log
    output_video: str
    video: VideoFacts | None
    scene: SceneFacts | None
    preview_frames: tuple[Frame, ...]
    preview_name: str | None
    """The contact sheet's name in the workspace."""
    sandbox_level: LevelName
    blender: str
    """Version and build of Blender; empty if it did not start."""
    peak: Usage
    is_whole: bool = False
    """The runner said each thing once, to the last, and its process ended well: nothing contradicts its outcome."""

    @property
    def ok(self) -> bool:
        return self.outcome == "ok" and not any(p.severity == "error" for p in self.problems)

    def to_json(self) -> dict[str, Any]:
        """All but the pictures, as JSON-able values."""
        return {
            "ok": self.ok,
            "script": self.script,
            "outcome": self.outcome,
            "seconds": round(self.seconds, 3),
            "problems": [asdict(problem) for problem in self.problems],
            "error": asdict(self.error) if self.error else None,
            "log": {"lines": list(self.log.lines), "n_left_out": self.log.n_left_out},
            "output_video": self.output_video,
            "video": asdict(self.video) if self.video else None,
            "scene": self.scene.model_dump(mode="json") if self.scene else None,
            "preview_frames": [{"index": f.index, "seconds": f.seconds} for f in self.preview_frames],
            "preview": self.preview_name,
            "sandbox_level": self.sandbox_level,
            "blender": self.blender,
            "peak": asdict(self.peak),
        }
