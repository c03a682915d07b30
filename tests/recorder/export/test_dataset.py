"""A data set is made whole or not at all, of sound episodes alone, and says what it left out."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.checks.types import CHECK_TYPES
from recorder.documents import read_document
from recorder.errors import CorruptEpisode
from recorder.export.dataset import OutputExists, Request, export
from recorder.export.formats import Options
from recorder.export.history import History, report
from recorder.export.listing import FORMATS, UnknownFormat
from recorder.export.sources import NoSource, find_sources, names_of
from recorder.files import Manifest, SampleFile
from recorder.integrity import check_dataset
from recorder.redaction import Redactor
from tests.recorder.made_episodes import STEPS, Made, make_episode, make_run

ALL = tuple(FORMATS)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of an accepted, a failed and an unfinished episode."""
    return make_run(
        tmp_path / "run",
        ball={},
        cone={"verdict": "fail", "brief": "A cone."},
        cube={"verdict": None, "brief": "A cube.", "attempt": "1.interrupted-1"},
    )


def made(output: Path, *sources: Path, **more: Any) -> History:
    return export(Request(sources, output, **more))


def fates(history: History) -> dict[str, str]:
    return {one.episode.split("/")[0]: one.fate for one in history.seen}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def digests(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_accepted_episodes_alone_are_exported(run: Path, tmp_path: Path) -> None:
    """The others are listed with what became of them."""
    history = made(tmp_path / "data", run)
    assert fates(history) == {"ball": "exported", "cone": "left out", "cube": "left out"}
    assert [path.name for path in (tmp_path / "data/samples").iterdir()] == ["ball--maker--one--1"]
    assert not history.damaged
    assert "1 of 3 episodes exported" in report(history, tmp_path / "data")
    assert "left out: cone/maker--one/1: submitted; it failed" in report(history, tmp_path / "data")


def test_failed_and_unfinished_ones_are_labelled(run: Path, tmp_path: Path) -> None:
    """In the sample, and in each row."""
    made(tmp_path / "data", run, include=frozenset({"failed", "unfinished"}))
    found = {row["task_id"]: (row["label"], row["success"], row["reward"]) for row in rows(
        tmp_path / "data/train/agentic_trajectories_text.jsonl"
    )}  # fmt: skip
    assert found == {
        "ball": ("accepted", True, 1.0), "cone": ("failed", False, 0.0), "cube": ("unfinished", False, 0.0)
    }  # fmt: skip
    sample = read_document(tmp_path / "data/samples/cube--maker--one--1.interrupted-1/sample.json", SampleFile)
    assert (sample.label, sample.episode) == ("unfinished", "cube/maker--one/1.interrupted-1")


def test_a_rejected_episode_is_not_accepted(run: Path, tmp_path: Path) -> None:
    """A person's decision is the last word; the card says why."""
    folder = run / "episodes/ball/maker--one/1/verification"
    folder.mkdir()
    decision = {"decision": "reject", "reason": "it floats", "by": "a reviewer", "decided_at": "2026-01-01"}
    (folder / "decision.json").write_text(json.dumps(decision))
    assert fates(made(tmp_path / "data", run))["ball"] == "left out"
    assert "rejected by a reviewer: it floats" in (tmp_path / "data/README.md").read_text()


def test_a_torn_last_line_of_an_unfinished_episode_is_left_out(run: Path, tmp_path: Path) -> None:
    """What was written before it is whole."""
    with (run / "episodes/cube/maker--one/1.interrupted-1/trajectory.jsonl").open("a") as file:
        file.write('{"kind": "st')
    made(tmp_path / "data", run, include=frozenset({"unfinished"}))
    assert [row["n_steps"] for row in rows(tmp_path / "data/train/agentic_trajectories_text.jsonl")] == [4, 4]


def test_an_attempt_without_a_record_is_left_out(run: Path, tmp_path: Path) -> None:
    """The machine failed before the header was written: nothing is corrupt."""
    (run / "episodes/ball/maker--one/2.infrastructure-1").mkdir()
    history = made(tmp_path / "data", run, include=frozenset({"unfinished"}))
    assert [one.fate for one in history.seen].count("left out") == 2
    assert not history.damaged


def test_the_folder_is_that_of_the_design(run: Path, tmp_path: Path) -> None:
    """Sample, train files, card, schemas, manifest."""
    made(tmp_path / "data", run)
    there = {path.relative_to(tmp_path / "data").as_posix() for path in (tmp_path / "data").rglob("*")}
    sample = "samples/ball--maker--one--1"
    wanted = ("task/task.json", "task/brief.md", "trajectory.jsonl", "final_script.py", "scene.blend", "episode.json")
    assert {f"{sample}/{name}" for name in wanted} <= there
    assert {"README.md", "SCHEMAS.md", "manifest.json"} <= there
    assert sum(name.startswith(f"{sample}/images/") for name in there) == 2


def test_the_manifest_holds_every_file(run: Path, tmp_path: Path) -> None:
    """With its hash and size; the whole is sound."""
    made(tmp_path / "data", run, formats=ALL)
    found = digests(tmp_path / "data")
    del found["manifest.json"]
    manifest = read_document(tmp_path / "data/manifest.json", Manifest)
    assert {entry.path: entry.sha256 for entry in manifest.files} == found
    assert check_dataset(tmp_path / "data") == []


def test_the_same_input_gives_the_same_bytes(run: Path, tmp_path: Path) -> None:
    """In every format, at another time, in another place."""
    made(tmp_path / "one", run, formats=ALL)
    shutil.copytree(run, tmp_path / "elsewhere/run")
    made(tmp_path / "elsewhere/two", tmp_path / "elsewhere/run", formats=ALL)
    assert digests(tmp_path / "one") == digests(tmp_path / "elsewhere/two")


def test_no_place_of_this_machine_gets_in(run: Path, tmp_path: Path) -> None:
    """Neither the run's nor the data set's."""
    made(tmp_path / "data", run, formats=ALL)
    for path in (tmp_path / "data").rglob("*"):
        assert not path.is_file() or str(tmp_path).encode() not in path.read_bytes(), path


@pytest.mark.parametrize("taken", ["file", "folder", "link"])
def test_nothing_is_overwritten(run: Path, tmp_path: Path, taken: str) -> None:
    """Not even an empty folder, or a link to nothing."""
    output = tmp_path / "data"
    if taken == "file":
        output.write_text("mine")
    elif taken == "folder":
        output.mkdir()
    else:
        output.symlink_to("nowhere")
    with pytest.raises(OutputExists):
        made(output, run)


def test_an_export_that_fails_leaves_nothing(run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder under way is removed."""
    (tmp_path / "out").mkdir()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("recorder.export.dataset.hash_plain", full)
    with pytest.raises(OSError, match="No space left"):
        made(tmp_path / "out/data", run)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_damaged_episode_is_skipped_and_located(run: Path, tmp_path: Path) -> None:
    """The rest is exported; the episode's own place is told, not this machine's."""
    make_episode(run / "episodes/lamp/maker--one/1", task_id="lamp", brief="A lamp.")
    image = next((run / "episodes/ball/maker--one/1/images").iterdir())
    image.write_bytes(b"")
    history = made(tmp_path / "data", run)
    assert fates(history)["ball"] == "corrupt"
    assert fates(history)["lamp"] == "exported"
    (damaged,) = history.damaged
    assert damaged.reason.startswith(f"ball/maker--one/1/images/{image.name}: not what line 4 refers to")


@pytest.mark.parametrize("name", ["final_script.py", "task/task.json", "images", "trajectory.jsonl", "states"])
def test_links_in_an_episode_are_not_followed(run: Path, tmp_path: Path, name: str) -> None:
    """The episode is damaged."""
    path = run / "episodes/ball/maker--one/1" / name
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    assert fates(made(tmp_path / "data", run))["ball"] == "corrupt"


def test_a_link_to_an_episode_is_passed_over(run: Path, tmp_path: Path) -> None:
    """A run's folders are folders."""
    make_episode(tmp_path / "other", task_id="other")
    (run / "episodes/other/m").mkdir(parents=True)
    (run / "episodes/other/m/1").symlink_to(tmp_path / "other")
    assert "other" not in fates(made(tmp_path / "data", run))


@pytest.mark.parametrize("secret", ["sk-" + "a" * 30, "ghp_" + "b" * 36])
def test_a_script_with_a_key_is_refused(tmp_path: Path, secret: str) -> None:
    """Its bytes are pinned, so they cannot be cleaned; the line is told, the key is not."""
    steps = (Made(f"key = '{secret}'\n"), *STEPS[2:])
    history = made(tmp_path / "data", make_episode(tmp_path / "e", steps))
    (refused,) = history.damaged
    assert refused.fate == "refused"
    assert refused.reason == "e/final_script.py, line 5: holds a secret"
    assert secret not in report(history, tmp_path / "data")
    assert not (tmp_path / "data/samples").exists()


def test_likes_are_reported(tmp_path: Path) -> None:
    """Briefs of other tasks and scripts; none is dropped, and attempts at one task are no likes."""
    for name, task in (("a", "t1"), ("b", "t1"), ("c", "t2")):
        make_episode(tmp_path / name, task_id=task)
    history = made(tmp_path / "data", *(tmp_path / name for name in "abc"))
    text = report(history, tmp_path / "data")
    assert "briefs the same: a, c" in text
    assert "briefs the same: a, b" not in text
    assert "scripts the same: a, b" in text
    assert "- scripts the same: a, c" in (tmp_path / "data/README.md").read_text()
    assert len(history.exported) == 3


def test_what_overlaps_a_held_out_list_is_dropped(run: Path, tmp_path: Path) -> None:
    """The shared words are told."""
    (tmp_path / "held.txt").write_text("a red ball that lies on a wooden table, once more\n")
    history = made(tmp_path / "data", run, held_out=tmp_path / "held.txt")
    assert fates(history)["ball"] == "contaminated"
    assert "shares 'a red ball that lies on a wooden'" in report(history, tmp_path / "data")
    with pytest.raises(CorruptEpisode, match="cannot be read"):
        made(tmp_path / "more", run, held_out=tmp_path / "none.txt")


def test_the_card_is_front_matter_and_history(run: Path, tmp_path: Path) -> None:
    """Licence, a config for each file that is there, features, models, versions, every attempt."""
    made(tmp_path / "data", run, options=Options(license="cc-by-4.0"), include=frozenset({"failed"}))
    card = (tmp_path / "data/README.md").read_text()
    front = yaml.safe_load(card.split("---\n")[1])
    assert front["license"] == "cc-by-4.0"
    configs = {config["config_name"]: config["data_files"][0]["path"] for config in front["configs"]}
    assert set(configs) == {"agentic", "agentic_text", "instruction_to_script"}
    assert all((tmp_path / "data" / path).is_file() for path in configs.values())
    (info,) = front["dataset_info"]
    row = rows(tmp_path / "data" / configs[info["config_name"]])[0]
    assert [feature["name"] for feature in info["features"]] == list(row)
    for text in ("| cube/maker--one/1.interrupted-1 | unfinished | left out |", "maker/one (2)", "bpy 4.5.15 (2)"):
        assert text in card


def test_the_schemas_page_names_every_file(run: Path, tmp_path: Path) -> None:
    """And every field of a step, and every type of check."""
    made(tmp_path / "data", run)
    page = (tmp_path / "data/SCHEMAS.md").read_text()
    for text in ("## trajectory.jsonl, each line", "### Step", "| `finish_reason` | string or null | yes |",
                 "## manifest.json", "## train/agentic_trajectories*.jsonl, each line",
                 "## Types of checks"):  # fmt: skip
        assert text in page
    assert [name for name in CHECK_TYPES if f"`{name}`" not in page] == []


def test_sources_are_runs_and_episodes_each_once(run: Path, tmp_path: Path) -> None:
    """An episode of a run keeps its name there; another run's of the same name gets a number."""
    shutil.copytree(run, tmp_path / "again")
    sources = find_sources([run, run / "episodes/ball/maker--one/1", tmp_path / "again"])
    assert [source.episode.split("/")[0] for source in sources] == ["ball", "cone", "cube"] * 2
    assert names_of(sources)[3] == "ball--maker--one--1--2"
    with pytest.raises(NoSource, match="neither a run"):
        find_sources([tmp_path])


def test_an_unknown_format_is_told_with_those_that_there_are(run: Path, tmp_path: Path) -> None:
    """Before anything is written."""
    with pytest.raises(UnknownFormat, match=r"'csv'\. There are: vlm-flat, llamafactory"):
        made(tmp_path / "data", run, formats=("csv",))
    assert not (tmp_path / "data").exists()


def test_folders_can_be_listed_by_others(run: Path, tmp_path: Path) -> None:
    """A data set is not private, as its temporary folder was."""
    made(tmp_path / "data", run)
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o755


def test_a_secret_that_was_removed_from_the_record_is_in_no_file(tmp_path: Path) -> None:
    """Every format is made from the cleaned record alone."""
    secret = "a-very-secret-word"
    steps = (Made("x = 1\n", says=f"I saw {secret}.", thinks=secret, answer=f"KEY={secret}\n"), *STEPS[2:])
    made(tmp_path / "data", make_episode(tmp_path / "e", steps, redactor=Redactor(secrets=[secret])), formats=ALL)
    assert (tmp_path / "data/samples/e").is_dir()
    for path in (tmp_path / "data").rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
