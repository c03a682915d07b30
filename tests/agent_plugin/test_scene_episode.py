"""A scene task from brief to verdict: scripted model, real litellm, real Blender."""

from pathlib import Path

import pytest

from agent_plugin.config import load_config
from agent_plugin.episode import EpisodeKey, run_episode
from agent_plugin.tasks import Task
from recorder.paths import EpisodePaths
from recorder.records import EpisodeSummary, Header, Step
from recorder.trajectory import read_trajectory
from tests.agent_plugin.conftest import CALLS_LITELLM, ScriptModel

pytestmark = [CALLS_LITELLM, pytest.mark.blender]

HAND_IN = "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')"


def step(code: str) -> dict[str, object]:
    return {"tool": "run_blender", "arguments": {"code": code}}


@pytest.fixture
def played(tmp_path: Path, script_model: ScriptModel) -> tuple[EpisodePaths, EpisodeSummary]:
    """An episode with two good steps and a failing one."""
    name = script_model(
        {
            "text": "a ball",
            "calls": [step("import bpy\nbpy.ops.mesh.primitive_uv_sphere_add()\nball = bpy.context.object")],
        },
        {
            "expect": ["STEP OK: step 1", "+ Object 'Sphere'"],
            "expect_images": 1,
            "calls": [step("ball.location.zz = 1")],
        },
        {
            "expect": ["STEP FAILED: step 2", "AttributeError"],
            "expect_images": 0,
            "calls": [step("ball.location.z = 2")],
        },
        {"expect": ["location (0, 0, 0) -> (0, 0, 2)"], "calls": [step(HAND_IN)]},
    )
    task = Task(id="ball", kind="scene", start="empty", brief="make a ball", harness={"resolution": [96, 64]})
    paths = EpisodePaths(tmp_path / "episode")
    return paths, run_episode(EpisodeKey(task, name, 1), load_config([]), paths, lambda _number, _what: None)


def test_scene_episode(played: tuple[EpisodePaths, EpisodeSummary]) -> None:
    """It passes, keeps scene, script and contact sheet, and its record holds one tool, each step, each view."""
    paths, summary = played
    assert (summary.verdict, summary.problems, summary.exit_status) == ("pass", [], "Submitted"), summary.reason
    assert {"scene.blend", "final_script.py", "preview.png", "trajectory.jsonl"} <= set(summary.files)
    assert not paths.workspace.exists()
    script = paths.final_script.read_text()
    assert "ball.location.z = 2" in script
    assert "zz" not in script
    assert "COMPLETE_TASK" not in script
    header, *rest = read_trajectory(paths.trajectory)
    assert isinstance(header, Header)
    assert [tool["function"]["parameters"]["required"] for tool in header.tools] == [["code"]]
    steps = [line for line in rest if isinstance(line, Step)]
    recorded = [s.executions[0].blender for s in steps if s.executions[0].blender]
    assert [r["outcome"] for r in recorded if r] == ["ok", "step_error", "ok"]
    patches = [execution.state_patch for s in steps for execution in s.executions]
    assert [patch is not None for patch in patches] == [True, False, True, False]
    assert {patch.path for patch in patches if patch} == {f"states/{file.name}" for file in paths.states.iterdir()}
    assert [len(image.path) > 60 for s in steps for o in s.observations for image in o.images] == [True, True]
