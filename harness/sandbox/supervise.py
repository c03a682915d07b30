"""Runs one command without namespaces so that nothing of it outlives it. Started as its own process.

    python -I -S supervise.py SECONDS WORKSPACE STATUS_FD NAME=VALUE... -- COMMAND...

Names: RLIMIT_..., the limits; READ, LIST, WRITE and DEVICE, paths. With any of these the command is confined to them
(see `confine.py`). STATUS_FD is told `{"child-pid": N}` once the command is about to start, and never if it cannot be
limited or confined.

The supervisor is the subreaper of everything the command starts, so daemons that fork twice and call
setsid come back to it and are killed with the rest. It ends with the command's status (128 + signal for
a signal), 124 for a timeout, 143 when told to stop.

Not confined (level `limits-only`), the command sees files, keys of other processes and the network, and code that
looks for the supervisor can kill it. Confined, it cannot, from Landlock's sixth version on. If the supervisor is
killed all the same (by a user, or by the kernel when memory ends), the command dies with it; its daemons live on, as
confined as before.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Iterable

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> None:
    seconds, workspace, status_fd = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    split = sys.argv.index("--")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, _on_stop)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    child = os.fork()
    if child == 0:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        _become(sys.argv[split + 1 :], workspace, status_fd, sys.argv[4:split])
    os.close(status_fd)
    status = _wait(child, time.monotonic() + seconds)
    _kill_descendants()
    os._exit(status)


def _become(command: list[str], workspace: str, status_fd: int, words: list[str]) -> None:
    values: dict[str, list[str]] = {}
    for word in words:
        name, _, value = word.partition("=")
        values.setdefault(name, []).append(value)
    paths = {name: values.pop(name, []) for name in ("READ", "LIST", "WRITE", "DEVICE")}
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        os.chdir(workspace)
        for name, (value,) in values.items():
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            wanted = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
            resource.setrlimit(kind, (wanted, wanted))
        os.set_inheritable(status_fd, False)
        if any(paths.values()):
            _confine(paths)
        os.write(status_fd, b'{"child-pid": %d}' % os.getpid())
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error}\n".encode())
    os._exit(127)


def _confine(paths: dict[str, list[str]]) -> None:
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    # from beside this file: their package would first load the whole sandbox. mypy does not know them by these names
    import confine  # type: ignore[import-not-found]
    import seccomp  # type: ignore[import-not-found]

    confine.confine(
        readable=paths["READ"],
        listed=paths["LIST"],
        writable=paths["WRITE"],
        devices=paths["DEVICE"],
        program=seccomp.program(is_alone=True),
    )


def _wait(child: int, deadline: float) -> int:
    """The status of `child` when it ends, or 124 at the deadline; reaps orphans on the way."""
    descriptor = os.pidfd_open(child)
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    while time.monotonic() < deadline:
        if poller.poll(200):
            _, status = os.waitpid(child, 0)
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        _reap(except_for=child)
    return 124


def _reap(*, except_for: int = 0) -> None:
    for pid in _children(os.getpid()):
        if pid != except_for:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


def _on_stop(_number: int, _frame: object) -> None:
    _kill_descendants()
    os._exit(143)


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as file:
                children += [int(word) for word in file.read().split()]
    except OSError:
        pass
    return children


def _kill_descendants() -> None:
    """Stop everything first, so that nothing can fork away while it is being killed."""
    stopped: set[int] = set()
    while new := set(_descendants()) - stopped:
        _send(new, signal.SIGSTOP)
        stopped |= new
    for _ in range(100):
        _send(_descendants(), signal.SIGKILL)
        _reap()
        if not _children(os.getpid()):
            break
        time.sleep(0.005)


def _descendants() -> list[int]:
    tree = _children(os.getpid())
    for pid in tree:
        tree += _children(pid)
    return tree


def _send(pids: Iterable[int], number: int) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
