"""A run is stopped while it is paused, or while episodes wait for the one Blender slot: at once; nothing is left."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from recorder.paths import RunPaths
from recorder.records import Step
from recorder.trajectory import read_trajectory

pytestmark = [pytest.mark.blender, pytest.mark.timeout(200)]

PROJECT = Path(__file__).resolve().parents[2]
SUBMIT = {"calls": [{"tool": "run_blender", "arguments": {"code": "print('COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT')"}}]}


def step(code: str) -> dict[str, Any]:
    return {"calls": [{"tool": "run_blender", "arguments": {"code": code}}]}


class Launched:
    """`blendscribe run` of three scene tasks by a scripted model."""

    def __init__(self, folder: Path, turns: list[dict[str, Any]], *options: str) -> None:
        script = {"model": "x", "conversations": [{"when": "", "turns": turns}]}
        (folder / "turns.yaml").write_text(yaml.safe_dump(script))
        tasks = [{"id": f"t{n}", "kind": "scene", "brief": "x"} for n in range(3)]
        (folder / "tasks.yaml").write_text(yaml.safe_dump({"tasks": tasks}))
        (folder / "tmp").mkdir()
        self.root, self.model = folder / "run", f"scripted/{folder}/turns.yaml"
        self.log = folder / "log.txt"
        code = "from agent_plugin.cli import main; main()"
        arguments = ["run", str(folder / "tasks.yaml"), "-m", self.model, "-o", str(self.root), *options]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-u", "-c", code, *arguments],
                env=os.environ | {"TMPDIR": str(folder / "tmp"), "PYTHONPATH": str(PROJECT)},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, text: str, seconds: float = 90) -> None:
        deadline = time.monotonic() + seconds
        while text not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.05)

    def wait_for_a_step(self) -> list[psutil.Process]:
        """The launcher's processes, once a step runs in Blender."""
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            tree = psutil.Process(self.process.pid).children(recursive=True)
            if sum(one.name().startswith("python") for one in tree) >= 3:
                return tree
            time.sleep(0.05)
        raise AssertionError(self.log.read_text())


def left(tree: list[psutil.Process]) -> list[psutil.Process]:
    _, alive = psutil.wait_procs(tree, timeout=5)
    return [one for one in alive if one.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_paused_run_ends_at_once(tmp_path: Path, number: signal.Signals) -> None:
    """Exit 130, though the next try was an hour away."""
    options = ("launch.breaker_losses=1", "launch.probe_seconds=3600", "launch.max_pause_seconds=7200")
    run = Launched(tmp_path, [{"expect": ["never"]}], *(part for option in options for part in ("-c", option)))
    run.wait_for("Paused: episodes of scripted/")
    began = time.monotonic()
    run.process.send_signal(number)
    assert run.process.wait(30) == 130
    assert time.monotonic() - began < 10


def test_once_lets_the_step_end_and_nobody_else_begin(tmp_path: Path) -> None:
    """The episode that had the slot records its whole step; those that waited for it leave. Exit 130."""
    turns = [step("import bpy, time\ntime.sleep(4)\nbpy.ops.mesh.primitive_cube_add()"), SUBMIT]
    run = Launched(tmp_path, turns, "-w", "3", "--blender-slots", "1")
    tree = run.wait_for_a_step()
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(60) == 130, run.log.read_text()
    assert left(tree) == []
    outcomes = []
    for n in range(3):
        aside = RunPaths(run.root).episode(f"t{n}", run.model, 1).root.with_name("1.interrupted-1")
        lines = [line for line in read_trajectory(aside / "trajectory.jsonl") if isinstance(line, Step)]
        outcomes.append([e.blender["outcome"] for line in lines for e in line.executions if e.blender])
    assert sorted(outcomes) == [[], [], ["ok"]]


def test_twice_leaves_nothing_behind(tmp_path: Path) -> None:
    """In the middle of a step, with two episodes waiting for the slot. Exit 130, at once."""
    run = Launched(tmp_path, [step("import time\ntime.sleep(100)"), SUBMIT], "-w", "3", "--blender-slots", "1")
    tree = run.wait_for_a_step()
    run.process.send_signal(signal.SIGTERM)
    run.wait_for("Stopping after the running")
    began = time.monotonic()
    run.process.send_signal(signal.SIGTERM)
    assert run.process.wait(30) == 130
    assert time.monotonic() - began < 10
    assert left(tree) == []
