"""Where a run keeps things."""

from pathlib import Path

import pytest

from recorder.paths import EpisodePaths, RunPaths, folder_name


@pytest.mark.parametrize(
    ("model", "folder"),
    [
        ("openai/gpt-5", "openai--gpt-5"),
        ("scripted/demo", "scripted--demo"),
        ("bedrock/us.anthropic.claude-v2:1", "bedrock--us.anthropic.claude-v2-1"),
        ("../../etc", "etc"),
        ("..", "model"),
        ("a b\n/c\0", "a-b---c"),
    ],
)
def test_folder_name_of_a_model(model: str, folder: str) -> None:
    """A model's name becomes one folder name that cannot lead elsewhere."""
    assert folder_name(model) == folder


def test_long_names_stay_apart() -> None:
    """Names too long for a file system are cut, and still differ."""
    first, second = (folder_name(f"local/{'x' * 300}{number}") for number in (1, 2))
    assert len(first) == len(second) <= 120
    assert first != second


def test_an_episode_has_a_folder_of_its_own(tmp_path: Path) -> None:
    """Task, model and attempt each change the folder."""
    run = RunPaths(tmp_path)
    keys = [("a", "m/x", 1), ("a", "m/x", 2), ("a", "m/y", 1), ("b", "m/x", 1)]
    folders = {run.episode(*key).root for key in keys}
    assert len(folders) == len(keys)
    assert run.episode("a", "m/x", 1).root == tmp_path / "episodes/a/m--x/1"


def test_episodes_lists_only_attempts(tmp_path: Path) -> None:
    """Folders that were moved aside are not episodes."""
    run = RunPaths(tmp_path)
    for name in ("1", "2", "1.interrupted-1"):
        (tmp_path / "episodes/task/model" / name).mkdir(parents=True)
    assert [episode.root.name for episode in run.episodes()] == ["1", "2"]


def test_a_run_that_has_not_begun_has_no_episodes(tmp_path: Path) -> None:
    """A missing folder is an empty list."""
    assert RunPaths(tmp_path / "nothing").episodes() == []


def test_finished_means_that_the_summary_is_there(tmp_path: Path) -> None:
    """An episode is finished when episode.json is in place, whatever else is there."""
    episode = EpisodePaths(tmp_path)
    episode.trajectory.write_text("")
    assert not episode.is_finished
    episode.summary.write_text("{}")
    assert episode.is_finished


def test_all_files_lie_in_the_episode(tmp_path: Path) -> None:
    """No file of an episode lies outside of its folder."""
    episode = EpisodePaths(tmp_path)
    names = [name for name, kind in vars(EpisodePaths).items() if isinstance(kind, property) and name != "is_finished"]
    assert len(names) >= 8
    assert all(getattr(episode, name).parent == tmp_path for name in names)
