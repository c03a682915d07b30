"""What this process has spent on model calls so far. One counter, which every model class adds to."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Spent:
    """An amount of model calls."""

    usd: float = 0.0
    """Of the calls whose cost is known."""
    tokens: int = 0
    """In and out, as the provider counts them."""
    calls: int = 0
    of_unknown_cost: int = 0
    """Calls whose cost nobody told."""

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            self.usd + other.usd,
            self.tokens + other.tokens,
            self.calls + other.calls,
            self.of_unknown_cost + other.of_unknown_cost,
        )

    def __sub__(self, other: "Spent") -> "Spent":
        return Spent(
            self.usd - other.usd,
            self.tokens - other.tokens,
            self.calls - other.calls,
            self.of_unknown_cost - other.of_unknown_cost,
        )


class Tally:
    """Added to from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent = Spent()

    @property
    def spent(self) -> Spent:
        """So far."""
        return self._spent

    def add(self, usd: float, usage: Mapping[str, Any] | None, *, is_cost_known: bool) -> None:
        """One call that was answered."""
        one = Spent(usd, tokens_of(usage), 1, 0 if is_cost_known else 1)
        with self._lock:
            self._spent += one


TALLY = Tally()


def tokens_of(usage: Mapping[str, Any] | None) -> int:
    """Tokens of a call, in and out, in any provider's words; 0 where it does not say."""
    usage = usage or {}
    total = _count(usage.get("total_tokens"))
    parts = sum(_count(usage.get(f"{way}_tokens")) for way in ("prompt", "completion", "input", "output"))
    return max(total, parts)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
