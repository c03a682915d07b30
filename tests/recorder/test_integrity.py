"""Whatever is changed in a record afterwards is found, and located."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recorder.export.dataset import Request, export
from recorder.files import Finding
from recorder.integrity import check_dataset, check_episode, integrity_file
from tests.recorder.made_episodes import STEPS, make_episode


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """A sound, finished episode of a scene."""
    return make_episode(tmp_path / "e")


def lines(episode: Path) -> list[str]:
    """The trajectory's lines with their ends."""
    return (episode / "trajectory.jsonl").read_text().splitlines(keepends=True)


def write(episode: Path, changed: list[str]) -> None:
    (episode / "trajectory.jsonl").write_text("".join(changed))


def found(episode: Path, code: str) -> list[Finding]:
    """The findings of this code. There is at least one."""
    findings = [finding for finding in check_episode(episode) if finding.code == code]
    assert findings, check_episode(episode)
    return findings


def test_a_sound_episode_has_no_finding(episode: Path) -> None:
    """Nothing is found in what the writer wrote."""
    assert check_episode(episode) == []
    assert integrity_file(episode, []).is_sound


def test_an_unfinished_episode_may_lack_its_end(tmp_path: Path) -> None:
    """A run that was stopped between two steps left a sound record."""
    assert check_episode(make_episode(tmp_path / "e", verdict=None)) == []


