"""How many calls a provider gets at once: as many as the config allows, fewer when it complains, slowly more again.

One gate stands before each provider (a route at an address) and is shared by all episodes of the process. A complaint
(429, overloaded) halves the number and closes the gate to everybody for as long as the provider asks; each round of
answers raises it by one. So a storm of complaints costs waiting, not episodes: who asks again waits before the gate,
and the time that it may go on is counted from the provider's last answer to anybody (`retry.py`).
"""

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from agent_plugin.models.deadline import Stopped, never
from agent_plugin.models.failures import Failure

_POLL_SECONDS = 0.2
_LONGEST_BACKOFF = 60.0
_LONGEST_PAUSE = 900.0
"""Whatever is asked for: then one call finds out, and gives up where that is longer than it may wait."""
_UNLIMITED = 10_000.0


class ProviderGate:
    """Entered once a call. Safe to use from many threads; first come, first served."""

    def __init__(self, most: int | None = None, clock: Callable[[], float] = time.monotonic) -> None:
        """`most`: calls at once, whatever the provider bears."""
        self._most = float(most) if most else _UNLIMITED
        self._limit, self._clock = self._most, clock
        self._condition = threading.Condition()
        self._line: deque[object] = deque()
        self._n_inside = 0
        self._closed_until = 0.0
        self._n_complaints = 0
        """In a row, each of calls that were made after the one before."""
        self._complained_at = -math.inf
        self.answered_at = -math.inf
        """When the provider last gave an answer to anybody, by the clock."""

    @property
    def limit(self) -> int:
        """Calls that may be under way now."""
        return max(1, int(self._limit))

    @contextmanager
    def call(
        self, is_stopped: Callable[[], bool] = never, say: Callable[[str], None] = lambda _what: None
    ) -> Iterator[None]:
        """Wait for a place and hold it for one call. Raises Stopped.

        `say` is told what is waited for, and '' when it goes on.
        """
        self._enter(is_stopped, say)
        try:
            yield
        finally:
            with self._condition:
                self._n_inside -= 1
                self._condition.notify_all()

    def answered(self) -> None:
        """A call was answered."""
        with self._condition:
            self.answered_at = self._clock()
            self._n_complaints = 0
            self._limit = min(self._most, self._limit + 1 / max(1.0, self._limit))

    def complained(self, failure: Failure, began_at: float) -> None:
        """A call that began at `began_at` and is over was refused for the rate. Calls of one time count once."""
        with self._condition:
            now = self._clock()
            if began_at >= self._complained_at:
                self._complained_at = now
                self._n_complaints += 1
                self._limit = max(1.0, min(self._limit, self._n_inside + 1) / 2)
            pause = failure.retry_after or min(_LONGEST_BACKOFF, 2.0 ** (self._n_complaints - 1))
            pause = min(pause, _LONGEST_PAUSE)
            self._closed_until = max(self._closed_until, now + pause)

    def _enter(self, is_stopped: Callable[[], bool], say: Callable[[str], None]) -> None:
        ticket, is_told = object(), False
        with self._condition:
            self._line.append(ticket)
        try:
            while not self._take(ticket):
                if not is_told:
                    is_told = True
                    say("the provider's rate limit")
                if is_stopped():
                    raise Stopped
                with self._condition:
                    self._condition.wait(_POLL_SECONDS)
        finally:
            with self._condition:
                if ticket in self._line:
                    self._line.remove(ticket)
            if is_told:
                say("")

    def _take(self, ticket: object) -> bool:
        with self._condition:
            is_open = self._n_inside < self.limit and self._clock() >= self._closed_until
            if not is_open or self._line[0] is not ticket:
                return False
            self._line.popleft()
            self._n_inside += 1
            return True


_gates: dict[tuple[str, str], ProviderGate] = {}
_lock = threading.Lock()


def gate_for(route: str, address: str, most: int | None) -> ProviderGate:
    """The gate of a provider: `route` (family and the start of the model's name) at `address`."""
    with _lock:
        return _gates.setdefault((route, address), ProviderGate(most))
