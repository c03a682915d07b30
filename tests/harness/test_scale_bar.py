"""How long a scale bar is."""

import pytest

from harness.in_sandbox.contact_sheet import load_font
from harness.scale_bar import scale_bar

BARS = {
    "a room": ((0.005, 800, "METRIC", 1.0), "50 cm", 100),
    "a house": ((0.0125, 800, "METRIC", 1.0), "2 m", 160),
    "a millimetre": ((0.0000015, 800, "METRIC", 1.0), "200 um", 133.3),
    "a screw": ((0.00005, 800, "METRIC", 1.0), "5 mm", 100),
    "a town": ((2.0, 800, "METRIC", 1.0), "200 m", 100),
    "a region": ((10.0, 800, "METRIC", 1.0), "1 km", 100),
    "a scene in millimetres": ((0.5, 800, "METRIC", 0.001), "5 cm", 100),
    "feet": ((0.005, 800, "IMPERIAL", 1.0), "2 ft", 121.9),
    "inches": ((0.0005, 800, "IMPERIAL", 1.0), "2 in", 101.6),
    "no units": ((0.005, 800, "NONE", 1.0), "0.5 units", 100),
    "one unit": ((0.01, 800, "NONE", 1.0), "1 unit", 100),
    "many units": ((1000.0, 800, "NONE", 1.0), "100 000 units", 100),
}


@pytest.mark.parametrize("name", BARS)
def test_length_is_round_and_in_a_unit_that_people_use(name: str) -> None:
    """The label is 1, 2 or 5 times a power of ten, in the largest unit of which it is one or more."""
    arguments, label, n_pixels = BARS[name]
    bar = scale_bar(*arguments)
    assert bar.label == label
    assert bar.n_pixels == pytest.approx(n_pixels, rel=0.01)


@pytest.mark.parametrize("exponent", range(-12, 12))
@pytest.mark.parametrize("system", ["METRIC", "IMPERIAL", "NONE"])
def test_it_fits_into_the_picture(exponent: int, system: str) -> None:
    """From an eighth to less than a third of the picture's width, at any size of a scene."""
    for digit in (1.0, 2.4, 4.9, 9.9):
        bar = scale_bar(digit * 10.0**exponent, 800, system, 1.0)
        assert 0.119 * 800 <= bar.n_pixels <= 0.31 * 800


@pytest.mark.parametrize("exponent", range(-12, 7))
def test_each_letter_is_in_the_font(exponent: int) -> None:
    """None is drawn as the box that stands for what a font does not have."""
    font = load_font(28)
    box = bytes(font.getmask("\uffff"))
    assert bytes(font.getmask("\u4e00")) == box
    for system in ("METRIC", "IMPERIAL", "NONE"):
        label = scale_bar(2.4 * 10.0**exponent, 800, system, 1.0).label
        assert not [character for character in label if bytes(font.getmask(character)) == box], label
