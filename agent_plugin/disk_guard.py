"""Keeps room on the run's disk: no episode begins, and none goes on to its next step, while there is too little."""

import time
from collections.abc import Callable
from pathlib import Path

from agent_plugin.models.deadline import sleep_unless
from harness.errors import DiskFull
from harness.sandbox.watchdog import free_disk_mb

_POLL_SECONDS = 1.0


class DiskGuard:
    """Asked by many threads."""

    def __init__(self, folder: Path, min_free_mb: int, max_wait_seconds: float) -> None:
        self._folder, self._min_free_mb, self._max_wait = folder, min_free_mb, max_wait_seconds

    def shortage(self) -> str:
        """What is wrong with the disk, '' where there is room."""
        if not self._min_free_mb or (free := free_disk_mb(self._folder)) >= self._min_free_mb:
            return ""
        return f"{free} MiB are free where the run is, {self._min_free_mb} MiB are to stay free"

    def wait(self, is_stopped: Callable[[], bool], say: Callable[[str], None]) -> None:
        """Return once there is room; `say` is told what is waited for. Raises DiskFull after too long, or Stopped.

        What an episode has done so far is paid for: it waits with it rather than to lose it.
        """
        started = time.monotonic()
        while shortage := self.shortage():
            if time.monotonic() - started >= self._max_wait:
                raise DiskFull(f"The disk is too full: {shortage}.")
            say(shortage)
            sleep_unless(is_stopped, _POLL_SECONDS)
