"""Why a run stops before its end: the user, or what it has spent over all its launches.

Limits of one episode are the agent's (`agent.cost_limit`, `agent.step_limit`, …); these are the run's. Each is asked
before a model call: what is under way is paid for, and is not thrown away.
"""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent_plugin.launch_settings import LaunchSettings
from agent_plugin.tally import TALLY, Spent, tokens_of
from recorder.errors import CorruptEpisode
from recorder.paths import EpisodePaths
from recorder.records import Step
from recorder.trajectory import read_summary, read_trajectory

UNKNOWN_COST = (
    "what its calls cost is not known, so that the limit of ${limit:g} cannot hold; give prices with "
    "model.litellm_model_registry, or count such calls as nothing with --allow-unknown-cost"
)


class Spending:
    """Counts from what the run's folder holds, lost attempts included, and from what this process spends."""

    def __init__(self, settings: LaunchSettings, run_dir: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings, self._clock = settings, clock
        self._before = spent_before(run_dir, settings)
        self._start, self._started_at = TALLY.spent, clock()

    @property
    def spent(self) -> Spent:
        """Over all launches so far."""
        return self._before + (TALLY.spent - self._start)

    @property
    def usd(self) -> float:
        """US dollars so far."""
        return self.spent.usd

    def reached(self) -> str:
        """The limit that does not allow another model call, as a sentence; '' where none does."""
        settings, spent = self._settings, self.spent
        if settings.cost_limit:
            if spent.of_unknown_cost and not settings.allow_unknown_cost:
                return "a model told no price: " + UNKNOWN_COST.format(limit=settings.cost_limit)
            if spent.usd >= settings.cost_limit:
                return f"the run's cost limit of ${settings.cost_limit:g} is reached ({dollars(spent.usd)} so far)"
        if 0 < settings.token_limit <= spent.tokens:
            return f"the run's limit of {settings.token_limit:,} tokens is reached ({spent.tokens:,} so far)"
        if 0 < settings.call_limit <= spent.calls:
            return f"the run's limit of {settings.call_limit:,} model calls is reached"
        if 0 < settings.wall_time_limit_seconds <= self._clock() - self._started_at:
            return f"the limit of {settings.wall_time_limit_seconds:g} s for one launch is reached"
        return ""


def dollars(usd: float) -> str:
    """An amount with as many decimals as it takes to see it."""
    return f"${usd:.4f}" if usd >= 0.001 or not usd else f"${usd:.2g}"


@dataclass
class Stop:
    """Set by the first Ctrl-C, or at a limit of the run: what runs ends, nothing new starts."""

    requested: threading.Event = field(default_factory=threading.Event)
    why: str = "stopped by the user"
    is_for_limit: bool = False
    spending: Spending | None = None
    """Asked before each model call."""

    def is_by_user(self) -> bool:
        """Whether not even a call that is under way is waited for: one is paid for, at a limit."""
        return self.requested.is_set() and not self.is_for_limit

    def is_due(self) -> bool:
        """Whether no other model call may be made."""
        if self.spending is not None and not self.requested.is_set() and (why := self.spending.reached()):
            self.why, self.is_for_limit = why, True
            self.requested.set()
        return self.requested.is_set()


def spent_before(run_dir: Path, settings: LaunchSettings) -> Spent:
    """What the records of a run hold: those of finished episodes, and of those that were broken off."""
    if not (settings.cost_limit or settings.token_limit or settings.call_limit):
        return Spent()
    folders = sorted((run_dir / "episodes").glob("*/*/*"))
    total = Spent()
    for folder in folders:
        total += _spent_on(EpisodePaths(folder), needs_tokens=bool(settings.token_limit))
    return total


def _spent_on(episode: EpisodePaths, *, needs_tokens: bool) -> Spent:
    """From the summary where that will do: trajectories are long, and only they hold tokens."""
    if episode.is_finished and not needs_tokens:
        try:
            summary = read_summary(episode.summary)
            return Spent(summary.cost.usd, 0, summary.n_steps, 0 if summary.cost.is_known else 1)
        except CorruptEpisode:
            pass
    total = Spent()
    for step in _steps(episode):
        total += Spent(step.cost.usd, tokens_of(step.usage), 1, 0 if step.cost.is_known else 1)
    return total


def _steps(episode: EpisodePaths) -> Iterator[Step]:
    try:
        yield from (line for line in read_trajectory(episode.trajectory) if isinstance(line, Step))
    except (CorruptEpisode, FileNotFoundError):  # what was read counts
        return
