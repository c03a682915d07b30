"""A disk that fails ends an episode as infrastructure; a killed launcher loses the step in flight and no more."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agent_plugin.conftest import SUBMIT, ScriptModel, bash, write_tasks

PROJECT = Path(__file__).resolve().parents[2]
PICTURE = "printf '%s' {text}; head -c 2000 /dev/zero | tr '\\0' x"


def driven(folder: Path, *arguments: str, prefix: tuple[str, ...] = ()) -> Any:
    """What crash_driver.py printed."""
    command = [*prefix, sys.executable, "-m", "tests.agent_plugin.crash_driver", *arguments]
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    ended = subprocess.run(
        command, cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=170, check=False
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("RESULT ")]
    return json.loads(line.removeprefix("RESULT "))


def four_steps(script_model: ScriptModel) -> str:
    """A model of four steps, the last of which hands in nothing; each answer is some 2 KB."""
    turns = [{"calls": [bash(PICTURE.format(text=f"step {n}"))]} for n in range(3)]
    return script_model(*turns, {"calls": [bash(SUBMIT)]})


@pytest.mark.parametrize(
    ("what", "error"), [("full", "No space left on device"), ("gone", "No such file or directory")]
)
def test_a_disk_that_fails_is_infrastructure(tmp_path: Path, script_model: ScriptModel, what: str, error: str) -> None:
    """The error names the file, what was written before is whole, and the same command completes the episode."""
    write_tasks(tmp_path, {"id": "t1"})
    unshared = ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-rm")
    facts = driven(tmp_path, "disk", str(tmp_path), four_steps(script_model), what, prefix=unshared)
    assert not facts["has_result"]
    assert error in facts["error"]
    assert "trajectory.jsonl" in facts["error"]
    assert facts["findings"] == []
    assert facts["litter"] == []
    assert facts["kinds"] in ([["header", "step", "step"]], [["header", "step", "step", "end"]], [])
    assert bool(facts["kinds"]) == (what != "gone")
    assert facts["completed"] == 4


def test_a_folder_that_becomes_read_only_is_infrastructure(tmp_path: Path, script_model: ScriptModel) -> None:
    """The record that is open may still grow; the summary cannot be written, and what is there stays where it is."""
    write_tasks(tmp_path, {"id": "t1"})
    unshared = ("unshare", "-m") if os.geteuid() == 0 else ("unshare", "-rm")
    facts = driven(tmp_path, "disk", str(tmp_path), four_steps(script_model), "read-only", prefix=unshared)
    assert not facts["has_result"]
    assert "Read-only file system" in facts["error"]
    assert "what was recorded stays where it is" in facts["error"]
    assert facts["findings"] == []
    assert facts["completed"] == 4


@pytest.mark.timeout(300)
def test_thirty_kills_lose_nothing_but_the_step_in_flight(tmp_path: Path, script_model: ScriptModel) -> None:
    """Every line that was written can be read, all that it names is there, and the same command completes each run."""
    write_tasks(tmp_path, {"id": "t1"})
    results = driven(tmp_path, "kill", str(tmp_path), four_steps(script_model), "30")
    assert len(results) == 30
    assert {result["unreadable"] for result in results} <= {"", "torn line: the file ends in the middle of it"}
    assert [result["findings"] for result in results] == [[]] * 30
    assert [result["completed"] for result in results] == [4] * 30
    assert all(result["sound"] for result in results)
    assert len({result["n_lines"] for result in results}) > 2  # they were killed at different moments
