"""A wall-clock limit for a call that cannot be interrupted.

HTTP clients limit the time between two bytes: a server that sends one byte now and then holds a call for ever. So the
call is made in a thread of its own, and is left to itself when its time is up. The thread is a daemon: it keeps
nobody from leaving. It is left to itself as well when the run is stopped.
"""

import queue
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


_POLL_SECONDS = 0.1


class Stopped(Exception):
    """The run is stopped: an episode ends between two steps, or while it waits for a model."""


class RequestTookTooLong(Exception):
    """The answer was not there in time; the call was left behind."""


def never() -> bool:
    """For who is not stopped."""
    return False


def sleep_unless(is_stopped: Callable[[], bool], seconds: float) -> None:
    """A pause. Raises Stopped as soon as that is so."""
    ends_at = time.monotonic() + seconds
    while (left := ends_at - time.monotonic()) > 0:
        if is_stopped():
            raise Stopped
        time.sleep(min(_POLL_SECONDS, left))


def call_within(seconds: float, call: Callable[[], T], is_stopped: Callable[[], bool] = never) -> T:
    """The call's result, or what it raised. Raises RequestTookTooLong after `seconds` by the clock, or Stopped."""
    outcome: queue.SimpleQueue[tuple[T | None, BaseException | None]] = queue.SimpleQueue()

    def run() -> None:
        try:
            outcome.put((call(), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again, in the thread that waits
            outcome.put((None, error))

    threading.Thread(target=run, name="model-call", daemon=True).start()
    ends_at = time.monotonic() + seconds
    while True:
        try:
            result, error = outcome.get(timeout=max(0.0, min(_POLL_SECONDS, ends_at - time.monotonic())))
            break
        except queue.Empty:
            if is_stopped():
                raise Stopped from None
            if time.monotonic() >= ends_at:
                raise RequestTookTooLong(f"no whole answer within {seconds:g} s") from None
    if error is not None:
        raise error
    return result  # type: ignore[return-value]  # a result that is None is one of T
