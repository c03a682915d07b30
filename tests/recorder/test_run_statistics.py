"""Figures of a run, against brute force, textbooks and simulation."""

import itertools
import random

import pytest

from recorder.run_statistics import (
    mean_over_tasks,
    paired_difference,
    pass_at_k,
    rate_over_tasks,
    sign_test,
    t_quantile,
    wilson,
)


@pytest.mark.parametrize(("n", "passed"), [(1, 0), (1, 1), (5, 0), (5, 2), (6, 3), (7, 7)])
def test_pass_at_k_is_what_counting_every_choice_gives(n: int, passed: int) -> None:
    """Of all ways to take k of the n attempts, the share that holds one that passed."""
    attempts = [True] * passed + [False] * (n - passed)
    for k in range(1, n + 1):
        choices = list(itertools.combinations(attempts, k))
        assert pass_at_k(n, passed, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_pass_at_k_of_more_attempts_than_there_are_is_not_given() -> None:
    """Nor of none."""
    assert pass_at_k(3, 1, 4) is None
    assert pass_at_k(0, 0, 1) is None
    assert pass_at_k(3, 1, 0) is None


@pytest.mark.parametrize(
    ("passed", "n", "low", "high"),
    # Newcombe 1998, "Two-sided confidence intervals for the single proportion", table I, method 3
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_is_the_textbook_s(passed: int, n: int, low: float, high: float) -> None:
    """To the four digits that are printed there."""
    interval = wilson(passed, n)
    assert interval
    assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_nothing_tried_has_no_interval() -> None:
    """And no mean, rate or difference."""
    assert wilson(0, 0) is None
    assert rate_over_tasks([], 0) is None
    assert mean_over_tasks([]) is None
    assert paired_difference({"a": 1.0}, {"b": 1.0}) is None


def test_one_task_has_a_value_and_no_interval() -> None:
    """However often it was tried: nothing is known of other tasks."""
    rate = rate_over_tasks([0.25], 8)
    mean = mean_over_tasks([0.5])
    assert rate
    assert mean
    assert (rate.value, rate.interval, mean.value, mean.interval) == (0.25, None, 0.5, None)


@pytest.mark.parametrize(
    ("degrees", "value"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (30, 2.042), (1000, 1.962)]
)
def test_quantiles_of_t_are_those_of_the_tables(degrees: int, value: float) -> None:
    """Within 0.2 %."""
    assert t_quantile(degrees) == pytest.approx(value, rel=2e-3)


def test_the_mean_over_tasks_has_student_s_interval() -> None:
    """Worked by hand: mean 3, s² = 2.5, T = 5: 3 ± 2.776 · sqrt(0.5)."""
    estimate = mean_over_tasks([1, 2, 3, 4, 5])
    assert estimate
    assert estimate.value == 3
    assert estimate.interval
    assert (estimate.interval.low, estimate.interval.high) == pytest.approx((1.037, 4.963), abs=2e-3)


def test_with_one_attempt_a_task_the_rate_is_near_wilson_s() -> None:
    """Tasks are independent then; Student's t makes it a little wider."""
    estimate, plain = rate_over_tasks([1.0] * 30 + [0.0] * 70, 100), wilson(30, 100)
    assert estimate
    assert estimate.interval
    assert plain
    assert estimate.interval.low == pytest.approx(plain.low, abs=0.005)
    assert estimate.interval.high == pytest.approx(plain.high, abs=0.005)
    assert estimate.interval.low <= plain.low


def test_attempts_that_are_all_alike_count_once() -> None:
    """Ten tasks whose 100 attempts each agree say no more than ten tasks."""
    once, often = rate_over_tasks([1.0] * 4 + [0.0] * 6, 10), rate_over_tasks([1.0] * 4 + [0.0] * 6, 1000)
    assert once == often


@pytest.mark.parametrize("rates", [[0.0] * 8, [1.0] * 8, [0.5] * 8])
def test_tasks_without_any_spread_keep_an_interval(rates: list[float]) -> None:
    """Eight tasks that all pass do not prove that every task does."""
    estimate = rate_over_tasks(rates, 16)
    assert estimate
    assert estimate.interval == wilson(sum(rates), 8)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Simulated: 20 tasks of uneven difficulty, 4 attempts each; the naive interval holds it less often."""
    chance, ours, naive, n_runs = random.Random(8), 0, 0, 600
    for _ in range(n_runs):
        difficulties = [chance.betavariate(0.6, 0.9) for _ in range(20)]  # mean 0.4
        passed = [sum(chance.random() < d for _ in range(4)) for d in difficulties]
        estimate, plain = rate_over_tasks([n / 4 for n in passed], 80), wilson(sum(passed), 80)
        assert estimate
        assert estimate.interval
        assert plain
        ours += estimate.interval.low <= 0.4 <= estimate.interval.high
        naive += plain.low <= 0.4 <= plain.high
    assert 0.92 <= ours / n_runs <= 0.98
    assert naive / n_runs < 0.85


def test_a_difference_is_taken_task_by_task() -> None:
    """The tasks' own difficulty cancels: two models 0.5 apart on every task are apart, however uneven the tasks."""
    difference = paired_difference({"a": 1.0, "b": 0.75, "c": 0.5, "x": 1}, {"a": 0.5, "b": 0.25, "c": 0.1, "y": 0})
    assert difference
    assert difference.estimate.value == pytest.approx(1.4 / 3)
    assert difference.estimate.interval
    assert difference.estimate.interval.low > 0.3
    assert difference.estimate.n_tasks == 3
    assert (difference.better, difference.worse, difference.n_equal) == (("a", "b", "c"), (), 0)


def test_tasks_that_are_exactly_equal_do_not_prove_that_all_are() -> None:
    """There is a mean, and no interval without width."""
    mean = mean_over_tasks([0.75, 0.75, 0.75])
    difference = paired_difference({"a": 1, "b": 0}, {"a": 1, "b": 0})
    assert mean
    assert difference
    assert (mean.value, mean.interval) == (0.75, None)
    assert (difference.estimate.value, difference.estimate.interval, difference.p_value) == (0.0, None, 1.0)


def test_the_largest_differences_come_first() -> None:
    """In both directions; equal tasks are counted."""
    difference = paired_difference(
        {"a": 0.5, "b": 1, "c": 0, "d": 0.5, "e": 1}, {"a": 0, "b": 0, "c": 1, "d": 1, "e": 1}
    )
    assert difference
    assert (difference.better, difference.worse, difference.n_equal) == (("b", "a"), ("c", "d"), 1)


@pytest.mark.parametrize(
    ("better", "worse", "p"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (8, 2, 0.109375), (3, 3, 1.0)]
)
def test_the_sign_test_counts_coins(better: int, worse: int, p: float) -> None:
    """Two-sided, from the binomial distribution."""
    assert sign_test(better, worse) == pytest.approx(p)
    assert sign_test(worse, better) == pytest.approx(p)


def test_the_sign_test_of_thousands_of_tasks_is_a_number() -> None:
    """Where 2**n is no float any more."""
    assert sign_test(2600, 2400) == pytest.approx(0.0049, abs=5e-4)
    assert sign_test(5000, 0) == 0.0
