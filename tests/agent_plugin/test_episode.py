"""An episode from its task to its verdict: the harness's own last execution counts, in a clean place."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.config import load_config
from agent_plugin.episode import EpisodeKey, run_episode
from agent_plugin.models.failures import RequestRejected
from agent_plugin.tasks import Task
from recorder.paths import EpisodePaths, RunPaths
from recorder.records import End, EpisodeSummary, Header, Step
from recorder.trajectory import read_summary, read_trajectory
from tests.agent_plugin.conftest import CALLS_LITELLM, SUBMIT, ScriptModel, bash, blender
from tests.conftest import FILM, RENDER, TINY

pytestmark = CALLS_LITELLM

KEY = "secret-of-the-provider"


def write_main(source: str) -> dict[str, Any]:
    return bash(f"cat > main.py <<'END'\n{source}END\n")


def play(folder: Path, model: str, *specs: str, **task: Any) -> tuple[EpisodeSummary, EpisodePaths]:
    paths = RunPaths(folder).episode("t", model, 1)
    whole = Task.model_validate({"id": "t", "brief": "a film", "harness": TINY, **task})
    config = load_config([f"model.model_kwargs.api_key={KEY}", *specs])
    return run_episode(EpisodeKey(whole, model, 1), config, paths, lambda _number, _what: None), paths


def lines(paths: EpisodePaths) -> list[Header | Step | End]:
    return list(read_trajectory(paths.trajectory))


SOURCE = "print('starts with', open('start.txt').read())\n" + FILM + RENDER


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel) -> tuple[EpisodeSummary, EpisodePaths]:
    """An episode that runs well: a start file, one look at the film, submission."""
    folder = tmp_path_factory.mktemp("film")
    (folder / "start.txt").write_text("a start")
    name = script_model(
        {"calls": [write_main(SOURCE), blender()]},
        {"expect": ["RUN OK", "starts with a start"], "expect_images": 2, "calls": [bash(SUBMIT)]},
    )
    return play(folder, name, start_file=folder / "start.txt", limits={"steps": 7})


@pytest.mark.blender
def test_a_good_film_passes(film: tuple[EpisodeSummary, EpisodePaths]) -> None:
    """The summary says so, and is what episode.json holds."""
    summary, paths = film
    assert (summary.exit_status, summary.verdict, summary.problems) == ("Submitted", "pass", [])
    assert summary.reason == "submitted; the final execution found no error"
    assert (summary.n_steps, summary.cost.usd, summary.cost.is_known) == (2, 0.0, True)
    assert summary.tokens
    assert summary.tokens.prompt > summary.tokens.completion > 0 == summary.tokens.n_calls_unknown
    assert summary.final_execution is not None
    assert summary.final_execution["report"].startswith("RUN OK")
    assert read_summary(paths.summary) == summary


@pytest.mark.blender
def test_what_was_handed_in_is_kept(film: tuple[EpisodeSummary, EpisodePaths]) -> None:
    """The script byte for byte, the video and its contact sheet; the agent's workspace is gone."""
    summary, paths = film
    assert paths.final_script.read_text() == SOURCE
    assert paths.output_video.read_bytes()[4:8] == b"ftyp"
    assert paths.preview.read_bytes().startswith(b"\x89PNG")
    assert not paths.workspace.exists()
    kept = {"trajectory.jsonl", "final_script.py", "output.mp4", "preview.png"}
    assert set(summary.files) == kept | {"task/brief.md", "task/task.json", "task/start.txt"}
    for name, digest in summary.files.items():
        assert hashlib.sha256((paths.root / name).read_bytes()).hexdigest() == digest


@pytest.mark.blender
def test_the_task_is_pinned(film: tuple[EpisodeSummary, EpisodePaths]) -> None:
    """Brief, definition with its hash, start file."""
    summary, paths = film
    pinned = json.loads((paths.task / "task.json").read_text())
    assert (paths.task / "brief.md").read_text() == "a film\n"
    assert (paths.task / "start.txt").read_text() == "a start"
    assert (pinned["sha256"], pinned["start_file"]) == (summary.task_sha256, "start.txt")


