"""Runs one command without namespaces so that nothing of it outlives it. Started as its own process.

    python -I -S supervise.py SECONDS WORKSPACE RLIMIT=VALUE... -- COMMAND...

The supervisor is the subreaper of everything the command starts, so daemons that fork twice and call
setsid come back to it and are killed with the rest. It ends with the command's status (128 + signal for
a signal), 124 for a timeout, 143 when told to stop. It does not hide files, keys of other processes or the
network, and code of the same user that looks for it can kill it: that is what level `limits-only` means.
"""

import ctypes
import os
import resource
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36


def main() -> None:
    seconds, workspace = float(sys.argv[1]), sys.argv[2]
    split = sys.argv.index("--")
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, _on_stop)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    child = os.fork()
    if child == 0:
        _become(sys.argv[split + 1 :], workspace, sys.argv[3:split])
    status = _wait(child, time.monotonic() + seconds)
    _kill_descendants()
    os._exit(status)


def _become(command: list[str], workspace: str, limits: list[str]) -> None:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        os.chdir(workspace)
        for limit in limits:
            name, _, value = limit.partition("=")
            kind = getattr(resource, name)
            hard = resource.getrlimit(kind)[1]
            wanted = int(value) if hard == resource.RLIM_INFINITY else min(int(value), hard)
            resource.setrlimit(kind, (wanted, wanted))
        os.execv(command[0], command)
    except OSError as error:
        os.write(2, f"cannot start {command[0]}: {error}\n".encode())
    os._exit(127)


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
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for _ in range(100):
            tree = _children(os.getpid())
            for pid in tree:
                tree += _children(pid)
            for pid in tree:
                try:
                    os.kill(pid, number)
                except ProcessLookupError:
                    continue
            _reap()
            if not _children(os.getpid()) or number == signal.SIGSTOP:
                break
            time.sleep(0.005)


if __name__ == "__main__":
    main()
