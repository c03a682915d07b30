"""Tells whether two videos show the same: block by block, with a tolerance, at their full size.

Each video is read in a sandbox of its own, so that one cannot forge the reading of the other, and frames stay there.
Of each block of each frame come out a few sums of its pixels, each pixel with a sign (+ or -) drawn by lot. Such a sum
is a linear map, so the difference of two videos' sums is the sum of their differing pixels, and the mean of its square
over all draws is the sum of the squared differences: no detail is too fine to count, and none cancels out (Alon,
Matias, Szegedy 1996, "The space complexity of approximating the frequency moments"; Achlioptas 2003, "Database-friendly
random projections"). The signs are drawn anew for each comparison, after both files are there: no film can be made to
fit them.

The price is that a difference is an estimate: with eight sums two in three lie within a quarter of the true value, and
one in 10,000 blocks seems to differ by under a third or over twice what it does. Equal pixels give exactly 0.
Times and rates are not compared.
"""

import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.folders import private_folder
from harness.settings import HarnessSettings
from harness.video import (
    CHROMA_SUMS,
    LUMA_SUMS,
    SUM_STEPS,
    SUMS,
    Shape,
    Sketches,
)
from harness.video_reader import VideoReader
from harness.workspace import take_file

THRESHOLD = 4.0
"""Grey levels, of a block. Measured (`tests/bench/honest_renders.py`, 2 cores under load, 8 frames of 160x90 at every
quality): of 200 honest films 199 gave exactly 0.0 and one 5.0 in its worst frame, before the frames were counted; 53
others, and 7 of 640x360 with 48 frames, all 0.0; a scene of geometry nodes once 1.1 in six frames. That lasting noise
is a quarter of this. Planted (`tests/attacks`): noise of single pixels gives 8.7, an object 8 levels brighter 9.7, one
of four pixels 19, thin letters 20, a figure 14 levels brighter 16, a checker of 2x2 pixels 112."""
LASTING = 3
"""Frames with a block over the threshold, in a film that has so many, make it another one. A single pixel on an
object's edge falls to the other side of it now and then when a scene is rendered again; it does not do so thrice."""
FRAME_THRESHOLD = 1.0
"""Grey levels, of a whole frame: one is enough. Measured in the same films: honest 0.0 (a block of 5 in 160x90 makes
0.3), an even tint of a red channel 3.1, the others from 2.1 on."""
CHANGED = 16.0
"""Grey levels, of a block, over which it counts as changed: over what an encoder does to its neighbours. Measured with
24 frames of thirty turning heads, in front of which a painted rectangle of a tenth or a fifth of the frame walks, once
in its mean colour: at H.264's lowest quality (crf 32) 99 in 100 blocks beside it differ by under 14 in 640x360 (20 in
160x90), and blocks over 16 add at most 0.01 to the share of a frame (0.08); at medium quality nothing (0.001), at
200 kbit/s in 640x360 up to 0.09. With 8 the lowest quality alone would add 0.12 (0.32)."""
_FRAMES_AT_ONCE = 64
"""5 MB of each video's sums, and some times as much while they are compared."""


@dataclass(frozen=True)
class Block:
    """One block of one frame."""

    frame: int
    """From 0."""
    left: int
    """Pixels from the left edge of the frame."""
    top: int
    """Pixels from its upper edge."""
    difference: float
    """Root mean square over its pixels, 0..255 grey levels, estimated (see the module); of the brightness or of a
    colour difference (Cb, Cr), whichever is the largest."""


@dataclass(frozen=True)
class VideoComparison:
    """What was measured of two videos. Frames are compared only where there are equally many of one shape."""

    n_frames: tuple[int, int]
    """Of the first and of the second."""
    shapes: tuple[Shape, Shape]
    worst_blocks: tuple[Block, ...]
    """Of every frame, the block that differs most; empty where counts or shapes differ."""
    whole_frames: tuple[float, ...]
    """The difference of every frame as that of a block, over all its pixels; empty where counts or shapes differ."""

    @property
    def worst(self) -> Block | None:
        """The first of the blocks that differ most of all."""
        return max(self.worst_blocks, key=lambda block: block.difference, default=None)

    @property
    def lasting(self) -> Block | None:
        """The block that differs least among the LASTING worst ones (all of a shorter film's)."""
        worst = sorted(self.worst_blocks, key=lambda block: -block.difference)[:LASTING]
        return worst[-1] if worst else None

    @property
    def worst_frame(self) -> int:
        """The first of the frames that differ most as a whole, from 0."""
        return max(range(len(self.whole_frames)), key=self.whole_frames.__getitem__, default=0)

    @property
    def telling_frame(self) -> int:
        """The frame that tells best what is wrong: of `lasting` where that is over its threshold, else the worst whole
        one."""
        return self.lasting.frame if self.lasting and self.lasting.difference > THRESHOLD else self.worst_frame

    @property
    def is_same(self) -> bool:
        """As many frames of one shape, none over its threshold, and blocks over theirs in fewer frames than LASTING."""
        is_lasting = self.lasting is None or self.lasting.difference > THRESHOLD
        return not is_lasting and max(self.whole_frames) <= FRAME_THRESHOLD


