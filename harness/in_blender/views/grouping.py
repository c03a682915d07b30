"""Which of the boxes in a scene a picture is framed by: neither a ground or sky, nor small things far from the rest.

Arithmetic alone, without Blender.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

Box = tuple[str, np.ndarray]
"""Object name and the corners [8, 3] of its box in the world."""

ENDLESS = 1e9
"""Coordinates beyond this, in units, are absurd, as those that are no finite numbers."""
_OUTSIZED = (8.0, 900.0)
"""A ground or sky so many times larger than all that it carries is not framed. What is smaller is a speck on it."""
_FLAT = 0.2
"""A ground's least side, as a share of its largest."""
_REACH = 10.0
"""What is within so many times a group's size of it belongs to it."""
_SMALL = 0.25
"""Of the main group's squared size: all that is far away may have so much together, and is then left out."""
_SPECK = 300.0
"""Where the main group would be smaller than the whole by this factor, a few others are left out whatever their size;
ten times that, however many there are."""
_FEW = 8
_MAX_GROUPS = 16
_MAX_GROUNDS = 4


@dataclass(frozen=True)
class Grouping:
    """All boxes, each in one of these."""

    framed: list[Box] = field(default_factory=list)
    outsized: list[Box] = field(default_factory=list)
    """Grounds and skies."""
    far: list[Box] = field(default_factory=list)


def group(boxes: Sequence[Box], n_grounds: int = _MAX_GROUNDS) -> Grouping:
    """The framed ones come largest first; at most so many grounds and skies are looked for."""
    near, far = _main(sorted(boxes, key=lambda box: size_of(box[1]), reverse=True))
    if len(near) < 2 or not n_grounds:
        return Grouping(near, [], far)
    rest = group(near[1:], n_grounds - 1)
    large, small = near[0][1], together(rest.framed)
    least, most = (times * size_of(small) for times in _OUTSIZED)
    if least < size_of(large) < most and _carries(large, small):
        return Grouping(rest.framed, [near[0], *rest.outsized], rest.far + far)
    return Grouping(near, [], far)


def together(boxes: Sequence[Box]) -> np.ndarray:
    """All their corners [n, 3]."""
    return np.concatenate([corners for _, corners in boxes])


def size_of(corners: np.ndarray) -> float:
    """The diagonal of their box."""
    return float(np.linalg.norm(np.ptp(corners, axis=0)))


def _carries(large: np.ndarray, corners: np.ndarray) -> bool:
    """Whether what has these corners stands on it, which then is flat, or lies in it."""
    low, high = large.min(axis=0), large.max(axis=0)
    center = (corners.min(axis=0) + corners.max(axis=0)) / 2
    is_flat = _least_side(large) < _FLAT * np.ptp(large, axis=0).max()
    slack = size_of(corners) if is_flat else 0.0  # what lies on a solid thing does not make it a ground
    return bool(((center >= low - slack) & (center <= high + slack)).all())


def _least_side(corners: np.ndarray) -> float:
    """Along the box's own axes, which may be turned."""
    if len(corners) != 8:
        return float(np.ptp(corners, axis=0).min())
    return float(min(np.linalg.norm(corners[other] - corners[0]) for other in (1, 3, 4)))


def _main(boxes: list[Box]) -> tuple[list[Box], list[Box]]:
    """(What to show, what is far from it and too small to count)."""
    if len(boxes) < 2:
        return boxes, []
    lows, highs = (np.array([at(corners, axis=0) for _, corners in boxes]) for at in (np.min, np.max))
    sizes = np.linalg.norm(highs - lows, axis=1)
    groups = _groups(lows, highs)
    main = max(groups, key=lambda inside: _extent(lows[inside], highs[inside]))
    if main.all():
        return boxes, []
    size = _extent(lows[main], highs[main])
    others = [inside for inside in groups if inside is not main]
    alone = ~np.any(groups, axis=0)
    if not size > 0:  # points alone
        return boxes, []
    weight = sum(_extent(lows[o], highs[o]) ** 2 for o in others) + float((sizes[alone] ** 2).sum())
    n_others = len(others) + int(alone.sum())
    times = _extent(lows, highs) / size
    is_speck = times > _SPECK if n_others <= _FEW else times > 10 * _SPECK
    if weight > _SMALL * size**2 and not is_speck:
        return boxes, []
    return (
        [box for box, is_in in zip(boxes, main, strict=True) if is_in],
        [box for box, is_in in zip(boxes, main, strict=True) if not is_in],
    )


def _groups(lows: np.ndarray, highs: np.ndarray) -> list[np.ndarray]:
    """The first groups, each as a mask [n] over the boxes, which come largest first; later ones stay alone."""
    free = np.ones(len(lows), dtype=bool)
    found: list[np.ndarray] = []
    while free.any() and len(found) < _MAX_GROUPS:
        inside = np.zeros(len(lows), dtype=bool)
        inside[int(np.argmax(free))] = True
        while (near := free & ~inside & _is_near(inside, lows, highs)).any():
            inside |= near
        joined = [other for other in found if (other & _is_near(inside, lows, highs)).any()]
        for other in joined:
            inside = inside | other
        found = [other for other in found if not any(other is one for one in joined)] + [inside]
        free &= ~inside
    return found


def _is_near(inside: np.ndarray, lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
    """Which boxes [n] are within reach of a group's box."""
    low, high = lows[inside].min(axis=0), highs[inside].max(axis=0)
    gaps = np.linalg.norm(np.maximum(0.0, np.maximum(lows - high, low - highs)), axis=1)
    reached: np.ndarray = gaps <= _REACH * np.linalg.norm(high - low)
    return reached


def _extent(lows: np.ndarray, highs: np.ndarray) -> float:
    """The diagonal of the box of several boxes."""
    return float(np.linalg.norm(highs.max(axis=0) - lows.min(axis=0)))
