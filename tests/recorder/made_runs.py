"""Runs for tests of what reads them: result files alone, no agent, no trajectory."""

import json
from pathlib import Path
from typing import Any

from recorder.files import RunFile
from recorder.paths import RunPaths
from recorder.records import CheckScore, Cost, EpisodeSummary


def summary(task: str, model: str, attempt: int, *, passed: bool = True, **facts: Any) -> EpisodeSummary:
    """A result; `facts` are other fields of it."""
    stated: dict[str, Any] = {
        "task_sha256": f"sha of {task}",
        "exit_status": "Submitted",
        "verdict": "pass" if passed else "fail",
        "reason": "",
        "problems": [] if passed else ["check_failed"],
        "final_execution": None,
        "n_steps": 5,
        "cost": Cost(usd=0.5, is_known=True),
        "seconds": 60.0,
        "files": {},
        "finished_at": "2026-01-01T00:00:00+00:00",
    }
    return EpisodeSummary(task_id=task, model=model, attempt=attempt, **(stated | facts))


def score(weighted: float | None) -> CheckScore:
    return CheckScore(is_strict_pass=False, weighted=weighted, judged_share=1.0, n_passed=1, failed=[], not_judged=[])


def write_result(root: Path, result: EpisodeSummary) -> Path:
    """The episode's folder."""
    folder = RunPaths(root).episode(result.task_id, result.model, result.attempt).root
    folder.mkdir(parents=True)
    (folder / "episode.json").write_text(result.model_dump_json(indent=2))
    return folder


def write_plan(root: Path, tasks: list[str], models: list[str], n_attempts: int) -> Path:
    """run.json."""
    root.mkdir(parents=True, exist_ok=True)
    run = RunFile(
        fingerprint="f",
        tasks={task: f"sha of {task}" for task in tasks},
        models=models,
        n_attempts=n_attempts,
        config={},
        prompts={},
        versions={},
        isolation={},
    )
    (root / "run.json").write_text(json.dumps(run.model_dump(mode="json")))
    return root
