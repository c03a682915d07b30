"""Episodes for tests of what reads them: played by a scripted model, or written by hand."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agent_plugin.agent import StepRecorder
from agent_plugin.config import load_config
from agent_plugin.episode import EpisodeKey, EpisodeRecord, run_episode
from agent_plugin.tasks import Task
from recorder.paths import EpisodePaths
from recorder.records import Action, Cost, Execution, Step
from tests.conftest import TINY


def play(folder: Path, model: str, *specs: str, **task: Any) -> Path:
    """The folder of an episode that a scripted model played."""
    paths = EpisodePaths(folder / "episodes/t/m/1")
    whole = Task.model_validate({"id": "t", "brief": "a film", "harness": TINY, **task})
    run_episode(EpisodeKey(whole, model, 1), load_config(specs), paths, lambda _number, _what: None)
    return paths.root


def written(folder: Path, *steps: Sequence[tuple[Action, Execution]], **task: Any) -> Path:
    """The folder of an episode with these steps, without any Blender; it never ended."""
    paths = EpisodePaths(folder)
    whole = Task.model_validate({"id": "t", "brief": "a film", **task})
    config = load_config([]).model_dump(mode="json")
    settings = whole.settings(load_config([]).environment.harness)
    record = EpisodeRecord(EpisodeKey(whole, "m", 1), config, settings, paths, workspace=folder / "workspace")
    folder.mkdir(parents=True)
    agent: Any = SimpleNamespace(model=SimpleNamespace(tools=[]))
    recorder: StepRecorder = record.start([{"role": "user", "content": "make it"}], agent)
    for number, calls in enumerate(steps, start=1):
        recorder.writer.append(
            Step(
                seq=number,
                step=number,
                assistant={"role": "assistant", "content": f"reply {number}"},
                response_model=None,
                finish_reason=None,
                actions=[action for action, _ in calls],
                executions=[execution for _, execution in calls],
                observations=[],
                request=None,
                usage=None,
                cost=Cost(usd=0.0, is_known=True),
                started_at="2026-01-01T00:00:00+00:00",
                model_seconds=0.0,
            )
        )
    recorder.writer.close()
    return folder


def ran(tool: str, argument: str, *problems: str, kind: str = "video") -> tuple[Action, Execution]:
    """A call and what came of it."""
    name = "command" if tool == "bash" else "script" if kind == "video" else "code"
    blender = {"problems": [{"code": code} for code in problems]} if tool == "run_blender" else None
    return (
        Action(tool=tool, arguments={name: argument}, tool_call_id=None),
        Execution(tool=tool, returncode=0, output="", seconds=0.0, blender=blender),
    )


def fingerprints(folder: Path) -> dict[str, tuple[str, int]]:
    """Name -> hash and time of every file."""
    return {
        str(file.relative_to(folder)): (hashlib.sha256(file.read_bytes()).hexdigest(), file.stat().st_mtime_ns)
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }
