"""Makes and removes private folders that untrusted code may have filled: too deep, or with rights taken away.

The living process holds a lock on each folder that it has made, so that `harness.sweep` can tell those of a harness
that was killed. The lock is on the folder itself: it needs no file of its own, and goes with the process.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX, SUFFIX = "blendscribe-", ".held"
_SECONDS = 120


@contextmanager
def private_folder(name: str) -> Iterator[Path]:
    """A temporary folder, removed at the end whatever is in it. The only way in which we make one."""
    folder, lock = _make_held(name)
    try:
        yield folder
    finally:
        try:
            remove_folder(folder)
        finally:
            os.close(lock)


def hold_abandoned(folder: Path) -> int | None:
    """A descriptor that holds `folder` until it is closed. None if another process holds it, or it is none of ours."""
    try:
        descriptor = _open(folder)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_open(folder, descriptor):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def _open(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _is_open(folder: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), folder.lstat())
    except FileNotFoundError:
        return False


def _make_held(name: str) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}-", suffix=SUFFIX))
        try:
            descriptor = _open(folder)
        except FileNotFoundError:
            continue  # a sweep was faster than we
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_open(folder, descriptor):
                return folder, descriptor
        except BlockingIOError:
            pass  # a sweep has found it; it is about to remove it
        except OSError:
            return folder, descriptor  # a file system without locks: no sweep removes anything there
        os.close(descriptor)


def remove_folder(folder: Path) -> None:
    """Remove a folder with all that is in it; links are not followed. Never raises: what cannot be removed stays."""
    try:
        shutil.rmtree(folder)
    except (OSError, RecursionError):
        # these two go down by descriptors, as deep as it may be, and do not follow links
        for command in (["chmod", "-R", "u+rwX", "--"], ["rm", "-rf", "--"]):
            try:
                subprocess.run([*command, str(folder)], capture_output=True, timeout=_SECONDS, check=False)
            except (OSError, subprocess.SubprocessError):
                continue
