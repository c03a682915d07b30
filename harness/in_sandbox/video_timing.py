"""When each frame of a video is shown, and how many there are a second: pure arithmetic on what the decoder reported.

Containers disagree about time. MP4 counts exact ticks, Matroska and FLV round to 1 ms, AVI stores no presentation
times, Ogg declares no average rate and a short DV file declares 60000 frames a second. So the declared rate is used
where the frames bear it out: it alone is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

RATE_TOLERANCE = 0.05
"""How far a declared rate may be from frames / duration to be believed.

Times rounded to 1 ms stay within it, DV's 60000 does not."""
UNKNOWN_RATE = 1.0
"""Where neither container nor frames tell."""


@dataclass(frozen=True)
class FrameTiming:
    """The time line of one video."""

    seconds: tuple[float, ...]
    """Presentation time of each frame; the first one's is 0."""
    duration_seconds: float
    """From the first frame's appearance to the last one's end; above 0."""
    fps: float
    """Average frames a second; above 0."""
    is_variable_rate: bool
    """The gaps differ by more than the container's rounding."""


def frame_timing(
    times: Sequence[float | None], last_duration: float, declared_rates: Sequence[float], tick: float
) -> FrameTiming:
    """The time line of at least one frame, shown at `times` (seconds; None where not stored).

    The last one lasts `last_duration` (0: unknown). `declared_rates` are the container's claims, the best first; `tick`
    is the smallest step of its clock in seconds.
    """
    rates = [rate for rate in declared_rates if rate > 0]
    known = [time for time in times if time is not None]
    n = len(times)
    if len(known) < n or known[-1] < known[0]:
        return _constant_rate(n, rates[0] if rates else UNKNOWN_RATE)
    gaps = [after - before for before, after in pairwise(known)]
    last_gap = last_duration if last_duration > 0 else median(gaps) if gaps else 0.0
    duration = known[-1] - known[0] + last_gap
    if duration <= 0:
        return _constant_rate(n, rates[0] if rates else UNKNOWN_RATE)
    measured = n / duration
    fps = next((rate for rate in rates if abs(rate - measured) <= RATE_TOLERANCE * measured), measured)
    return FrameTiming(tuple(time - known[0] for time in known), duration, fps, _is_uneven(gaps, tick))


def _constant_rate(n: int, rate: float) -> FrameTiming:
    return FrameTiming(tuple(index / rate for index in range(n)), n / rate, rate, False)


def _is_uneven(gaps: Sequence[float], tick: float) -> bool:
    if len(gaps) < 2:
        return False
    usual = median(gaps)
    return max(abs(gap - usual) for gap in gaps) > max(1.01 * tick, 0.01 * abs(usual)) + 1e-9
