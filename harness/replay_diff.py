"""Does a replay give the same again? Pure functions of two scene states, or of what was measured of two films.

*Identical*: nothing differs. *Within tolerance*: what differs is what `state_diff` and `video_compare` call noise.
*Differs*: anything else. Beside the verdict stands the place that differs most.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from harness.state_diff import Change, diff, magnitude
from harness.video_compare import VideoComparison

Sameness = Literal["identical", "within_tolerance", "differs"]
_OF_BITS = frozenset({"hash", "print", "topology"})
"""Prints of arrays: a difference of these is no distance of anything."""


@dataclass(frozen=True)
class Worst:
    """The place of two states that differs most in numbers."""

    path: str
    magnitude: float
    """Absolute, in the unit of what stands there."""


@dataclass(frozen=True)
class StateComparison:
    """Two canonical scene states, beside each other."""

    verdict: Sameness
    changes: tuple[Change, ...]
    """Beyond the tolerance, in the order of their paths."""
    worst: Worst | None
    """None where no number differs."""


def compare_states(recorded: Mapping[str, Any], replayed: Mapping[str, Any]) -> StateComparison:
    """Raises ValueError for states of two versions."""
    if recorded == replayed:
        return StateComparison("identical", (), None)
    changes = diff(recorded, replayed)
    measured = [Worst(c.path, c.magnitude) for c in changes if c.magnitude is not None]
    found = measured or ([] if changes else list(_numbers(recorded, replayed)))
    worst = max(found, key=lambda one: one.magnitude, default=None)
    return StateComparison("differs" if changes else "within_tolerance", tuple(changes), worst)


def film_verdict(comparison: VideoComparison) -> Sameness:
    """Of two films' decoded frames. Their signs are drawn anew each time: noise may be seen once and not again."""
    if not comparison.is_same:
        return "differs"
    differences = [*(block.difference for block in comparison.worst_blocks), *comparison.whole_frames]
    return "within_tolerance" if any(differences) else "identical"


def _numbers(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Worst]:
    """Every number that is not the same in both, tolerance or not."""
    for part, prefix in (("blocks", ""), ("evaluated", "evaluated.")):
        for block in before[part].keys() & after[part].keys():
            old, new = before[part][block], after[part][block]
            if old == new or not (isinstance(old, Mapping) and isinstance(new, Mapping)):
                continue
            for name in old.keys() & new.keys() - _OF_BITS:
                distance = magnitude(_without_bits(old[name]), _without_bits(new[name]))
                if distance:
                    yield Worst(f"{block}.{prefix}{name}", distance)


def _without_bits(value: Any) -> Any:
    return {k: v for k, v in value.items() if k not in _OF_BITS} if isinstance(value, dict) else value
