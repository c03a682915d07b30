"""An episode is read back whole, or a located error says what is damaged."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.faults import BadInput
from agent_plugin.recorded_episode import read_episode
from recorder.errors import CorruptEpisode
from recorder.integrity import check_episode
from tests.agent_plugin.episodes import ran, written


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An episode of two steps with a start file."""
    (tmp_path / "start.txt").write_text("a start")
    return written(tmp_path / "e", [ran("bash", "true")], [ran("bash", "")], start_file=tmp_path / "start.txt")


def edit(path: Path, line: int, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change one line of a trajectory (from 1)."""
    lines = path.read_text().splitlines()
    record = json.loads(lines[line - 1])
    change(record)
    lines[line - 1] = json.dumps(record)
    path.write_text("\n".join(lines) + "\n")


CHECK = {"id": "cube", "type": "object_exists", "parameters": {"target": "Cube"}}
RUBRIC = {"criteria": [{"id": "colour", "text": "The cube is red."}]}


def test_checks_and_rubric_are_pinned(tmp_path: Path) -> None:
    """Each as a file of its own, which the task's hash covers: read back the same, and not at all once changed."""
    folder = written(tmp_path / "e", checks=[CHECK], rubric=RUBRIC)
    assert json.loads((folder / "task/checks.json").read_text()) == [CHECK]
    pinned = json.loads((folder / "task/task.json").read_text())
    assert (pinned["checks"], pinned["rubric"]) == ("checks.json", "rubric.json")
    task = read_episode(folder).task
    assert (task.checks, task.rubric, task.sha256) == ((CHECK,), RUBRIC, pinned["sha256"])
    assert not [finding for finding in check_episode(folder) if finding.code == "task"]
    for name in ("checks.json", "rubric.json"):
        content = (folder / "task" / name).read_text()
        (folder / "task" / name).write_text(content.replace("e", "E", 1))
        with pytest.raises(CorruptEpisode, match="not the task that was worked on"):
            read_episode(folder)
        assert next(f.message for f in check_episode(folder) if f.code == "task").startswith("not the task that was")
        (folder / "task" / name).write_text(content)
    (folder / "task/checks.json").unlink()
    with pytest.raises(CorruptEpisode, match="the pinned task cannot be read"):
        read_episode(folder)
    assert "'task/checks.json' is missing" in next(f.message for f in check_episode(folder) if f.code == "task")


def test_what_was_pinned_is_there(folder: Path) -> None:
    """Task, start file, settings; an episode that never ended can be read."""
    episode = read_episode(folder)
    assert (episode.task.brief, episode.header.model, episode.end) == ("a film", "m", None)
    assert episode.task.start_file == folder / "task/start.txt"
    assert [step.step for step in episode.steps] == [1, 2]
    assert episode.step(2).actions[0].arguments == {"command": ""}


def test_the_machine_is_this_one(folder: Path) -> None:
    """Interpreter and isolation of the record are not taken over, its limits are."""

    def foreign(record: dict[str, Any]) -> None:
        record["config"]["environment"]["harness"] |= {
            "bpy_python": "<home>/python",
            "bpy_libs": "/x",
            "sandbox": "off",
            "exec_timeout": 7.0,
        }

    edit(folder / "trajectory.jsonl", 1, foreign)
    settings = read_episode(folder).environment.harness
    assert (settings.bpy_python, settings.bpy_libs, settings.sandbox, settings.exec_timeout) == ("", "", "auto", 7.0)


def test_conversation(folder: Path) -> None:
    """The prompts as text, then each reply."""
    episode = read_episode(folder)
    assert episode.conversation_before(1) == [{"role": "user", "content": "make it"}]
    assert [m["content"] for m in episode.conversation_before(3)] == ["make it", "reply 1", "reply 2"]


@pytest.mark.parametrize("number", [0, -1, 3])
def test_a_step_that_is_not_there(folder: Path, number: int) -> None:
    """Says which there are."""
    with pytest.raises(BadInput, match=rf"there is no step {number}: it has the steps 1\.\.2"):
        read_episode(folder).step(number)


def test_no_episode(tmp_path: Path) -> None:
    """A missing folder, a file, or a folder of something else."""
    with pytest.raises(BadInput, match="there is no such folder"):
        read_episode(tmp_path / "none")
    with pytest.raises(BadInput, match=r"not an episode: it holds no trajectory\.jsonl"):
        read_episode(tmp_path)


def torn(folder: Path) -> None:
    path = folder / "trajectory.jsonl"
    path.write_bytes(path.read_bytes()[:-5])


def empty(folder: Path) -> None:
    (folder / "trajectory.jsonl").write_text("")


def another_number(folder: Path) -> None:
    edit(folder / "trajectory.jsonl", 3, lambda record: record.update(step=5))


def no_command(folder: Path) -> None:
    edit(folder / "trajectory.jsonl", 2, lambda record: record["actions"][0].update(arguments={}))


def unknown_setting(folder: Path) -> None:
    edit(folder / "trajectory.jsonl", 1, lambda record: record["config"]["environment"]["harness"].update(new=1))


def another_brief(folder: Path) -> None:
    path = folder / "task/task.json"
    path.write_text(path.read_text().replace("a film", "a play"))


def another_brief_text(folder: Path) -> None:
    (folder / "task/brief.md").write_text("a play\n")


def another_start(folder: Path) -> None:
    (folder / "task/start.txt").write_text("another start")


def no_start(folder: Path) -> None:
    (folder / "task/start.txt").unlink()


def no_task(folder: Path) -> None:
    (folder / "task/task.json").write_text("[]")


@pytest.mark.parametrize(
    ("damage", "text"),
    [
        (torn, "trajectory.jsonl, line 3: torn line"),
        (empty, "trajectory.jsonl, line 1: the first line is no header"),
        (another_number, "trajectory.jsonl, line 3: step 5 where step 2 was expected"),
        (no_command, "trajectory.jsonl, line 2: action 1 says nothing to run"),
        (unknown_setting, "trajectory.jsonl, line 1: config.environment is not valid (harness.new: "),
        (another_brief, "task.json: not the task that was worked on: hash "),
        (another_brief_text, "brief.md: not the brief of task.json"),
        (another_start, "task.json: not the task that was worked on: hash "),
        (no_start, "task.json: the pinned task cannot be read"),
        (no_task, "task.json: the pinned task cannot be read"),
    ],
)
def test_damage_is_located(folder: Path, damage: Callable[[Path], None], text: str) -> None:
    """File, line where there is one, and what is wrong."""
    damage(folder)
    with pytest.raises(CorruptEpisode) as caught:
        read_episode(folder)
    assert text in str(caught.value)
