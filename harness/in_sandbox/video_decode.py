"""Decodes an output video once, keeping of each frame its time, and of the wanted ones a grey reduction and a JPEG.

Memory does not grow with the video: no frame outlives its turn. Limits and clock are looked at between packets.

**How far damage is noticed.** FFmpeg's default is to conceal it. Here every decoding error raises, and so does a frame
that the decoder marks as corrupt. Most codecs carry no checksum, though, and then damage shows only where the bits stop
making sense. Random zeros, noise and single bits in files from Blender, of those that changed any pixel: H.264 580 of
593 noticed (the rest decode to wrong pixels without a sign); PNG all; AV1, MPEG-4, MPEG-2 and FLV about nine in ten;
ProRes six in ten; H.265 three in ten; VP9, Theora, FFV1, QTRLE and HuffYUV hardly any. A cut-off MP4, QuickTime, AVI,
MPEG or FLV file is noticed; Matroska, WebM, Ogg and DV are made for streaming and merely have fewer frames.
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from errno import ENOMEM, ERANGE
from fractions import Fraction
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt
from av.sidedata.sidedata import SideDataContainer
from av.sidedata.sidedata import Type as SideDataType
from av.video.codeccontext import VideoCodecContext
from av.video.frame import VideoFrame
from PIL import Image

from harness.in_sandbox.video_file import (
    AV_ERRORS,
    DECODER_THREADS,
    MPEG4_FORMAT,
    Clock,
    opened_video,
    reason,
    too_large,
)
from harness.video import UnreadableVideo, VideoLimits

SAMPLE_WIDTH, SAMPLE_HEIGHT = 64, 36
JPEG_QUALITY = 85
JPEG_MAX_HEIGHT = 65_500
"""Of the format; only an absurdly tall picture reaches it, and is squeezed."""

_UPRIGHT = struct.pack("=9i", 1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30)
"""The display matrix that changes nothing, as FFmpeg has it."""

_USUAL_DATA = {
    SideDataType.DISPLAYMATRIX,
    SideDataType.SEI_UNREGISTERED,
    SideDataType.PANSCAN,
    SideDataType.GOP_TIMECODE,
}
"""What frames of Blender's encoders carry. Others are captions, depth, a sphere, light levels, profiles, grain."""

GreyPicture = npt.NDArray[np.int16]
"""Signed, so that two of them can be subtracted."""


@dataclass(frozen=True)
class Wanted:
    """Which frames are kept, and in which form."""

    samples: tuple[int, ...]
    previews: tuple[int, ...]
    sheet: tuple[int, ...]
    preview_width: int


@dataclass(frozen=True)
class Declared:
    """What the file says of itself."""

    container: str
    codec: str
    n_frames: int | None
    rates: tuple[float, ...]
    """Frames a second, the best claim first."""
    tick: float
    """Smallest step of the container's clock, in seconds."""
    has_audio: bool
    size_bytes: int
    pixel_aspect: tuple[int, int] = (0, 1)
    """As `Shape` has it."""
    colours: tuple[int, ...] = ()
    """The first half of what `Shape` has."""


@dataclass(frozen=True)
class Picture:
    """One frame as a JPEG."""

    jpeg: bytes
    width: int
    height: int


@dataclass
class Decoded:
    """What one pass over the frames leaves behind."""

    width: int = 0
    height: int = 0
    pixel_format: str = ""
    times: list[float | None] = field(default_factory=list)
    """Of every frame, in seconds; None where the container stores none."""
    last_duration: float = 0.0
    """Of the last frame, in seconds; 0 where unknown."""
    greys: dict[int, GreyPicture] = field(default_factory=dict)
    pictures: dict[int, Picture] = field(default_factory=dict)


def count_packets(file: BinaryIO, demuxer: str, limits: VideoLimits, clock: Clock) -> tuple[Declared, int]:
    """What the file declares, and how many frames it really carries, without decoding one."""
    declared, times = _packet_times(file, demuxer, limits, clock)
    if demuxer == MPEG4_FORMAT:
        _check_edits(times, _packet_times(file, demuxer, limits, clock, is_unedited=True)[1])
    if not times:
        raise UnreadableVideo("video_no_frames", "The file has a video stream without a single frame.")
    return declared, len(times)


def _packet_times(
    file: BinaryIO, demuxer: str, limits: VideoLimits, clock: Clock, *, is_unedited: bool = False
) -> tuple[Declared, list[int | None]]:
    """What the file declares, and when each frame of it is shown, in ticks and in the order of decoding."""
    times: list[int | None] = []
    with opened_video(file, demuxer, limits, is_unedited=is_unedited) as (container, stream):
        declared = Declared(
            container=demuxer,
            codec=stream.codec_context.codec.canonical_name,
            n_frames=stream.frames or None,
            rates=tuple(float(rate) for rate in (stream.average_rate, stream.guessed_rate) if rate),
            tick=float(stream.time_base or 0),
            has_audio=bool(container.streams.audio),
            size_bytes=os.fstat(file.fileno()).st_size,
            pixel_aspect=_fraction(stream.sample_aspect_ratio),
            colours=colour_tags(stream.codec_context),
        )
        try:
            for packet in container.demux(stream):
                clock.check(len(times))
                if packet.is_corrupt:
                    raise _corrupt(len(times), "the file is cut off or damaged there")
                if packet.size > 0 and not packet.is_discard:
                    times.append(packet.pts)
                if len(times) > limits.max_frames:
                    raise too_large("frames or more", len(times), limits.max_frames)
        except AV_ERRORS as error:
            raise _corrupt(len(times), reason(error)) from error
    return declared, times


