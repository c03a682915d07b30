"""Times, rates and durations of a video's frames."""

import pytest

from harness.in_sandbox.video_timing import frame_timing

MILLISECOND = 0.001


def test_a_declared_rate_that_the_frames_bear_out_is_used_exactly() -> None:
    """Matroska rounds times to 1 ms; the rate is 30000/1001 all the same, and is not called variable."""
    rate = 30000 / 1001
    times = [round(index / rate, 3) for index in range(50)]
    timing = frame_timing(times, 0.033, [rate], MILLISECOND)
    assert (timing.fps, timing.is_variable_rate) == (rate, False)


def test_a_rate_that_the_frames_contradict_is_passed_over() -> None:
    """A short DV file declares 60000 frames a second before the true 25."""
    timing = frame_timing([index / 25 for index in range(6)], 1 / 25, [60000.0, 25.0], 1 / 60000)
    assert timing.fps == 25.0
    assert timing.duration_seconds == pytest.approx(6 / 25)


def test_without_any_declared_rate_it_is_frames_over_duration() -> None:
    """Nothing but times: five frames of a tenth of a second each."""
    timing = frame_timing([0.0, 0.1, 0.2, 0.3, 0.4], 0.0, [], MILLISECOND)
    assert timing.fps == pytest.approx(10)
    assert timing.duration_seconds == pytest.approx(0.5)


def test_one_skipped_frame_makes_the_rate_variable() -> None:
    """A single double gap among equal ones is enough."""
    assert frame_timing([0.0, 0.04, 0.08, 0.16, 0.2], 0.04, [25.0], 1 / 12800).is_variable_rate


def test_times_start_at_zero() -> None:
    """A program stream that begins at 0.5 s has its first frame at 0."""
    timing = frame_timing([0.5, 0.6, 0.7], 0.1, [10.0], 1 / 90000)
    assert timing.seconds == pytest.approx((0.0, 0.1, 0.2))


def test_missing_times_follow_from_the_declared_rate() -> None:
    """Where the container stores no times, frames are evenly spaced."""
    timing = frame_timing([None, None, None, None], 0.0, [8.0], 0.125)
    assert timing.seconds == (0.0, 0.125, 0.25, 0.375)
    assert (timing.fps, timing.duration_seconds, timing.is_variable_rate) == (8.0, 0.5, False)


@pytest.mark.parametrize("times", [[0.0], [None], [5.0, 1.0], [3.0, 3.0], [2.0, None]])
def test_rate_and_duration_are_never_zero(times: list[float | None]) -> None:
    """Whatever a file reports, nobody divides by it in vain."""
    timing = frame_timing(times, 0.0, [0.0], 0.0)
    assert timing.fps > 0
    assert timing.duration_seconds > 0
    assert len(timing.seconds) == len(times)
