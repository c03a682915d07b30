"""Runs one episode: agent, record, submission, and the harness's own final execution, whose verdict counts."""

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_plugin.agent import BlenderAgent, StepRecorder, now
from agent_plugin.config import RunConfig
from agent_plugin.environment import BlenderEnvironment
from agent_plugin.final_checks import declared_checks, not_graded
from agent_plugin.finals import Final, SceneWorkplace, final_scene, final_video
from agent_plugin.models.deadline import never
from agent_plugin.tasks import HIDDEN, Task
from agent_plugin.versions import versions
from harness.blender_slots import tell_nobody
from harness.errors import SandboxUnavailable
from harness.folders import remove_folder
from harness.isolation import measured_isolation
from harness.sandbox import LevelName, is_at_least
from harness.settings import HarnessSettings
from recorder.config_secrets import secrets_in, without_secrets
from recorder.paths import EpisodePaths
from recorder.records import Cost, EpisodeSummary, Isolation, Step, Verdict
from recorder.redaction import Redactor
from recorder.trajectory import TrajectoryWriter, read_trajectory, write_atomically
from recorder.usage import count_tokens


@dataclass(frozen=True)
class EpisodeKey:
    """Which episode this is."""

    task: Task
    model: str
    attempt: int


OnStep = Callable[[int, str], None]


def run_episode(
    key: EpisodeKey,
    config: RunConfig,
    paths: EpisodePaths,
    on_step: OnStep,
    allowed_isolation: LevelName | None = None,
    is_stopped: Callable[[], bool] = never,
    say_waiting: Callable[[str], None] = tell_nobody,
) -> EpisodeSummary:
    """Run the episode into `paths` (which must be new) and return its summary, already written.

    `say_waiting` is told when it waits for its provider's rate limit, and '' when it goes on.
    Raises HarnessError, or whatever the provider raised, when the machine failed: no summary is written then,
    and what was recorded stays.
    """
    from minisweagent.models import get_model

    settings = key.task.settings(config.environment.harness)
    paths.workspace.mkdir(parents=True)
    if key.task.start_file:
        shutil.copy(key.task.start_file, paths.workspace / key.task.start_file.name)
    kind, start = key.task.kind, key.task.step_start
    environment = BlenderEnvironment(**config.environment.for_episode(paths.workspace, settings, kind, start))
    model: Any = get_model(key.model, config.model.for_mini(kind))
    model.is_stopped, model.say_waiting = is_stopped, say_waiting
    record = EpisodeRecord(
        key,
        config.model_dump(mode="json", exclude={"launch"}),
        settings,
        paths,
        workspace=paths.workspace,
        allowed_isolation=allowed_isolation,
    )
    agent = BlenderAgent(model, environment, start_record=record.start, **_agent_settings(key.task, config))
    agent.on_step = on_step
    try:
        result = agent.run(key.task.brief)
        on_step(agent.n_calls, "final execution")
        summary = record.finish(str(result.get("exit_status", "")), environment)
    finally:
        environment.close()
    remove_folder(paths.workspace)
    return summary


class EpisodeRecord:
    """The record of an episode, from its prompts to its outcome."""

    def __init__(
        self,
        key: EpisodeKey,
        config: dict[str, Any],
        settings: HarnessSettings,
        paths: EpisodePaths,
        *,
        workspace: Path,
        allowed_isolation: LevelName | None = None,
    ) -> None:
        """`config` is resolved, secrets and all; `settings` are those of this task. Raises BadInput for its checks."""
        self._checks = declared_checks(key.task)
        self._key, self._settings, self._paths, self._workspace = key, settings, paths, workspace
        resolved = config | {"environment": config["environment"] | {"harness": settings.model_dump(mode="json")}}
        self._config: dict[str, Any] = without_secrets(resolved)
        self._redactor = Redactor.for_this_machine(
            secrets=secrets_in(config),
            folders={str(workspace.resolve()): "<workspace>", str(paths.root.resolve()): "<episode>"},
        )
        self._allowed_isolation = allowed_isolation
        self._started = time.monotonic()

    def start(self, prompts: Sequence[dict[str, Any]], agent: BlenderAgent) -> StepRecorder:
        """Pin the task and write the header."""
        _pin_task(self._key.task, self._paths)
        isolation = isolation_record(self._settings, self._allowed_isolation)
        recorder = StepRecorder(TrajectoryWriter(self._paths, self._redactor))
        recorder.header(
            prompts,
            task_id=self._key.task.id,
            task_kind=self._key.task.kind,
            task_sha256=self._key.task.sha256,
            model=self._key.model,
            attempt=self._key.attempt,
            tools=getattr(agent.model, "tools", []),
            config=self._config,
            versions=versions(self._settings),
            sandbox_level=isolation.measured,
            isolation=isolation,
        )
        return recorder

    def finish(self, exit_status: str, workplace: SceneWorkplace) -> EpisodeSummary:
        """Judge what was handed in, and write `episode.json`: the episode is finished then.

        `workplace` holds the live Blender of a scene task.
        """
        final = None
        if exit_status == "Submitted" and self._key.task.kind == "scene":
            final = final_scene(workplace, self._paths, self._key.task, self._checks)
        elif exit_status == "Submitted":
            final = final_video(self._workspace, self._paths, self._key.task, self._settings, self._checks)
        seconds = time.monotonic() - self._started
        summary = summarise(self._key, self._paths, exit_status, final, seconds, self._redactor)
        write_atomically(self._paths.summary, (summary.model_dump_json(indent=2) + "\n").encode())
        return summary


