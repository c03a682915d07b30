"""A whole video at its full size as sums of pixels with random signs, for comparing it with another one outside.

What such sums are good for is in `harness/video_compare.py`. They are linear and exact before they are rounded, so that
equal pixels give equal sums in every process, and the order in which a library adds them up does not matter.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from av.video.frame import VideoFrame
from av.video.plane import VideoPlane

from harness.in_sandbox.video_decode import Declared, colour_tags, count_packets, decode_each
from harness.in_sandbox.video_file import DECODER_THREADS, Clock, container_format, opened_file
from harness.video import CHROMA_SUMS, LUMA_SUMS, SUM_STEPS, Shape, UnreadableVideo, VideoLimits

_FORMAT = "yuv420p"
"""What Blender's H.264 is anyway: no conversion then. Colour is at half the size."""
_FORMAT_WITH_ALPHA = "yuva420p"
_DRAWS = 16
"""Of signs, used in turn."""
_Floats = npt.NDArray[np.float32]
_Sums = npt.NDArray[np.int16]


def write_sketches(video: Path, destination: Path, key: int, limits: VideoLimits) -> tuple[int, Shape]:
    """Write the sums of every frame (the form is that of `Sketches`); returns how many frames, and how they are cut.

    `key` chooses the signs. As in `analyse_video`, a count that is not the packets' is looked at again in one thread.
    Raises UnreadableVideo.
    """
    clock = Clock(limits.decode_seconds)
    with opened_file(video, limits) as file:
        demuxer = container_format(file, clock)
        declared, n_packets = count_packets(file, demuxer, limits, clock)
        writing = _Writing(file, demuxer, destination, declared, key, limits, clock)
        n, shape = writing.run(DECODER_THREADS)
        return (n, shape) if n == n_packets else writing.run(1)


class _Writing:
    """One decode of the file."""

    def __init__(
        self,
        file: BinaryIO,
        demuxer: str,
        destination: Path,
        declared: Declared,
        key: int,
        limits: VideoLimits,
        clock: Clock,
    ) -> None:
        self._file, self._demuxer, self._destination = file, demuxer, destination
        self._declared, self._key, self._limits, self._clock = declared, key, limits, clock

    def run(self, n_threads: int) -> tuple[int, Shape]:
        """All frames into the destination."""
        sketcher: _Sketcher | None = None
        with self._destination.open("wb") as writer:

            def take(frame: VideoFrame) -> None:
                nonlocal sketcher
                if sketcher is None:
                    sketcher = _Sketcher(_shape(frame, self._declared), self._declared, self._key)
                writer.write(sketcher.sums(frame).tobytes())

            n = decode_each(self._file, self._demuxer, take, self._limits, self._clock, n_threads=n_threads)
        assert sketcher is not None  # there is at least one frame
        return n, sketcher.shape


class _Sketcher:
    """The signs, the same for both videos.

    Neighbouring rows of blocks, and frames, have others, so that no pattern is unlucky in all of its blocks. Alpha has
    its own and is added to the brightness, so that a difference in it counts as one there: squares add up. Colour under
    it counts as it is, since many players know no alpha.
    """

    def __init__(self, shape: Shape, declared: Declared, key: int) -> None:
        self.shape, self._declared = shape, declared
        self._n_frames = 0
        chance = np.random.default_rng(key)
        self._signs = [_signs(chance, shape.block, LUMA_SUMS)]
        self._signs += [_signs(chance, shape.block // 2, CHROMA_SUMS) for _ in range(2)]
        self._signs += [_signs(chance, shape.block, LUMA_SUMS)]

    def sums(self, frame: VideoFrame) -> _Sums:
        """Of the next frame: (blocks, SUMS)."""
        if _shape(frame, self._declared) != self.shape:
            raise UnreadableVideo("video_corrupt", "The frames of the video are not all of the same size and colours.")
        has_alpha = frame.format.has_palette or any(component.is_alpha for component in frame.format.components)
        planes = frame.reformat(format=_FORMAT_WITH_ALPHA if has_alpha else _FORMAT, threads=1).planes
        drawn = [np.roll(signs, self._n_frames, axis=0) for signs in self._signs]
        self._n_frames += 1
        luma, cb, cr, *alpha = (_plane_sums(_pixels(p), self.shape, s) for p, s in zip(planes, drawn, strict=False))
        return _rounded(np.hstack([sum(alpha, luma), cb, cr]))


def _shape(frame: VideoFrame, declared: Declared) -> Shape:
    colours = (*declared.colours, *colour_tags(frame))
    return Shape(frame.width, frame.height, declared.pixel_aspect, frame.format.name, colours)


def _signs(chance: np.random.Generator, block: int, n: int) -> _Floats:
    """(draws, pixels of a block, sums)"""
    return chance.choice(np.array((-1, 1), np.float32), (_DRAWS, block * block, n))


def _pixels(plane: VideoPlane) -> npt.NDArray[np.uint8]:
    rows: npt.NDArray[np.uint8] = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
    return rows[: plane.height, : plane.width]


def _plane_sums(pixels: npt.NDArray[np.uint8], shape: Shape, signs: _Floats) -> _Floats:
    """(blocks, sums), not yet rounded.

    A row of blocks at a time, which stays in the processor's cache: 5 ms for a frame of 1080p in all.
    """
    (n_rows, n_columns), block = shape.grid, math.isqrt(signs.shape[1])
    sums = np.empty((n_rows, n_columns, signs.shape[2]), np.float32)
    strip = np.zeros((block, n_columns * block), np.float32)
    for row in range(n_rows):
        part = pixels[row * block : (row + 1) * block]
        strip[len(part) :] = 0  # beyond the edge, where nothing differs
        np.subtract(part, 128, out=strip[: len(part), : part.shape[1]], dtype=np.float32)
        blocks = strip.reshape(block, n_columns, block).swapaxes(0, 1).reshape(n_columns, block * block)
        sums[row] = blocks @ signs[row % _DRAWS]
    return (sums * np.float32(SUM_STEPS / block)).reshape(-1, signs.shape[2])


def _rounded(sums: _Floats) -> _Sums:
    limits = np.iinfo(np.int16)
    rounded: _Sums = np.rint(sums).clip(limits.min, limits.max).astype(np.int16)
    return rounded
