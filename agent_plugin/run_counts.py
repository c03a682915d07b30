"""What a launch has come to so far: counts by model, what runs, cost, and the time that is left. Shows nothing."""

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import InitVar, dataclass, field

from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome

_FEWEST_ENDED = 3
_WINDOW = 20


@dataclass
class ModelCounts:
    """Episodes of one model, those of earlier launches included."""

    n_episodes: int = 0
    n_passed: int = 0
    n_failed: int = 0
    n_lost: int = 0

    @property
    def n_ended(self) -> int:
        return self.n_passed + self.n_failed + self.n_lost


@dataclass
class Running:
    """An episode that is being played."""

    key: EpisodeKey
    began: float
    step: int = 0
    what: str = "begins"
    waits_for: str = ""


@dataclass
class RunCounts:
    """Not for use by two threads at once. Times are of `clock`, in seconds."""

    keys: InitVar[Iterable[EpisodeKey]]
    n_workers: int
    clock: Callable[[], float] = time.monotonic
    spent_now: Callable[[], float] = lambda: 0.0
    """US dollars that this process has spent."""
    models: dict[str, ModelCounts] = field(default_factory=dict)
    running: dict[tuple[str, str, int], Running] = field(default_factory=dict)
    pauses: dict[str, str] = field(default_factory=dict)
    """Model, or '' for all -> why its episodes are held back."""
    n_from_before: int = 0
    usd_before: float = 0.0
    is_cost_known: bool = True

    def __post_init__(self, keys: Iterable[EpisodeKey]) -> None:
        for key in keys:
            self.models.setdefault(key.model, ModelCounts()).n_episodes += 1
        self._began = self.clock()
        self._spent_at_start = self.spent_now()
        # enough that the pace does not hang on one slow episode, few enough that it follows a change
        self._ends: deque[float] = deque(maxlen=max(_WINDOW, 4 * self.n_workers))

    def started(self, key: EpisodeKey) -> None:
        self.running[name_of(key)] = Running(key, self.clock())

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        """One that is not running any more is left out: a thread may be late."""
        if (running := self.running.get(name_of(key))) is not None:
            running.step, running.what, running.waits_for = number, what, ""

    def waiting(self, key: EpisodeKey, what: str) -> None:
        if (running := self.running.get(name_of(key))) is not None:
            running.waits_for = what

    def put_back(self, key: EpisodeKey) -> None:
        """It was lost and will be played again: not its end."""
        self.running.pop(name_of(key), None)

    def ended(self, outcome: EpisodeOutcome) -> float | None:
        """Seconds that it took, None for one that did not run in this launch."""
        counts, summary = self.models.setdefault(outcome.key.model, ModelCounts()), outcome.summary
        if summary is None:
            counts.n_lost += 1
        elif summary.verdict == "pass":
            counts.n_passed += 1
        else:
            counts.n_failed += 1
        if summary is not None:
            self.is_cost_known &= summary.cost.is_known
        if outcome.is_from_before:
            self.n_from_before += 1
            self.usd_before += summary.cost.usd if summary else 0.0
        else:
            self._ends.append(self.clock())
        running = self.running.pop(name_of(outcome.key), None)
        return self.clock() - running.began if running else None

    @property
    def total(self) -> ModelCounts:
        """Over all models."""
        total = ModelCounts()
        for counts in self.models.values():
            total.n_episodes += counts.n_episodes
            total.n_passed += counts.n_passed
            total.n_failed += counts.n_failed
            total.n_lost += counts.n_lost
        return total

    @property
    def usd(self) -> float:
        """US dollars so far: of results from before, and of every call of this launch, also in what still runs."""
        return self.usd_before + self.spent_now() - self._spent_at_start

    @property
    def seconds(self) -> float:
        """Since the launch began."""
        return self.clock() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Episodes that are left, at the pace of the last ones that ended; None before a few have.

        The pace is that of the last 20, or 4 for each worker, up to now: it follows a change, takes in whatever slows
        a run down (slots, rate limits), and while nothing ends the time left grows instead of standing still.
        """
        n_left = self.total.n_episodes - self.total.n_ended
        if not n_left:
            return 0.0
        if len(self._ends) < max(_FEWEST_ENDED, min(self.n_workers, _WINDOW)):
            return None
        is_whole = len(self._ends) < (self._ends.maxlen or 0)  # everything that ended is in it: paced from the start
        since, n_ended = (self._began, len(self._ends)) if is_whole else (self._ends[0], len(self._ends) - 1)
        return n_left * (self.clock() - since) / n_ended


def name_of(key: EpisodeKey) -> tuple[str, str, int]:
    return key.task.id, key.model, key.attempt
