"""Compares pictures block by block with a tolerance: an encoder and a renderer seldom give the same bytes twice."""

import io
from collections.abc import Sequence
from itertools import zip_longest

import numpy as np
import numpy.typing as npt
from PIL import Image

from agent_plugin.recorded_episode import SeenFrame
from agent_plugin.replay_compare import NOTHING, Difference

THRESHOLD = 16.0
"""Mean difference of a block, of 255. The same code encoded at the lowest quality reaches 3.6, a tiny object that is
missing 72."""
_WIDTH, _HEIGHT, _BLOCK = 160, 90, 10


def compare_frames(recorded: Sequence[SeenFrame], now: Sequence[SeenFrame]) -> list[Difference]:
    """How many there are, what stands before each, its size, and its worst block."""
    if len(recorded) != len(now):
        return [Difference("frames", f"{len(recorded)} of them", f"{len(now)} of them")]
    found = []
    for number, (old, new) in enumerate(zip_longest(recorded, now), start=1):
        if old.caption != new.caption:
            found.append(Difference(f"frame {number}", old.caption or NOTHING, new.caption or NOTHING))
        elif difference := _compare(old.picture, new.picture):
            found.append(difference.inside(f"frame {number} ({old.caption.rstrip(':')})"))
    return found


def worst_block(recorded: bytes, now: bytes) -> tuple[float, tuple[int, int]]:
    """(mean difference of the block that differs most, its middle in percent of width and height)."""
    blocks = np.abs(_pixels(recorded) - _pixels(now)).reshape(_HEIGHT // _BLOCK, _BLOCK, _WIDTH // _BLOCK, _BLOCK, 3)
    means = blocks.mean(axis=(1, 3)).max(axis=-1)  # the colour that differs most
    row, column = np.unravel_index(int(means.argmax()), means.shape)
    middle = ((float(column) + 0.5) / means.shape[1], (float(row) + 0.5) / means.shape[0])
    return float(means.max()), (round(100 * middle[0]), round(100 * middle[1]))


def _compare(recorded: bytes, now: bytes) -> Difference | None:
    sizes = [f"{width}x{height}" for width, height in map(_size, (recorded, now))]
    if sizes[0] != sizes[1]:
        return Difference("size", *sizes)
    worst, (x, y) = worst_block(recorded, now)
    if worst <= THRESHOLD:
        return None
    return Difference(
        f"at {x}% from the left, {y}% from the top", "a picture", f"one that differs by {worst:.0f} of 255"
    )


def _size(picture: bytes) -> tuple[int, int]:
    with Image.open(io.BytesIO(picture)) as image:
        return image.size


def _pixels(picture: bytes) -> npt.NDArray[np.float32]:
    with Image.open(io.BytesIO(picture)) as image:
        return np.asarray(image.convert("RGB").resize((_WIDTH, _HEIGHT), Image.Resampling.BILINEAR), dtype=np.float32)
