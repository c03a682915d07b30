"""What one sandboxed process tree may use. Owns the numbers, not their enforcement (see `launch.py`)."""

from dataclasses import dataclass
from typing import Literal

StopCause = Literal["timeout", "memory", "processes", "disk", "files", "output"]


@dataclass(frozen=True)
class Limits:
    """Bounds on one process tree; the first that is passed ends it, and is named."""

    timeout_seconds: float = 300.0
    """Wall time, start of the sandbox included."""
    memory_mb: int = 4096
    """Resident memory of the whole tree (anonymous and shared, MiB)."""
    max_processes: int = 256
    """Processes alive at once. The kernel stops at a few more, threads included, unless the sandbox is root's."""
    output_mb: int = 16
    """Bytes printed to stdout and stderr together, MiB."""
    result_mb: int = 64
    """Bytes kept of what it writes into the result pipe, MiB. More ends nothing: a whole message is then missing."""
    max_file_mb: int = 1024
    """Size of any single file, MiB."""
    disk_mb: int = 2048
    """Growth of the workspace over its size at the start, MiB."""
    max_files: int = 20_000
    """Files in the workspace, and inodes used in the private /tmp."""
    tmp_mb: int = 1024
    """Size of the private /tmp, MiB."""


@dataclass(frozen=True)
class Usage:
    """The largest values that the watchdog saw."""

    memory_mb: int = 0
    n_processes: int = 0
    disk_mb: int = 0

    def peak(self, other: "Usage") -> "Usage":
        return Usage(
            max(self.memory_mb, other.memory_mb),
            max(self.n_processes, other.n_processes),
            max(self.disk_mb, other.disk_mb),
        )
