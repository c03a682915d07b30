"""Everything known about the output video of a run: numbers, and a few frames to look at.

Facts only (the records of `harness/video.py`). How the file is opened safely is in `video_file.py`, how it is decoded
(and how far damage is noticed) in `video_decode.py`, what its times mean in `video_timing.py`; `contact_sheet.py` puts
frames on one sheet.

The packets are counted first (a few milliseconds), so that the wanted frames are known; then everything is collected
in one decode that keeps no frame. Only where the two counts differ is the file decoded twice, the second time in one
thread: an error in the last few frames is lost when several threads are drained.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from harness.in_sandbox.video_decode import Declared, Decoded, Wanted, count_packets, decode
from harness.in_sandbox.video_file import Clock, container_format, opened_file
from harness.in_sandbox.video_timing import frame_timing
from harness.video import ContentSample, Frame, VideoFacts, VideoLimits

DEFAULT_LIMITS = VideoLimits()


@dataclass(frozen=True)
class VideoAnalysis:
    """The facts, and the frames worth showing."""

    facts: VideoFacts
    """The numbers."""
    preview_frames: tuple[Frame, ...]
    """Evenly spaced, first and last included, each once: 3 for a 3-frame video, whatever was asked for."""
    sheet_frames: tuple[Frame, ...]
    """Frames 0, n//3, 2n//3 and n-1, each once."""


def analyse_video(
    path: Path,
    *,
    n_content_samples: int = 8,
    n_preview_frames: int = 8,
    preview_width: int = 640,
    limits: VideoLimits = DEFAULT_LIMITS,
) -> VideoAnalysis:
    """Measure the video at `path`.

    Raises UnreadableVideo for whatever the file may hold. That there is no file is the caller's FileNotFoundError.
    """

    def wanted(n: int) -> Wanted:
        samples, previews = evenly_spaced(n, n_content_samples), evenly_spaced(n, n_preview_frames)
        return Wanted(tuple(samples), tuple(previews), _sheet_indexes(n), preview_width)

    clock = Clock(limits.decode_seconds)
    with opened_file(path, limits) as file:
        demuxer = container_format(file, clock)
        declared, n_packets = count_packets(file, demuxer, limits, clock)
        selection = wanted(n_packets)
        decoded = decode(file, demuxer, selection, limits, clock)
        if len(decoded.times) != n_packets:
            selection = wanted(len(decoded.times))
            decoded = decode(file, demuxer, selection, limits, clock, n_threads=1)
    return _analysis(decoded, selection, declared)


def evenly_spaced(n: int, count: int) -> list[int]:
    """At most `count` distinct indexes into n items, first and last included (a lone one is the first)."""
    count = min(n, count)
    if count < 2:
        return [0] * max(count, 0)
    return [round(i * (n - 1) / (count - 1)) for i in range(count)]


def _sheet_indexes(n: int) -> tuple[int, ...]:
    return tuple(sorted({0, n // 3, 2 * n // 3, n - 1}))


def _analysis(decoded: Decoded, wanted: Wanted, declared: Declared) -> VideoAnalysis:
    """Put the numbers together once everything is decoded."""
    # AVI stores no presentation times; those that FFmpeg makes up jump.
    times = [None] * len(decoded.times) if declared.container == "avi" else decoded.times
    timing = frame_timing(times, decoded.last_duration, declared.rates, declared.tick)
    greys = [decoded.greys[index] for index in wanted.samples]
    facts = VideoFacts(
        container=declared.container,
        codec=declared.codec,
        pixel_format=decoded.pixel_format,
        width=decoded.width,
        height=decoded.height,
        n_frames=len(decoded.times),
        n_frames_claimed=declared.n_frames,
        fps=timing.fps,
        is_variable_rate=timing.is_variable_rate,
        duration_seconds=timing.duration_seconds,
        size_bytes=declared.size_bytes,
        has_audio=declared.has_audio,
        content_samples=tuple(
            ContentSample(index, float(grey.mean()), float(grey.std()))
            for index, grey in zip(wanted.samples, greys, strict=True)
        ),
        neighbour_differences=tuple(float(np.abs(after - before).mean()) for before, after in pairwise(greys)),
    )

    def frames(indexes: tuple[int, ...]) -> tuple[Frame, ...]:
        pictures = [(index, decoded.pictures[index]) for index in indexes]
        return tuple(Frame(i, timing.seconds[i], each.jpeg, each.width, each.height) for i, each in pictures)

    return VideoAnalysis(facts, frames(wanted.previews), frames(wanted.sheet))
