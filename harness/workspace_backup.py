"""Keeps a copy of a workspace, so that what a failed step wrote can be put back. Copies only what has changed."""

import os
import shutil
import tempfile
from pathlib import Path

from harness.workspace import FileStamp, list_files, remove_entry


class WorkspaceBackup:
    """A private copy of `workspace`, outside it: plain files and links (a pipe or socket cannot be put back)."""

    def __init__(self, workspace: Path) -> None:
        self._workspace = workspace
        self._folder = tempfile.TemporaryDirectory(prefix="blendscribe-backup-")
        self._copies = Path(self._folder.name)
        self._stamps: dict[str, FileStamp] = {}

    def take(self) -> None:
        """Make the copy equal to the workspace."""
        now = list_files(self._workspace)
        for name in self._stamps.keys() - now.keys():
            remove_entry(self._copies / name)
        for name, stamp in now.items():
            if self._stamps.get(name) != stamp:
                _copy(self._workspace / name, self._copies / name)
        self._stamps = now

    def restore(self) -> list[str]:
        """Make the workspace equal to the copy; returns the names that had been written or removed."""
        now = list_files(self._workspace)
        changed = sorted(n for n in now.keys() | self._stamps.keys() if now.get(n) != self._stamps.get(n))
        for name in changed:
            remove_entry(self._workspace / name)
            if name in self._stamps:
                _copy(self._copies / name, self._workspace / name)
        _remove_empty_folders(self._workspace, self._copies)
        self._stamps |= {name: stamp for name, stamp in list_files(self._workspace).items() if name in changed}
        return changed

    def close(self) -> None:
        """Delete the copy."""
        self._folder.cleanup()


def _copy(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    remove_entry(destination)
    if source.is_symlink():
        destination.symlink_to(source.readlink())
    elif source.is_file():
        shutil.copy2(source, destination)


def _remove_empty_folders(workspace: Path, like: Path) -> None:
    """Folders that a failed step made."""
    for folder, _, _ in os.walk(workspace, topdown=False):
        path = Path(folder)
        if path != workspace and not any(path.iterdir()) and not (like / path.relative_to(workspace)).is_dir():
            path.rmdir()
