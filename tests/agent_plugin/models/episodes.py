"""Episodes that use bash alone, over the loopback server: fast enough for dozens of them. No Blender is started."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agent_plugin.config import load_config
from agent_plugin.launch_plan import RunPlan
from agent_plugin.launcher import EpisodeOutcome, Watcher, run_all
from agent_plugin.run_folder import lock_run, open_run
from agent_plugin.scripted_file import ScriptedFile
from agent_plugin.spending import Stop
from agent_plugin.task_list import load_tasks
from tests.agent_plugin.conftest import SUBMIT, bash, write_tasks


class Silent(Watcher):
    """Not interested."""


def three_turns(when: str = "", word: str = "hello") -> dict[str, Any]:
    """A conversation: two commands in one turn, a bad call beside a good one, submission. It says what it expects."""
    return {
        "when": when,
        "turns": [
            {"text": "one", "reasoning": "r", "calls": [bash(f"echo first {word}"), bash(f"echo second {word}")]},
            {
                "text": "two",
                "reasoning": "r",
                "expect": [f"first {word}", f"second {word}"],
                "calls": [{"tool": "paint", "arguments": {}}, bash(f"echo third {word}")],
            },
            {"text": "three", "expect": ["Unknown tool", f"third {word}"], "calls": [bash(SUBMIT)]},
        ],
    }


def script(*conversations: dict[str, Any]) -> ScriptedFile:
    return ScriptedFile.model_validate({"model": "scripted/x", "conversations": list(conversations or [three_turns()])})


def make_plan(folder: Path, models: Sequence[str], *specs: str, tasks: Sequence[dict[str, Any]] = ()) -> RunPlan:
    """A run of video tasks; they hand in nothing, so that no Blender judges."""
    listed = load_tasks(write_tasks(folder, *(tasks or [{"id": "t"}])))
    return RunPlan(tuple(listed), tuple(models), 1, load_config(("launch.retry.all=0", *specs)))


def launch(plan: RunPlan, root: Path, *, n_workers: int = 1, stop: Stop | None = None) -> list[EpisodeOutcome]:
    """What `blendscribe run` does."""
    paths = open_run(plan, root)
    with lock_run(paths):
        return run_all(plan, paths, n_workers=n_workers, watcher=Silent(), stop=stop or Stop())
