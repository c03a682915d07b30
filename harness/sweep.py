"""Clears away what a killed harness left on this machine. Called where a command starts to work.

A harness that is killed (SIGKILL, out of memory) cannot end its sandboxes itself. bubblewrap ends with its parent, but
asks for that only some milliseconds after its start; those that were too young stay, waiting or with their command
running. And its private folders stay in any case.

A living harness is recognised by what cannot outlive it: its lock on a folder (`harness.folders`), its pid and
starting time in the name of a sandbox's process (`harness.sandbox.owner`). Nothing of another user is touched, and
nothing of another pid namespace, where pids mean something else.
"""

import os
import select
import signal
import tempfile
from pathlib import Path

from harness.folders import PREFIX, SUFFIX, hold_abandoned, remove_folder
from harness.sandbox.other_user import is_sandbox_uid
from harness.sandbox.owner import is_alive, owner_in

_GRACE_SECONDS = 5


def sweep() -> None:
    """End sandboxes and remove folders whose harness is gone. Never raises: what cannot be removed stays."""
    for pid in _processes():
        _end_if_abandoned(pid)
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*{SUFFIX}"):
        _remove_if_abandoned(folder)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - one system call
    except OSError:
        return []  # no Linux


def _end_if_abandoned(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)  # first, so that what is looked at is what is ended
    except OSError:
        return
    try:
        if _is_abandoned(pid):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            select.select([descriptor], [], [], _GRACE_SECONDS)  # nothing may be writing into its folders any more
    except (OSError, ValueError):
        pass  # it has ended meanwhile
    finally:
        os.close(descriptor)


def _is_abandoned(pid: int) -> bool:
    owner = owner_in(Path(f"/proc/{pid}/cmdline").read_bytes())
    if owner is None or is_alive(owner):
        return False
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    pids = status["NSpid"].split()
    is_ours = int(status["Uid"].split()[0]) == os.geteuid()
    return is_ours and (len(pids) == 1 or (len(pids) == 2 and pids[1] == "1"))


def _remove_if_abandoned(folder: Path) -> None:
    lock = hold_abandoned(folder)
    if lock is None:
        return
    try:
        uid = os.fstat(lock).st_uid
        if uid == os.geteuid() or (os.geteuid() == 0 and is_sandbox_uid(uid)):
            remove_folder(folder)
    finally:
        os.close(lock)
