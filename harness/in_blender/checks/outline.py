"""How much of the picture an outline covers."""

import numpy as np


def clipped_hull_area(places: np.ndarray) -> float:
    """The share of the square -1..1 that the convex hull of the points [n, 2] covers."""
    polygon = _hull(np.clip(places, -1e6, 1e6))
    for axis in (0, 1):
        for sign in (1, -1):
            polygon = _clip(polygon, axis, sign)
    if len(polygon) < 3:
        return 0.0
    x, y = np.array(polygon).T
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 8)


def _hull(points: np.ndarray) -> list[tuple[float, float]]:
    """The convex hull, by Andrew's monotone chain (1979)."""
    ordered = [(float(x), float(y)) for x, y in np.unique(points, axis=0)]
    if len(ordered) < 3:
        return ordered

    def chain(walk: list[tuple[float, float]]) -> list[tuple[float, float]]:
        found: list[tuple[float, float]] = []
        for point in walk:
            while len(found) > 1 and _turn(found[-2], found[-1], point) <= 0:
                found.pop()
            found.append(point)
        return found[:-1]

    return chain(ordered) + chain(ordered[::-1])


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _clip(polygon: list[tuple[float, float]], axis: int, sign: int) -> list[tuple[float, float]]:
    """Without what lies beyond one edge of the square (Sutherland and Hodgman 1974)."""
    kept: list[tuple[float, float]] = []
    for i, point in enumerate(polygon):
        before = polygon[i - 1]
        inside, was_inside = sign * point[axis] <= 1, sign * before[axis] <= 1
        if inside != was_inside:
            share = (sign - before[axis]) / (point[axis] - before[axis])
            kept.append((before[0] + share * (point[0] - before[0]), before[1] + share * (point[1] - before[1])))
        if inside:
            kept.append(point)
    return kept