@pytest.mark.blender
def test_the_header_holds_the_resolved_config(film: tuple[EpisodeSummary, EpisodePaths]) -> None:
    """With the task's own settings, versions and the isolation in force."""
    header = lines(film[1])[0]
    assert isinstance(header, Header)
    assert header.config["environment"]["harness"]["frame_count"] == TINY["frame_count"]
    assert header.config["agent"]["cost_limit"] == 3.0
    assert header.sandbox_level.startswith("bwrap")
    assert {"blendscribe", "mini-swe-agent", "litellm", "bpy", "python"} <= {k for k, v in header.versions.items() if v}
    assert header.task_sha256 == film[0].task_sha256


@pytest.mark.blender
def test_no_secret_and_no_path_of_the_host_is_kept(film: tuple[EpisodeSummary, EpisodePaths]) -> None:
    """In none of the episode's files."""
    _, paths = film
    for file in paths.root.rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            assert KEY.encode() not in content, file
            assert str(paths.root).encode() not in content, file
    assert "[removed: secret]" in paths.trajectory.read_text()


@pytest.mark.blender
def test_what_only_the_agents_workspace_has_does_not_count(tmp_path: Path, script_model: ScriptModel) -> None:
    """A script that needs a file which an earlier command left behind fails the last execution."""
    source = "open('data.txt')\n" + FILM + RENDER
    name = script_model({"calls": [bash("touch data.txt"), write_main(source), bash(SUBMIT)]})
    summary, paths = play(tmp_path, name)
    assert (summary.exit_status, summary.verdict, summary.problems) == ("Submitted", "fail", ["script_error"])
    assert "data.txt" in summary.reason
    assert paths.final_script.read_text() == source


@pytest.mark.parametrize(
    "command", ["true", "ln -s /etc/hostname main.py", "mkdir main.py", "mkfifo main.py", "truncate -s 5M main.py"]
)
def test_a_submission_without_a_script_fails(tmp_path: Path, script_model: ScriptModel, command: str) -> None:
    """Nothing, a link, a folder, a pipe, a monster: a verdict with its reason, and no final_script.py."""
    summary, paths = play(tmp_path, script_model({"calls": [bash(command), bash(SUBMIT)]}))
    assert (summary.verdict, summary.problems) == ("fail", ["script_missing"])
    assert "final execution failed: 'main.py' does not exist" in summary.reason
    assert not paths.final_script.exists()
    assert not paths.workspace.exists()


def test_an_episode_that_does_not_submit_is_not_executed(tmp_path: Path, script_model: ScriptModel) -> None:
    """It fails by the limit that ended it, here the task's own."""
    turn = {"calls": [bash("true")]}
    summary, paths = play(tmp_path, script_model(turn, turn, turn), "agent.step_limit=9", limits={"steps": 2})
    assert (summary.exit_status, summary.verdict, summary.n_steps) == ("LimitsExceeded", "fail", 2)
    assert summary.reason == "not submitted: LimitsExceeded"
    assert summary.final_execution is None
    assert paths.is_finished


def test_a_failure_of_the_provider_leaves_no_result(tmp_path: Path, script_model: ScriptModel) -> None:
    """It is raised; what was recorded stays, and episode.json is not there."""
    name = script_model({"calls": [bash("true")]}, {"expect": ["never"]})
    with pytest.raises(RequestRejected):
        play(tmp_path, name)
    paths = RunPaths(tmp_path).episode("t", name, 1)
    assert not paths.is_finished
    assert [line.kind for line in lines(paths)] == ["header", "step", "end"]


def test_an_episodes_folder_is_never_used_twice(tmp_path: Path, script_model: ScriptModel) -> None:
    """A second run into it is refused."""
    name = script_model({"calls": [bash(SUBMIT)]})
    _, paths = play(tmp_path, name)
    before = {file: file.read_bytes() for file in paths.root.rglob("*") if file.is_file()}
    with pytest.raises(FileExistsError):
        play(tmp_path, name)
    assert {file: file.read_bytes() for file in before} == before
