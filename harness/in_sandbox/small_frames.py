"""A whole video as small raw pictures, for comparing it with another one outside."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from av.video.frame import VideoFrame

from harness.in_sandbox.video_decode import count_packets, decode_each
from harness.in_sandbox.video_file import DECODER_THREADS, Clock, container_format, opened_file
from harness.video import SMALL_HEIGHT, SMALL_WIDTH, VideoLimits


def write_small_frames(video: Path, destination: Path, limits: VideoLimits) -> int:
    """Write every frame as 160x90 RGB bytes, one after the other; returns how many. Raises UnreadableVideo.

    As in `analyse_video`, a count that is not the packets' is looked at again in one thread.
    """
    clock = Clock(limits.decode_seconds)
    with opened_file(video, limits) as file:
        demuxer = container_format(file, clock)
        _, n_packets = count_packets(file, demuxer, limits, clock)
        n = _write(file, demuxer, destination, limits, clock, DECODER_THREADS)
        return n if n == n_packets else _write(file, demuxer, destination, limits, clock, 1)


def _write(file: BinaryIO, demuxer: str, destination: Path, limits: VideoLimits, clock: Clock, n_threads: int) -> int:
    with destination.open("wb") as writer:

        def take(frame: VideoFrame) -> None:
            small = frame.reformat(SMALL_WIDTH, SMALL_HEIGHT, "rgb24", interpolation="AREA", threads=1)
            writer.write(small.to_ndarray().tobytes())

        return decode_each(file, demuxer, take, limits, clock, n_threads=n_threads)
