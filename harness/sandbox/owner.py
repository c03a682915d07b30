"""Marks a sandbox's processes with the harness that owns them: the name by which bubblewrap is started.

The name is the one thing of a process that everybody can read. Its owner is a pid and the time when that was started,
so that a pid which was given to another process meanwhile is not taken for the owner.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

_MARK = re.compile(rb"blendscribe-sandbox-of-(\d{1,10})-(\d{1,20})\0")
_STARTTIME = 19
"""Position after the closing bracket of /proc/PID/stat (field 22 of proc(5))."""


@dataclass(frozen=True)
class Owner:
    """A harness, living or not."""

    pid: int
    started: int
    """Ticks since boot."""


def this_process() -> Owner:
    """The harness that asks."""
    return Owner(os.getpid(), _start_of(os.getpid()) or 0)


def mark() -> str:
    """The name of a process that belongs to this one."""
    owner = this_process()
    return f"blendscribe-sandbox-of-{owner.pid}-{owner.started}"


def owner_in(command_line: bytes) -> Owner | None:
    """Who owns a process with this command line; None if it is no sandbox of ours."""
    found = _MARK.match(command_line)
    return Owner(int(found[1]), int(found[2])) if found else None


def is_alive(owner: Owner) -> bool:
    """Whether that very process still runs. One that has ended and is not yet waited for does not."""
    return _start_of(owner.pid) == owner.started


def _start_of(pid: int) -> int | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return None
    return None if fields[0] in (b"Z", b"X") else int(fields[_STARTTIME])
