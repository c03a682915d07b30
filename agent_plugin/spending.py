"""Why a run stops before its end: the user, or what it has cost over all its launches."""

import threading
from dataclasses import dataclass, field
from pathlib import Path

from minisweagent.models import GLOBAL_MODEL_STATS

from recorder.errors import CorruptEpisode
from recorder.paths import EpisodePaths
from recorder.records import Step
from recorder.trajectory import read_summary, read_trajectory


class Spending:
    """Counts from what the run's folder holds; calls of unknown cost count as nothing, which the user is told."""

    def __init__(self, limit_usd: float, run_dir: Path) -> None:
        self.limit_usd = limit_usd
        self._before = spent_before(run_dir)
        self._start = GLOBAL_MODEL_STATS.cost

    @property
    def usd(self) -> float:
        """US dollars so far."""
        return self._before + GLOBAL_MODEL_STATS.cost - self._start

    @property
    def is_over(self) -> bool:
        return self.usd >= self.limit_usd

    def __str__(self) -> str:
        return f"the run's cost limit of ${self.limit_usd:g} is reached ({dollars(self.usd)} so far)"


def dollars(usd: float) -> str:
    """An amount with as many decimals as it takes to see it."""
    return f"${usd:.4f}" if usd >= 0.001 or not usd else f"${usd:.2g}"


@dataclass
class Stop:
    """Set by the first Ctrl-C, or at the run's cost limit: what runs ends, nothing new starts."""

    requested: threading.Event = field(default_factory=threading.Event)
    why: str = "stopped by the user"
    is_for_cost: bool = False
    spending: Spending | None = None
    """Asked before each model call."""

    def is_by_user(self) -> bool:
        """Whether not even a call that is under way is waited for: one is paid for, at a cost limit."""
        return self.requested.is_set() and not self.is_for_cost

    def is_due(self) -> bool:
        """Whether no other model call may be made."""
        if self.spending is not None and not self.requested.is_set() and self.spending.is_over:
            self.why, self.is_for_cost = str(self.spending), True
            self.requested.set()
        return self.requested.is_set()


def spent_before(run_dir: Path) -> float:
    """US dollars in the records of a run: of finished episodes, and of those that were broken off."""
    folders = sorted((run_dir / "episodes").glob("*/*/*"))
    return sum(_cost_of(EpisodePaths(folder)) for folder in folders)


def _cost_of(episode: EpisodePaths) -> float:
    if episode.is_finished:
        try:
            return read_summary(episode.summary).cost.usd
        except CorruptEpisode:
            pass
    total = 0.0
    try:
        for line in read_trajectory(episode.trajectory):
            total += line.cost.usd if isinstance(line, Step) else 0.0
    except (CorruptEpisode, FileNotFoundError):  # what was read counts
        pass
    return total
