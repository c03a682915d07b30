"""Declared checks count: in the verdict, the record, the table and the data set, for both kinds of task."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.checks.report import CheckReport
from recorder.integrity import check_episode
from recorder.paths import EpisodePaths, RunPaths
from recorder.records import EpisodeSummary
from recorder.trajectory import read_summary
from tests.conftest import FILM, RENDER, TINY

pytestmark = pytest.mark.blender

HAND_IN = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
RUBRIC = {"criteria": [{"id": "round", "text": "The ball is round."}]}
BALL_CHECKS = [
    {"id": "there", "type": "object_exists", "parameters": {"target": "Ball"}, "weight": 2},
    {"id": "high", "type": "location", "parameters": {"target": "Ball", "z": 3}, "weight": 1},
    {"id": "lit", "type": "light", "parameters": {"min": 1}, "weight": 1, "required": False},
]
FILM_CHECKS = [
    {"id": "moves", "type": "moves", "parameters": {"target": "Cube", "min_distance": 3}},
    {"id": "camera", "type": "active_camera", "parameters": {}},
]


@dataclass(frozen=True)
class Played:
    """The run of both tasks by both models, and what it printed."""

    root: Path
    printed: str

    def episode(self, task: str, model: str) -> tuple[EpisodePaths, EpisodeSummary]:
        (paths,) = [
            paths
            for paths in RunPaths(self.root).episodes()
            if paths.root.parts[-3] == task and f"{model}.yaml" in paths.root.parts[-2]
        ]
        return paths, read_summary(paths.summary)


def ball(height: int) -> list[dict[str, Any]]:
    """A scene of two steps."""
    made = f"import bpy\nbpy.ops.mesh.primitive_uv_sphere_add(location=(0, 0, {height}))"
    codes = (f"{made}\nbpy.context.object.name = 'Ball'", f"print('{HAND_IN}')")
    return [{"calls": [{"tool": "run_blender", "arguments": {"code": code}}]} for code in codes]


def film(distance: str) -> list[dict[str, Any]]:
    """A film whose cube crosses the view."""
    source = FILM.replace("cube.location.x = 2", f"cube.location.x = {distance}") + RENDER
    calls = [f"cat > main.py <<'END'\n{source}\nEND", f"echo {HAND_IN}"]
    return [{"calls": [{"tool": "bash", "arguments": {"command": command}}]} for command in calls]


def blendscribe(*words: object) -> "subprocess.CompletedProcess[str]":
    program = [sys.executable, "-c", "from agent_plugin.cli import main\nmain()"]
    return subprocess.run(
        [*program, *map(str, words)], capture_output=True, text=True, timeout=170, env={**os.environ, "COLUMNS": "250"}
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """One folder task with its files, one whose checks stand in it; the model `right` meets them, `wrong` does not."""
    folder = tmp_path_factory.mktemp("checked")
    for name, task in (
        ("ball", {"kind": "scene", "start": "empty", "brief": "a ball", "harness": {"resolution": [96, 64]}}),
        ("film", {"brief": "a film", "harness": {**TINY, "resolution": [64, 36]}, "checks": FILM_CHECKS}),
    ):
        (folder / "tasks" / name).mkdir(parents=True)
        (folder / "tasks" / name / "task.yaml").write_text(yaml.safe_dump(task))
    (folder / "tasks/ball/checks.json").write_text(json.dumps(BALL_CHECKS))
    (folder / "tasks/ball/rubric.json").write_text(json.dumps(RUBRIC))
    for name, height, distance in (("right", 3, "2"), ("wrong", 0, "-1")):
        conversations = [{"when": "a ball", "turns": ball(height)}, {"when": "a film", "turns": film(distance)}]
        (folder / f"{name}.yaml").write_text(yaml.safe_dump({"model": name, "conversations": conversations}))
    models = [word for name in ("right", "wrong") for word in ("-m", f"scripted/{folder / name}.yaml")]
    done = blendscribe("run", folder / "tasks", *models, "-o", folder / "run", "-w", 2)
    assert done.returncode == 1, done.stdout + done.stderr
    return Played(folder / "run", done.stdout)


@pytest.mark.parametrize("task", ["ball", "film"])
def test_what_meets_its_checks_passes(played: Played, task: str) -> None:
    """With the score in the summary; a check that is not required lowers it, and the verdict not."""
    paths, summary = played.episode(task, "right")
    assert (summary.verdict, summary.problems) == ("pass", []), summary.reason
    score = summary.score
    assert score is not None
    assert (score.is_strict_pass, score.judged_share, score.not_judged) == (True, 1.0, [])
    assert (score.weighted, score.n_passed, score.failed) == ((0.75, 2, ["lit"]) if task == "ball" else (1.0, 2, []))
    assert list(check_episode(paths.root)) == []


@pytest.mark.parametrize(("task", "failed"), [("ball", ["high", "lit"]), ("film", ["moves"])])
def test_a_required_check_that_fails_fails_the_episode(played: Played, task: str, failed: list[str]) -> None:
    """Whatever the harness says of the rest; the reason names it with what was measured."""
    _, summary = played.episode(task, "wrong")
    assert (summary.verdict, summary.problems, summary.exit_status) == ("fail", ["check_failed"], "Submitted")
    score = summary.score
    assert score is not None
    assert (score.is_strict_pass, score.failed, score.n_failed) == (False, failed, len(failed))
    n_required = 2
    begin = f"submitted; the final checks failed: 1 of {n_required} required checks do not pass; {failed[0]}: "
    assert summary.reason.startswith(begin), summary.reason
    assert "lit" not in summary.reason.removeprefix(begin)


def test_the_whole_report_is_in_the_record(played: Played) -> None:
    """Every check with what was measured, and of which file."""
    paths, summary = played.episode("ball", "wrong")
    assert summary.final_execution is not None
    report = summary.final_execution["checks"]
    assert report["sha256"] == summary.files["scene.blend"]
    assert [(check["id"], check["outcome"]) for check in report["checks"]] == [
        ("there", "pass"), ("high", "fail"), ("lit", "fail"),
    ]  # fmt: skip
    facts = {key: value for key, value in report.items() if key not in ("ok", "score")}
    assert CheckReport.model_validate_json(json.dumps(facts)).score.n_failed == 2
    assert {"task/checks.json", "task/rubric.json"} <= set(summary.files)
    assert json.loads((paths.task / "rubric.json").read_text()) == RUBRIC


def test_the_agent_learns_nothing_of_them(played: Played) -> None:
    """Neither ids nor parameters nor outcomes stand in what was told or answered."""
    for paths in RunPaths(played.root).episodes():
        text = paths.trajectory.read_text()
        assert not any(word in text for word in ("check_failed", '"high"', "min_distance", "The ball is round"))


def test_the_table_shows_the_scores(played: Played) -> None:
    """So do the lines of progress."""
    rows = [[cell.strip() for cell in line.split("│")] for line in played.printed.splitlines() if line.count("│") == 8]
    assert "checks" in rows[0]
    assert sorted({row[5] for row in rows[1:]} - {""}) == ["0.50", "0.75", "1.00"]
    assert ", checks 0.75" in played.printed


def test_a_data_set_holds_checks_rubric_and_score(played: Played, tmp_path: Path) -> None:
    """Beside the reward, which stays 1 or 0."""
    done = blendscribe(
        "export", played.root, "-o", tmp_path / "data", "--include", "failed", "--format", "parquet", "--license", "mit"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [
        json.loads(line)
        for file in sorted((tmp_path / "data/train").glob("agentic_trajectories*text.jsonl"))
        for line in file.read_text().splitlines()
    ]
    scores = sorted((row["task_id"], row["reward"], json.loads(row["metadata"])["score"]["weighted"]) for row in lines)
    assert scores == [("ball", 0.0, 0.5), ("ball", 1.0, 0.75), ("film", 0.0, 0.5), ("film", 1.0, 1.0)]
    samples = [folder for folder in (tmp_path / "data/samples").iterdir() if folder.name.startswith("ball")]
    assert all((folder / "task/rubric.json").is_file() for folder in samples)
    assert "| 0.750 |" in (tmp_path / "data/README.md").read_text()
