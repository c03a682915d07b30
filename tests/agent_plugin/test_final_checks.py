"""What declared checks do to a final: the problem, the score, and what they are where there is no scene.

`tests/tasks/` has the whole way, with Blender.
"""

from pathlib import Path

import pytest

from agent_plugin.faults import BadInput
from agent_plugin.final_checks import declared_checks, grade, not_graded
from agent_plugin.finals import Final
from agent_plugin.tasks import Task
from harness.settings import HarnessSettings

CHECKS = [
    {"id": "there", "type": "object_exists", "parameters": {"target": "Cube"}},
    {"id": "lit", "type": "light", "parameters": {"min": 1}, "required": False},
]


def task(*checks: object) -> Task:
    return Task.model_validate({"id": "t", "brief": "x", "checks": checks or None})


def test_a_file_that_is_no_scene_fails_what_is_required(tmp_path: Path) -> None:
    """Nothing could be judged: no score, and never a pass."""
    (tmp_path / "scene.blend").write_text("no scene")
    graded = grade(tmp_path / "scene.blend", declared_checks(task(*CHECKS)), HarnessSettings())
    (problem,) = graded.problems
    assert (problem.code, problem.severity) == ("check_failed", "error")
    assert problem.message.startswith("1 of 1 required checks do not pass; 'scene.blend' is ")
    assert graded.score == not_graded(task(*CHECKS))
    assert (graded.score.is_strict_pass, graded.score.weighted) == (False, None)
    assert graded.score.not_judged == ["there", "lit"]
    assert graded.report["error"]


def test_a_final_with_a_failed_check_is_not_ok(tmp_path: Path) -> None:
    """What was found before stays; where there is no scene or no check, nothing changes."""
    final = Final(True, (), {"ok": True})
    checks = declared_checks(task(*CHECKS))
    assert final.with_checks(tmp_path / "none.blend", checks, HarnessSettings()) is final
    (tmp_path / "scene.blend").write_text("no scene")
    assert final.with_checks(tmp_path / "scene.blend", [], HarnessSettings()) is final
    graded = final.with_checks(tmp_path / "scene.blend", checks, HarnessSettings())
    assert (graded.ok, [problem.code for problem in graded.problems]) == (False, ["check_failed"])
    assert set(graded.record) == {"ok", "checks"}


def test_a_task_without_checks_has_no_score() -> None:
    """None, which is not nought."""
    assert declared_checks(task()) == []
    assert not_graded(task()) is None


def test_checks_that_cannot_be_judged_are_refused_before_anything_runs() -> None:
    """Also where a task was made in Python, past the reader of task lists."""
    with pytest.raises(BadInput, match=r"task 't': checks\[0\] \(a\)\.type: there is no type 'nope'"):
        declared_checks(task({"id": "a", "type": "nope"}))
