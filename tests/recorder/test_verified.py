"""What a verification comes to is a function of its files and of the hashes of the episode's."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from recorder.declared_checks import as_judged
from recorder.subject import subject_of
from recorder.verification import ChecksFile
from recorder.verified import PARTS, Found, Verification, read_verification, replay_sentence
from tests.recorder.made_episodes import make_episode
from tests.recorder.verifications import (
    checks_file,
    draw_by_hand,
    replay_file,
    result,
    verify_by_hand,
    write,
)


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """Verified, with one check, and good."""
    return verify_by_hand(make_episode(tmp_path / "e"), result())


def faults(root: Path) -> list[tuple[str, str]]:
    return [(fault.file, fault.kind) for fault in read_verification(root).faults]


def test_a_good_one_has_no_fault(episode: Path) -> None:
    """All three files are there, fresh, and tell of nothing."""
    verification = read_verification(episode)
    assert (verification.faults, verification.is_there) == ((), True)
    assert verification.score is not None
    assert (verification.score.is_strict_pass, verification.score.weighted) == (True, 1.0)


def test_one_that_was_never_made_is_missing(tmp_path: Path) -> None:
    """File by file."""
    root = make_episode(tmp_path / "e")
    assert faults(root) == [(f"verification/{file}", "missing") for file in PARTS.values()]
    assert not read_verification(root).is_there


@pytest.mark.parametrize(
    "name", ["scene.blend", "final_script.py", "trajectory.jsonl", "task/brief.md", "episode.json"]
)
def test_a_file_that_changed_makes_all_of_it_stale(episode: Path, name: str) -> None:
    """The fault names the file."""
    with (episode / name).open("ab") as file:
        file.write(b"\n")
    found = read_verification(episode).faults
    assert [fault.kind for fault in found] == ["stale"] * 3
    assert all(f"'{name}'" in fault.why for fault in found)


@pytest.mark.parametrize("name", ["output.mp4", "task/checks.json"])
def test_a_file_that_came_later_makes_it_stale(episode: Path, name: str) -> None:
    """What was verified is not what is there."""
    (episode / name).write_text("[]")
    assert ("verification/replay_diff.json", "stale") in faults(episode)


@pytest.mark.parametrize("content", ["", "{", '{"schema_version": 2}', "[1]", "null", "[" * 10_000])
def test_a_file_that_is_none_is_told(episode: Path, content: str) -> None:
    """It neither raises nor counts."""
    (episode / "verification/checks.json").write_text(content)
    assert faults(episode) == [("verification/checks.json", "unreadable")]


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_nothing_is_followed_or_waited_for(episode: Path, tmp_path: Path, kind: str) -> None:
    """A good file elsewhere is none of this episode's."""
    file = episode / "verification/checks.json"
    (tmp_path / "elsewhere.json").write_bytes(file.read_bytes())
    file.unlink()
    if kind == "link":
        file.symlink_to(tmp_path / "elsewhere.json")
    else:
        os.mkfifo(file)
    assert faults(episode) == [("verification/checks.json", "unreadable")]


def test_required_checks_that_do_not_pass_are_told_one_by_one(episode: Path) -> None:
    """Unknown is no pass; optional ones count in the score alone."""
    results = [result("a", "fail"), result("b", "unknown"), result("c", "fail", required=False), result("d")]
    write(episode, "verification/checks.json", checks_file(episode, *results))
    verification = read_verification(episode)
    assert [str(fault) for fault in verification.faults] == [
        "verification/checks.json: check 'a' fails: 'a' is fail",
        "verification/checks.json: check 'b' could not be judged: 'b' is unknown",
    ]
    assert verification.score is not None
    assert verification.score.not_judged == ("b",)


def test_without_declared_checks_there_is_no_score(tmp_path: Path) -> None:
    """The rest may be good all the same."""
    verification = read_verification(verify_by_hand(make_episode(tmp_path / "e")))
    assert (verification.is_good, verification.score) == (True, None)


def test_a_scene_that_could_not_be_judged_is_one_fault(episode: Path) -> None:
    """Not one for each of its checks."""
    unjudged = checks_file(episode, result("a", "unknown"), result("b", "unknown"), error="it is no .blend file")
    write(episode, "verification/checks.json", unjudged)
    assert [fault.why for fault in read_verification(episode).faults] == ["it is no .blend file"]


def test_checks_other_than_the_tasks_do_not_count_for_it(tmp_path: Path) -> None:
    """Where the task declares some, those are to be made."""
    root = make_episode(tmp_path / "e")
    found = Found(checks=checks_file(root, result(), source="given"), replay=replay_file(root))
    for declared, kinds in (([{"id": "other"}], ["stale"]), (None, [])):
        verification = Verification(found, subject_of(root), declared)
        assert [fault.kind for fault in verification.faults if fault.kind != "missing"] == kinds


