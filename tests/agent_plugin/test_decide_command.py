"""`blendscribe decide`: exit status, refusals in words, and what is written."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agent_plugin.cli import app
from agent_plugin.faults import BadInput
from recorder.decision_file import Decision
from recorder.errors import CorruptEpisode
from recorder.export.dataset import Request, export
from tests.recorder.made_episodes import make_episode
from tests.recorder.verifications import result, verify_by_hand

WHO = ("--reason", "it is fine", "--by", "a reviewer")


def decide(*arguments: object) -> tuple[int, str]:
    """(exit status, output of both kinds); what the user did wrong is 2 with its text."""
    ended = CliRunner().invoke(app, ["decide", *map(str, arguments)])
    if isinstance(ended.exception, BadInput | CorruptEpisode):
        return 2, str(ended.exception)
    assert ended.exception is None or isinstance(ended.exception, SystemExit), ended.exception
    return ended.exit_code, ended.output


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """Verified and good."""
    return verify_by_hand(make_episode(tmp_path / "e"), result())


def stored(root: Path) -> Decision:
    return Decision.model_validate_json((root / "verification/decision.json").read_text())


def test_who_when_and_why_are_written(episode: Path) -> None:
    """Exit status 0."""
    code, output = decide(episode, "accept", *WHO)
    assert (code, output) == (0, f"{episode}: accepted by a reviewer, about 9 files\n")
    assert (stored(episode).reason, stored(episode).by) == ("it is fine", "a reviewer")


def test_a_refusal_lists_everything(tmp_path: Path) -> None:
    """Exit status 1, a line each, and nothing is written."""
    root = verify_by_hand(make_episode(tmp_path / "e"), result("legs", "fail"), result("top", "unknown"))
    (root / "verification/replay_diff.json").unlink()
    code, output = decide(root, "accept", *WHO)
    assert code == 1
    assert [line.strip() for line in output.splitlines() if line.startswith("  ")] == [
        "verification/checks.json: check 'legs' fails: 'legs' is fail",
        "verification/checks.json: check 'top' could not be judged: 'top' is unknown",
        "verification/replay_diff.json: there is none: run `blendscribe verify`",
    ]
    assert not (root / "verification/decision.json").exists()
    code, output = decide(root, "accept", *WHO, "--override", "they stand outside")
    assert (code, "accepted by a reviewer in spite of 3 faults" in output) == (0, True)


def test_again_is_asked_for(episode: Path) -> None:
    """Without it the earlier decision is told, and stays."""
    assert decide(episode, "reject", "--reason", "it floats", "--by", "one")[0] == 0
    before = (episode / "verification/decision.json").read_bytes()
    code, text = decide(episode, "accept", *WHO)
    assert (code, "was rejected by one at " in text, "--again decides anew" in text) == (2, True, True)
    assert (episode / "verification/decision.json").read_bytes() == before
    code, text = decide(episode, "accept", *WHO, "--again")
    assert (code, "1 earlier decision is kept" in text) == (0, True)
    assert [one.by for one in stored(episode).history] == ["one"]


def test_an_unfinished_episode_can_only_be_rejected(tmp_path: Path) -> None:
    """It has no outcome to accept."""
    root = make_episode(tmp_path / "e", verdict=None)
    code, text = decide(root, "accept", *WHO)
    assert (code, "never finished" in text) == (2, True)
    assert decide(root, "reject", *WHO)[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("accept", "--reason", " ", "--by", "me"), "--reason: is empty"),
        (("accept", "--reason", "good", "--by", ""), "--by: is empty"),
        (("accept", *WHO, "--override", ""), "--override: is empty"),
        (("reject", *WHO, "--override", "so"), "goes with accept alone"),
        (("accept", *WHO, "--override", "so"), "nothing speaks against the episode"),
    ],
)
def test_words_that_say_nothing_are_refused(episode: Path, arguments: tuple[str, ...], words: str) -> None:
    """Exit status 2, nothing is written."""
    code, text = decide(episode, *arguments)
    assert (code, words in text) == (2, True), text
    assert not (episode / "verification/decision.json").exists()


def test_a_folder_that_is_no_episode(tmp_path: Path) -> None:
    """Exit status 2."""
    assert decide(tmp_path, "reject", *WHO) == (2, f"{tmp_path}: not an episode: it holds no trajectory.jsonl")


def test_a_sample_of_a_data_set_stays_as_it_is(episode: Path, tmp_path: Path) -> None:
    """Its manifest pins every byte."""
    export(Request((episode,), tmp_path / "data"))
    code, text = decide(tmp_path / "data/samples/e", "reject", *WHO)
    assert (code, "is a sample of a data set" in text) == (2, True)


def test_a_damaged_decision_is_not_written_over(episode: Path) -> None:
    """It is located, also with --again."""
    (episode / "verification/decision.json").write_text(json.dumps({"decision": "perhaps"}))
    for more in ((), ("--again",)):
        code, text = decide(episode, "accept", *WHO, *more)
        assert (code, "verification/decision.json: " in text) == (2, True), text
