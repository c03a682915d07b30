"""Reading a folder that hostile code has filled."""

import os
from pathlib import Path

import pytest

from harness.workspace import NotTaken, list_files, remove_entry, take_file, written_files


def test_new_changed_and_untouched(tmp_path: Path) -> None:
    """New and changed files are told from untouched ones, at any depth; links are entries, not ways."""
    (tmp_path / "same").write_text("x")
    (tmp_path / "changed").write_text("x")
    before = list_files(tmp_path)
    (tmp_path / "changed").write_text("xy")
    (tmp_path / "sub/deep").mkdir(parents=True)
    (tmp_path / "sub/deep/new").write_text("x")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert written_files(before, list_files(tmp_path)) == ["changed", "loop", "sub/deep/new"]


def test_rewritten_file_of_the_same_size(tmp_path: Path) -> None:
    """A file replaced by one of equal size and equal time is a written file."""
    (tmp_path / "f").write_text("aaa")
    before, times = list_files(tmp_path), (tmp_path / "f").stat()
    (tmp_path / "g").write_text("bbb")
    os.utime(tmp_path / "g", ns=(times.st_atime_ns, times.st_mtime_ns))
    (tmp_path / "g").replace(tmp_path / "f")
    assert written_files(before, list_files(tmp_path)) == ["f"]


def test_plain_file_is_taken(tmp_path: Path) -> None:
    """A plain file is copied byte for byte."""
    (tmp_path / "f").write_bytes(b"content")
    assert take_file(tmp_path, "f", tmp_path / "copy", max_bytes=100) == 7
    assert (tmp_path / "copy").read_bytes() == b"content"


def test_too_large_is_refused(tmp_path: Path) -> None:
    """A sparse file of a terabyte costs nothing."""
    with (tmp_path / "f").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(NotTaken, match="MiB"):
        take_file(tmp_path, "f", tmp_path / "copy", max_bytes=1 << 20)


def test_missing_is_missing(tmp_path: Path) -> None:
    """A name that is not there is FileNotFoundError, not a refusal."""
    with pytest.raises(FileNotFoundError):
        take_file(tmp_path, "f", tmp_path / "copy", max_bytes=100)


@pytest.mark.parametrize("kind", ["a symbolic link", "a named pipe", "a folder", "a hard link"])
def test_special_entries_are_refused_and_named(tmp_path: Path, kind: str) -> None:
    """Whatever is not a plain file of its own is refused at once, without blocking."""
    secret = tmp_path / "secret"
    secret.write_text("x")
    entry = tmp_path / "f"
    {
        "a symbolic link": lambda: entry.symlink_to(secret),
        "a named pipe": lambda: os.mkfifo(entry),
        "a folder": lambda: entry.mkdir(),
        "a hard link": lambda: entry.hardlink_to(secret),
    }[kind]()
    with pytest.raises(NotTaken, match=kind):
        take_file(tmp_path, "f", tmp_path / "copy", max_bytes=100)


def test_removing_a_link_keeps_its_target(tmp_path: Path) -> None:
    """A stale output that is a link goes; what it leads to stays."""
    target = tmp_path / "target"
    target.mkdir()
    (target / "kept").write_text("x")
    (tmp_path / "output.mp4").symlink_to(target)
    remove_entry(tmp_path / "output.mp4")
    assert not (tmp_path / "output.mp4").is_symlink()
    assert (target / "kept").exists()
    remove_entry(tmp_path / "nothing there")
