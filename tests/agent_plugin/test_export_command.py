"""`blendscribe export` and `verify`: what the real agent and recorder wrote becomes a data set."""

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_plugin.cli import app
from agent_plugin.faults import BadInput
from agent_plugin.launch_plan import RunPlan
from agent_plugin.tasks import Task
from recorder.export.listing import FORMATS
from recorder.files import PinnedTask, RunFile
from tests.agent_plugin.conftest import CALLS_LITELLM, ScriptModel, bash
from tests.agent_plugin.episodes import play
from tests.recorder.made_episodes import make_run

pytestmark = CALLS_LITELLM


def command(*arguments: object) -> tuple[int, str]:
    """(exit status, output); what the user did wrong is 2 with its text."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if isinstance(result.exception, BadInput):
        return 2, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with an accepted and a failed episode."""
    return make_run(tmp_path / "run", ball={}, cone={"verdict": "fail", "brief": "A cone."})


def test_an_episode_of_the_real_agent_is_exported(tmp_path: Path, script_model: ScriptModel) -> None:
    """Played through litellm, recorded, never submitted: it is sound, exported as failed, in every format."""
    model = script_model(*({"calls": [bash(f"echo step {n}")]} for n in range(4)))
    episode = play(tmp_path, model, "agent.step_limit=3")
    assert command("verify", "--integrity", episode) == (0, f"{episode}: sound\n")
    formats = [argument for name in FORMATS for argument in ("--format", name)]
    code, output = command("export", episode, "-o", tmp_path / "data", "--include", "failed", *formats)
    assert (code, "1 of 1 episodes exported" in output) == (0, True), output
    assert command("verify", "--integrity", tmp_path / "data")[0] == 0
    (line,) = (tmp_path / "data/train/agentic_trajectories_tools_text.jsonl").read_text().splitlines()
    row = json.loads(line)
    assert (row["label"], row["n_steps"]) == ("failed", 3)
    assert [m["role"] for m in row["messages"]] == ["system", "user", *["assistant", "tool"] * 2, "assistant"]


def test_only_accepted_ones_by_default(run: Path, tmp_path: Path) -> None:
    """Exit status 0: what was not asked for is no failure."""
    code, output = command("export", run, "-o", tmp_path / "data")
    assert (code, "1 of 2 episodes exported" in output) == (0, True)


def test_a_damaged_episode_is_status_1(run: Path, tmp_path: Path) -> None:
    """The rest is exported, and the damage located, by both commands."""
    (run / "episodes/ball/maker--one/1/final_script.py").write_text("x = 1\n")
    code, output = command("export", run, "-o", tmp_path / "data")
    assert code == 1
    assert "corrupt: ball/maker--one/1: ball/maker--one/1/final_script.py" in output
    code, output = command("verify", "--integrity", run / "episodes/ball/maker--one/1")
    assert code == 1
    assert "final_script.py, line 1: not the 2 steps that took effect" in output


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--include", "passed"], "there is no 'passed'. Known: failed, unfinished"),
        (["--format", "csv"], "there is no format 'csv'"),
        (["-o", "."], "exists already"),
    ],
)
def test_wrong_input_is_status_2(run: Path, tmp_path: Path, arguments: list[str], why: str) -> None:
    """And nothing is written."""
    code, output = command("export", run, "-o", tmp_path / "data", *arguments)
    assert (code, why in output) == (2, True), output
    assert not (tmp_path / "data").exists()


def test_verify_says_what_it_wants(tmp_path: Path) -> None:
    """An option, and folders that are records."""
    assert command("verify", tmp_path)[0] == 2
    assert command("verify", "--integrity", tmp_path) == (2, f"{tmp_path}: neither an episode nor a run nor a data set")


def test_verify_prints_json(run: Path) -> None:
    """Findings by folder."""
    episode = run / "episodes/ball/maker--one/1"
    next((episode / "images").iterdir()).unlink()
    code, output = command("verify", "--integrity", "--json", episode)
    assert code == 1
    assert [finding["code"] for finding in json.loads(output)[str(episode)]] == ["missing"]


def test_the_files_of_a_run_are_what_their_models_say(tmp_path: Path, script_model: ScriptModel) -> None:
    """run.json and task.json, as they are written today, survive load and dump."""
    from agent_plugin.config import load_config

    task = Task.model_validate({"id": "t", "brief": "a film"})
    described = json.loads(json.dumps(RunPlan((task,), ("m",), 1, load_config([])).describe()))
    assert RunFile.model_validate(described).model_dump(mode="json") == described
    pinned = json.loads(
        (play(tmp_path, script_model({"calls": [bash("ls")]}), "agent.step_limit=1") / "task/task.json").read_text()
    )
    assert PinnedTask.model_validate(pinned).model_dump(mode="json", exclude_unset=True) == pinned


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_minis_own_inspector_opens_the_traj_file(run: Path, tmp_path: Path) -> None:
    """It shows a page a reply, with text, call and reasoning."""
    from minisweagent.run.utilities.inspector import TrajectoryInspector
    from textual.widgets import Static

    assert command("export", run, "-o", tmp_path / "data", "--format", "traj")[0] == 0

    async def shown() -> list[str]:
        inspector = TrajectoryInspector(sorted((tmp_path / "data/formats/traj").glob("*.traj.json")))
        async with inspector.run_test() as pilot:
            pages = []
            for _ in range(inspector.n_steps):
                await pilot.pause()
                pages.append("\n".join(str(widget.render()) for widget in inspector.query(Static)))
                await pilot.press("right")
            return pages

    prompts, *pages = asyncio.run(shown())
    assert "Make a red ball" in prompts
    assert len(pages) == 4
    assert "import bpy" in pages[0]
    assert "I need bpy." in pages[0]
    assert "STEP FAILED" in pages[1]
    assert "View 2:" in pages[2]
