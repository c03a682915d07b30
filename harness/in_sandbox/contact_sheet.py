"""A few frames on one picture, each under its number: the `preview.png` of a run.

The PNG holds pixels alone, no dates, paths or other text, so that equal frames give equal bytes.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from functools import cache

from PIL import Image, ImageDraw, ImageFont

from harness.video import Frame

GAP = 4
BACKGROUND = (48, 48, 48)
STRIP = (16, 16, 16)
TEXT = (240, 240, 240)
PNG_COMPRESSION = 1


def contact_sheet(frames: Sequence[Frame]) -> bytes:
    """A PNG of the frames in a near-square grid (2x2 for four), each under a dark strip "Frame <1-based number>"."""
    if not frames:
        raise ValueError("A contact sheet needs at least one frame.")
    n_columns = math.ceil(math.sqrt(len(frames)))
    n_rows = math.ceil(len(frames) / n_columns)
    cell_width, cell_height = max(frame.width for frame in frames), max(frame.height for frame in frames)
    strip_height = label_strip_height(cell_width)
    step_x, step_y = cell_width + GAP, cell_height + strip_height + GAP
    sheet = Image.new("RGB", (n_columns * step_x - GAP, n_rows * step_y - GAP), BACKGROUND)
    for position, frame in enumerate(frames):
        row, column = divmod(position, n_columns)
        _paste_labelled(sheet, frame, (column * step_x, row * step_y), (cell_width, strip_height))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG", compress_level=PNG_COMPRESSION)
    return buffer.getvalue()


def label_strip_height(frame_width: int) -> int:
    """Legible after a viewer scales the sheet down: about a twentieth of the frame's width, within reason."""
    return min(max(16, frame_width // 20), 40)


@cache
def load_font(strip_height: int = 32) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """The font of the labels: 10 ms for the first one of a process."""
    return ImageFont.load_default(size=strip_height * 0.7)


def _paste_labelled(sheet: Image.Image, frame: Frame, corner: tuple[int, int], strip_size: tuple[int, int]) -> None:
    x, y = corner
    width, height = strip_size
    strip = Image.new("RGB", strip_size, STRIP)
    ImageDraw.Draw(strip).text(
        (height // 3, height // 2), f"Frame {frame.index + 1}", fill=TEXT, font=load_font(height), anchor="lm"
    )
    sheet.paste(strip, corner)
    with Image.open(io.BytesIO(frame.jpeg)) as picture:
        sheet.paste(picture, (x + (width - frame.width) // 2, y + height))
