"""mini-swe-agent environment for both tools: `bash` in a sandbox over the workspace, `run_blender` by the harness.

For a video task `run_blender` runs a file in a fresh Blender; for a scene task it runs code in a live one.
"""

import os
import re
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from minisweagent.exceptions import Submitted
from pydantic import BaseModel, ConfigDict, Field

from agent_plugin.shell import run_bash
from agent_plugin.submission import is_submitting_output, is_submitting_step
from agent_plugin.tools import TaskKind
from harness.blender import level_in_force
from harness.blender_slots import BLENDER_MB, blender_slots
from harness.errors import HarnessError
from harness.execute import execute
from harness.final_script import StepStart
from harness.interpreter import PROJECT_DIR
from harness.report import neutralise, report_text
from harness.sandbox import Exit
from harness.settings import HarnessSettings
from harness.step_report import step_text
from harness.step_result import StepView
from harness.step_session import StepSession
from harness.workspace import check_workspace
from recorder.config_secrets import without_secrets

_MAX_SHOWN = 12_000
_MAY_START_BLENDER = re.compile(r"run_blender|python|bpy|blender", re.IGNORECASE)
"""Commands that get a slot for a Blender (`harness/blender_slots.py`). One that hides it only shares the machine."""


class BlenderEnvironmentConfig(BaseModel):
    """Settings of the agent's workplace. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")

    cwd: str = ""
    """The workspace. Empty: the current folder."""
    env: dict[str, str] = {}
    """Variables for bash commands. Nothing else of the environment reaches them."""
    timeout: float = Field(default=360.0, gt=0)
    """Seconds that one bash command may take."""
    harness: HarnessSettings = HarnessSettings()
    """How scripts are run and judged."""
    task_kind: TaskKind = "video"
    """`video`: run_blender runs a script; `scene`: it runs code as the next step of a live scene."""
    start: StepStart = StepStart()
    """What the first step of a scene task finds."""


class BlenderEnvironment:
    """Executes actions. What a command or a script does wrong is an observation; HarnessError is ours."""

    def __init__(self, *, config_class: type = BlenderEnvironmentConfig, **kwargs: Any) -> None:
        self.config = config_class(**kwargs)
        if what := check_workspace(self.workspace, PROJECT_DIR, Path(sys.prefix), Path.home()):
            raise HarnessError(
                f"The workspace '{self.workspace}' must not be given to a model: {what}. "
                "Start in an empty folder, or name one with environment.cwd."
            )
        self.session: StepSession | None = None
        """The live Blender of a scene task, once its first step has run."""
        self.views: tuple[StepView, ...] = ()
        """Of the last step that took effect."""

    @property
    def workspace(self) -> Path:
        return Path(self.config.cwd or Path.cwd()).resolve()

    def execute(self, action: dict[str, Any], cwd: str = "", *, timeout: float | None = None) -> dict[str, Any]:
        """Run one action. Raises Submitted when a bash command hands in."""
        started = time.monotonic()
        workspace = Path(cwd).resolve() if cwd else self.workspace
        if action.get("error"):
            output: dict[str, Any] = {"output": "", "returncode": -1, "exception_info": "", "error": action["error"]}
        elif action.get("tool", "bash") != "run_blender":
            output = self._run_bash(action.get("command", ""), workspace, timeout or self.config.timeout)
        elif self.config.task_kind == "scene":
            output = self._run_step(action["arguments"]["code"])
        else:
            output = self._run_blender(action["arguments"]["script"], workspace)
        output["seconds"] = time.monotonic() - started
        self._check_submitted(action, output)
        return output

    def _run_blender(self, script: str, workspace: Path) -> dict[str, Any]:
        result = execute(os.path.normpath(script), workspace, self.config.harness)
        returncode = 0 if result.ok else 1
        return {"output": report_text(result), "returncode": returncode, "exception_info": "", "blender": result}

    def _run_step(self, code: str) -> dict[str, Any]:
        if is_submitting_step(code):
            return {"output": "Submitted.\n", "returncode": 0, "exception_info": "", "submits": True}
        if self.session is None:
            self.session = StepSession(self.workspace, self.config.harness, self.config.start)
            self.session.start()
        result = self.session.step(code)
        self.views = result.views or self.views
        returncode = 0 if result.ok else 1
        return {"output": step_text(result), "returncode": returncode, "exception_info": "", "step": result}

    def close(self) -> None:
        """End the live Blender of a scene task."""
        if self.session is not None:
            self.session.close()

    def _run_bash(self, command: str, workspace: Path, timeout: float) -> dict[str, Any]:
        slots = blender_slots()
        may_render = bool(_MAY_START_BLENDER.search(command))
        variables = self.config.env | slots.environment
        with slots.working(BLENDER_MB) if may_render else nullcontext():
            ended = run_bash(command, workspace, self.config.harness, timeout_seconds=timeout, variables=variables)
        return {
            # a command's output must not become a picture, whichever model class reads it
            "output": neutralise(_cut(ended.output.text())),
            "returncode": -1 if ended.returncode is None else ended.returncode,
            "exception_info": _stop_text(ended, timeout),
        }

    @staticmethod
    def _check_submitted(action: dict[str, Any], output: dict[str, Any]) -> None:
        is_bash = action.get("tool", "bash") == "bash"
        if output.pop("submits", False) or (is_bash and is_submitting_output(output["output"], output["returncode"])):
            submission = "".join(output["output"].lstrip().splitlines(keepends=True)[1:])
            extra = {"exit_status": "Submitted", "submission": submission, "output": output}
            raise Submitted({"role": "exit", "content": submission, "extra": extra})

    def get_template_vars(self, **kwargs: Any) -> dict[str, Any]:
        """What prompts may name. Nothing of the host's environment: it holds keys."""
        harness = self.config.harness
        return {
            **harness.model_dump(mode="json", exclude={"bpy_python", "bpy_libs"}),
            "timeout": self.config.timeout,
            "start": self.config.start.model_dump(),
            "cwd": "/workspace" if level_in_force(harness).is_bubblewrap else str(self.workspace),
            **kwargs,
        }

    def serialize(self) -> dict[str, Any]:
        """mini-swe-agent's own record."""
        kind = f"{self.__class__.__module__}.{self.__class__.__name__}"
        return {
            "info": {
                "config": {
                    "environment": without_secrets(self.config.model_dump(mode="json")),
                    "environment_type": kind,
                }
            }
        }


def _stop_text(ended: Exit, timeout: float) -> str:
    if ended.stopped_by is None:
        return ""
    if ended.stopped_by == "timeout":
        return f"timed out after {timeout:g} s; everything the command started was stopped"
    return f"stopped at the {ended.stopped_by} limit; everything the command started was stopped"


def _cut(text: str) -> str:
    if len(text) <= _MAX_SHOWN:
        return text
    half = _MAX_SHOWN // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters left out ...]\n{text[-half:]}"
