"""Makes clean pictures of raw ones: the figure before a plain backdrop, a label and a scale bar below, a film, a sheet.

A PNG holds pixels alone, no dates, paths or other text, so that equal pixels give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import av
import numpy as np
from PIL import Image, ImageDraw

from harness.in_sandbox.contact_sheet import BACKGROUND, GAP, STRIP, TEXT, fitting, label_strip_height, load_font

_PNG_COMPRESSION = 6
_MAX_PIXELS = 4096 * 4096
_TOP, _BOTTOM = (74, 80, 90), (140, 146, 155)
"""Backdrop, a middle grey: white things stand out from it as black ones do."""
_LEAST_ALPHA = 16
_EVEN = 2.5
"""Grey levels: a picture whose colours differ by less shows one even colour."""
_CELL = (320, 240)
_N_COLUMNS = 4


@dataclass(frozen=True)
class Clean:
    """A raw picture before the backdrop."""

    image: Image.Image
    n_figure: int
    """Pixels that are not backdrop."""
    is_even: bool
    """Whether it shows nothing but one colour."""

    @property
    def state(self) -> str:
        return "even" if self.is_even else "good" if self.n_figure else "empty"


def read_raw(path: Path) -> Clean:
    """Raises OSError, ValueError or SyntaxError for what is no picture."""
    with Image.open(path, formats=("PNG",)) as opened:
        if opened.width * opened.height > _MAX_PIXELS:
            raise ValueError("too large")
        raw = opened.convert("RGBA")
    pixels = np.asarray(raw)
    figure = pixels[..., 3] >= _LEAST_ALPHA
    n_figure = int(figure.sum())
    is_even = n_figure == figure.size and float(np.ptp(pixels[..., :3].astype(int), axis=(0, 1)).max()) < 2 * _EVEN
    image = Image.alpha_composite(_backdrop(raw.size), raw).convert("RGB")
    return Clean(image, n_figure, is_even)


@cache
def _backdrop(size: tuple[int, int]) -> Image.Image:
    width, height = size
    share = np.linspace(0.0, 1.0, height)[:, None]
    column = np.array(_TOP) * (1 - share) + np.array(_BOTTOM) * share
    rows = np.repeat(np.round(column).astype(np.uint8)[:, None, :], width, axis=1)
    return Image.fromarray(rows, "RGB").convert("RGBA")


def save_png(image: Image.Image, path: Path) -> None:
    """Pixels alone."""
    image.save(path, "PNG", compress_level=_PNG_COMPRESSION)


def with_strip(image: Image.Image, label: str, bar: tuple[str, float] | None) -> Image.Image:
    """The picture with a dark strip below: the label at the left, the scale bar at the right."""
    height = max(20, image.width // 28)
    framed = Image.new("RGB", (image.width, image.height + height), STRIP)
    framed.paste(image, (0, 0))
    draw, font, middle, indent = ImageDraw.Draw(framed), load_font(height), image.height + height // 2, height // 3
    room = image.width - 2 * indent
    if bar:
        text, n_pixels = bar
        right = image.width - indent
        left = right - round(n_pixels)
        draw.line([(left, middle), (right, middle)], fill=TEXT, width=3)
        for x in (left, right):
            draw.line([(x, middle - height // 4), (x, middle + height // 4)], fill=TEXT, width=3)
        at = left - indent
        draw.text((at, middle), text, fill=TEXT, font=font, anchor="rm")
        room = at - math.ceil(font.getlength(text)) - 2 * indent
    draw.text((indent, middle), fitting(label, font, room), fill=TEXT, font=font, anchor="lm")
    return framed


def sheet_of(cells: Sequence[tuple[Image.Image, str]]) -> Image.Image:
    """All pictures in a grid, each over its caption; the first one takes four cells."""
    width, height = _CELL
    strip = label_strip_height(width) + 2
    step_x, step_y = width + GAP, height + strip + GAP
    places = [(0, 0, 2)] + [
        (*divmod(at, _N_COLUMNS), 1) for at in range(4 * (len(cells) + 4)) if at not in (0, 1, 4, 5)
    ]
    places = places[: len(cells)]
    n_rows = max(row + span for row, _, span in places)
    sheet = Image.new("RGB", (_N_COLUMNS * step_x - GAP, n_rows * step_y - GAP), BACKGROUND)
    for (row, column, span), (image, caption) in zip(places, cells, strict=True):
        x, y = column * step_x, row * step_y
        wide, high = span * step_x - GAP, span * step_y - GAP - strip
        small = _shrunk(image, (wide, high))
        sheet.paste(small, (x + (wide - small.width) // 2, y + (high - small.height) // 2))
        draw, font = ImageDraw.Draw(sheet), load_font(strip)
        draw.rectangle((x, y + high, x + wide - 1, y + high + strip - 1), fill=STRIP)
        text = fitting(caption, font, wide - 2 * GAP)
        draw.text((x + GAP, y + high + strip // 2), text, fill=TEXT, font=font, anchor="lm")
    return sheet


def _shrunk(image: Image.Image, room: tuple[int, int]) -> Image.Image:
    share = min(room[0] / image.width, room[1] / image.height)
    size = (max(1, round(image.width * share)), max(1, round(image.height * share)))
    return image.resize(size, Image.Resampling.LANCZOS)


def write_film(images: Iterable[Image.Image], path: Path, fps: float) -> int:
    """H.264 in an MP4 without a date or a name in it, for any player; returns how many frames it has."""
    n_frames = 0
    options = {"movflags": "+faststart", "fflags": "+bitexact"}
    with av.open(str(path), "w", format="mp4", container_options=options) as container:
        stream: Any = None
        for image in images:
            if stream is None:
                stream = container.add_stream("libx264", rate=Fraction(fps).limit_denominator(1001))
                stream.width, stream.height, stream.pix_fmt = image.width, image.height, "yuv420p"
                stream.options = {"crf": "18", "preset": "veryfast", "threads": "1"}
            frame = av.VideoFrame.from_ndarray(np.asarray(image), format="rgb24")
            container.mux(stream.encode(frame))
            n_frames += 1
        container.mux(stream.encode())
    return n_frames
