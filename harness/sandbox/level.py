"""Which isolation is in force. Owns the names of the levels and the way to bubblewrap.

bwrap+seccomp   own user, pid, network, ipc, uts namespaces; only the workspace is writable; system calls filtered
bwrap           the same without the filter (no filter for this architecture)
limits-only     scrubbed environment, resource limits, whole process tree killed; files and network of
                the user remain reachable. For code that one trusts, or inside a sandbox already.
"""

import shutil
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Literal

LevelName = Literal["bwrap+seccomp", "bwrap", "limits-only"]
SandboxMode = Literal["auto", "required", "off"]


@dataclass(frozen=True)
class Level:
    """An isolation level, and what is needed to reach it."""

    name: LevelName
    bwrap: Path | None = None
    features: frozenset[str] = field(default=frozenset(), repr=False)
    """Options that this bubblewrap knows."""

    @property
    def is_sandbox(self) -> bool:
        return self.bwrap is not None


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
