"""Fifty episodes survive the death of their launcher, of Blenders, of their provider, and a full disk."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.launch.fault_driver import N_EPISODES, REAL

pytestmark = [pytest.mark.blender, pytest.mark.timeout(500)]

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What fault_driver.py printed."""
    folder = tmp_path_factory.mktemp("scale")
    command = ["unshare", "-m" if os.geteuid() == 0 else "-rm", sys.executable, "-m", "tests.launch.fault_driver"]
    environment = os.environ | {"PYTHONPATH": str(PROJECT), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    ended = subprocess.run(
        [*command, str(folder)], cwd=PROJECT, env=environment, capture_output=True, text=True, timeout=480, check=False
    )
    assert ended.returncode == 0, ended.stderr[-4000:]
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("RESULT ")]
    return json.loads(line.removeprefix("RESULT "))


def test_all_are_done_once(facts: Any) -> None:
    """Each launch goes on where the one before was stopped; none begins what is done; none is done twice."""
    n_done = facts["n_done"]
    assert n_done == sorted(n_done)
    assert n_done[-1] == N_EPISODES
    assert facts["played_again"] == []
    assert [name for name, result in facts["results"].items() if result["others_done"]] == []


def test_none_is_graded_on_a_fault_of_the_machine(facts: Any) -> None:
    """Every verdict is the one that the same episode gets where nothing happens; every record is sound."""
    for name, result in facts["results"].items():
        is_real = int(name[1:]) in REAL
        assert result == {
            "exit_status": "Submitted",
            "verdict": "pass" if is_real else "fail",
            "problems": [] if is_real else ["nothing_done"],
            "n_steps": 2 if is_real else 4,
            "outcomes": ["ok"] if is_real else [],
            "told": [],
            "findings": [],
            "others_done": [],
        }, name


def test_an_outage_pauses_the_run_and_ends_it(facts: Any) -> None:
    """With whose provider it is, exit status 1, and without losing all that was left to it."""
    assert facts["says_who"]
    assert facts["status_without_provider"] == 1
    assert facts["killed"] == ["session", "step"]
    assert set(facts["lost"]) <= {"provider_down", "disk", "sandbox"}
    assert "provider_down" in facts["lost"]
