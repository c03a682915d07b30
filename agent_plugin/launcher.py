"""Runs the episodes of a plan: which begins when, what becomes of one that is lost, and when it is enough.

An episode is finished when its `episode.json` has been renamed into place. A failure of the machine or the provider
is never a result: its folder is moved aside, and it is played again, by this launch as often as `launch.retry` says,
or by the next launch of the same command. Here everything is decided, in one thread; episodes run in threads of
their own (`played.py`), where most of their time is waiting.
"""

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from agent_plugin.breakers import Breakers, Changes
from agent_plugin.config import RunConfig
from agent_plugin.disk_guard import DiskGuard
from agent_plugin.episode import EpisodeKey
from agent_plugin.episode_queue import EpisodeQueue, Waiting
from agent_plugin.faults import bad_input
from agent_plugin.keys import hide_keys
from agent_plugin.launch_plan import RunPlan
from agent_plugin.played import Played, from_before
from agent_plugin.run_folder import n_lost_before
from agent_plugin.spending import Stop
from agent_plugin.watcher import EpisodeOutcome, Watcher
from harness.blender_slots import BlenderSlots, admission, default_slots
from recorder.paths import RunPaths

__all__ = ["EpisodeOutcome", "RunPlan", "Watcher", "run_all"]

_POLL_SECONDS = 0.2
"""So that the main thread can take Ctrl-C, and sees what is due."""
_LONGEST_RETRY_SECONDS = 60.0


def run_all(plan: RunPlan, paths: RunPaths, *, n_workers: int, watcher: Watcher, stop: Stop) -> list[EpisodeOutcome]:
    """Play every episode that is not finished; returns an outcome for each episode of the plan."""
    hide_keys()
    return _Launch(plan, paths, n_workers, watcher, stop).run()


@dataclass(frozen=True)
class _Running:
    """An episode that is played."""

    waiting: Waiting
    is_probe: bool
    """It was let through a breaker that is open."""


class _Launch:
    def __init__(self, plan: RunPlan, paths: RunPaths, n_workers: int, watcher: Watcher, stop: Stop) -> None:
        self._plan, self._paths, self._n_workers = plan, paths, n_workers
        self._watcher, self._stop = watcher, stop
        self._settings = plan.config.launch
        self._breakers = Breakers(plan.models, self._settings)
        self._disk = DiskGuard(paths.root, self._settings.min_free_disk_mb, self._settings.max_pause_seconds)
        self._outcomes: list[EpisodeOutcome] = []
        self._running: dict[Future[EpisodeOutcome], _Running] = {}

    def run(self) -> list[EpisodeOutcome]:
        """To the end, or until it is stopped."""
        self._queue = EpisodeQueue(key for key in self._plan.keys if not self._is_done(key))
        if self._queue:
            _import_model_class(self._plan.config)
        play = Played(self._plan, self._paths, self._watcher, self._stop, self._disk)
        n_slots = self._settings.blender_slots or default_slots()
        slots = BlenderSlots(n_slots, is_stopped=play.is_given_up, say=play.say_waiting)
        with (
            admission(slots),
            ThreadPoolExecutor(max_workers=self._n_workers, thread_name_prefix="episode") as pool,
        ):
            while (self._queue and not self._stop.requested.is_set()) or self._running:
                self._start(pool, play)
                self._collect()
                self._give_up()
        self._outcomes += [_not_begun(waiting, self._stop.why) for waiting in self._queue.drop_all()]
        return self._outcomes

    def _is_done(self, key: EpisodeKey) -> bool:
        outcome = from_before(key, self._paths, self._plan.task_hashes[key.task.id])
        if outcome is None:
            return False
        self._end(outcome)
        return True

    def _end(self, outcome: EpisodeOutcome) -> None:
        self._watcher.ended(outcome)
        self._outcomes.append(outcome)

    def _start(self, pool: ThreadPoolExecutor, play: Played) -> None:
        """What may begin now."""
        has_room = self._has_room()
        while has_room and len(self._running) < self._n_workers and self._queue and not self._stop.is_due():
            waiting = self._queue.take(time.monotonic(), self._breakers.may_start)
            if waiting is None:
                return
            if outcome := self._lost_too_often(waiting):
                self._end(outcome)
                continue
            is_probe = self._breakers.started(waiting.key.model)
            self._running[pool.submit(play, waiting.key)] = _Running(waiting, is_probe)

    def _has_room(self) -> bool:
        """Whether the disk has; where not, episodes that run wait before their next step, and it is told here."""
        if shortage := self._disk.shortage():
            if pause := self._breakers.machine.hold("disk", shortage):
                self._watcher.paused(pause)
            return False
        if pause := self._breakers.machine.release("disk"):
            self._watcher.resumed(pause)
        return True

    def _lost_too_often(self, waiting: Waiting) -> EpisodeOutcome | None:
        key, most = waiting.key, self._settings.max_losses
        n_lost = n_lost_before(self._paths.episode(key.task.id, key.model, key.attempt))
        if n_lost < most:
            return None
        error = f"not begun: it was lost {n_lost} times over all launches (launch.max_losses is {most})"
        return EpisodeOutcome(key, None, error=error, ended_as="LostTooOften")

    def _collect(self) -> None:
        """Wait a moment for what ends."""
        if not self._running:
            self._stop.requested.wait(_POLL_SECONDS if self._queue else 0)
            return
        ended, _ = wait(self._running, timeout=_POLL_SECONDS, return_when=FIRST_COMPLETED)
        for future in ended:
            self._ended(self._running.pop(future), future.result())

    def _ended(self, running: _Running, outcome: EpisodeOutcome) -> None:
        model = outcome.key.model
        if outcome.loss is None:
            if outcome.summary:
                self._tell(self._breakers.succeeded(model))
            elif running.is_probe:
                self._breakers.unresolved(model)
            self._end(outcome)
            return
        waiting, loss = running.waiting, outcome.loss
        waiting.n_losses[loss] += 1
        number = waiting.n_losses[loss]
        if self._stop.requested.is_set() or number > self._settings.n_retries(loss):
            self._end(outcome)
        else:
            seconds = min(_LONGEST_RETRY_SECONDS, self._settings.retry_wait_seconds * 2.0 ** (number - 1))
            self._queue.put_back(waiting, time.monotonic() + seconds)
            self._watcher.retry(outcome, number, seconds)
        self._tell(self._breakers.lost(model, loss, outcome.error, is_probe=running.is_probe))

    def _tell(self, changes: Changes) -> None:
        for pause in changes.paused:
            self._watcher.paused(pause)
        for pause in changes.resumed:
            self._watcher.resumed(pause)

    def _give_up(self) -> None:
        """On what was held back for too long."""
        for model, pause in self._breakers.given_up().items():
            why = f"given up after {self._settings.max_pause_seconds:g} s (launch.max_pause_seconds): {pause.error}"
            for waiting in self._queue.drop(model):
                self._end(_not_begun(waiting, why))


def _not_begun(waiting: Waiting, why: str) -> EpisodeOutcome:
    what = "not played again" if waiting.n_losses else "not begun"
    return EpisodeOutcome(waiting.key, None, error=f"{what}: {why}", ended_as="NotBegun")


def _import_model_class(config: RunConfig) -> None:
    """litellm takes seconds to import, and must not be imported by two threads at once."""
    from minisweagent.models import get_model_class

    try:
        get_model_class("", config.model.model_class)
    except ValueError as error:
        raise bad_input(
            f"cannot be imported (it is '{config.model.model_class}')", place="model.model_class"
        ) from error
