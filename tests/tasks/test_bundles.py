"""The ready tasks of configs/tasks: `right` passes every check, `wrong` fails those that it is known to fail.

Both models play every task, in one run. What `wrong` has to fail is in `expected_failures.yaml`: task -> ids of checks.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from agent_plugin.places import CONFIGS_DIR
from agent_plugin.scripted_file import scripted_model
from agent_plugin.task_list import load_tasks
from recorder.paths import RunPaths
from recorder.records import CheckScore, EpisodeSummary
from recorder.trajectory import read_summary

pytestmark = [pytest.mark.blender, pytest.mark.timeout(600)]

TASKS = CONFIGS_DIR / "tasks"
NAMES = sorted(file.parent.name for file in TASKS.glob("*/task.yaml"))
EXPECTED_FILE = Path(__file__).parent / "expected_failures.yaml"
EXPECTED: dict[str, list[str]] = yaml.safe_load(EXPECTED_FILE.read_text()) if EXPECTED_FILE.is_file() else {}

Episodes = Mapping[tuple[str, str], EpisodeSummary]


@pytest.fixture(scope="session")
def episodes(tmp_path_factory: pytest.TempPathFactory) -> Episodes:
    """(Task, `right` or `wrong`) -> how it ended. One that went off its script has no result; the output says why."""
    run = tmp_path_factory.mktemp("bundles") / "run"
    models = {name: f"scripted/tasks/{name}" for name in ("right", "wrong")}
    words = [TASKS, *(word for model in models.values() for word in ("-m", model)), "-o", run, "-w", 2]
    program = [sys.executable, "-c", "from agent_plugin.cli import main\nmain()", "run"]
    done = subprocess.run(
        [*program, *map(str, words)], capture_output=True, text=True, timeout=580, env={**os.environ, "COLUMNS": "200"}
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    print(done.stdout)
    paths = {(task, name): RunPaths(run).episode(task, model, 1) for task in NAMES for name, model in models.items()}
    return {key: read_summary(episode.summary) for key, episode in paths.items() if episode.is_finished}


def ended(episodes: Episodes, task: str, model: str) -> EpisodeSummary:
    assert (task, model) in episodes, f"{model} has no result for {task}: see what the run printed"
    return episodes[task, model]


def score_of(summary: EpisodeSummary) -> CheckScore:
    assert summary.score is not None
    return summary.score


def test_every_task_can_be_loaded_and_played() -> None:
    """Each brings checks and a rubric; exactly one conversation of either model answers to its brief."""
    tasks = load_tasks(TASKS)
    assert [task.id for task in tasks] == NAMES
    assert [task.id for task in tasks if not task.checks or not task.rubric] == []
    for name in ("right", "wrong"):
        conversations = scripted_model(f"scripted/tasks/{name}").conversations
        fits = {task.id: sum(conversation.when in task.brief for conversation in conversations) for task in tasks}
        assert fits == dict.fromkeys(NAMES, 1)
        assert len(conversations) == len(NAMES)


def test_what_wrong_has_to_fail_is_known() -> None:
    """Each task has its line with at least one check of its own, and no line is left of a task that is gone."""
    assert sorted(EXPECTED) == NAMES
    for task in load_tasks(TASKS):
        declared = {str(check["id"]) for check in task.checks or ()}
        assert EXPECTED[task.id], task.id
        assert set(EXPECTED[task.id]) <= declared


@pytest.mark.parametrize("task", NAMES)
def test_right_passes_everything(episodes: Episodes, task: str) -> None:
    """The harness's own execution and every check, also those that are not required; nothing is unknown."""
    summary = ended(episodes, task, "right")
    assert (summary.verdict, summary.problems) == ("pass", []), summary.reason
    score = score_of(summary)
    assert (score.is_strict_pass, score.weighted, score.failed, score.not_judged) == (True, 1.0, [], [])


@pytest.mark.parametrize("task", NAMES)
def test_wrong_fails_what_it_is_known_to_fail(episodes: Episodes, task: str) -> None:
    """And nothing else: not another check, and not the harness's own execution."""
    summary = ended(episodes, task, "wrong")
    assert (summary.verdict, summary.problems) == ("fail", ["check_failed"]), summary.reason
    score = score_of(summary)
    assert (sorted(score.failed), score.not_judged) == (sorted(EXPECTED[task]), []), summary.reason
