"""A decision is about certain bytes: it is refused where they speak against it, and not believed once they changed."""

import json
from pathlib import Path
from typing import Any

import pytest

from recorder.decisions import AlreadyDecided, NothingToOverride, Refused, decide, obstacles, standing, stored_decision
from recorder.errors import CorruptEpisode
from recorder.export.sample import label_of
from recorder.verified import RENDERS
from tests.recorder.made_episodes import make_episode
from tests.recorder.verifications import draw_by_hand, result, verify_by_hand


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """Passed, verified, drawn, good."""
    return draw_by_hand(verify_by_hand(make_episode(tmp_path / "e"), result()))


def accept(root: Path, override: str | None = None, **options: Any) -> None:
    decide(root, "accept", reason="it is fine", by="a reviewer", override=override, **options)


def reject(root: Path, **options: Any) -> None:
    decide(root, "reject", reason="it floats", by="a reviewer", **options)


def test_a_good_episode_is_accepted(episode: Path) -> None:
    """The decision holds the hash of everything that it is about."""
    accept(episode)
    decision = stored_decision(episode)
    assert decision is not None
    assert (decision.decision, decision.override, decision.history) == ("accept", None, [])
    assert {
        "trajectory.jsonl", "scene.blend", "final_script.py", "task/task.json", "verification/checks.json",
        "verification/replay_diff.json", "verification/integrity.json", "renders/renders.json",
    } <= decision.about.keys()  # fmt: skip
    assert decision.decided_at.endswith("+00:00")
    assert standing(episode) == ("accepted", "submitted; the final execution found no error")


def test_without_a_verification_it_is_refused(tmp_path: Path) -> None:
    """Each missing file is told, and nothing is written."""
    root = make_episode(tmp_path / "e")
    with pytest.raises(Refused) as refused:
        accept(root)
    assert [fault.split(":")[0] for fault in refused.value.faults] == [
        "verification/checks.json",
        "verification/replay_diff.json",
        "verification/integrity.json",
    ]
    assert not (root / "verification").exists()


def test_a_stale_verification_is_refused(episode: Path) -> None:
    """The file that changed is named."""
    (episode / "scene.blend").write_bytes(b"BLENDER another")
    with pytest.raises(Refused, match=r"checks\.json: is about other files than those there: 'scene\.blend'"):
        accept(episode)


def test_what_failed_is_refused_in_its_words(tmp_path: Path) -> None:
    """Checks, replay, and the verdict of the episode itself."""
    root = verify_by_hand(make_episode(tmp_path / "e", verdict="fail"), result("legs", "fail"), verdict="differs")
    with pytest.raises(Refused) as refused:
        accept(root)
    assert refused.value.faults == [
        "episode.json: submitted; it failed",
        "verification/checks.json: check 'legs' fails: 'legs' is fail",
        "verification/replay_diff.json: final_script.py gives another scene (0 differences)",
    ]


def test_an_override_is_recorded_with_what_it_overrules(tmp_path: Path) -> None:
    """The episode is accepted then, and says in spite of what."""
    root = verify_by_hand(make_episode(tmp_path / "e"), result("legs", "fail"))
    assert label_of(root) == ("failed", "verification/checks.json: check 'legs' fails: 'legs' is fail")
    accept(root, "the check is wrong")
    decision = stored_decision(root)
    assert decision is not None
    assert decision.override is not None
    assert decision.override.faults == ["verification/checks.json: check 'legs' fails: 'legs' is fail"]
    assert label_of(root) == ("accepted", "accepted by a reviewer in spite of 1 fault: the check is wrong")


def test_an_override_needs_something_to_overrule(episode: Path) -> None:
    """Nothing is written."""
    with pytest.raises(NothingToOverride):
        accept(episode, "just in case")
    assert stored_decision(episode) is None


def test_what_was_not_overruled_still_counts(tmp_path: Path) -> None:
    """Accepted without a verification; the one that came later fails."""
    root = make_episode(tmp_path / "e")
    accept(root, "there is no Blender here")
    assert label_of(root)[0] == "accepted"
    verify_by_hand(root, result("legs", "fail"))
    assert label_of(root) == ("failed", "verification/checks.json: check 'legs' fails: 'legs' is fail")


@pytest.mark.parametrize("verified", [False, True])
def test_a_rejection_is_always_possible(tmp_path: Path, verified: bool) -> None:
    """Of a failed, unverified and even of an unfinished episode."""
    root = make_episode(tmp_path / "e", verdict="fail" if verified else None)
    reject(root)
    assert label_of(root) == ("failed", "rejected by a reviewer: it floats")


@pytest.mark.parametrize("name", ["scene.blend", "verification/checks.json", "renders/renders.json", "task/brief.md"])
def test_a_decision_about_other_bytes_is_not_believed(episode: Path, name: str) -> None:
    """It is an error that names the file, for an accept as for a reject."""
    accept(episode)
    with (episode / name).open("ab") as file:
        file.write(b"\n")
    with pytest.raises(CorruptEpisode, match=rf"decision\.json: stale: '{name}' changed since it was decided"):
        label_of(episode)


