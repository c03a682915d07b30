"""Measures a running process tree and its workspace from outside. Decides nothing.

Resident memory is RssAnon + RssShmem + page tables over the tree, which is cheap and counts pages shared after a
fork once per process; `proportional_memory_mb` divides them among their owners, for a second look before a verdict.
Memory in unmapped files of a tmpfs is not seen; those are sized instead, and memfd and System V memory are refused
by seccomp.
"""

import os
from pathlib import Path

from harness.sandbox.limits import Usage

_MAX_TREE = 5_000
_DEEPEST = 3_000
"""Length of a path; the kernel takes 4,095."""


def process_tree(root_pid: int) -> list[int]:
    """`root_pid` and all its living descendants (reading `children` is 10 times cheaper than scanning /proc)."""
    tree = [root_pid]
    for pid in tree:
        if len(tree) > _MAX_TREE:
            break
        try:
            for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - pathlib makes it 3 times slower
                tree += [int(p) for p in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
        except OSError:
            continue  # it ended while we looked
    return tree


def tree_usage(root_pid: int, *, max_processes: int) -> Usage:
    """Memory and number of processes below (not including) `root_pid`, bubblewrap's own process.

    Where there are more than `max_processes`, their memory is not looked at: that would give them time to multiply.
    """
    tree = process_tree(root_pid)[1:]
    if len(tree) > max_processes:
        return Usage(n_processes=len(tree))
    memory_kb = n_processes = 0
    for pid in tree:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
        except OSError:
            continue
        n_processes += 1
        for line in status.splitlines():
            if line.startswith(("RssAnon:", "RssShmem:", "VmPTE:")):
                memory_kb += int(line.split()[1])
    return Usage(memory_mb=memory_kb >> 10, n_processes=n_processes)


def proportional_memory_mb(root_pid: int) -> int:
    """Memory below `root_pid` with every shared page counted once (Pss); 0 where the kernel does not tell."""
    memory_kb = 0
    for pid in process_tree(root_pid)[1:]:
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        for line in rollup.splitlines():
            if line.startswith(("Pss_Anon:", "Pss_Shmem:")):
                memory_kb += int(line.split()[1])
    return memory_kb >> 10


def folder_usage(folder: Path, *, max_entries: int) -> tuple[int, int]:
    """(allocated bytes, entries) below `folder`, links not followed.

    Stops counting past `max_entries`, and says as much for folders nested too deep to be named by a path.
    """
    n_bytes = n_entries = 0
    waiting = [str(folder)]
    while waiting:
        try:
            entries = os.scandir(waiting.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                n_entries += 1
                if n_entries > max_entries or len(entry.path) > _DEEPEST:
                    return n_bytes, max_entries + 1
                try:
                    n_bytes += entry.stat(follow_symlinks=False).st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                except OSError:
                    continue
    return n_bytes, n_entries


def available_memory_mb() -> int:
    """What the machine can still give without swapping. Memory that no process maps at the moment shows only here."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) >> 10
    return 1 << 20


def free_disk_mb(folder: Path) -> int:
    """What is free where `folder` lies. Files that are deleted and still open show only here."""
    try:
        state = os.statvfs(folder)
    except OSError:
        return 1 << 30
    return state.f_bavail * state.f_frsize >> 20


def inodes_used(namespace_pid: int, mount: str, *, size_bytes: int) -> int:
    """Inodes in use on the sandbox's own tmpfs of `size_bytes` at `mount`; 0 where that cannot be read.

    While the sandbox is still being set up the path leads to the host's file system: its size gives it away.
    """
    try:
        state = os.statvfs(f"/proc/{namespace_pid}/root{mount}")
    except OSError:
        return 0
    return state.f_files - state.f_ffree if state.f_blocks * state.f_frsize == size_bytes else 0