@pytest.mark.parametrize(
    "name", ["trajectory.jsonl", "final_script.py", "scene.blend", "task/brief.md", "task/task.json"]
)
def test_a_flipped_byte_is_found(episode: Path, name: str) -> None:
    """In every file that episode.json names, at every place."""
    whole = (episode / name).read_bytes()
    for place in range(0, len(whole), max(1, len(whole) // 7)):
        changed = bytearray(whole)
        changed[place] ^= 1
        (episode / name).write_bytes(bytes(changed))
        assert any(finding.file == name and finding.code == "hash" for finding in check_episode(episode)), place
    (episode / name).write_bytes(whole)
    assert check_episode(episode) == []


@pytest.mark.parametrize("folder", ["images", "states"])
def test_a_flipped_byte_in_a_stored_file_is_found(episode: Path, folder: str) -> None:
    """Pictures and state patches are known by their hash; the finding names the line that refers to it."""
    file = sorted((episode / folder).iterdir())[0]
    changed = bytearray(file.read_bytes())
    changed[-1] ^= 1
    file.write_bytes(bytes(changed))
    (finding,) = check_episode(episode)
    assert (finding.code, finding.file) == ("hash", f"{folder}/{file.name}")
    assert "what line" in finding.message


@pytest.mark.parametrize("folder", ["images", "states"])
def test_a_missing_file_is_found(episode: Path, folder: str) -> None:
    """By the line that refers to it."""
    sorted((episode / folder).iterdir())[0].unlink()
    (finding,) = check_episode(episode)
    assert (finding.code, finding.file) == ("missing", "trajectory.jsonl")
    assert finding.line in (2, 3, 4)


def test_a_picture_that_no_line_names_is_found(episode: Path) -> None:
    """Nothing can be slipped in."""
    (episode / "images/more.jpg").write_bytes(b"x")
    (finding,) = check_episode(episode)
    assert (finding.code, finding.file) == ("unlisted", "images/more.jpg")


@pytest.mark.parametrize("first", [1, 2, 3])
def test_swapped_lines_are_found(episode: Path, first: int) -> None:
    """Each of them is out of order, and told by its number."""
    changed = lines(episode)
    changed[first], changed[first + 1] = changed[first + 1], changed[first]
    write(episode, changed)
    assert found(episode, "order")[0].line == first + 1


@pytest.mark.parametrize("gone", range(6))
def test_a_deleted_line_is_found(episode: Path, gone: int) -> None:
    """Also the first and the last one."""
    changed = lines(episode)
    del changed[gone]
    write(episode, changed)
    assert found(episode, "order")[0].line == min(gone + 1, 5)


def test_deleted_lines_are_found_though_all_are_numbered_anew(episode: Path) -> None:
    """A step that is cut out neatly is missed by the sums, the final script and the hash."""
    changed = [json.loads(line) for line in lines(episode)]
    del changed[3]
    for number, line in enumerate(changed):
        line["seq"] = number
        if line["kind"] == "step":
            line["step"] = number
    write(episode, [json.dumps(line) + "\n" for line in changed])
    assert {"sum", "script", "hash", "unlisted"} <= {finding.code for finding in check_episode(episode)}


def test_a_line_that_is_no_record_is_found(episode: Path) -> None:
    """The lines behind it are read all the same."""
    changed = lines(episode)
    changed[2] = "{}\n"
    changed[4] = changed[4][:20] + "\n"
    write(episode, changed)
    assert [finding.line for finding in found(episode, "line")] == [3, 5]


def test_a_torn_line_is_found(episode: Path) -> None:
    """A run that was killed while writing."""
    write(episode, [*lines(episode)[:3], '{"kind": "st'])
    assert found(episode, "torn")[0].line == 4


@pytest.mark.parametrize("place", [0, 60, 10_000])
def test_an_edited_final_script_is_found(episode: Path, place: int) -> None:
    """By hash, and by the first line that is not the steps' code."""
    script = (episode / "final_script.py").read_text()
    (episode / "final_script.py").write_text(f"{script[:place]}pass\n{script[place:]}")
    finding = found(episode, "script")[0]
    assert finding.line is not None
    assert "2 steps that took effect" in finding.message


def test_a_script_of_lost_steps_is_known(tmp_path: Path) -> None:
    """A step that was lost when the session was made again is no part of the script."""
    episode = make_episode(tmp_path / "e")
    changed = [json.loads(line) for line in lines(episode)]
    changed[3]["executions"][0]["blender"]["steps_lost"] = [1]
    write(episode, [json.dumps(line) + "\n" for line in changed])
    assert found(episode, "script")


def test_an_unanswered_call_is_found(episode: Path) -> None:
    """A call of any step but the last needs its answer."""
    changed = [json.loads(line) for line in lines(episode)]
    changed[2]["observations"] = []
    write(episode, [json.dumps(line) + "\n" for line in changed])
    assert found(episode, "call")[0].line == 3


def test_an_answer_to_no_call_is_found(episode: Path) -> None:
    """It may not name another step's call."""
    changed = [json.loads(line) for line in lines(episode)]
    changed[2]["observations"][0]["tool_call_id"] = "call_9"
    write(episode, [json.dumps(line) + "\n" for line in changed])
    assert "'call_9'" in found(episode, "call")[0].message


def test_sums_are_added_up(episode: Path) -> None:
    """Cost, tokens and the number of steps."""
    summary = json.loads((episode / "episode.json").read_text())
    summary["cost"]["usd"] = 0.5
    summary["n_steps"] = 3
    summary["tokens"] = {"prompt": 1, "completion": 20}
    (episode / "episode.json").write_text(json.dumps(summary))
    changed = [json.loads(line) for line in lines(episode)]
    changed[1]["usage"]["total_tokens"] = 3
    write(episode, [json.dumps(line) + "\n" for line in changed])
    messages = [str(finding) for finding in found(episode, "sum")]
    assert "trajectory.jsonl, line 2: total_tokens is 3, less than its parts" in messages
    assert "episode.json: n_steps is 3, the trajectory says 4" in messages
    assert "episode.json: cost.usd is 0.5, the trajectory says 0.04" in messages
    assert any("tokens is TokenCount(prompt=1, completion=20, n_calls_unknown=0), the" in one for one in messages)


def test_links_are_not_followed(episode: Path, tmp_path: Path) -> None:
    """A link is no file of the episode, wherever it leads."""
    shutil.copy(episode / "final_script.py", tmp_path / "other.py")
    (episode / "final_script.py").unlink()
    (episode / "final_script.py").symlink_to(tmp_path / "other.py")
    assert "links are not followed" in found(episode, "missing")[0].message


def test_a_damaged_summary_is_found(episode: Path) -> None:
    """Its place in the file is told."""
    (episode / "episode.json").write_text('{"verdict": "maybe"}')
    assert found(episode, "summary")[0].file == "episode.json"


@pytest.mark.parametrize("redacted", ["open('/home/me/x')", "key = 'sk-aaaaaaaaaaaaaaaaaaaa'"])
def test_what_was_redacted_is_no_edit(tmp_path: Path, redacted: str) -> None:
    """The record holds a placeholder where the script holds the text."""
    from recorder.redaction import Redactor

    made = [STEPS[0], STEPS[2].__class__(redacted + "\n"), STEPS[3]]
    episode = make_episode(tmp_path / "e", made, redactor=Redactor(folders={"/home/me": "<home>"}))
    changed = [json.loads(line) for line in lines(episode)]
    changed[-1]["redactions"] = {"path": 1}
    write(episode, [json.dumps(line) + "\n" for line in changed])
    assert not [finding for finding in check_episode(episode) if finding.code == "script"]


Change = Callable[[Path], object]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda root: (root / "README.md").write_text("x"), "hash"),
        (lambda root: (root / "train/agentic_trajectories.jsonl").unlink(), "missing"),
        (lambda root: (root / "train/more.jsonl").write_text("{}"), "unlisted"),
        (lambda root: (root / "manifest.json").write_text("{}"), "manifest"),
        (lambda root: (root / "samples/e/trajectory.jsonl").write_text(""), "line"),
    ],
)
def test_a_changed_data_set_is_found(episode: Path, tmp_path: Path, change: Change, code: str) -> None:
    """The manifest knows every file; each sample is examined as an episode."""
    export(Request((episode,), tmp_path / "data"))
    assert check_dataset(tmp_path / "data") == []
    change(tmp_path / "data")
    assert code in {finding.code for finding in check_dataset(tmp_path / "data")}
