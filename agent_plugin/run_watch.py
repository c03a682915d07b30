"""All who watch a launch, as one: what a person sees, and `events.jsonl` for machines."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console

from agent_plugin.episode import EpisodeKey
from agent_plugin.event_writer import EventWriter
from agent_plugin.launcher import EpisodeOutcome, RunPlan, Watcher
from agent_plugin.pause import Held
from agent_plugin.progress import RunProgress
from agent_plugin.spending import Stop
from recorder.paths import RunPaths


@contextmanager
def watching(console: Console, plan: RunPlan, paths: RunPaths, n_workers: int, stop: Stop) -> Iterator["Watchers"]:
    """For as long as a launch goes on, whose lock has to be held. The last event tells why it stopped."""
    keys = list(plan.keys)
    n_before = sum(paths.episode(key.task.id, key.model, key.attempt).is_finished for key in keys)
    events = EventWriter(paths, len(keys), n_before, n_workers)
    if n_before < len(keys):
        events.begin()
    why = ""
    with RunProgress(console, keys, n_workers) as progress:
        try:
            yield Watchers([progress, events])
        except BaseException as error:
            why = f"{type(error).__name__}: {error}"
            raise
        finally:
            total = progress.counts.total
            events.end(
                why or (stop.why if stop.requested.is_set() else ""),
                n_passed=total.n_passed,
                n_failed=total.n_failed,
                n_lost=total.n_lost,
                n_not_begun=total.n_episodes - total.n_ended,
            )
    if events.log and events.log.n_lost:
        told = f"{events.log.n_lost} events are not in {paths.events_file} ({events.log.error}); results are complete."
        console.print(told, markup=False, highlight=False, soft_wrap=True)


class Watchers(Watcher):
    """Tells each of them."""

    def __init__(self, watchers: "Sequence[RunProgress | EventWriter]") -> None:
        self._watchers = watchers

    def started(self, key: EpisodeKey) -> None:
        for watcher in self._watchers:
            watcher.started(key)

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        for watcher in self._watchers:
            watcher.step(key, number, what)

    def waiting(self, key: EpisodeKey, what: str) -> None:
        for watcher in self._watchers:
            if isinstance(watcher, RunProgress):
                watcher.waiting(key, what)

    def retry(self, lost: EpisodeOutcome, number: int, wait_seconds: float) -> None:
        for watcher in self._watchers:
            watcher.retry(lost, number, wait_seconds)

    def ended(self, outcome: EpisodeOutcome) -> None:
        for watcher in self._watchers:
            watcher.ended(outcome)

    def paused(self, pause: Held) -> None:
        for watcher in self._watchers:
            watcher.paused(pause)

    def resumed(self, pause: Held) -> None:
        for watcher in self._watchers:
            watcher.resumed(pause)
