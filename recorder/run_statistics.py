"""Statistics of a run: pure functions of counts and of one value a task. No files, no episodes.

What is drawn is a task: attempts at the same task are alike, so that counting them as independent would give intervals
that are too narrow. Intervals of a model are therefore taken over tasks, each task counting the same.
All intervals are at 95 %. No random numbers: the same episodes always give the same figures.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Z = 1.959963984540054
"""97.5 % quantile of the normal distribution."""


@dataclass(frozen=True)
class Interval:
    """Where the true value lies, at 95 %."""

    low: float
    high: float


@dataclass(frozen=True)
class Estimate:
    """A mean over tasks."""

    value: float
    interval: Interval | None
    """None where nothing is known of how tasks differ: there is only one, or (of a mean) all are exactly equal."""
    n_tasks: int


@dataclass(frozen=True)
class PairedDifference:
    """Two models on the tasks that both have results of: the first minus the second."""

    estimate: Estimate
    better: tuple[str, ...]
    """Tasks on which the first is better, the largest difference first."""
    worse: tuple[str, ...]
    n_equal: int
    p_value: float
    """Of the sign test: how likely so uneven a split of better and worse is if the two are alike."""


def pass_at_k(n: int, n_passed: int, k: int) -> float | None:
    """The chance that at least one of `k` attempts passes, of which `n` were made: 1 - C(n-c, k) / C(n, k).

    The unbiased estimator of Chen et al. 2021, "Evaluating Large Language Models Trained on Code" (arXiv:2107.03374),
    section 2.1. None where k > n: it cannot be estimated without bias then.
    """
    if k < 1 or k > n:
        return None
    return 1.0 - math.comb(n - n_passed, k) / math.comb(n, k)


def wilson(n_passed: float, n: float) -> Interval | None:
    """Wilson's score interval of a rate, for independent trials; None without any.

    Centre (p + z²/2n) / (1 + z²/n), half width z / (1 + z²/n) · sqrt(p(1-p)/n + z²/4n²). E. B. Wilson 1927,
    "Probable Inference, the Law of Succession, and Statistical Inference", JASA 22, 209-212.
    """
    if n <= 0:
        return None
    p, weight = n_passed / n, 1 + Z * Z / n
    centre = (p + Z * Z / (2 * n)) / weight
    half = Z / weight * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return Interval(max(0.0, centre - half), min(1.0, centre + half))


def rate_over_tasks(rates: Sequence[float], n_episodes: int) -> Estimate | None:
    """The mean of one rate a task (each in 0..1), from `n_episodes` in all; None without any task.

    Wilson's interval with the effective sample size n* = p(1-p) / SE², where SE = s / sqrt(T) is the standard error
    over the T tasks, scaled by (z / t)² for its T - 1 degrees of freedom, and at most `n_episodes`; T where SE or
    p(1-p) is 0. Unlike p ± t·SE it stays in 0..1 and keeps a width where every task passes. Korn & Graubard 1998,
    "Confidence intervals for proportions with small expected number of positive counts", Survey Methodology 24,
    193-201 (the effective size); Franco et al. 2019, J. Survey Statistics and Methodology 7, 334-364 (with Wilson).
    """
    if not rates:
        return None
    n_tasks, p = len(rates), math.fsum(rates) / len(rates)
    if n_tasks == 1:
        return Estimate(p, None, 1)
    squared_error = _squared_error(rates, p)
    spread = p * (1 - p)
    size = float(n_tasks)
    if squared_error > 0 and spread > 0:
        size = min(spread / squared_error * (Z / t_quantile(n_tasks - 1)) ** 2, float(max(n_episodes, n_tasks)))
    return Estimate(p, wilson(p * size, size), n_tasks)


def mean_over_tasks(values: Sequence[float]) -> Estimate | None:
    """The mean of one value a task; None without any task.

    The interval is mean ± t(T-1) · s / sqrt(T); none where s is 0, which would claim to be certain.

    With one mean a task this is the standard error clustered by task: E. Miller 2024, "Adding Error Bars to Evals"
    (arXiv:2411.00640), section 2.2.
    """
    if not values:
        return None
    n_tasks, mean = len(values), math.fsum(values) / len(values)
    if n_tasks == 1 or min(values) == max(values):
        return Estimate(mean, None, n_tasks)
    half = t_quantile(n_tasks - 1) * math.sqrt(_squared_error(values, mean))
    return Estimate(mean, Interval(mean - half, mean + half), n_tasks)


def paired_difference(first: Mapping[str, float], second: Mapping[str, float]) -> PairedDifference | None:
    """Task -> value of two models; the tasks of both count. None where they share none.

    The mean of the differences with its own interval, which the tasks' difficulty is not part of (Miller 2024, section
    4.2), and the two-sided sign test, which needs no distribution.
    """
    differences = {task: first[task] - second[task] for task in first if task in second}
    estimate = mean_over_tasks(list(differences.values()))
    if estimate is None:
        return None
    better = sorted((task for task, d in differences.items() if d > 0), key=lambda task: (-differences[task], task))
    worse = sorted((task for task, d in differences.items() if d < 0), key=lambda task: (differences[task], task))
    n_equal = len(differences) - len(better) - len(worse)
    return PairedDifference(estimate, tuple(better), tuple(worse), n_equal, sign_test(len(better), len(worse)))


def sign_test(n_better: int, n_worse: int) -> float:
    """Two-sided: min(1, 2 · P(X <= min(better, worse))) for X binomial with n = better + worse and 1/2."""
    n, fewer = n_better + n_worse, min(n_better, n_worse)
    # by logarithms: whole numbers of thousands of digits take seconds
    logs = (
        math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) - n * math.log(2) for i in range(fewer + 1)
    )
    return min(1.0, 2 * math.fsum(map(math.exp, logs))) if n else 1.0


def t_quantile(degrees: int) -> float:
    """97.5 % quantile of Student's t distribution, within 0.2 %.

    Exact for 1 and 2 degrees of freedom; else the Cornish-Fisher expansion (Abramowitz & Stegun 1964, 26.7.5).
    """
    if degrees == 1:
        return math.tan(0.475 * math.pi)
    if degrees == 2:
        return 0.95 * math.sqrt(2 / (1 - 0.95**2))
    z, n = Z, degrees
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )


def _squared_error(values: Sequence[float], mean: float) -> float:
    """Of the mean of at least two values: s² / T."""
    n = len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (n - 1) / n
