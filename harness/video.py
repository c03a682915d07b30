"""What is known about the output video of a run: plain records, without a decoder.

They are measured by `harness/in_sandbox/video_analysis.py` in a process of its own, and brought here by
`harness/video_reader.py`. Whether a frame count, a size or a static picture is a problem is decided in
`harness/problems.py`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

MAX_BLOCKS = 2304
"""Of one frame in a sketch: 64x36 in a picture of 16:9, so that a block of 1080p has 30x30 pixels."""
_LEAST_BLOCK = 8
"""Pixels; H.264 predicts and transforms in 16, 8 and 4."""
LUMA_SUMS, CHROMA_SUMS = 8, 4
"""Of each block of a sketch, in the brightness, and in each of the two colour differences."""
SUMS = LUMA_SUMS + 2 * CHROMA_SUMS
SUM_STEPS = 16
"""Of a sum's unit, one grey level of the block's root mean square."""
SKETCH_BYTES = MAX_BLOCKS * SUMS * 2
"""Of one frame at most."""


@dataclass(frozen=True)
class VideoLimits:
    """What a hostile or careless file may cost us."""

    max_bytes: int = 512 * 2**20
    """Size of the file."""
    max_pixels: int = 8192 * 8192 // 4
    """Width x height of one picture, refused before any is decoded; and again where the size changes mid-stream."""
    max_frames: int = 20_000
    """Pictures in the file."""
    decode_seconds: float = 120.0
    """Wall clock of the whole analysis, looked at between packets and frames."""


class UnreadableVideo(Exception):
    """This file is not a video that can be judged. `code` is one of the codes below, `message` says what and where.

    video_empty_file · video_not_a_video (cannot be opened) · video_no_video_stream · video_more_streams (a second film,
    a cover, subtitles) · video_no_frames · video_corrupt (cannot be decoded) · video_turned (a player would turn or
    mirror its frames) · video_more_data (captions, light levels and the like beside the pictures) · video_edited (an
    edit list hides, repeats or reorders frames) · video_too_large (bytes, pixels, frames or samples) ·
    video_decode_timeout
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Frame:
    """One picture out of the video, for a person or a model."""

    index: int
    """Counts from 0, in presentation order."""
    seconds: float
    """Presentation time; the first frame's is 0."""
    jpeg: bytes
    width: int
    """Pixels of the JPEG, shaped as stored: a non-square sample aspect ratio is not applied."""
    height: int


@dataclass(frozen=True)
class ContentSample:
    """One frame reduced to 64x36 full-range grey (0..255)."""

    index: int
    """Of the frame, from 0."""
    mean: float
    """Of the grey values, 0..255."""
    standard_deviation: float
    """Of the grey values: an empty background has about 0.6, geometry over 3."""


@dataclass(frozen=True)
class VideoFacts:
    """What is measured; numbers and strings only, ready for JSON."""

    container: str
    """FFmpeg's name of the demuxer, such as "mp4"."""
    codec: str
    """FFmpeg's name of the codec, such as "h264"."""
    pixel_format: str
    """Of the first decoded frame, such as "yuv420p"."""
    width: int
    """Pixels of the first decoded frame."""
    height: int
    """Pixels of the first decoded frame."""
    n_frames: int
    """Decoded, not claimed by the container."""
    n_frames_claimed: int | None
    """What the container says; None where it says nothing. Rightly another number where an edit hides frames."""
    fps: float
    """Average frames a second, never 0: the declared rate where the frames bear it out, else frames / duration."""
    is_variable_rate: bool
    """The presentation times are not evenly spaced (beyond the container's own rounding)."""
    duration_seconds: float
    """From the first frame's appearance to the last one's end."""
    size_bytes: int
    """Of the file."""
    has_audio: bool
    """There is a sound stream; it is not decoded."""
    content_samples: tuple[ContentSample, ...]
    """Evenly spaced, first and last frame included."""
    neighbour_differences: tuple[float, ...]
    """Mean absolute grey difference (0..255) between neighbouring content samples; one fewer than these."""


@dataclass(frozen=True)
class VideoReading:
    """The facts, and the pictures worth keeping."""

    facts: VideoFacts
    """The numbers."""
    preview_frames: tuple[Frame, ...]
    """Evenly spaced, first and last included, each once: 3 for a 3-frame video, whatever was asked for."""
    contact_sheet: bytes
    """A PNG of the frames 0, n//3, 2n//3 and n-1, each once, labelled."""


@dataclass(frozen=True)
class Shape:
    """How a video's frames are stored: how large, in which pixels, meaning which colours; and how they are cut."""

    width: int
    """Pixels as stored."""
    height: int
    pixel_aspect: tuple[int, int]
    """Width to height of one pixel as a player shows it, in lowest terms; 0 to 1 where the file does not say."""
    pixel_format: str
    """FFmpeg's name, such as "yuv420p"; tells whether there is alpha."""
    colours: tuple[int, ...]
    """FFmpeg's numbers for primaries, transfer, matrix and range: what the file says, then what its frames say."""

    @property
    def block(self) -> int:
        """Pixels of a block's side: the smallest even number from 8 on that gives no more than MAX_BLOCKS."""
        block = _LEAST_BLOCK
        while math.prod(_parts(self, block)) > MAX_BLOCKS:
            block += 2
        return block

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of blocks; the last ones may be cut by the edge."""
        return _parts(self, self.block)


def _parts(shape: Shape, block: int) -> tuple[int, int]:
    return -(-shape.height // block), -(-shape.width // block)


@dataclass(frozen=True)
class Sketches:
    """Every frame of a video at its full size as sums of its pixels with random signs, see `video_compare`.

    In a file of signed 16-bit numbers, native order: frame after frame, block after block (row by row), SUMS each.
    """

    path: Path
    n_frames: int
    shape: Shape
