"""Which episode begins next: in the order of the plan, those of a model that is held back left out, retries last."""

import heapq
import itertools
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agent_plugin.episode import EpisodeKey
from agent_plugin.losses import LossClass


@dataclass
class Waiting:
    """An episode that is to be played."""

    key: EpisodeKey
    n_losses: Counter[LossClass] = field(default_factory=Counter)
    """In this launch."""


class EpisodeQueue:
    """First in, first out for each model; among the models the earliest. For one thread."""

    def __init__(self, keys: Iterable[EpisodeKey]) -> None:
        self._numbers = itertools.count()
        self._lines: dict[str, deque[tuple[int, Waiting]]] = {}
        self._later: list[tuple[float, int, Waiting]] = []
        """A heap: when it is due, a number, the episode."""
        for key in keys:
            self._append(Waiting(key))

    def __len__(self) -> int:
        return sum(len(line) for line in self._lines.values()) + len(self._later)

    def put_back(self, waiting: Waiting, due_at: float) -> None:
        """Play it again, not before `due_at`, after all that waits then."""
        heapq.heappush(self._later, (due_at, next(self._numbers), waiting))

    def take(self, now: float, may_start: Callable[[str], bool]) -> Waiting | None:
        """The next one, None where nothing is due or every model is held back."""
        while self._later and self._later[0][0] <= now:
            self._append(heapq.heappop(self._later)[2])
        heads = [(line[0][0], model) for model, line in self._lines.items() if line and may_start(model)]
        if not heads:
            return None
        return self._lines[min(heads)[1]].popleft()[1]

    def drop(self, model: str) -> list[Waiting]:
        """Take every episode of a model out."""
        dropped = [waiting for _, waiting in self._lines.pop(model, ())]
        dropped += [waiting for _, _, waiting in self._later if waiting.key.model == model]
        self._later = [entry for entry in self._later if entry[2].key.model != model]
        heapq.heapify(self._later)
        return dropped

    def drop_all(self) -> list[Waiting]:
        """Take everything out, in order."""
        left = sorted((entry for line in self._lines.values() for entry in line), key=lambda entry: entry[0])
        later = [waiting for _, _, waiting in sorted(self._later, key=lambda entry: entry[:2])]
        self._lines, self._later = {}, []
        return [waiting for _, waiting in left] + later

    def _append(self, waiting: Waiting) -> None:
        self._lines.setdefault(waiting.key.model, deque()).append((next(self._numbers), waiting))
