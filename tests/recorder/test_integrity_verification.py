"""What is found in `renders/` and `verification/` of an episode, and in a data set that holds them."""

import json
import shutil
from pathlib import Path

import pytest

from recorder.decisions import Refused, decide
from recorder.export.dataset import Request, export
from recorder.integrity import check_dataset, check_episode, integrity_file
from recorder.plain_files import hash_plain
from tests.recorder.made_episodes import make_episode
from tests.recorder.verifications import draw_by_hand, result, verify_by_hand, write


@pytest.fixture
def episode(tmp_path: Path) -> Path:
    """Verified, drawn and decided."""
    root = draw_by_hand(verify_by_hand(make_episode(tmp_path / "e"), result()))
    decide(root, "accept", reason="fine", by="a reviewer")
    return root


def found(root: Path) -> list[tuple[str, str]]:
    return [(finding.code, finding.file) for finding in check_episode(root)]


def test_a_whole_one_has_no_finding(episode: Path) -> None:
    """Every file is one of ours, and each picture is the listed one."""
    assert found(episode) == []


def test_a_picture_that_was_replaced_is_found(episode: Path) -> None:
    """By its hash in renders.json."""
    (episode / "renders/hero.png").write_bytes(b"nicer")
    assert found(episode) == [("hash", "renders/hero.png")]


def test_a_picture_that_is_missing_or_too_many_is_found(episode: Path) -> None:
    """Each by its name."""
    (episode / "renders/hero.png").rename(episode / "renders/other.png")
    assert found(episode) == [("missing", "renders/hero.png"), ("unlisted", "renders/other.png")]


def test_a_picture_behind_a_link_is_missing(episode: Path, tmp_path: Path) -> None:
    """Links are not followed."""
    (episode / "renders/hero.png").rename(tmp_path / "hero.png")
    (episode / "renders/hero.png").symlink_to(tmp_path / "hero.png")
    assert found(episode) == [("missing", "renders/hero.png")]


def test_a_name_that_leads_out_is_missing(episode: Path) -> None:
    """A list can name anything."""
    listed = json.loads((episode / "renders/renders.json").read_text())
    listed["renders"][0]["file"] = "../scene.blend"
    (episode / "renders/renders.json").write_text(json.dumps(listed))
    assert ("missing", "renders/../scene.blend") in found(episode)


@pytest.mark.parametrize("name", ["checks.json", "replay_diff.json", "integrity.json", "decision.json"])
def test_a_file_that_cannot_be_read_is_found(episode: Path, name: str) -> None:
    """With why."""
    (episode / "verification" / name).write_text("{}")
    assert found(episode) == [("document", f"verification/{name}")]


def test_a_list_of_renders_that_cannot_be_read_is_found(episode: Path) -> None:
    """And one that is not there beside pictures."""
    (episode / "renders/renders.json").write_text("[")
    assert found(episode) == [("document", "renders/renders.json")]
    (episode / "renders/renders.json").unlink()
    assert found(episode) == [("document", "renders/renders.json")]


def test_files_that_are_none_of_ours_are_found(episode: Path) -> None:
    """They would be shipped as if somebody had verified them."""
    (episode / "verification/verdict.txt").write_text("trust me")
    assert found(episode) == [("unlisted", "verification/verdict.txt")]


@pytest.mark.parametrize("name", ["renders", "verification"])
def test_a_folder_that_is_a_link_is_found(tmp_path: Path, name: str) -> None:
    """Nothing in it is looked at."""
    root = make_episode(tmp_path / "e")
    (root / name).symlink_to(root / "task")
    assert found(root) == [("missing", name)]


def test_pictures_that_were_swapped_with_their_list_are_found(tmp_path: Path) -> None:
    """integrity.json knows the list that was drawn; one that is gone shows nothing, and is no finding."""
    root = draw_by_hand(verify_by_hand(make_episode(tmp_path / "e"), result()))
    drawn = hash_plain(root, "renders/renders.json")[0]
    write(root, "verification/integrity.json", integrity_file(root, [], renders_sha256=drawn))
    assert found(root) == []
    (root / "renders/hero.png").write_bytes(b"nicer")
    listed = json.loads((root / "renders/renders.json").read_text())
    listed["renders"][0]["sha256"] = hash_plain(root, "renders/hero.png")[0]
    (root / "renders/renders.json").write_text(json.dumps(listed))
    assert found(root) == [("hash", "renders/renders.json")]
    with pytest.raises(Refused, match="not the list of what was drawn"):
        decide(root, "accept", reason="pretty", by="a reviewer")
    shutil.rmtree(root / "renders")
    assert found(root) == []


def test_pictures_where_none_were_drawn_are_found(tmp_path: Path) -> None:
    """The verification says that it drew nothing."""
    root = draw_by_hand(verify_by_hand(make_episode(tmp_path / "e"), result()))
    write(root, "verification/integrity.json", integrity_file(root, [], renders_sha256=""))
    assert found(root) == [("hash", "renders/renders.json")]


def test_a_data_set_holds_them_and_its_manifest_covers_them(episode: Path, tmp_path: Path) -> None:
    """A picture or a verdict that is changed there is found twice: by the manifest, and in the sample."""
    export(Request((episode,), tmp_path / "data"))
    sample = tmp_path / "data/samples/e"
    assert (sample / "verification/decision.json").is_file()
    assert check_dataset(tmp_path / "data") == []
    (sample / "renders/hero.png").write_bytes(b"nicer")
    codes = [(finding.code, finding.file) for finding in check_dataset(tmp_path / "data")]
    assert codes == [("hash", "samples/e/renders/hero.png")] * 2
