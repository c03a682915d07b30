"""A few frames on one picture, each under its number or label: the `preview.png` of a run.

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


def contact_sheet(frames: Sequence[Frame], labels: Sequence[str] = ()) -> bytes:
    """A PNG of the frames in a near-square grid (2x2 for four), each under a dark strip with its label.

    Without labels the strips say "Frame <1-based number>".
    """
    if not frames:
        raise ValueError("A contact sheet needs at least one frame.")
    labels = labels or [f"Frame {frame.index + 1}" for frame in frames]
    n_columns = math.ceil(math.sqrt(len(frames)))
    n_rows = math.ceil(len(frames) / n_columns)
    cell_width, cell_height = max(frame.width for frame in frames), max(frame.height for frame in frames)
    strip_height = label_strip_height(cell_width)
    step_x, step_y = cell_width + GAP, cell_height + strip_height + GAP
    sheet = Image.new("RGB", (n_columns * step_x - GAP, n_rows * step_y - GAP), BACKGROUND)
    for position, (frame, label) in enumerate(zip(frames, labels, strict=True)):
        row, column = divmod(position, n_columns)
        _paste_labelled(sheet, frame, label, (column * step_x, row * step_y), (cell_width, strip_height))
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


def _paste_labelled(
    sheet: Image.Image, frame: Frame, label: str, corner: tuple[int, int], strip_size: tuple[int, int]
) -> None:
    x, y = corner
    width, height = strip_size
    strip, indent, font = Image.new("RGB", strip_size, STRIP), height // 3, load_font(height)
    text = fitting(label, font, width - 2 * indent)
    ImageDraw.Draw(strip).text((indent, height // 2), text, fill=TEXT, font=font, anchor="lm")
    sheet.paste(strip, corner)
    with Image.open(io.BytesIO(frame.jpeg)) as picture:
        sheet.paste(picture, (x + (width - frame.width) // 2, y + height))


def fitting(label: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> str:
    """As much of a label as there is room for, on one line: names in it may be long and hold line ends."""
    text = "".join(c if c.isprintable() else " " for c in label)
    if font.getlength(text) <= width:
        return text
    kept = next((n for n in range(len(text), 0, -1) if font.getlength(f"{text[:n].rstrip()}...") <= width), 0)
    return f"{text[:kept].rstrip()}..."
