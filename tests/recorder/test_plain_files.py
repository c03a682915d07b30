"""Only plain files below a folder are opened, whatever lies there."""

import os
from pathlib import Path

import pytest

from recorder.plain_files import NotPlain, copy_plain, hash_plain, is_plain, list_plain, open_plain, read_plain


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file in a folder, beside a secret."""
    (tmp_path / "secret").write_text("s")
    (tmp_path / "r/inner").mkdir(parents=True)
    (tmp_path / "r/inner/a").write_bytes(b"abc")
    return tmp_path / "r"


def test_a_plain_file_is_read_hashed_and_copied(root: Path) -> None:
    """By its name below the folder."""
    assert read_plain(root, "inner/a") == b"abc"
    assert hash_plain(root, "inner/a")[1] == 3
    copy_plain(root, "inner/a", root / "b")
    assert list(list_plain(root)) == ["b", "inner/a"]
    with pytest.raises(FileExistsError):
        copy_plain(root, "inner/a", root / "b")


@pytest.mark.parametrize("name", ["", "/etc/passwd", "../secret", "inner/../../secret", "./inner/a", "inner//a"])
def test_a_name_stays_below(root: Path, name: str) -> None:
    """No name leads out."""
    with pytest.raises(NotPlain, match="is not the name of a file in it"):
        open_plain(root, name)


def test_links_lead_nowhere(root: Path) -> None:
    """Neither as the file nor on the way to it, nor in a listing."""
    (root / "file").symlink_to("../secret")
    (root / "folder").symlink_to("..")
    for name in ("file", "folder/secret"):
        with pytest.raises(NotPlain, match="links are not followed"):
            read_plain(root, name)
    assert list(list_plain(root)) == ["inner/a"]


def test_what_is_no_file_is_told(root: Path) -> None:
    """A pipe does not block; a missing file and a folder are named."""
    os.mkfifo(root / "pipe")
    for name, why in (("pipe", "not a plain file"), ("no", "missing"), ("inner", "not a plain file")):
        with pytest.raises(NotPlain, match=why):
            read_plain(root, name)
        assert not is_plain(root, name)
