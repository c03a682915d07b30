"""A wall-clock limit for a call that cannot be interrupted.

HTTP clients limit the time between two bytes: a server that sends one byte now and then holds a call for ever. So the
call is made in a thread of its own, and is left to itself when its time is up. The thread is a daemon: it keeps
nobody from leaving.
"""

import queue
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class RequestTookTooLong(Exception):
    """The answer was not there in time; the call was left behind."""


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """The call's result, or what it raised. Raises RequestTookTooLong after `seconds` by the clock."""
    outcome: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread that waits
            outcome.put((None, error))

    threading.Thread(target=run, name="model-call", daemon=True).start()
    try:
        result, error = outcome.get(timeout=seconds)
    except queue.Empty:
        raise RequestTookTooLong(f"no whole answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # a result that is None is one of T
