"""Plain mini-swe-agent works with our three classes, by its own command, and its run is recorded and judged too."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from minisweagent.run.utilities.inspector import TrajectoryInspector

from agent_plugin.places import CONFIGS_DIR
from recorder.paths import EpisodePaths
from recorder.records import End, Header, Step
from recorder.trajectory import read_summary, read_trajectory
from tests.agent_plugin.conftest import SUBMIT, ScriptModel, bash, blender
from tests.conftest import FILM, RENDER, TINY

MINI = Path(sys.executable).with_name("mini")
KEY = "short-key-77"


def run_mini(folder: Path, model: str, *, task: str = "a film", **agent: Any) -> subprocess.CompletedProcess[str]:
    """`mini` without a terminal, in a workspace of its own."""
    (folder / "ws").mkdir()
    config = folder / "more.yaml"
    harness = {**TINY, "resolution": [64, 36]}
    settings = {
        "agent": agent,
        "environment": {"harness": harness},
        "model": {"model_kwargs": {"api_key": KEY}},
    }
    config.write_text(yaml.safe_dump(settings))
    command = [
        *(str(MINI), "-c", str(CONFIGS_DIR / "blender.yaml"), "-c", str(config), "-m", model, "-t", task),
        *("-y", "--exit-immediately", "-o", str(folder / "out.traj.json")),
    ]
    environment = {
        **os.environ,
        "MSWEA_CONFIGURED": "true",
        "MSWEA_GLOBAL_CONFIG_DIR": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
    }
    return subprocess.run(
        command,
        cwd=folder / "ws",
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=150,
    )


@pytest.fixture(scope="module")
def mini(tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel) -> tuple[Path, str]:
    """A run of `mini`: write, look by both ways, hand in. Its folder and what it printed."""
    folder = tmp_path_factory.mktemp("mini")
    name = script_model(
        {"calls": [bash(f"cat > main.py <<'END'\n{FILM}{RENDER}END\nrun_blender main.py"), blender()]},
        {"expect": ["RUN OK"], "expect_images": 2, "calls": [bash(SUBMIT)]},
    )
    ended = run_mini(folder, name, record_dir=str(folder / "records"))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return folder, ended.stdout


def episode(folder: Path) -> EpisodePaths:
    (only,) = (folder / "records").iterdir()
    return EpisodePaths(only)


@pytest.mark.blender
def test_the_run_is_recorded(mini: tuple[Path, str]) -> None:
    """Header, both steps, end; frames as files; no key."""
    paths = episode(mini[0])
    header, first, second, end = read_trajectory(paths.trajectory)
    assert isinstance(header, Header)
    assert "a film" in header.prompts[1].text
    assert header.config["environment"]["harness"]["frame_count"] == 4
    assert isinstance(first, Step)
    assert [execution.output[:6] for execution in first.executions] == ["RUN OK", "RUN OK"]
    assert [len(message.images) for message in first.observations] == [0, 2]
    assert isinstance(second, Step)
    assert isinstance(end, End)
    assert end.exit_status == "Submitted"
    assert KEY not in paths.trajectory.read_text()


@pytest.mark.blender
def test_what_was_submitted_is_judged(mini: tuple[Path, str]) -> None:
    """As under the launcher: executed again in a clean place, with script, video and verdict kept."""
    paths = episode(mini[0])
    summary = read_summary(paths.summary)
    assert (summary.task_id, summary.exit_status, summary.verdict, summary.n_steps) == ("mini", "Submitted", "pass", 2)
    assert paths.final_script.read_text() == FILM + RENDER
    assert paths.output_video.is_file()
    assert (paths.task / "brief.md").read_text() == "a film\n"


@pytest.mark.blender
def test_the_workspace_is_the_users(mini: tuple[Path, str]) -> None:
    """It stays as the agent left it, and holds no record."""
    assert sorted(path.name for path in (mini[0] / "ws").iterdir()) == ["main.py", "output.mp4", "preview.png"]


@pytest.mark.blender
def test_the_user_is_told(mini: tuple[Path, str]) -> None:
    """Each step while it runs, then verdict and place."""
    folder, text = mini
    for line in ("step 1: model", "step 1: run_blender", "step 2: bash", f"Recorded in {episode(folder).root}"):
        assert line in text
    assert "pass: submitted; the final execution found no error" in text


@pytest.mark.blender
def test_minis_own_file_opens(mini: tuple[Path, str]) -> None:
    """mini-swe-agent's inspector reads it, and it holds no key."""
    file = mini[0] / "out.traj.json"
    inspector = TrajectoryInspector([file])
    assert inspector.n_steps >= 2
    content = json.loads(file.read_text())
    assert content["trajectory_format"] == "mini-swe-agent-1.1"
    assert content["info"]["exit_status"] == "Submitted"
    assert KEY not in file.read_text()


def test_a_record_inside_the_workspace_is_refused(tmp_path: Path, script_model: ScriptModel) -> None:
    """The agent could change it; nothing is played."""
    ended = run_mini(tmp_path, script_model({"calls": [bash("touch ran")]}), record_dir="records")
    assert ended.returncode != 0
    assert "lies inside the workspace" in " ".join((ended.stdout + ended.stderr).split())
    assert list((tmp_path / "ws").iterdir()) == []


def test_without_a_submission_nothing_is_executed(tmp_path: Path, script_model: ScriptModel) -> None:
    """The verdict says why; the record lies in the user's data folder unless one is named."""
    ended = run_mini(tmp_path, script_model({"calls": [bash("true")]}, {"calls": [bash("true")]}), step_limit=1)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    (folder,) = (tmp_path / "data/blendscribe/episodes").iterdir()
    summary = read_summary(folder / "episode.json")
    assert (summary.exit_status, summary.verdict, summary.final_execution) == ("LimitsExceeded", "fail", None)


def test_a_failure_of_the_provider_is_told_in_a_line(tmp_path: Path, script_model: ScriptModel) -> None:
    """No traceback, no verdict: what was recorded ends with the failure."""
    name = script_model({"calls": [bash("echo one")]}, {"expect": ["never said"]})
    ended = run_mini(tmp_path, name, record_dir=str(tmp_path / "records"))
    printed = ended.stdout + ended.stderr
    assert "no result: RequestRejected: The provider refused the request." in printed
    assert "Traceback" not in printed
    assert not episode(tmp_path).is_finished
    last = list(read_trajectory(episode(tmp_path).trajectory))[-1]
    assert isinstance(last, End)
    assert last.exit_status == "RequestRejected"
