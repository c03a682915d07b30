"""The demo itself: five episodes with real Blender, through the command line that users call.

`make check-demo` plays it by `make demo` and names the run's folder in DEMO_RUN; without that it is played here.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import av
import pytest

from recorder.export.listing import FORMATS
from recorder.paths import RunPaths
from recorder.records import EpisodeSummary, Header, Step
from recorder.trajectory import read_trajectory

ROOT = Path(__file__).resolve().parents[2]
VIDEOS = ["bouncing-ball", "camera-orbit", "domino-run"]
SCENES = ["desk-lamp", "furnish-room"]
TASKS = [*VIDEOS, *SCENES]
COMMAND = [str(Path(sys.executable).with_name("blendscribe")), "run", "configs/demo/tasks.yaml", "-m", "scripted/demo"]

pytestmark = [pytest.mark.blender, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunPaths:
    """The demo, played once."""
    if played := os.environ.get("DEMO_RUN"):
        return RunPaths(Path(played).resolve(strict=True))
    folder = tmp_path_factory.mktemp("demo") / "run"
    ended = subprocess.run([*COMMAND, "-o", str(folder)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "5 of 5 episodes passed" in ended.stdout
    return RunPaths(folder)


@pytest.mark.parametrize("task", TASKS)
def test_episode_passes_after_true_mistakes(run: RunPaths, task: str) -> None:
    """Each film passes its final execution, after at least one run that failed."""
    paths = run.episode(task, "scripted/demo", 1)
    summary = EpisodeSummary.model_validate_json(paths.summary.read_text())
    assert (summary.verdict, summary.exit_status, summary.problems) == ("pass", "Submitted", [])
    runs = [e for s in read_trajectory(paths.trajectory) if isinstance(s, Step) for e in s.executions if e.blender]
    assert runs[0].returncode == 1
    assert runs[-1].returncode == 0


@pytest.mark.parametrize("task", SCENES)
def test_scene_file_and_script_give_the_same_scene(run: RunPaths, task: str) -> None:
    """The live scene, the saved file and the replayed script have one state; failed steps are not in the script."""
    paths = run.episode(task, "scripted/demo", 1)
    final = json.loads(paths.summary.read_text())["final_execution"]
    assert final["state_hash"] == final["replay_hash"] == final["saved_hash"]
    assert paths.scene.stat().st_size > 20_000
    recorded = [e.blender for s in read_trajectory(paths.trajectory) if isinstance(s, Step) for e in s.executions]
    outcomes = [step["outcome"] for step in recorded if step]
    assert outcomes.count("ok") == final["n_good_steps"]
    assert set(outcomes) > {"ok"}


@pytest.mark.parametrize("task", VIDEOS)
def test_video_is_as_asked_and_moves(run: RunPaths, task: str) -> None:
    """The kept video has the asked form, and its frames differ."""
    with av.open(str(run.episode(task, "scripted/demo", 1).output_video)) as video:
        stream = video.streams.video[0]
        frames = [frame.to_ndarray(format="gray") for frame in video.decode(stream)]
    assert (len(frames), stream.width, stream.height, float(stream.average_rate or 0)) == (72, 640, 360, 24.0)
    assert abs(frames[10].astype(int) - frames[40].astype(int)).mean() > 1


@pytest.mark.parametrize("task", TASKS)
def test_record_is_whole(run: RunPaths, task: str) -> None:
    """Every tool call is answered, every picture is there, and no path of this machine is in the record."""
    paths = run.episode(task, "scripted/demo", 1)
    header, *rest = list(read_trajectory(paths.trajectory))
    steps = [line for line in rest if isinstance(line, Step)]
    assert isinstance(header, Header)
    assert [step.step for step in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        assert [a.tool_call_id for a in step.actions] == [o.tool_call_id for o in step.observations]
        for image in (image for o in step.observations for image in o.images):
            assert (paths.root / image.path).stat().st_size == image.n_bytes
    text = paths.trajectory.read_text() + paths.summary.read_text()
    assert str(ROOT) not in text
    assert str(Path.home()) + "/" not in text
    assert str(run.root) not in text


def test_script_is_what_the_agent_wrote(run: RunPaths) -> None:
    """final_script.py is the submitted main.py, and its hash is in episode.json."""
    import hashlib

    for task in TASKS:
        paths = run.episode(task, "scripted/demo", 1)
        files = json.loads(paths.summary.read_text())["files"]
        for name, digest in files.items():
            assert hashlib.sha256((paths.root / name).read_bytes()).hexdigest() == digest
        deliverable = "output.mp4" if task in VIDEOS else "scene.blend"
        assert {"final_script.py", deliverable, "preview.png", "trajectory.jsonl"} <= set(files)


def test_same_command_plays_nothing_again(run: RunPaths) -> None:
    """A finished run is finished: the same command only shows it."""
    before = {p: p.stat().st_mtime_ns for p in run.root.rglob("*") if p.is_file() and p.name != ".lock"}
    ended = subprocess.run([*COMMAND, "-o", str(run.root)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0
    assert f"{len(TASKS)} of {len(TASKS)} episodes are from before." in ended.stdout
    assert {p: p.stat().st_mtime_ns for p in before} == before


def test_the_run_becomes_a_data_set(run: RunPaths, tmp_path: Path) -> None:
    """Every episode is sound, every format takes each of them, and the whole is sound."""
    formats = [argument for name in FORMATS for argument in ("--format", name)]
    command = [COMMAND[0], "export", str(run.root), "-o", str(tmp_path / "data"), *formats]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "5 of 5 episodes exported" in ended.stdout
    assert "refused" not in ended.stdout
    episodes = [str(run.episode(task, "scripted/demo", 1).root) for task in TASKS]
    verify = [COMMAND[0], "verify", "--integrity", str(tmp_path / "data"), *episodes]
    ended = subprocess.run(verify, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ended.stdout.count(": sound") == 6
