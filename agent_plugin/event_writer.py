"""Writes what a launch does to the run's `events.jsonl` (recorder/events.py)."""

from threading import Lock

from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome, Watcher
from agent_plugin.pause import Held
from harness.sandbox.owner import this_process
from recorder.events import (
    EpisodeEnded,
    EpisodeLost,
    EpisodeStarted,
    Event,
    EventLog,
    Paused,
    Resumed,
    Retried,
    RunEnded,
    RunStarted,
    StepEvent,
)
from recorder.last_launch import this_machine
from recorder.paths import RunPaths


class EventWriter(Watcher):
    """Called from several threads. What the disk does not take is counted (`log.n_lost`), and stops nothing."""

    def __init__(self, paths: RunPaths, n_episodes: int, n_finished_before: int, n_workers: int) -> None:
        """Writes nothing yet: a launch that finds every episode finished leaves the run's files as they are."""
        self._paths, me = paths, this_process()
        self._beginning = RunStarted(
            pid=me.pid,
            process_started=me.started,
            machine=this_machine(),
            n_episodes=n_episodes,
            n_finished_before=n_finished_before,
            n_workers=n_workers,
        )
        self._lock = Lock()
        self.log: EventLog | None = None

    def begin(self) -> None:
        """The launch begins, if it has not; an episode that starts begins it too."""
        with self._lock:
            if self.log is None:
                self.log = EventLog(self._paths.events_file)
                self.log.append(self._beginning)

    def end(self, why: str, *, n_passed: int, n_failed: int, n_lost: int, n_not_begun: int) -> None:
        """No event after this one. Nothing, where the launch never began."""
        self._append(RunEnded(why=why, n_passed=n_passed, n_failed=n_failed, n_lost=n_lost, n_not_begun=n_not_begun))
        if self.log is not None:
            self.log.close()

    def _append(self, event: Event) -> None:
        if self.log is not None:
            self.log.append(event)

    def started(self, key: EpisodeKey) -> None:
        self.begin()
        self._append(EpisodeStarted(task_id=key.task.id, model=key.model, attempt=key.attempt))

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        event = StepEvent(task_id=key.task.id, model=key.model, attempt=key.attempt, step=number, what=what)
        self._append(event)

    def retry(self, lost: EpisodeOutcome, number: int, wait_seconds: float) -> None:
        del number, wait_seconds
        self._lost(lost)
        key, loss = lost.key, str(lost.loss or lost.ended_as)
        self._append(Retried(task_id=key.task.id, model=key.model, attempt=key.attempt, loss=loss, error=lost.error))

    def ended(self, outcome: EpisodeOutcome) -> None:
        key, summary = outcome.key, outcome.summary
        if outcome.is_from_before:
            return  # told by the launch that played it
        if summary is None:
            self._lost(outcome)
            return
        self._append(
            EpisodeEnded(
                task_id=key.task.id,
                model=key.model,
                attempt=key.attempt,
                verdict=summary.verdict,
                exit_status=summary.exit_status,
                n_steps=summary.n_steps,
                seconds=summary.seconds,
                usd=summary.cost.usd,
                is_cost_known=summary.cost.is_known,
                tokens=summary.tokens,
                score=summary.score.weighted if summary.score else None,
            )
        )

    def paused(self, pause: Held) -> None:
        self._append(Paused(model=pause.model, loss=pause.loss, error=pause.error))

    def resumed(self, pause: Held) -> None:
        self._append(Resumed(model=pause.model))

    def _lost(self, outcome: EpisodeOutcome) -> None:
        key, folder = outcome.key, outcome.folder
        inside = folder and folder.is_relative_to(self._paths.root)
        self._append(
            EpisodeLost(
                task_id=key.task.id,
                model=key.model,
                attempt=key.attempt,
                ended_as=outcome.ended_as,
                error=outcome.error,
                folder=str(folder.relative_to(self._paths.root)) if folder and inside else None,
            )
        )
