"""Keeps a copy of a workspace, so that what a failed step wrote can be put back. Copies only what has changed.

Nothing in the workspace is trusted: no link is followed, and nothing is opened that could block. Plain files, links,
folders and their modes are kept; a pipe or socket is removed where it is new, and cannot be put back. What is put back
belongs to the owner of the workspace (`sandbox.other_user`). Take and restore only while nothing runs in it.
"""

import os
import stat
import subprocess
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness.folders import private_folder

_CHUNK = 1 << 20
_LONGEST_NAME = 3_000
"""Bytes; what has a longer path is not kept (the kernel takes 4,095, the workspace's own path included)."""


@dataclass(frozen=True)
class _Entry:
    """What is known of one name; two that are equal need no copying."""

    kind: int
    """File type bits of the mode."""
    stamp: tuple[int, ...]
    """Changes whenever the entry is written, its mode included; of folders only the mode."""

    @property
    def is_folder(self) -> bool:
        return self.kind == stat.S_IFDIR


class WorkspaceBackup:
    """A private copy of `workspace`, outside it."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._resources = ExitStack()
        self._copies = self._resources.enter_context(private_folder("backup")) / "files"
        self._copies.mkdir()
        self._entries: dict[str, _Entry] = {}

    def take(self) -> None:
        """Make the copy equal to the workspace."""
        now = _scan(self._workspace)
        _make_equal(self._copies, self._workspace, has=self._entries, wants=now)
        self._entries = now

    def restore(self) -> list[str]:
        """Make the workspace equal to the copy; returns the names of files that had been written or removed."""
        now = _scan(self._workspace)
        if now == self._entries:
            return []
        changed = _make_equal(self._workspace, self._copies, has=now, wants=self._entries)
        for name, entry in self._entries.items():
            if entry.is_folder and now.get(name) != entry:
                (self._workspace / name).chmod(entry.stamp[0])
        after = _scan(self._workspace)
        self._entries |= {name: after[name] for name in changed if name in after}
        kinds = {**now, **self._entries}
        return [name for name in changed if not kinds[name].is_folder]

    def close(self) -> None:
        """Delete the copy."""
        self._resources.close()


def _scan(root: Path) -> dict[str, _Entry]:
    """Every name below `root`, '' for itself, folders before what is in them."""
    found = {"": _entry(root.lstat())}
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        for entry in _list(root / folder):
            name = f"{folder}/{entry.name}" if folder else entry.name
            if len(os.fsencode(name)) > _LONGEST_NAME:
                continue
            found[name] = _entry(entry.stat(follow_symlinks=False))
            if found[name].is_folder:
                waiting.append(name)
    return found


def _list(folder: Path) -> list[os.DirEntry[str]]:
    for is_last in (False, True):
        try:
            with os.scandir(folder) as entries:
                return list(entries)
        except PermissionError:
            if is_last:
                raise
            folder.chmod(0o700)  # the code that took the right to look away from itself was run as this user
    return []


def _entry(state: os.stat_result) -> _Entry:
    kind, mode = stat.S_IFMT(state.st_mode), stat.S_IMODE(state.st_mode)
    if kind == stat.S_IFDIR:
        return _Entry(kind, (mode,))
    return _Entry(kind, (mode, state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino))


def _make_equal(target: Path, source: Path, *, has: dict[str, _Entry], wants: dict[str, _Entry]) -> list[str]:
    """Bring `target`, which has `has`, to `wants`, whose content is in `source`. Returns the names that differed."""
    owner = target.lstat().st_uid
    changed = sorted(name for name in has.keys() | wants.keys() if has.get(name) != wants.get(name))
    for name in changed:
        is_kept_folder = name in has and name in wants and has[name].is_folder and wants[name].is_folder
        if not is_kept_folder:
            _remove(target / name)
    for name in changed:
        if name in wants:
            _copy(source / name, target / name, wants[name])
            if owner != os.geteuid() and os.path.lexists(target / name):
                os.chown(target / name, owner, -1, follow_symlinks=False)
    return changed


def _remove(path: Path) -> None:
    try:
        if stat.S_ISDIR(path.lstat().st_mode):
            # deeper trees than Python can walk come from hostile steps
            subprocess.run(["/bin/rm", "-rf", "--", str(path)], check=False, capture_output=True)
        else:
            path.unlink()
    except (FileNotFoundError, NotADirectoryError):
        pass  # it went with its folder


def _copy(source: Path, target: Path, entry: _Entry) -> None:
    if entry.is_folder:
        target.mkdir(exist_ok=True)
    elif entry.kind == stat.S_IFLNK:
        target.symlink_to(source.readlink())
    elif entry.kind == stat.S_IFREG:
        _copy_file(source, target)


def _copy_file(source: Path, target: Path) -> None:
    """Content, mode and times; holes stay holes."""
    reader = _open_to_read(source)
    try:
        state = os.fstat(reader)
        writer = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            _copy_content(reader, writer, state.st_size)
            os.fchmod(writer, stat.S_IMODE(state.st_mode))
            os.utime(writer, ns=(state.st_atime_ns, state.st_mtime_ns))
        finally:
            os.close(writer)
    finally:
        os.close(reader)


def _open_to_read(path: Path) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        return os.open(path, flags)
    except PermissionError:
        mode = stat.S_IMODE(path.lstat().st_mode)
        path.chmod(mode | stat.S_IRUSR)
        try:
            return os.open(path, flags)
        finally:
            path.chmod(mode)


def _copy_content(reader: int, writer: int, size: int) -> None:
    position = 0
    while position < size:
        try:
            start = os.lseek(reader, position, os.SEEK_DATA)
        except OSError:
            break  # only a hole is left
        end = os.lseek(reader, start, os.SEEK_HOLE)
        os.lseek(writer, start, os.SEEK_SET)
        while start < end and (sent := os.sendfile(writer, reader, start, min(_CHUNK, end - start))):
            start += sent
        position = max(end, start)
    os.ftruncate(writer, size)
