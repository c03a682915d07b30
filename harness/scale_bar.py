"""How long a scale bar is: a round length in a unit that people use, about a fifth of the picture wide."""

import math
from dataclasses import dataclass

_LEAST_SHARE = 0.12
_STEPS = (1, 2, 5)
_METRIC = ((1000.0, "km"), (1.0, "m"), (0.01, "cm"), (0.001, "mm"), (1e-6, "um"))
_IMPERIAL = ((1609.344, "mi"), (0.3048, "ft"), (0.0254, "in"))
"""Metres of one, the largest unit first. Of letters that the labels' font has: a micrometre is no 'µm' there."""


@dataclass(frozen=True)
class ScaleBar:
    """What stands beside it, and how many pixels it is long."""

    label: str
    n_pixels: float


def scale_bar(units_per_pixel: float, width: int, unit_system: str, scale_length: float) -> ScaleBar:
    """The shortest length of 1, 2 or 5 times a power of ten that takes an eighth of the picture's width or more.

    `unit_system` (METRIC, IMPERIAL or NONE) and `scale_length` (metres of a Blender unit) are the scene's.
    """
    least = units_per_pixel * width * _LEAST_SHARE
    units = {"METRIC": _METRIC, "IMPERIAL": _IMPERIAL}.get(unit_system, ())
    if not units:
        length = _round_up(least)
        return ScaleBar(f"{_number(length)} unit{'' if length == 1 else 's'}", length / units_per_pixel)
    metres = least * scale_length
    size, name = next((unit for unit in units if _round_up(metres / unit[0]) >= 1), units[-1])
    length = _round_up(metres / size)
    return ScaleBar(f"{_number(length)} {name}", length * size / scale_length / units_per_pixel)


def _round_up(x: float) -> float:
    """The next of 1, 2, 5, 10, ..., within a thousandth."""
    power = 10.0 ** math.floor(math.log10(x))
    return next((step * power for step in _STEPS if step * power >= x * 0.999), 10 * power)


def _number(x: float) -> str:
    return f"{x:,.0f}".replace(",", " ") if 1 <= x < 1e7 else f"{x:.3g}"
