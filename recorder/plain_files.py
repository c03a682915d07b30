"""Opens, lists, hashes and copies files of an episode without following a link: an episode may come from anywhere.

A name is relative and has no `..`; every folder on the way has to be a folder, the file a plain one.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

_CHUNK = 1 << 20


class NotPlain(OSError):
    """There is no plain file of this name; the text says what is there."""


def open_plain(root: Path, name: str) -> BufferedReader:
    """The file `name` below `root`, open for reading. Raises NotPlain."""
    parts = name.split("/")
    if not name or any(part in ("", ".", "..") for part in parts):
        raise NotPlain(f"'{name}' is not the name of a file in it")
    try:
        folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            for part in parts[:-1]:
                inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
            file = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise NotPlain(_why(name, error)) from error
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise NotPlain(f"'{name}' is not a plain file")
    return os.fdopen(file, "rb")


def is_plain(root: Path, name: str) -> bool:
    """Whether there is a plain file of this name."""
    try:
        open_plain(root, name).close()
    except NotPlain:
        return False
    return True


def read_plain(root: Path, name: str) -> bytes:
    """Its content. Raises NotPlain."""
    with open_plain(root, name) as file:
        return file.read()


def hash_plain(root: Path, name: str) -> tuple[str, int]:
    """(SHA-256, bytes) of a file. Raises NotPlain."""
    with open_plain(root, name) as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), os.fstat(file.fileno()).st_size


def copy_plain(root: Path, name: str, destination: Path) -> None:
    """Copy a file's bytes to a new file. Raises NotPlain, FileExistsError."""
    with open_plain(root, name) as file, destination.open("xb") as copy:
        while chunk := file.read(_CHUNK):
            copy.write(chunk)


def list_plain(root: Path, folder: str = "") -> Iterator[str]:
    """Names of all plain files below `root/folder`, sorted; links, and folders that are links, are passed over."""
    return (name for name, is_plain_file in _entries(root, folder) if is_plain_file)


def odd_entries(root: Path) -> Iterator[str]:
    """Names of everything below `root` that is neither a plain file nor a folder: links, pipes, sockets, devices."""
    return (name for name, is_plain_file in _entries(root, "") if not is_plain_file)


def _entries(root: Path, folder: str) -> Iterator[tuple[str, bool]]:
    """Everything but folders below `root/folder`, in order, and whether it is a plain file."""
    try:
        with os.scandir(root / folder) as scanned:
            entries = sorted(scanned, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        name = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_dir(follow_symlinks=False):
            yield from _entries(root, name)
        else:
            yield name, entry.is_file(follow_symlinks=False)


def _why(name: str, error: OSError) -> str:
    if error.errno == errno.ENOENT:
        return f"'{name}' is missing"
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return f"'{name}' is a link, or lies behind one: links are not followed"
    return f"'{name}' cannot be read ({error.strerror})"
