"""Tells whether two videos show the same: block by block with a tolerance, since encoded bytes never match twice.

Each video is made small (160x90 RGB) in a sandbox of its own, so that one cannot forge the reading of the other; here
raw bytes are subtracted. Sizes, rates and times are not compared, and what is smaller than a block may drown in it.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from harness.folders import private_folder
from harness.settings import HarnessSettings
from harness.video import SMALL_FRAME_BYTES, SMALL_HEIGHT, SMALL_WIDTH, SmallFrames
from harness.video_reader import VideoReader
from harness.workspace import take_file

BLOCK = 10
"""Pixels, of the small frames."""
THRESHOLD = 16.0
"""Of 255. Measured (SANDBOX-FACTS, section 4): the same scene encoded at the lowest quality reaches 3.6, a tiny object
that is missing 72, another scene 84."""
CHANGED = 24
"""Of 255, in any colour, from which a pixel counts as changed: over what an encoder does to its neighbours."""
_FRAMES_AT_ONCE = 64
"""3 MB of each video, 8 of their difference."""


@dataclass(frozen=True)
class Block:
    """One block of one frame."""

    frame: int
    """From 0."""
    left: int
    """Pixels from the left edge of the 160x90 frame."""
    top: int
    """Pixels from its upper edge."""
    difference: float
    """Mean absolute difference of its pixels and colours, 0..255."""


@dataclass(frozen=True)
class VideoComparison:
    """What was measured of two videos. Frames are compared only where there are equally many."""

    n_frames: tuple[int, int]
    """Of the first and of the second."""
    worst_blocks: tuple[Block, ...]
    """Of every frame, the block that differs most; empty where the counts differ."""

    @property
    def worst(self) -> Block | None:
        """The first of the blocks that differ most of all."""
        return max(self.worst_blocks, key=lambda block: block.difference, default=None)

    @property
    def is_same(self) -> bool:
        """As many frames, and none with a block over the threshold."""
        return self.worst is not None and self.worst.difference <= THRESHOLD


def compare_videos(first: Path, second: Path, settings: HarnessSettings) -> VideoComparison:
    """Read two untrusted video files and compare them.

    Raises UnreadableVideo (the first one's, if both are), NotTaken for what is no plain file, or HarnessError.
    """
    with _both(first, second, settings) as frames:
        return compare(*frames)


def changed_share(first: Path, second: Path, settings: HarnessSettings) -> float:
    """The largest share (0..1) of a frame's pixels that differ between two videos; 1 where the counts differ.

    Raises as `compare_videos`.
    """
    with _both(first, second, settings) as (before, after):
        if before.n_frames != after.n_frames:
            return 1.0
        pieces = zip(_pieces(before), _pieces(after), strict=True)
        shares = [(np.abs(a - b).max(axis=3) >= CHANGED).mean(axis=(1, 2)).max() for a, b in pieces]
        return float(max(shares))


@contextmanager
def _both(first: Path, second: Path, settings: HarnessSettings) -> Iterator[tuple[SmallFrames, SmallFrames]]:
    with ExitStack() as stack:
        folder = stack.enter_context(private_folder("compare"))
        readers = [stack.enter_context(VideoReader(settings)) for _ in range(2)]
        for reader in readers:
            reader.start()
        for reader, video in zip(readers, (first, second), strict=True):
            take_file(video.parent, video.name, reader.video, max_bytes=settings.max_file_mb << 20)
        yield readers[0].small_frames(folder / "0"), readers[1].small_frames(folder / "1")


def compare(first: SmallFrames, second: SmallFrames) -> VideoComparison:
    """Compare what was read of two videos, a few frames at a time."""
    blocks: list[Block] = []
    if first.n_frames == second.n_frames:
        for number, (before, after) in enumerate(zip(_pieces(first), _pieces(second), strict=True)):
            blocks += _worst_blocks(before, after, number * _FRAMES_AT_ONCE)
    return VideoComparison((first.n_frames, second.n_frames), tuple(blocks))


_Frames = npt.NDArray[np.int16]
"""Signed, so that two of them can be subtracted."""


def _pieces(frames: SmallFrames) -> Iterator[_Frames]:
    with frames.path.open("rb") as file:
        while piece := file.read(_FRAMES_AT_ONCE * SMALL_FRAME_BYTES):
            yield np.frombuffer(piece, np.uint8).reshape(-1, SMALL_HEIGHT, SMALL_WIDTH, 3).astype(np.int16)


def _worst_blocks(first: _Frames, second: _Frames, start: int) -> Iterator[Block]:
    n_rows, n_columns = SMALL_HEIGHT // BLOCK, SMALL_WIDTH // BLOCK
    differences = np.abs(first - second).reshape(len(first), n_rows, BLOCK, n_columns, BLOCK * 3)
    means = differences.mean(axis=(2, 4))
    for number, frame in enumerate(means, start):
        row, column = divmod(int(frame.argmax()), n_columns)
        yield Block(number, column * BLOCK, row * BLOCK, float(frame[row, column]))
