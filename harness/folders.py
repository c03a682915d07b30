"""Makes and removes private folders that untrusted code may have filled: too deep, or with rights taken away."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 120


@contextmanager
def private_folder(name: str) -> Iterator[Path]:
    """A temporary folder, removed at the end whatever is in it."""
    folder = Path(tempfile.mkdtemp(prefix=f"blendscribe-{name}-"))
    try:
        yield folder
    finally:
        remove_folder(folder)


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
