"""Short-lived children of a session: do one thing in a copy of the process, answer with bytes, and are gone.

Also what the session needs to know of processes: who is below whom, how much memory they hold, how to end them.
"""

import ctypes
import gc
import os
import random
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LIBC = ctypes.CDLL(None)
_END_SECONDS = 5.0
_F_SETPIPE_SZ, _PIPE_BYTES = 1031, 1 << 20
_OUT_OF_THE_WAY = 900
"""Our descriptors are moved here: what a script may close (0 to 2, `os.closerange(3, 256)`) lies below."""


class Child:
    """A forked process that runs one function and sends back what it yields."""

    def __init__(self, work: Callable[[], Iterable[bytes]]) -> None:
        read, write = pipe()
        self.pid = fork()
        if self.pid == 0:
            _work_and_leave(work, write)
        os.close(write)
        self._read: int | None = read
        self._answer = bytearray()

    def answer(self, deadline: float) -> bytes:
        """What it sent until it closed its end; it is killed at `deadline`, on time.monotonic's clock."""
        if self._read is None:
            return bytes(self._answer)
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
        self._read = None
        return bytes(self._answer)

    def let_go(self) -> None:
        """In a fork of the process that made it: give up the reading end, which is not ours."""
        if self._read is not None:
            os.close(self._read)

    def wait(self, deadline: float) -> tuple[bytes, int]:
        """(its answer, its wait status), once it is gone.

        A script's handler may have closed its end of the pipe and go on: it is not waited for.
        """
        answer = self.answer(deadline)
        if not _ends_within(self.pid, _END_SECONDS):
            kill(self.pid)
        return answer, wait_for(self.pid)


def _ends_within(pid: int, seconds: float) -> bool:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    has_ended = bool(poller.poll(seconds * 1000))
    os.close(descriptor)
    return has_ended


def _work_and_leave(work: Callable[[], Iterable[bytes]], write: int) -> None:
    """Nothing of the script may go on in this process, whatever `work` raises."""
    try:
        die_with_parent(True)
        gc.disable()  # a collection would touch, and so copy, every page that holds an object
        for piece in work():
            write_all(write, piece)
        os.close(write)  # here, because the kernel closes it only after it has taken the memory back
        status = 0
    except BaseException as error:  # noqa: BLE001 - the parent is told by the status; the reason goes to the log
        os.write(2, f"{type(error).__name__}: {error}\n".encode(errors="replace"))
        status = 1
    finally:
        os._exit(status)


# descriptors


def pipe() -> tuple[int, int]:
    """A pipe (reading end, writing end) out of the way of scripts, which holds a whole scene state: no ping-pong."""
    import fcntl

    read, write = os.pipe()
    try:
        fcntl.fcntl(write, _F_SETPIPE_SZ, _PIPE_BYTES)
    except OSError:
        pass  # the user has too many; 64 kB do
    return out_of_the_way(read), out_of_the_way(write)


def out_of_the_way(descriptor: int) -> int:
    """Moves a descriptor to a high number, where numbers reach so high; closed on exec."""
    import fcntl

    try:
        moved = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _OUT_OF_THE_WAY)
    except OSError:
        os.set_inheritable(descriptor, False)
        return descriptor
    os.close(descriptor)
    return moved


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def flush() -> None:
    """What Python and Blender's own C code hold back: a process that leaves by os._exit, or forks, must not keep it."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:  # noqa: BLE001 - the script may have put anything in its place
            continue
    LIBC.fflush(None)


# processes


def fork() -> int:
    """os.fork, after which `random` goes on as in the parent; Python itself seeds it anew in each child."""
    state = random.getstate()
    pid = os.fork()
    if pid == 0:
        random.setstate(state)
    return pid


def die_with_parent(is_on: bool) -> None:
    """Whether this process is killed when the thread that forked it ends."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL if is_on else 0, 0, 0, 0)


def kill(pid: int) -> None:
    """SIGKILL, if it is still there."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def wait_for(pid: int) -> int:
    """The wait status of a child; 0 if a script's own handler has taken it."""
    try:
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return 0


def descendants(pid: int) -> list[int]:
    """Living processes below `pid`, which must be a subreaper for daemons to be among them."""
    tree = [pid]
    for parent in tree:
        try:
            for task in os.listdir(f"/proc/{parent}/task"):
                with open(f"/proc/{parent}/task/{task}/children", "rb") as file:
                    tree += [int(word) for word in file.read().split()]
        except OSError:
            continue
    return [pid for pid in tree[1:] if not _is_zombie(pid)]


def end_all_below(root: int, *, but: set[int]) -> None:
    """End every descendant of `root` except those in `but`; stopped first, so that none can fork away."""
    deadline = time.monotonic() + _END_SECONDS
    while pids := [pid for pid in descendants(root) if pid not in but]:
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid in pids:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue
        if time.monotonic() > deadline:
            break
        time.sleep(0.0005)
    reap()


def reap() -> None:
    """Take leave of own children that have ended."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def memory_mb(pid: int, limit_mb: int) -> int:
    """Memory of `pid` and all below it; pages they share are counted once where that decides."""
    below = descendants(pid)
    own = _resident_kb(pid)
    total_kb = own + sum(map(_resident_kb, below))
    if total_kb >> 10 > limit_mb and below:
        total_kb = own + sum(map(_private_kb, below))
    return total_kb >> 10


def _is_zombie(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X")
    except OSError:
        return True


def _resident_kb(pid: int) -> int:
    return _sum_kb(f"/proc/{pid}/status", ("RssAnon:", "RssShmem:"))


def _private_kb(pid: int) -> int:
    return _sum_kb(f"/proc/{pid}/smaps_rollup", ("Private_Dirty:",))


def _sum_kb(file_name: str, names: tuple[str, ...]) -> int:
    try:
        with open(file_name) as file:
            return sum(int(line.split()[1]) for line in file if line.startswith(names))
    except OSError:
        return 0
