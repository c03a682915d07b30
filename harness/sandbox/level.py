"""Which isolation is in force. Owns the names of the levels, their order, and the way to bubblewrap.

bwrap+seccomp     own user, pid, network, ipc, uts namespaces; only the workspace is writable; system calls filtered
bwrap             the same without the filter (no filter for this architecture)
landlock+seccomp  where namespaces are forbidden: only the jail's files, no sockets, no signals out (from Landlock 6
                  on); the host's own paths, its processes are seen by name, and there is no /tmp
limits-only       scrubbed environment, resource limits, whole process tree killed; files and network of
                  the user remain reachable. For code that one trusts, or inside a sandbox already.
"""

import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal, get_args

LevelName = Literal["bwrap+seccomp", "bwrap", "landlock+seccomp", "limits-only"]
LEVEL_NAMES: tuple[LevelName, ...] = get_args(LevelName)
"""Strongest first."""
SandboxMode = Literal["auto", "required", "off"]


@dataclass(frozen=True)
class Level:
    """An isolation level, and what is needed to reach it."""

    name: LevelName
    bwrap: Path | None = None
    features: frozenset[str] = field(default=frozenset(), repr=False)
    """Options that this bubblewrap knows."""
    landlock_abi: int = 0
    """Version of Landlock, where it is what confines."""

    @property
    def is_bubblewrap(self) -> bool:
        """Whether it is bubblewrap's: namespaces, and names of its own for all files."""
        return self.bwrap is not None

    @property
    def is_confined(self) -> bool:
        """Whether more than limits stands between the code and the machine."""
        return self.name != LIMITS_ONLY.name


def is_at_least(level: LevelName, least: LevelName) -> bool:
    """Whether `level` is `least` or stronger."""
    return LEVEL_NAMES.index(level) <= LEVEL_NAMES.index(least)


LIMITS_ONLY = Level("limits-only")


def find_bwrap(libs: Path | None = None) -> Path | None:
    """The bubblewrap on PATH, else the one that setup unpacked beside Mesa in `libs`."""
    found = shutil.which("bwrap")
    if found:
        return Path(found)
    unpacked = libs / "bin/bwrap" if libs else None
    return unpacked if unpacked and unpacked.is_file() else None


@cache
def bwrap_features(bwrap: Path) -> frozenset[str]:
    """The long options that `bwrap --help` lists; empty when it does not run."""
    try:
        text = subprocess.run(
            [bwrap, "--help"], capture_output=True, text=True, timeout=10, env={"PATH": "/usr/bin:/bin"}
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return frozenset()
    return frozenset(word for word in text.split() if word.startswith("--"))