def test_a_file_that_is_gone_makes_it_stale_too(episode: Path) -> None:
    """Such as the verification that was accepted."""
    accept(episode)
    (episode / "verification/replay_diff.json").unlink()
    with pytest.raises(CorruptEpisode, match="replay_diff"):
        label_of(episode)


def test_no_decision_is_replaced_without_a_word(episode: Path) -> None:
    """`again` keeps the earlier ones, the oldest first."""
    reject(episode)
    with pytest.raises(AlreadyDecided, match=r"rejected by a reviewer at .*: it floats"):
        accept(episode)
    accept(episode, again=True)
    reject(episode, again=True)
    decision = stored_decision(episode)
    assert decision is not None
    assert [one.decision for one in (*decision.history, decision)] == ["reject", "accept", "reject"]


def test_a_stale_decision_can_be_made_anew(episode: Path) -> None:
    """With `again`; the stale one stays in the history."""
    reject(episode)
    (episode / "renders/renders.json").unlink()
    (episode / "renders/hero.png").unlink()
    with pytest.raises(CorruptEpisode):
        standing(episode)
    accept(episode, again=True)
    assert standing(episode)[0] == "accepted"


@pytest.mark.parametrize(("decision", "label"), [("accept", "accepted"), ("reject", "failed")])
def test_a_decision_from_before_hashes_were_kept_is_read(tmp_path: Path, decision: str, label: str) -> None:
    """It counts as it did."""
    root = make_episode(tmp_path / "e")
    (root / "verification").mkdir()
    old = {"schema_version": 1, "decision": decision, "reason": "r", "by": "b", "decided_at": "2026-01-01"}
    (root / "verification/decision.json").write_text(json.dumps(old))
    assert label_of(root)[0] == label


def test_an_old_accept_makes_no_failure_good(tmp_path: Path) -> None:
    """It says nothing of a verification that fails."""
    root = verify_by_hand(make_episode(tmp_path / "e"), verdict="differs")
    old = {"decision": "accept", "reason": "r", "by": "b", "decided_at": "2026-01-01"}
    (root / "verification/decision.json").write_text(json.dumps(old))
    assert label_of(root)[0] == "failed"


def test_without_a_decision_a_missing_verification_speaks_against_nothing(tmp_path: Path) -> None:
    """The verdict of episode.json counts, as it did before there were verifications."""
    root = make_episode(tmp_path / "e")
    assert label_of(root)[0] == "accepted"
    assert {fault.kind for fault in obstacles(root)} == {"missing"}


def test_a_stale_verification_speaks_against_it(episode: Path) -> None:
    """Whoever changed the scene after it was verified does not keep its verdict."""
    (episode / "scene.blend").write_bytes(b"BLENDER another")
    label, reason = label_of(episode)
    assert label == "failed"
    assert "'scene.blend' changed since" in reason


def test_a_link_in_place_of_the_folder_is_not_written_through(tmp_path: Path) -> None:
    """Nothing lands elsewhere."""
    root = make_episode(tmp_path / "e")
    (tmp_path / "elsewhere").mkdir()
    (root / "verification").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CorruptEpisode, match=r"verification: is no folder, or a link"):
        reject(root)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda root: (root / "verification/more.json").write_text("{}"), "verification/more.json: no file of a"),
        (lambda root: sorted((root / "images").iterdir())[0].write_bytes(b"x"), "not what line"),
        (lambda root: sorted((root / "states").iterdir())[0].unlink(), "trajectory.jsonl: line"),
    ],
)
def test_the_record_is_examined_when_it_is_decided(episode: Path, spoil: Any, words: str) -> None:
    """What integrity.json says is of an earlier time, and may be written by anybody."""
    spoil(episode)
    with pytest.raises(Refused) as refused:
        accept(episode)
    (fault,) = refused.value.faults
    assert words in fault


def test_a_finding_is_told_once(episode: Path) -> None:
    """Though both the stored verification and the look of now have it."""
    (episode / "images/more.jpg").write_bytes(b"")
    verify_by_hand(episode, result())
    (episode / "renders/hero.png").write_bytes(b"nicer")
    with pytest.raises(Refused) as refused:
        accept(episode)
    assert [fault.split(":")[0] for fault in refused.value.faults] == ["verification/integrity.json", RENDERS]


def test_words_of_several_lines_are_told_on_one(episode: Path) -> None:
    """They are kept as they were written."""
    decide(episode, "reject", reason="it\nfloats", by="a\nreviewer")
    assert standing(episode) == ("failed", "rejected by a reviewer: it floats")
    with pytest.raises(AlreadyDecided, match=r"by a reviewer at .*: it floats"):
        accept(episode)
    decision = stored_decision(episode)
    assert decision is not None
    assert decision.by == "a\nreviewer"
