"""Runs two jobs turn by turn and compares them pair by pair: machines are shared, so only neighbours compare."""

import statistics
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Pairs:
    """Seconds of two jobs, run alternately; the order within a pair changes from pair to pair."""

    first: list[float]
    second: list[float]

    @property
    def ratios(self) -> list[float]:
        """second / first, sorted."""
        return sorted(b / a for a, b in zip(self.first, self.second, strict=True))

    def line(self, name: str, target: float) -> str:
        """One line: median ratio, its spread over the pairs, the target, and the medians in seconds."""
        ratios, median = self.ratios, statistics.median(self.ratios)
        return (
            f"{name}: ratio {median:.3f} (pairs {ratios[0]:.3f} to {ratios[-1]:.3f}, n={len(ratios)}), "
            f"target <= {target:.2f}, {'holds' if median <= target else 'MISSED'}; medians "
            f"{statistics.median(self.first):.2f} s and {statistics.median(self.second):.2f} s"
        )


def run_pairs(first: Callable[[], float], second: Callable[[], float], n: int) -> Pairs:
    """Run `n` pairs after one unmeasured pair; each callable returns its own seconds."""
    first(), second()
    times: tuple[list[float], list[float]] = ([], [])
    for number in range(n):
        for which in (0, 1) if number % 2 == 0 else (1, 0):
            times[which].append((first, second)[which]())
    return Pairs(*times)
