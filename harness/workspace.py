"""Reads an untrusted workspace after a run: which files changed, and one file copied out safely.

No link is followed, nothing is opened that could block, and every size is bounded: the folder's content was
made by the code being judged.
"""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from harness.folders import remove_folder
from harness.plain_text import plain

PREVIEW_NAME = "preview.png"
"""The contact sheet that the harness itself writes into the workspace."""
MAX_LISTED = 20_000


class NotTaken(Exception):
    """A file cannot be taken out of the workspace; the text says what it is instead of a plain file."""


@dataclass(frozen=True)
class FileStamp:
    """Enough to tell whether a file was written since."""

    size: int
    modified_ns: int
    inode: int


def list_files(workspace: Path) -> dict[str, FileStamp]:
    """Everything but folders below `workspace` (relative name -> stamp), at most MAX_LISTED entries."""
    found: dict[str, FileStamp] = {}
    waiting = [""]
    while waiting and len(found) < MAX_LISTED:
        folder = waiting.pop()
        try:
            entries = os.scandir(workspace / folder)
        except OSError:
            continue
        with entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(name)
                    continue
                try:
                    state = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                found[name] = FileStamp(state.st_size, state.st_mtime_ns, state.st_ino)
    return found


def written_files(before: dict[str, FileStamp], after: dict[str, FileStamp]) -> list[str]:
    """Names that are new or changed, as they can be shown."""
    return sorted(plain(name) for name, stamp in after.items() if before.get(name) != stamp)


def remove_entry(path: Path) -> None:
    """Delete whatever has this name: file, link (not its target), FIFO, or folder with its content."""
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            remove_folder(path)
        else:
            path.unlink()
    except FileNotFoundError:
        pass


def stamp_of(workspace: Path, name: str) -> FileStamp | None:
    """The stamp of one entry, or None if there is none."""
    try:
        state = (workspace / name).lstat()
    except OSError:
        return None
    return FileStamp(state.st_size, state.st_mtime_ns, state.st_ino)


def take_file(workspace: Path, name: str, destination: Path, *, max_bytes: int) -> int:
    """Copy the plain file `name` of `workspace` to `destination`; returns its size in bytes.

    Raises FileNotFoundError if there is none, NotTaken for a link, FIFO, folder, device, hard link or a file
    over `max_bytes`.
    """
    folder = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        source = _open_plain(folder, name)
    finally:
        os.close(folder)
    with os.fdopen(source, "rb") as reader, destination.open("xb") as writer:
        state = os.fstat(source)
        if state.st_size > max_bytes:
            raise NotTaken(f"a file of {state.st_size >> 20} MiB (the limit is {max_bytes >> 20} MiB)")
        copied = 0
        while chunk := reader.read(1 << 20):
            copied += len(chunk)
            if copied > max_bytes:
                raise NotTaken("a file that grows while it is read")
            writer.write(chunk)
    return copied


def _open_plain(folder: int, name: str) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    state = os.stat(name, dir_fd=folder, follow_symlinks=False)
    if kind := _special_kind(state):
        raise NotTaken(kind)
    try:
        descriptor = os.open(name, flags, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise NotTaken(f"a file that cannot be opened ({error.strerror})") from error
    opened = os.fstat(descriptor)
    if kind := _special_kind(opened):  # swapped between the two looks
        os.close(descriptor)
        raise NotTaken(kind)
    return descriptor


def _special_kind(state: os.stat_result) -> str:
    """What the entry is if it is not a plain file of its own, else ''."""
    if stat.S_ISREG(state.st_mode):
        return "a hard link to another file" if state.st_nlink > 1 else ""
    kinds = {
        stat.S_IFLNK: "a symbolic link",
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe (FIFO)",
        stat.S_IFSOCK: "a socket",
    }
    return kinds.get(stat.S_IFMT(state.st_mode), "a device")


def reopen(workspace: Path) -> None:
    """Untrusted code may have taken the rights on its own folder away; the harness has to read and mount it."""
    # root may do everything itself, but the sandbox is another user then
    if workspace.stat().st_mode & 0o700 != 0o700:
        workspace.chmod(0o755)


def check_workspace(workspace: Path, *precious: Path) -> str:
    """Why untrusted code must not be given this folder, or ''. `precious`: what it must neither hold nor lie in."""
    for path in precious:
        if path == workspace or workspace in path.parents:
            return f"it holds {path}, which the model's code could then change"
    return ""
