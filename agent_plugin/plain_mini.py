"""Records a run of plain mini-swe-agent (`mini -c configs/blender.yaml …`), which has no launcher around it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_plugin.episode import EpisodeKey, EpisodeRecord
from agent_plugin.tasks import Task
from recorder.paths import EpisodePaths

if TYPE_CHECKING:
    from agent_plugin.agent import BlenderAgent, StepRecorder


class PlainRecord:
    """A new folder below `parent`, named by the time, for one run of `mini`; its workspace is the current folder."""

    def __init__(self, parent: Path) -> None:
        self._parent = parent.expanduser().resolve()

    def start(self, prompts: Sequence[dict[str, Any]], agent: "BlenderAgent") -> "StepRecorder":
        """Raises ValueError when the record would lie inside the workspace."""
        environment: Any = agent.env
        workspace: Path = environment.workspace
        if self._parent.is_relative_to(workspace):
            raise ValueError(
                f"agent.record_dir '{self._parent}' lies inside the workspace '{workspace}', where the agent could "
                "change its own record. Name a folder outside of it, or null for no record."
            )
        self._environment = environment
        task = Task(
            id="mini",
            kind=environment.config.task_kind,
            brief=str(agent.extra_template_vars.get("task", "")).strip() or "(no task)",
        )
        config = {
            "agent": agent.config.model_dump(mode="json"),
            "environment": environment.config.model_dump(mode="json"),
            "model": agent.model.config.model_dump(mode="json"),
        }
        self._paths = _new_folder(self._parent)
        self._record = EpisodeRecord(
            EpisodeKey(task, agent.model.config.model_name, 1),
            config,
            environment.config.harness,
            self._paths,
            workspace=workspace,
        )
        return self._record.start(prompts, agent)

    def finish(self, exit_status: str) -> None:
        """Judge what was submitted, as the launcher does."""
        try:
            summary = self._record.finish(exit_status, self._environment)
        finally:
            self._environment.close()
        print(f"{summary.verdict}: {summary.reason}\nRecorded in {self._paths.root}")

    def lose(self, error: Exception) -> None:
        """The provider failed: there is no result to judge."""
        self._environment.close()
        print(f"no result: {type(error).__name__}: {error}\nRecorded in {self._paths.root}")

    @staticmethod
    def say(number: int, what: str) -> None:
        """A line of progress; `mini` itself shows none for this agent."""
        print(f"step {number}: {what}", flush=True)


def _new_folder(parent: Path) -> EpisodePaths:
    from agent_plugin.agent import stamp

    name, number = stamp(), 1
    while True:
        folder = parent / (name if number == 1 else f"{name}-{number}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            number += 1
        else:
            return EpisodePaths(folder)