def compare_videos(first: Path, second: Path, settings: HarnessSettings) -> VideoComparison:
    """Read two untrusted video files and compare them.

    Raises UnreadableVideo (the first one's, if both are), NotTaken for what is no plain file, or HarnessError.
    """
    with _both(first, second, settings) as sketches:
        return compare(*sketches)


def changed_share(first: Path, second: Path, settings: HarnessSettings) -> float:
    """The largest share (0..1) of a frame whose blocks differ by more than CHANGED; 1 where counts or shapes differ.

    Raises as `compare_videos`.
    """
    with _both(first, second, settings) as (before, after):
        if (before.n_frames, before.shape) != (after.n_frames, after.shape):
            return 1.0
        area = _filled(before.shape)
        shares = [
            float(np.where(_differences(squares, area) > CHANGED, area, 0).sum(axis=(1, 2)).max() / area.sum())
            for squares in map(_mean_squares, _pieces(before), _pieces(after))
        ]
        return max(shares)


@contextmanager
def _both(first: Path, second: Path, settings: HarnessSettings) -> Iterator[tuple[Sketches, Sketches]]:
    """What is read of both, with the same signs."""
    key = secrets.randbits(128)
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder("compare"))
        readers = [stack.enter_context(VideoReader(settings)) for _ in range(2)]
        for reader in readers:
            reader.start()
        for reader, video in zip(readers, (first, second), strict=True):
            take_file(video.parent, video.name, reader.video, max_bytes=settings.max_file_mb << 20)
        yield readers[0].sketches(folder / "0", key), readers[1].sketches(folder / "1", key)


def compare(first: Sketches, second: Sketches) -> VideoComparison:
    """Compare what was read of two videos with the same signs, a few frames at a time."""
    blocks: list[Block] = []
    frames: list[float] = []
    shape = first.shape
    if (first.n_frames, shape) == (second.n_frames, second.shape):
        for before, after in zip(_pieces(first), _pieces(second), strict=True):
            squares = _mean_squares(before, after)
            frames += [float(square) ** 0.5 for square in _of_frames(squares, shape)]
            blocks += _worst_blocks(squares, shape, len(blocks))
    return VideoComparison((first.n_frames, second.n_frames), (shape, second.shape), tuple(blocks), tuple(frames))


_Floats = npt.NDArray[np.float32]


def _pieces(sketches: Sketches) -> Iterator[_Floats]:
    """(frames, rows, columns, SUMS)"""
    n_rows, n_columns = sketches.shape.grid
    n_bytes = _FRAMES_AT_ONCE * n_rows * n_columns * SUMS * 2
    with sketches.path.open("rb") as file:
        for piece in iter(partial(file.read, n_bytes), b""):
            yield np.frombuffer(piece, np.int16).reshape(-1, n_rows, n_columns, SUMS).astype(np.float32)


def _mean_squares(first: _Floats, second: _Floats) -> _Floats:
    """(frames, rows, columns, planes) of brightness and colours; where the edge cuts a block, as if it were whole."""
    squares = ((first - second) / SUM_STEPS) ** 2
    planes = np.split(squares, [LUMA_SUMS, LUMA_SUMS + CHROMA_SUMS], axis=3)
    return np.stack([plane.mean(axis=3) for plane in planes], axis=3)


def _of_frames(squares: _Floats, shape: Shape) -> _Floats:
    """(frames,) mean squares, of brightness or a colour, whichever is the largest."""
    largest: _Floats = squares.sum(axis=(1, 2)).max(axis=1) / _filled(shape).sum()
    return largest


def _worst_blocks(squares: _Floats, shape: Shape, start: int) -> Iterator[Block]:
    for number, frame in enumerate(_differences(squares, _filled(shape)), start):
        row, column = divmod(int(frame.argmax()), shape.grid[1])
        yield Block(number, column * shape.block, row * shape.block, float(frame[row, column]))


def _differences(squares: _Floats, area: _Floats) -> _Floats:
    """(frames, rows, columns), of brightness or a colour, whichever is the largest; `area` is that of each block."""
    differences: _Floats = np.sqrt(squares.max(axis=3) / area)
    return differences


def _filled(shape: Shape) -> _Floats:
    """(rows, columns): the share of each block that lies inside the frame."""
    rows, columns = (
        np.minimum(shape.block, size - shape.block * np.arange(n)) / shape.block
        for size, n in zip((shape.height, shape.width), shape.grid, strict=True)
    )
    return np.outer(rows, columns).astype(np.float32)
