"""Holds episodes back while the provider or the machine fails: a run must not burn a whole task list in an outage.

One breaker stands for what fails together: the episodes of one model, or everything on this machine. It trips when the
last episodes were all, or nearly all, lost for the same reason. Then one episode at a time is let through, to see
whether it is over; the time between two grows. No clock but the one that is given, and no threads: the launcher's loop
asks and tells.
"""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from agent_plugin.losses import LOSSES, LossClass

LONGEST_PROBE_SECONDS = 300.0
_WINDOW = 20
_MOST = 0.8
"""Share of the window that is lost for the same reason when the breaker trips without a row."""


@dataclass(frozen=True)
class Pause:
    """What is held back, and why. Its text is one line for a person."""

    model: str
    """Whose episodes; '' for those of every model."""
    loss: LossClass
    error: str
    """The last one."""
    n_lost: int
    """Episodes lost to it so far."""
    since: str
    """When the first of them was lost: UTC."""
    probe_in_seconds: float
    """Until the next episode is tried."""

    def __str__(self) -> str:
        whose = f"episodes of {self.model}" if self.model else "all episodes"
        lost = f"{self.n_lost} lost since {self.since}; " if self.n_lost else f"since {self.since}; "
        return (
            f"Paused: {whose}, because {LOSSES[self.loss].what} ({lost}last: {self.error.rstrip('. ')}). "
            f"What to do: {LOSSES[self.loss].advice}. It is tried again in {self.probe_in_seconds:.0f} s, and goes on "
            "by itself when it works."
        )


class Breaker:
    """Closed, open (nothing starts), or half open (one episode is out to try)."""

    def __init__(
        self,
        model: str,
        n_losses: int,
        max_pause_seconds: float,
        probe_seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], str],
    ) -> None:
        """`n_losses` in a row trip it; `probe_seconds` later the first episode tries; after `max_pause_seconds` without
        a success it gives up."""
        self._model, self._n_losses, self._max_pause = model, n_losses, max_pause_seconds
        self._first_probe_seconds = probe_seconds
        self._clock, self._now = clock, now
        self._recent: deque[LossClass | None] = deque(maxlen=max(_WINDOW, n_losses))
        """The newest last; None for a success."""
        self._first_lost_at: dict[LossClass, str] = {}
        self.pause: Pause | None = None
        self._paused_at = self._probe_at = 0.0
        self._probe_seconds = probe_seconds
        self._is_probing = False
        self.has_given_up = False

    def may_start(self) -> bool:
        """Whether an episode may begin now."""
        if self.has_given_up:
            return False
        return self.pause is None or (not self._is_probing and self._clock() >= self._probe_at)

    def started(self) -> None:
        """An episode began; where it is open, this is the one that tries."""
        self._is_probing = self.pause is not None

    def succeeded(self) -> Pause | None:
        """An episode has a result. Returns the pause that it ended."""
        ended, self.pause = self.pause, None
        self._recent.append(None)
        self._first_lost_at.clear()
        self._is_probing = self.has_given_up = False  # one that began before may still show that all is well
        return ended

    def lost(self, loss: LossClass, error: str, *, is_probe: bool) -> Pause | None:
        """An episode was lost. Returns the pause that begins or goes on with it."""
        self._recent.append(loss)
        since = self._first_lost_at.setdefault(loss, self._now())
        if self.pause is not None:
            return self._lost_while_open(loss, error, is_probe=is_probe)
        if not self._is_too_much(loss):
            return None
        n_lost = sum(one == loss for one in self._recent)
        return self._open(loss, error, n_lost, since)

    def hold(self, loss: LossClass, error: str) -> Pause | None:
        """Something is known to be wrong without an episode. Returns the pause, if it is a new one."""
        if self.pause is not None:
            return None
        return self._open(loss, error, 0, self._now())

    def release(self, loss: LossClass) -> Pause | None:
        """What `hold` held for is over: where nothing was lost to it, no episode has to try. Returns the pause."""
        if self.pause is None or self.pause.loss != loss or self.pause.n_lost:
            return None
        return self.succeeded()

    def unresolved(self) -> None:
        """The episode that tried was stopped, or said nothing either way: another one may try."""
        self._is_probing = False

    def give_up_if_due(self) -> bool:
        """Whether it has just given up: it was open for too long, and nothing is out to try."""
        if self.pause is None or self.has_given_up or self._is_probing:
            return False
        self.has_given_up = self._clock() - self._paused_at >= self._max_pause
        return self.has_given_up

    def _is_too_much(self, loss: LossClass) -> bool:
        row = list(self._recent)[-self._n_losses :]
        if len(row) == self._n_losses and all(one == loss for one in row):
            return True
        return len(self._recent) >= _WINDOW and sum(one == loss for one in self._recent) >= _MOST * len(self._recent)

    def _open(self, loss: LossClass, error: str, n_lost: int, since: str) -> Pause:
        self._paused_at = self._clock()
        self._probe_seconds, self._is_probing = self._first_probe_seconds, False
        return self._wait(loss, error, n_lost, since)

    def _lost_while_open(self, loss: LossClass, error: str, *, is_probe: bool) -> Pause | None:
        """One that began before the pause changes nothing but the count; the one that tried puts the next one off."""
        assert self.pause is not None
        n_lost, since = self.pause.n_lost + 1, self.pause.since
        if not is_probe:
            self.pause = Pause(
                self._model, self.pause.loss, self.pause.error, n_lost, since, self.pause.probe_in_seconds
            )
            return None
        self._is_probing = False
        self._probe_seconds = max(self._first_probe_seconds, min(LONGEST_PROBE_SECONDS, 2 * self._probe_seconds))
        return self._wait(loss, error, n_lost, since)

    def _wait(self, loss: LossClass, error: str, n_lost: int, since: str) -> Pause:
        left = max(0.0, self._paused_at + self._max_pause - self._clock())
        seconds = min(self._probe_seconds, left)  # the last chance comes before it gives up
        self._probe_at = self._clock() + seconds
        self.pause = Pause(self._model, loss, error, n_lost, since, seconds)
        return self.pause
