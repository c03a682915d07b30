"""What a failed step wrote is put back, whatever it wrote."""

import os
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.workspace_backup import WorkspaceBackup


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "workspace"
    (folder / "sub/deep").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "sub/b.txt").write_text("b")
    (folder / "sub/deep/c.bin").write_bytes(bytes(range(256)) * 999)
    (folder / "link").symlink_to("a.txt")
    (folder / "empty").mkdir()
    yield folder
    subprocess.run(["rm", "-rf", str(folder)], check=True)  # pytest cannot delete deep trees


@pytest.fixture
def backup(workspace: Path) -> Iterator[WorkspaceBackup]:
    backup = WorkspaceBackup(workspace)
    backup.take()
    yield backup
    backup.close()


def content(folder: Path) -> dict[str, object]:
    """Everything below a folder, as values that compare."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        mode, name = stat.S_IMODE(path.lstat().st_mode), str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = (mode, path.read_bytes() if path.is_file() else None)
    return found


def spoil_folders(w: Path) -> None:
    (w / "sub/deep/c.bin").unlink()
    (w / "sub/deep").rmdir()
    (w / "sub/deep").write_text("a file now")
    (w / "a.txt").unlink()
    (w / "a.txt").mkdir()
    (w / "a.txt/x").write_text("x")


def spoil_times(w: Path) -> None:
    state = (w / "a.txt").stat()
    (w / "a.txt").write_text("z")
    os.utime(w / "a.txt", ns=(state.st_atime_ns, state.st_mtime_ns))


def spoil_with_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/passwd")


def spoil_with_many(w: Path) -> None:
    for i in range(300):
        (w / f"folder{i}").mkdir()
        (w / f"folder{i}/x").write_text("x")


def spoil_with_special_files(w: Path) -> None:
    os.mkfifo(w / "pipe")
    (w / "a.txt").unlink()
    os.mkfifo(w / "a.txt")
    with socket.socket(socket.AF_UNIX) as s:
        here = Path.cwd()
        os.chdir(w)
        s.bind("socket")
        os.chdir(here)


SPOILERS: dict[str, Callable[[Path], object]] = {
    "new": lambda w: (w / "new.txt").write_text("n"),
    "changed": lambda w: (w / "a.txt").write_text("other"),
    "gone": lambda w: (w / "sub/b.txt").unlink(),
    "replaced by itself": lambda w: (w / "sub/b.txt").rename(w / "sub/c.txt"),
    "same size and time": spoil_times,
    "folders and files swapped": spoil_folders,
    "new folders": lambda w: (w / "x/y/z").mkdir(parents=True),
    "empty folder gone": lambda w: (w / "empty").rmdir(),
    "link turned": lambda w: spoil_with_link(w / "link"),
    "file became link": lambda w: spoil_with_link(w / "a.txt"),
    "rights of a file": lambda w: (w / "a.txt").chmod(0),
    "rights of a folder": lambda w: (w / "sub").chmod(0),
    "hard link": lambda w: os.link(w / "a.txt", w / "hard"),
    "many": spoil_with_many,
    "special files": spoil_with_special_files,
    "odd names": lambda w: [(w / name).write_text("x") for name in ("a\nb", "ü\udcff", "-rf", " ")],
}


@pytest.mark.parametrize("name", SPOILERS)
def test_restored_workspace_is_as_before(workspace: Path, backup: WorkspaceBackup, name: str) -> None:
    """Content, links, folders and rights are put back, and the second look finds nothing to do."""
    before = content(workspace)
    SPOILERS[name](workspace)
    backup.restore()
    assert content(workspace) == before
    assert backup.restore() == []


def test_names_of_what_was_put_back(workspace: Path, backup: WorkspaceBackup) -> None:
    """Files that were written or removed are named; those that were not touched are not."""
    (workspace / "new.txt").write_text("n")
    (workspace / "a.txt").write_text("other")
    (workspace / "sub/b.txt").unlink()
    assert backup.restore() == ["a.txt", "new.txt", "sub/b.txt"]
    assert backup.restore() == []


def test_the_last_copy_counts(workspace: Path, backup: WorkspaceBackup) -> None:
    """What a good step wrote is kept when a later one fails."""
    (workspace / "a.txt").write_text("good")
    (workspace / "sub/b.txt").unlink()
    backup.take()
    (workspace / "a.txt").write_text("bad")
    (workspace / "sub/b.txt").write_text("bad")
    backup.restore()
    assert (workspace / "a.txt").read_text() == "good"
    assert not (workspace / "sub/b.txt").exists()


def test_nothing_is_written_through_a_link(workspace: Path, backup: WorkspaceBackup, tmp_path: Path) -> None:
    """A folder that became a link to another place is not followed: nothing outside is written or deleted."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "b.txt").write_text("mine")
    (workspace / "sub").rename(workspace / "moved")
    (workspace / "sub").symlink_to(outside)
    before = content(outside)
    backup.restore()
    assert content(outside) == before
    assert (workspace / "sub/b.txt").read_text() == "b"
    assert not (workspace / "sub").is_symlink()


def test_tree_deeper_than_python_can_walk(workspace: Path, backup: WorkspaceBackup) -> None:
    """A path of 3,000 folders, longer than any path may be, is removed."""
    here = os.open(".", os.O_RDONLY)
    try:
        os.chdir(workspace)
        for _ in range(3_000):
            os.mkdir("d")  # noqa: PTH102
            os.chdir("d")
    finally:
        os.fchdir(here)
        os.close(here)
    backup.restore()
    assert sorted(path.name for path in workspace.iterdir()) == ["a.txt", "empty", "link", "sub"]


def test_deep_tree_can_be_kept_and_deleted(workspace: Path, tmp_path: Path) -> None:
    """A tree of 1,400 folders that a good step made is copied, and the copy is deleted at the end."""
    for depth in range(1, 1_401):
        (workspace / ("d/" * depth)).mkdir()
    backup = WorkspaceBackup(workspace)
    backup.take()
    assert backup.restore() == []
    backup.close()
    assert not backup._copies.parent.exists()


def test_holes_stay_holes(workspace: Path, backup: WorkspaceBackup) -> None:
    """A sparse file of 4 GiB takes no room in the copy, and comes back whole."""
    with (workspace / "sparse").open("wb") as file:
        file.write(b"begin")
        file.seek(2 << 30)
        file.write(b"middle")
        file.truncate(4 << 30)
    backup.take()
    (workspace / "sparse").unlink()
    backup.restore()
    state = (workspace / "sparse").stat()
    assert (state.st_size, state.st_blocks < 1000) == (4 << 30, True)
    with (workspace / "sparse").open("rb") as file:
        assert file.read(5) == b"begin"
        file.seek(2 << 30)
        assert file.read(7) == b"middle\0"


def test_copies_only_what_changed(workspace: Path, backup: WorkspaceBackup) -> None:
    """A file that stayed is not copied again: its copy keeps its inode."""
    copies = {path.name: path.stat().st_ino for path in backup._copies.rglob("*") if path.is_file()}
    (workspace / "a.txt").write_text("new content")
    backup.take()
    after = {path.name: path.stat().st_ino for path in backup._copies.rglob("*") if path.is_file()}
    assert after["b.txt"] == copies["b.txt"]
    assert (backup._copies / "a.txt").read_text() == "new content"


def test_closing_deletes_the_copy(workspace: Path) -> None:
    """Nothing is left outside the workspace."""
    backup = WorkspaceBackup(workspace)
    backup.take()
    folder = backup._copies.parent
    assert folder.is_dir()
    backup.close()
    assert not folder.exists()
