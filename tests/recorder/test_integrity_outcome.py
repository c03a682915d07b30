"""An outcome that does not follow from the facts beside it is found, whichever of them was changed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recorder.errors import CorruptEpisode
from recorder.export.sample import label_of
from recorder.integrity import check_episode
from tests.recorder.made_episodes import Made, make_episode

CHECKS = (
    {"id": "ball", "type": "object_exists", "parameters": {"target": "Ball"}, "weight": 2},
    {"id": "table", "type": "object_exists", "parameters": {"target": "Table"}, "required": False},
)
Summary = dict[str, Any]


@pytest.fixture
def graded(tmp_path: Path) -> Path:
    """Passed, with two declared checks."""
    return make_episode(tmp_path / "e", checks=CHECKS)


def edit(root: Path, change: Callable[[Summary], object]) -> None:
    summary = json.loads((root / "episode.json").read_text())
    change(summary)
    (root / "episode.json").write_text(json.dumps(summary))


def outcomes(root: Path) -> list[str]:
    """The messages of all findings, which are of the outcome alone."""
    findings = check_episode(root)
    assert {(finding.code, finding.file) for finding in findings} <= {("outcome", "episode.json")}
    return [finding.message for finding in findings]


@pytest.mark.parametrize("verdict", ["pass", "fail"])
@pytest.mark.parametrize("checks", [None, CHECKS])
def test_what_was_recorded_is_sound(tmp_path: Path, verdict: str, checks: Any) -> None:
    """Passed or failed, with checks or without."""
    assert outcomes(make_episode(tmp_path / "e", verdict=verdict, checks=checks)) == []


def test_a_failure_that_is_made_a_pass_is_found_and_not_accepted(tmp_path: Path) -> None:
    """The word alone is changed; the episode is corrupt then, whoever labels it."""
    root = make_episode(tmp_path / "e", verdict="fail")
    text = (root / "episode.json").read_text()
    (root / "episode.json").write_text(text.replace('"verdict": "fail"', '"verdict": "pass"'))
    assert outcomes(root) == [
        "the verdict is pass, but the final execution failed",
        "the verdict is pass, but the final execution found 'does_not_replay'",
    ]
    with pytest.raises(CorruptEpisode, match=r"episode\.json: the verdict is pass, but the final execution failed"):
        label_of(root)


def fail_one(summary: Summary) -> None:
    summary["final_execution"]["checks"]["checks"][0]["outcome"] = "fail"


def forget_checks(summary: Summary) -> None:
    summary["score"] = None
    del summary["final_execution"]["checks"]


def swap_optional(summary: Summary) -> None:
    """The check that fails becomes optional, and the score says so too."""
    fail_one(summary)
    summary["final_execution"]["checks"]["checks"][0]["required"] = False
    summary["score"] |= {"weighted": 1 / 3, "n_passed": 1, "failed": ["ball"]}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s.update(exit_status="LimitsExceeded"), "the exit status is 'LimitsExceeded'"),
        (lambda s: s.update(final_execution=None), "there was no final execution"),
        (lambda s: s["score"].update(is_strict_pass=False), "the score is no strict pass"),
        (lambda s: s["final_execution"]["checks"].update(error="no file"), "the report of the checks is no pass"),
        (fail_one, "the required check 'ball' does not pass"),
        (forget_checks, "the checks that the task declares were not judged"),
    ],
)
def test_each_fact_can_speak_against_a_pass(graded: Path, change: Callable[[Summary], object], words: str) -> None:
    """It is a finding, and no label."""
    edit(graded, change)
    found = [finding.message for finding in check_episode(graded)]
    assert f"the verdict is pass, but {words}" in found
    with pytest.raises(CorruptEpisode):
        label_of(graded)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda s: s["final_execution"].update(n_good_steps=3), "n_good_steps is 3, the trajectory has 2"),
        (lambda s: s.update(problems=["x"]), "problems is ['x'], the final execution found []"),
        (lambda s: s["score"].update(n_passed=1), "the score is not what the report of the checks comes to"),
        (lambda s: s["score"].update(failed=["other"]), "the score is not what the report of the checks comes to"),
        (
            lambda s: s["final_execution"]["checks"].update(sha256="0" * 64),
            "the report of the checks is about another scene than 'scene.blend'",
        ),
        (
            lambda s: s["final_execution"]["checks"]["checks"][1].update(id="chair"),
            "the report of the checks is not about the checks that the task declares",
        ),
        (
            lambda s: s["final_execution"]["checks"]["checks"].append({"id": [], "weight": 10**400, "outcome": "pass"}),
            "the report of the checks is not about the checks that the task declares",
        ),
        (swap_optional, "the report of the checks is not about the checks that the task declares"),
        (lambda s: s.update(verdict="fail"), "the verdict is fail, but nothing in it speaks against a pass"),
    ],
)
def test_each_account_has_to_be_that_of_the_others(
    graded: Path, change: Callable[[Summary], object], words: str
) -> None:
    """Trajectory, problems, score, report, pinned checks and scene: the finding says what differs."""
    edit(graded, change)
    assert words in outcomes(graded)


def test_a_score_of_checks_that_were_never_declared_is_found(graded: Path, tmp_path: Path) -> None:
    """A task without checks has none."""
    root = make_episode(tmp_path / "none")
    score = json.loads((graded / "episode.json").read_text())["score"]
    edit(root, lambda s: s.update(score=score))
    assert outcomes(root) == ["it holds a score or a report of checks, and the task declares none"]


def test_an_episode_without_a_scene_has_judged_none_of_its_checks(graded: Path) -> None:
    """Not submitted: the score lists them all, and that is sound; another list is not."""

    def never_submitted(summary: Summary) -> None:
        none: Summary = {"is_strict_pass": False, "weighted": None, "judged_share": 0.0, "n_passed": 0, "failed": []}
        facts = {"verdict": "fail", "final_execution": None, "score": none | {"not_judged": ["ball", "table"]}}
        summary.update(facts)

    edit(graded, never_submitted)
    assert outcomes(graded) == []
    edit(graded, lambda s: s["score"].update(not_judged=["ball"]))
    assert outcomes(graded) == ["the score is not that of checks of which no report was made"]


def test_an_older_record_without_the_facts_is_sound(graded: Path) -> None:
    """What was not kept then is not compared."""

    def older(summary: Summary) -> None:
        del summary["final_execution"]["n_good_steps"], summary["final_execution"]["problems"]
        del summary["final_execution"]["checks"]["sha256"], summary["final_execution"]["checks"]["ok"]

    edit(graded, older)
    assert outcomes(graded) == []


def test_a_step_that_was_lost_again_is_no_good_one(tmp_path: Path) -> None:
    """It counted when it ran; the session that was made again could not repeat it."""
    root = make_episode(tmp_path / "e", [Made("import bpy\n"), Made("bpy.x = 1\n"), Made("bpy.y = 1\n")])
    lines = [json.loads(line) for line in (root / "trajectory.jsonl").read_text().splitlines()]
    lines[3]["executions"][0]["blender"]["steps_lost"] = [2]
    (root / "trajectory.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert "n_good_steps is 3, the trajectory has 2" in [finding.message for finding in check_episode(root)]
    edit(root, lambda s: s["final_execution"].update(n_good_steps=2))
    assert not [finding for finding in check_episode(root) if finding.code == "outcome"]