def isolation_record(settings: HarnessSettings, allowed: LevelName | None) -> Isolation:
    """The isolation that these settings lead to, attacked once per process. Raises HarnessError if it is too weak."""
    measured = measured_isolation(settings)
    if allowed is not None and not is_at_least(measured.level, allowed):
        raise SandboxUnavailable(f"The isolation is '{measured.level}', weaker than '{allowed}': {measured.why_not}")
    return Isolation(allowed=allowed, measured=measured.level, could=dict(measured.could))


def summarise(
    key: EpisodeKey,
    paths: EpisodePaths,
    exit_status: str,
    final: Final | None,
    seconds: float,
    redactor: Redactor,
) -> EpisodeSummary:
    """The episode's outcome from its record and its final execution."""
    steps = [line for line in read_trajectory(paths.trajectory) if isinstance(line, Step)]
    verdict: Verdict = "pass" if final is not None and final.ok else "fail"
    return EpisodeSummary(
        task_id=key.task.id,
        task_sha256=key.task.sha256,
        model=key.model,
        attempt=key.attempt,
        exit_status=exit_status,
        verdict=verdict,
        reason=redactor.clean(_reason(exit_status, final)),
        problems=[problem.code for problem in final.problems] if final else [],
        final_execution=redactor.clean(final.record) if final else None,
        score=(final.score if final else None) or not_graded(key.task),
        n_steps=len(steps),
        cost=Cost(usd=sum(s.cost.usd for s in steps), is_known=all(s.cost.is_known for s in steps)),
        tokens=count_tokens(step.usage for step in steps),
        seconds=round(seconds, 1),
        files=_hashes(paths),
        finished_at=now(),
    )


def _pin_task(task: Task, paths: EpisodePaths) -> None:
    """Keep the task as it was when the episode began."""
    paths.task.mkdir()
    (paths.task / "brief.md").write_text(task.brief + "\n", encoding="utf-8")
    pinned = task.model_dump(mode="json", exclude={"start_file", *HIDDEN}) | {"sha256": task.sha256}
    for key, content in task.hidden_files.items():
        pinned[key] = f"{key}.json"
        (paths.task / pinned[key]).write_bytes(content)
    if task.start_file:
        pinned["start_file"] = task.start_file.name
        shutil.copy(task.start_file, paths.task / task.start_file.name)
    (paths.task / "task.json").write_text(json.dumps(pinned, indent=2) + "\n", encoding="utf-8")


def _agent_settings(task: Task, config: RunConfig) -> dict[str, Any]:
    settings = config.agent.model_dump(exclude={"agent_class"})
    limits = {
        "step_limit": task.limits.steps,
        "cost_limit": task.limits.cost_usd,
        "wall_time_limit_seconds": task.limits.seconds,
    }
    return settings | {name: limit for name, limit in limits.items() if limit}


def _reason(exit_status: str, final: Final | None) -> str:
    if final is None:
        return f"not submitted: {exit_status or 'no exit status'}"
    if final.ok:
        return "submitted; the final execution found no error"
    errors = [problem for problem in final.problems if problem.severity == "error"]
    found = "; ".join(problem.message for problem in errors)
    is_of_checks = all(problem.code == "check_failed" for problem in errors)
    return f"submitted; the final {'checks' if is_of_checks else 'execution'} failed: {found}"[:1000]


def _hashes(paths: EpisodePaths) -> dict[str, str]:
    files = [
        paths.trajectory,
        paths.final_script,
        paths.output_video,
        paths.scene,
        paths.preview,
        *sorted(paths.task.iterdir()),
    ]
    found = {}
    for file in files:
        if file.is_file():
            with file.open("rb") as opened:
                found[str(file.relative_to(paths.root))] = hashlib.file_digest(opened, "sha256").hexdigest()
    return found
