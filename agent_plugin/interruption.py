"""Ctrl-C and SIGTERM: once, to finish what runs and stop; twice, to kill everything and leave."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from agent_plugin.spending import Stop
from harness.sandbox.watchdog import process_tree

STOPPING = (
    "Stopping after the running commands and renders (harness.exec_timeout, environment.timeout at most); "
    "model calls are given up. Ctrl-C again stops at once."
)


@contextmanager
def interruptible(stop: Stop, say: Callable[[str], None]) -> Iterator[None]:
    """Ctrl-C (or SIGTERM) once: finish what runs in Blender and bash, leave model calls, stop. Twice: kill it all."""

    def on_signal(_number: int, _frame: Any) -> None:
        if stop.requested.is_set():
            _kill_descendants()
            os._exit(130)
        stop.requested.set()
        say(STOPPING)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _kill_descendants() -> None:
    """Stop everything before killing anything, so that nothing can fork away from it."""
    stopped: set[int] = set()
    while new := set(process_tree(os.getpid())[1:]) - stopped:
        for pid in new:
            _send(pid, signal.SIGSTOP)
        stopped |= new
    for pid in stopped:
        _send(pid, signal.SIGKILL)


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