@pytest.mark.parametrize(
    ("verdict", "problems", "is_fault"),
    [
        ("identical", [], False),
        ("within_tolerance", [], False),
        ("differs", [], True),
        ("failed", [], True),
        ("identical", ["footage_in_scene"], True),
    ],
)
def test_verdicts_of_a_replay(episode: Path, verdict: str, problems: list[str], is_fault: bool) -> None:
    """Differing, failing, and a final check that finds something now, speak against the episode."""
    write(episode, "verification/replay_diff.json", replay_file(episode, verdict, problems=problems))
    assert [kind for _, kind in faults(episode)] == ["failed"] * is_fault


def test_a_replay_that_differs_says_where(episode: Path) -> None:
    """How many differences, the largest, and the first step."""
    state = {
        "recorded_hash": "a", "replayed_hash": "b", "tolerance": 1e-5, "n_changes": 2, "changes": [],
        "worst": {"path": "Object/Cube.location", "magnitude": 0.25},
    }  # fmt: skip
    record = replay_file(episode, "differs", state=state, first_different_step=3)
    assert replay_sentence(record) == (
        "final_script.py gives another scene (2 differences, the largest 0.25 at Object/Cube.location); "
        "step 3 is the first that differs"
    )


def test_findings_of_the_record_are_faults(episode: Path) -> None:
    """Each with its place."""
    (episode / "images" / "more.jpg").write_bytes(b"")
    verify_by_hand(episode, result())
    (fault,) = read_verification(episode).faults
    assert str(fault) == "verification/integrity.json: images/more.jpg: no line of the trajectory names this file"


def test_renders_need_not_be_there_but_must_be_of_this_scene(episode: Path) -> None:
    """Those of another scene are stale, so are pictures that are not the listed ones."""
    assert faults(draw_by_hand(episode)) == []
    (episode / "renders/hero.png").write_bytes(b"another")
    assert faults(episode) == [("renders/renders.json", "stale")]
    draw_by_hand(episode)
    listed = json.loads((episode / "renders/renders.json").read_text())
    (episode / "renders/renders.json").write_text(json.dumps(listed | {"scene_sha256": "0" * 64}))
    assert faults(episode) == [("renders/renders.json", "stale")]


def test_the_read_model_is_pure() -> None:
    """Of nothing it says that everything is missing."""
    assert [fault.kind for fault in Verification(Found(), {}).faults] == ["missing"] * 3


DECLARED = ({"id": "ball", "type": "object_exists", "parameters": {"target": "Ball"}},)


def of_the_task(root: Path, **fields: Any) -> ChecksFile:
    """The declared check, passed."""
    given = {"source": "task", "checks": as_judged(DECLARED)} | fields
    return checks_file(root, *given.pop("results", [result("ball")]), **given)


def test_checks_of_the_task_are_those_that_are_pinned(tmp_path: Path) -> None:
    """The copy has every default; it is good, and has a score."""
    root = verify_by_hand(make_episode(tmp_path / "e", checks=DECLARED))
    write(root, "verification/checks.json", of_the_task(root))
    verification = read_verification(root)
    assert verification.faults == ()
    assert verification.score is not None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"results": [], "checks": []}, "its checks are not those that the task declares"),
        ({"results": []}, "it does not hold one result for each of its 1 checks"),
        ({"results": [result("ball"), result("ball")]}, "it does not hold one result"),
        ({"results": [result("other")]}, "it does not hold one result"),
        ({"results": [result("ball", "fail", required=False)]}, "it does not hold one result"),
        ({"checks": [{**as_judged(DECLARED)[0], "parameters": {"target": "*"}}]}, "its checks are not those"),
        ({"scene_sha256": "0" * 64}, "the scene that was checked is not the one that it is about"),
        ({"scene_sha256": ""}, "the scene that was checked is not the one that it is about"),
        ({"source": "none"}, "it says that its checks are of the source 'none', and holds 1"),
        ({"source": "given", "results": [], "checks": []}, "source 'given', and holds 0"),
    ],
)
def test_checks_that_contradict_themselves_are_no_verification(
    tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    """Edited or emptied: neither a pass nor a score."""
    root = verify_by_hand(make_episode(tmp_path / "e", checks=DECLARED))
    write(root, "verification/checks.json", of_the_task(root, **fields))
    verification = read_verification(root)
    (fault,) = verification.faults
    assert (fault.kind, "contradicts itself: " in fault.why, words in fault.why) == ("unreadable", True, True)
    assert verification.score is None


def test_a_scene_that_could_not_be_drawn_speaks_against_it(episode: Path) -> None:
    """A reviewer would see nothing of it."""
    draw_by_hand(episode)
    listed = json.loads((episode / "renders/renders.json").read_text())
    (episode / "renders/renders.json").write_text(json.dumps(listed | {"problem": "Blender was killed"}))
    (fault,) = read_verification(episode).faults
    assert (fault.kind, fault.why) == ("failed", "the scene could not be drawn: Blender was killed")