def _check_edits(shown: list[int | None], held: list[int | None]) -> None:
    """An edit may shift the whole film, as encoders do whose first frame is not shown first. Nothing else is honest."""
    if len(shown) != len(held):
        message = f"An edit list makes the file show {len(shown)} frames, but it holds {len(held)}."
        raise UnreadableVideo("video_edited", message)
    if _from_first(shown) != _from_first(held):
        raise UnreadableVideo("video_edited", "An edit list shows the frames in another order, or at other times.")


def _from_first(times: list[int | None]) -> list[int | None]:
    start = next((time for time in times if time is not None), 0)
    return [None if time is None else time - start for time in times]


def decode(
    file: BinaryIO,
    demuxer: str,
    wanted: Wanted,
    limits: VideoLimits,
    clock: Clock,
    *,
    n_threads: int = DECODER_THREADS,
) -> Decoded:
    """Decode every frame once, keeping the wanted ones in their small form."""
    decoded = Decoded()
    decode_each(file, demuxer, lambda frame: keep(decoded, frame, wanted), limits, clock, n_threads=n_threads)
    return decoded


def decode_each(
    file: BinaryIO,
    demuxer: str,
    take: Callable[[VideoFrame], None],
    limits: VideoLimits,
    clock: Clock,
    *,
    n_threads: int = DECODER_THREADS,
) -> int:
    """Give every frame to `take`, in presentation order; returns how many there are, at least one."""
    n = 0
    with opened_video(file, demuxer, limits, n_threads) as (container, stream):
        try:
            for packet in container.demux(stream):
                clock.check(n)
                for frame in packet.decode():
                    _check(frame, n, limits)
                    take(frame)
                    n += 1
        except AV_ERRORS as error:
            # A decoder that refuses a size forgets the one it had; MPEG-4's is "out of memory", AV1's "out of range".
            if stream.codec_context.width == 0 or getattr(error, "errno", None) in (ENOMEM, ERANGE):
                raise _outgrown(n, limits) from error
            raise _corrupt(n, reason(error)) from error
    if n == 0:
        raise UnreadableVideo("video_no_frames", "The file has a video stream, but no frame of it can be decoded.")
    return n


def _check(frame: VideoFrame, n_before: int, limits: VideoLimits) -> None:
    if n_before >= limits.max_frames:
        raise too_large("frames or more", n_before + 1, limits.max_frames)
    if frame.width * frame.height > limits.max_pixels:
        raise too_large(f"pixels in frame {n_before + 1}", frame.width * frame.height, limits.max_pixels)
    if frame.is_corrupt:
        raise _corrupt(n_before, "the picture data is damaged there")
    beside = cast(SideDataContainer, frame.side_data)  # PyAV's own stub names another class
    if any(bytes(side) != _UPRIGHT for side in beside if side.type == SideDataType.DISPLAYMATRIX):
        message = f"Frame {n_before + 1} is stored with a display matrix: a player turns, mirrors or moves it."
        raise UnreadableVideo("video_turned", message)
    if more := [side.type.name for side in beside if side.type not in _USUAL_DATA]:
        message = f"Frame {n_before + 1} carries '{more[0]}' data, by which a player may show it in another way."
        raise UnreadableVideo("video_more_data", message)


def colour_tags(tagged: VideoFrame | VideoCodecContext) -> tuple[int, ...]:
    """By which a player turns numbers into colours: primaries, transfer, matrix, range."""
    return int(tagged.color_primaries), int(tagged.color_trc), int(tagged.colorspace), int(tagged.color_range)


def _fraction(ratio: Fraction | None) -> tuple[int, int]:
    return (ratio.numerator, ratio.denominator) if ratio and ratio > 0 else (0, 1)


def _corrupt(n_before: int, why: str) -> UnreadableVideo:
    return UnreadableVideo("video_corrupt", f"The video cannot be read further after {n_before} good frames: {why}.")


def _outgrown(n_before: int, limits: VideoLimits) -> UnreadableVideo:
    message = f"After {n_before} frames comes one with more pixels than the limit, {limits.max_pixels}."
    return UnreadableVideo("video_too_large", message)


def keep(decoded: Decoded, frame: VideoFrame, wanted: Wanted) -> None:
    """Take what is wanted of this frame, and forget it."""
    index = len(decoded.times)
    if index == 0:
        decoded.width, decoded.height, decoded.pixel_format = frame.width, frame.height, frame.format.name
    if index in wanted.samples:
        decoded.greys[index] = _grey(frame)
    if index in wanted.previews or index in wanted.sheet:
        decoded.pictures[index] = _picture(frame, wanted.preview_width)
    decoded.times.append(frame.time)
    decoded.last_duration = float(frame.duration * (frame.time_base or 0))


def _grey(frame: VideoFrame) -> GreyPicture:
    """The frame in 64x36 grey, each value the mean of a block.

    swscale's AREA knows every pixel format and takes 0.1-0.3 ms (360p-720p); a block mean in numpy takes 0.6-3.5 ms.
    """
    small = frame.reformat(SAMPLE_WIDTH, SAMPLE_HEIGHT, "gray", interpolation="AREA", dst_color_range="JPEG", threads=1)
    return small.to_ndarray().astype(np.int16)


def _picture(frame: VideoFrame, preview_width: int) -> Picture:
    width = min(preview_width, frame.width)
    height = min(max(1, round(frame.height * width / frame.width)), JPEG_MAX_HEIGHT)
    pixels = frame.reformat(width, height, "rgb24", interpolation="AREA", threads=1).to_ndarray()
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=JPEG_QUALITY)
    return Picture(buffer.getvalue(), width, height)
