"""Which Blenders of this process work at the same time: a number of slots, memory before each start, first come first
served.

Every Blender passes here: `run_in_blender`, a step session's start, each of its steps, and a whole verdict. A session
between two steps holds no slot: it sleeps while the model thinks. Who holds a slot never waits for a second one (a
verdict starts several Blenders, one after the other), so that no two can wait for each other. Outside of a launch
there are no slots, and nothing waits.

Not covered: Blenders that a model's shell command starts by itself; `agent_plugin/environment.py` asks for a slot for
such a command.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from harness.errors import NotEnoughMemory, WaitStopped
from harness.sandbox.watchdog import available_memory_mb

BLENDER_MB = 768
"""What one Blender is measured to take while it works, bpy 4.5 with Mesa 22: 160 MiB for a monkey's film, 270 MiB for
640x360 with 33 objects, up to 620 MiB in a step of a session with views (pages that a fork shares are counted twice
there; idle it holds 100 MiB). A quarter more than the largest. A task may take more, up to its `memory_mb`."""
SESSION_MB = 2 * BLENDER_MB
"""For a session, which stays: another Blender has to find room beside it, or nothing could ever be judged."""
LEFT_MB = 512
"""Stays free on the machine; a little more than what the sandbox's own watchdog asks for."""
_POLL_SECONDS = 0.5
_GROWS_SECONDS = 3.0
"""How long a new Blender is taken to be smaller than it will be."""
_MAX_WAIT_FOR_MEMORY = 600.0


def never() -> bool:
    """For who is not stopped."""
    return False


def tell_nobody(_what: str) -> None:
    """For who does not want to know."""


def default_slots() -> int:
    """By the cores that this process may use, and by the memory that is free."""
    by_memory = (available_memory_mb() - LEFT_MB) // BLENDER_MB
    return max(1, min(len(os.sched_getaffinity(0)), by_memory))


@dataclass(eq=False)
class _Ticket:
    """A Blender that waits for its turn."""

    need_mb: int


class BlenderSlots:
    """Shared by all threads of a launch."""

    def __init__(
        self,
        n_slots: int | None = None,
        *,
        is_stopped: Callable[[], bool] = never,
        say: Callable[[str], None] = tell_nobody,
        available_mb: Callable[[], int] = available_memory_mb,
        max_wait_for_memory: float = _MAX_WAIT_FOR_MEMORY,
    ) -> None:
        """`n_slots` None: nothing waits. `say` is called in the thread that waits: for what, and '' when it goes on.

        `is_stopped` ends the waiting of all that wait.
        """
        self.n_slots = n_slots
        self._is_stopped, self._say = is_stopped, say
        self._available_mb, self._max_wait = available_mb, max_wait_for_memory
        self._condition = threading.Condition()
        self._line: deque[_Ticket] = deque()
        self._n_working = 0
        self._began: deque[tuple[float, int]] = deque()
        """When the last Blenders were let in, and what each will take."""
        self._mine = threading.local()

    @property
    def environment(self) -> dict[str, str]:
        """What a Blender is told so that the slots share the cores: Mesa's threads beside its main one."""
        if self.n_slots is None or self.n_slots < 2:
            return {}
        n_threads = len(os.sched_getaffinity(0)) // self.n_slots
        return {"LP_NUM_THREADS": str(n_threads if n_threads > 1 else 0)}

    @contextmanager
    def working(self, need_mb: int = 0) -> Iterator[None]:
        """Wait for a slot, and until `need_mb` of memory are there; hold it for the time of the `with`.

        Within another `working` of the same thread it is there already. Raises WaitStopped, NotEnoughMemory.
        """
        if self.n_slots is None or getattr(self._mine, "has_slot", False):
            yield
            return
        self._enter(_Ticket(need_mb), self.n_slots)
        self._mine.has_slot = True
        try:
            yield
        finally:
            self._mine.has_slot = False
            with self._condition:
                self._n_working -= 1
                self._condition.notify_all()

    def _enter(self, ticket: _Ticket, n_slots: int) -> None:
        started, told = time.monotonic(), ""
        with self._condition:
            self._line.append(ticket)
        try:
            while why := self._take(ticket, n_slots):
                if self._is_stopped():
                    raise WaitStopped("The run was stopped while a Blender waited for its turn.")
                if why != told:
                    self._say(why)
                    told = why
                if ticket.need_mb and time.monotonic() - started > self._max_wait and self._is_short(ticket):
                    raise NotEnoughMemory(
                        f"A Blender needs {ticket.need_mb} MiB of memory, and {self._available_mb()} MiB were there "
                        f"after {self._max_wait:.0f} s."
                    )
                with self._condition:
                    self._condition.wait(_POLL_SECONDS)
        finally:
            with self._condition:
                if ticket in self._line:
                    self._line.remove(ticket)
            if told:
                self._say("")

    def _take(self, ticket: _Ticket, n_slots: int) -> str:
        """Take a slot if it is this one's turn: '' then, else what it waits for."""
        with self._condition:
            if self._n_working >= n_slots:
                return "a Blender slot"
            room = self._room_mb()
            # one that needs memory does not keep those waiting that need none: they will give some back
            first = next((one for one in self._line if one.need_mb <= room), None)
            if first is not ticket:
                return "a Blender slot" if ticket.need_mb <= room else "memory for Blender"
            self._line.remove(ticket)
            self._n_working += 1
            self._began.append((time.monotonic(), ticket.need_mb))
            return ""

    def _is_short(self, ticket: _Ticket) -> bool:
        with self._condition:
            return ticket.need_mb > self._room_mb()

    def _room_mb(self) -> int:
        """Memory for another one, what the last ones are about to take left out."""
        while self._began and time.monotonic() - self._began[0][0] > _GROWS_SECONDS:
            self._began.popleft()
        if not any(one.need_mb for one in self._line):
            return 0
        return self._available_mb() - LEFT_MB - sum(need_mb for _, need_mb in self._began)


_in_force = BlenderSlots()


def blender_slots() -> BlenderSlots:
    """Those in force in this process."""
    return _in_force


@contextmanager
def admission(slots: BlenderSlots) -> Iterator[None]:
    """Put `slots` in force for the time of the `with`."""
    global _in_force
    before, _in_force = _in_force, slots
    try:
        yield
    finally:
        _in_force = before
