"""Opens files that a user names. A device never ends and a pipe may wait for ever: only plain files are read."""

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

MAX_TEXT_MB = 64
"""Of a file that is read whole, where its reader names no limit of its own."""


def open_input(path: Path) -> BufferedReader:
    """The file, open for reading; links are followed. Raises OSError, with the reason in its `strerror`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe that nobody writes to opens at once
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.EINVAL, "not a plain file", str(path))


def read_input(path: Path, max_bytes: int = MAX_TEXT_MB << 20) -> str:
    """Its text, without a byte order mark. Raises OSError (EFBIG for a larger one), UnicodeDecodeError."""
    with open_input(path) as file:
        content = file.read(max_bytes + 1)  # as much at most, whatever size it had a moment ago
    if len(content) > max_bytes:
        raise OSError(errno.EFBIG, f"larger than {max_bytes >> 20} MiB", str(path))
    # every kind of line end counts as one, as in any text file that Python opens
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
