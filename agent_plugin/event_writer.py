"""Writes what a launch does to the run's `events.jsonl` (recorder/events.py)."""

from pathlib import Path

from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome, Watcher
from agent_plugin.pause import Held
from harness.sandbox.owner import this_process
from recorder.events import (
    EpisodeEnded,
    EpisodeLost,
    EpisodeStarted,
    EventLog,
    Paused,
    Resumed,
    Retried,
    RunEnded,
    RunStarted,
    StepEvent,
)
from recorder.last_launch import this_machine


class EventWriter(Watcher):
    """Called from several threads. What the disk does not take is counted (`log.n_lost`), and stops nothing."""

    def __init__(self, log: EventLog, run_dir: Path) -> None:
        self.log, self._run_dir = log, run_dir

    def begin(self, n_episodes: int, n_finished_before: int, n_workers: int) -> None:
        me = this_process()
        self.log.append(
            RunStarted(
                pid=me.pid,
                process_started=me.started,
                machine=this_machine(),
                n_episodes=n_episodes,
                n_finished_before=n_finished_before,
                n_workers=n_workers,
            )
        )

    def end(self, why: str, *, n_passed: int, n_failed: int, n_lost: int, n_not_begun: int) -> None:
        self.log.append(RunEnded(why=why, n_passed=n_passed, n_failed=n_failed, n_lost=n_lost, n_not_begun=n_not_begun))
        self.log.close()

    def started(self, key: EpisodeKey) -> None:
        self.log.append(EpisodeStarted(task_id=key.task.id, model=key.model, attempt=key.attempt))

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        event = StepEvent(task_id=key.task.id, model=key.model, attempt=key.attempt, step=number, what=what)
        self.log.append(event)

    def retry(self, lost: EpisodeOutcome, number: int, wait_seconds: float) -> None:
        del number, wait_seconds
        self._lost(lost)
        key, loss = lost.key, str(getattr(lost, "loss", None) or lost.ended_as)
        self.log.append(Retried(task_id=key.task.id, model=key.model, attempt=key.attempt, loss=loss, error=lost.error))

    def ended(self, outcome: EpisodeOutcome) -> None:
        key, summary = outcome.key, outcome.summary
        if outcome.is_from_before:
            return  # told by the launch that played it
        if summary is None:
            self._lost(outcome)
            return
        self.log.append(
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
        self.log.append(Paused(model=pause.model, loss=pause.loss, error=pause.error))

    def resumed(self, pause: Held) -> None:
        self.log.append(Resumed(model=pause.model))

    def _lost(self, outcome: EpisodeOutcome) -> None:
        key, folder = outcome.key, outcome.folder
        inside = folder and folder.is_relative_to(self._run_dir)
        self.log.append(
            EpisodeLost(
                task_id=key.task.id,
                model=key.model,
                attempt=key.attempt,
                ended_as=outcome.ended_as,
                error=outcome.error,
                folder=str(folder.relative_to(self._run_dir)) if folder and inside else None,
            )
        )
