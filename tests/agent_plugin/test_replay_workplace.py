"""What is run again on the way to a step, decided from the record alone."""

from pathlib import Path

import pytest

from agent_plugin.recorded_episode import read_episode
from agent_plugin.replay_workplace import all_runs, needed_runs
from recorder.records import Action, Execution
from tests.agent_plugin.episodes import ran, written

WRITE = ran("bash", "cat > main.py <<'END'\nrender('output.mp4')\nEND\n")
RUN = ran("run_blender", "main.py")


def needed(folder: Path, *calls: tuple[Action, Execution]) -> list[int]:
    """Numbers of the steps, one call each, whose runs are needed before one more step."""
    episode = read_episode(written(folder / "e", *([call] for call in calls)))
    assert all(position == 0 for _, position in needed_runs(episode, len(calls) + 1))
    return sorted(step for step, _ in needed_runs(episode, len(calls) + 1))


def test_the_last_run_is_needed(tmp_path: Path) -> None:
    """Its video is there when the step begins; writing a script that names the video is no look at it."""
    assert needed(tmp_path, WRITE, RUN, WRITE, RUN, WRITE, RUN, WRITE) == [6]


@pytest.mark.parametrize("command", ["cp output.mp4 old.mp4", "ls *.mp4", "file preview.png"])
def test_a_run_whose_video_is_looked_at_is_needed(tmp_path: Path, command: str) -> None:
    """A command after it names the video or the contact sheet."""
    assert needed(tmp_path, WRITE, RUN, ran("bash", command), RUN) == [2, 4]


def test_a_run_that_wrote_other_files_is_needed(tmp_path: Path) -> None:
    """A later script may read them."""
    assert needed(tmp_path, ran("run_blender", "bake.py", "extra_files"), RUN, RUN) == [1, 3]


def test_no_run_no_need(tmp_path: Path) -> None:
    """Commands alone; a run that is the step itself or comes later."""
    episode = read_episode(written(tmp_path / "e", [WRITE], [RUN, RUN], [RUN]))
    assert needed_runs(episode, 2) == set()
    assert needed_runs(episode, 3) == {(2, 1)}
    assert all_runs(episode, 3) == {(2, 0), (2, 1)}


def test_a_scene_has_steps_not_runs(tmp_path: Path) -> None:
    """They build on each other, so all that took effect are run."""
    episode = read_episode(written(tmp_path / "e", [ran("run_blender", "pass", kind="scene")], kind="scene"))
    assert needed_runs(episode, 2) == all_runs(episode, 2) == set()
