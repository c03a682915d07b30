"""Short-lived children of a session: do one thing in a copy of the process, answer with bytes, and are gone."""

import os
import select
import signal
import time
from collections.abc import Callable

PR_SET_CHILD_SUBREAPER = 36


class Child:
    """A forked process that runs one function and sends back what it returns."""

    def __init__(self, work: Callable[[], bytes]) -> None:
        read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(read)
            _work_and_leave(work, write)
        os.close(write)
        self._read, self._answer = read, bytearray()

    def wait(self, deadline: float) -> tuple[bytes | None, int]:
        """(answer, wait status) when it has ended by itself, (None, status) when it died or was killed at `deadline`.

        `deadline` is on time.monotonic's clock.
        """
        poller = select.poll()
        poller.register(self._read, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            if not poller.poll(left * 1000):
                continue
            chunk = os.read(self._read, 1 << 20)
            if not chunk:
                break
            self._answer += chunk
        else:
            kill(self.pid)
        os.close(self._read)
        _, status = os.waitpid(self.pid, 0)
        return (bytes(self._answer) if status == 0 else None), status


def _work_and_leave(work: Callable[[], bytes], write: int) -> None:
    try:
        view = memoryview(work())
        while view:
            view = view[os.write(write, view) :]
    except BaseException as error:  # noqa: BLE001 - the parent is told by the status; the reason goes to the log
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
        os._exit(1)
    os._exit(0)


def kill(pid: int) -> None:
    """SIGKILL, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def descendants(pid: int) -> list[int]:
    """Living processes below `pid`, which must be a subreaper for daemons to be among them."""
    tree = [pid]
    for parent in tree:
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children") as file:
                    tree += [int(word) for word in file.read().split()]
        except OSError:
            continue
    return tree[1:]


def kill_all_below(root: int, *, but: set[int]) -> None:
    """Kill every descendant of `root` except those in `but`; stopped first, so that none can fork away."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for pid in descendants(root):
            if pid not in but:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue


def memory_mb(pids: list[int]) -> int:
    """Memory of these processes, shared pages divided among their owners (Pss)."""
    total_kb = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/smaps_rollup") as file:
                total_kb += sum(int(line.split()[1]) for line in file if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
        except OSError:
            continue
    return total_kb >> 10
