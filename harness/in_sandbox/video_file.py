"""Opens one output video safely, or says why it cannot be opened.

The file was written by a script that nobody has read, so nothing in it is believed:

- The demuxer is chosen here, by the file's first bytes, among the containers Blender can write. FFmpeg's own probe
  would follow a playlist (HLS, ffconcat, image2) to *other* files. Here none can be opened: the demuxer reads from our
  file object, every further open is refused, and no protocol is allowed.
- Sizes that the file claims are compared with `VideoLimits` before FFmpeg acts on them. An MP4 of 50 kB can otherwise
  claim 50 million samples, and costs 13 s and 3.5 GB inside `av.open` (measured), where no clock of ours looks.

Not covered: a flaw in FFmpeg's own demuxers and decoders. That is why all this runs in a sandbox of its own.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NoReturn

import av
from av.container import InputContainer
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from harness.video import UnreadableVideo, VideoLimits

MPEG4_FORMAT = "mp4"
MPEG4_FIRST_BOXES = (b"ftyp", b"moov", b"mdat", b"free", b"skip", b"wide")
CONTAINER_NAMES = "MP4/QuickTime, Matroska/WebM, AVI, Ogg, MPEG program stream, FLV or DV"
MAX_TABLE_BYTES = 64 * 2**20
MAX_DECLARED_SAMPLES = 10_000_000
"""What an MP4 may claim: the samples of all tracks, times the edits of the most edited one. Each may cost 70 bytes.

Raw sound counts one a sampling period: 200 s at 48 kHz fit."""

ERROR_DETECTION = "crccheck+bitstream+buffer+explode"
"""Raise at the first damage; the default conceals it. No codec that Blender writes is flagged wrongly (tests)."""

DECODER_THREADS = 4
"""Fixed, not the number of cores: some damage shows in `frame.is_corrupt` with frame threads alone, so that a machine
with one core would judge the same file otherwise. Each thread holds a picture."""

PROBE_FACTOR = 4
"""FFmpeg may decode a frame to learn what a file is. A size over its limit it forgets, and we want to name the size."""

_ANY_DURATION = 10**15
"""Microseconds."""

AV_ERRORS = (av.FFmpegError, ArithmeticError, LookupError, MemoryError, OSError, RuntimeError, ValueError)
"""What PyAV raises on bad content: FFmpeg's errors, those of converting its values and of seeking to where it says."""


def too_large(what: str, value: int, limit: int) -> UnreadableVideo:
    """The one wording of every exceeded limit: which, how much, how much is allowed."""
    return UnreadableVideo("video_too_large", f"The video has {value} {what}; the limit is {limit}.")


class Clock:
    """Wall clock guard, looked at between packets and frames."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.deadline = time.monotonic() + seconds

    def check(self, n_frames: int) -> None:
        """Raise once the time is over; `n_frames` tells how far we came."""
        if time.monotonic() > self.deadline:
            message = f"Reading the video was stopped after {self.seconds:g} s, at frame {n_frames}."
            raise UnreadableVideo("video_decode_timeout", message)


@contextmanager
def opened_file(path: Path, limits: VideoLimits) -> Iterator[BinaryIO]:
    """The file, once it is known to be a regular one of a bearable size."""
    # O_NONBLOCK: a named pipe put at this path must not make us wait for a writer.
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableVideo("video_not_a_video", "At this path is a directory or a device, not a regular file.")
        if status.st_size == 0:
            raise UnreadableVideo("video_empty_file", "The file is empty (0 bytes).")
        if status.st_size > limits.max_bytes:
            raise too_large("bytes", status.st_size, limits.max_bytes)
        with open(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


@contextmanager
def opened_video(
    file: BinaryIO,
    demuxer: str,
    limits: VideoLimits,
    n_threads: int = DECODER_THREADS,
    *,
    is_unedited: bool = False,
) -> Iterator[tuple[InputContainer, VideoStream]]:
    """The container and its only video stream, ready to decode with errors made visible.

    `is_unedited`: as if an MP4 held no edit list.
    """
    file.seek(0)
    try:
        container = av.open(
            file,
            "r",
            format=demuxer,
            options={
                "err_detect": ERROR_DETECTION,
                "max_pixels": str(PROBE_FACTOR * limits.max_pixels),
                "protocol_whitelist": "none",
                "enable_drefs": "0",
                # MPEG and FLV name a stream where it begins: one in the middle is found by looking at the whole file
                "probesize": str(limits.max_bytes),
                "analyzeduration": str(_ANY_DURATION),
                **({"ignore_editlist": "1"} if is_unedited else {}),
            },
            metadata_errors="replace",
            io_open=_refuse_other_files,
        )
    except AV_ERRORS as error:
        raise UnreadableVideo("video_not_a_video", f"The file cannot be opened as a video: {reason(error)}.") from error
    with container:
        stream = _video_stream(container)
        _check_size(stream.codec_context, limits)
        stream.codec_context.options = {"err_detect": ERROR_DETECTION, "max_pixels": str(limits.max_pixels)}
        stream.codec_context.thread_type = "FRAME"
        stream.codec_context.thread_count = n_threads
        yield container, stream


def _refuse_other_files(url: str, *_: object) -> NoReturn:
    raise ValueError(f"the video refers to another file, {url!r}")


def _video_stream(container: InputContainer) -> VideoStream:
    """The only stream that a player can show: with a second film, a cover or subtitles, players choose differently."""
    shown = [stream for stream in container.streams if stream.type in ("video", "subtitle")]
    stream = container.streams.best("video")
    if not isinstance(stream, VideoStream):
        held = "sound but no video stream" if container.streams.audio else "no video stream"
        raise UnreadableVideo("video_no_video_stream", f"The file holds {held}.")
    if len(shown) > 1:
        kinds = ", ".join(sorted(each.type for each in shown))
        message = f"The file holds {len(shown)} streams that a player can show ({kinds}), not just one of video."
        raise UnreadableVideo("video_more_streams", message)
    # Against PyAV's own stub, it is None for a codec that FFmpeg does not know.
    if not isinstance(stream.codec_context, VideoCodecContext):
        raise UnreadableVideo("video_not_a_video", "The codec of the video stream is unknown.")
    return stream


def _check_size(context: VideoCodecContext, limits: VideoLimits) -> None:
    pixels = context.width * context.height
    if pixels > limits.max_pixels:
        raise too_large("pixels in a frame", pixels, limits.max_pixels)
    if pixels == 0:
        message = f"The size of the video's pictures is not told, or far over {limits.max_pixels} pixels."
        raise UnreadableVideo("video_not_a_video", message)


def container_format(file: BinaryIO, clock: Clock) -> str:
    """The name of the demuxer for this file, by its first bytes; MP4 tables are checked on the way."""
    file.seek(0)
    found = sniff(file.read(16))
    if found is None:
        raise UnreadableVideo("video_not_a_video", f"The file is no video: it does not begin like {CONTAINER_NAMES}.")
    if found == MPEG4_FORMAT:
        _check_declared_samples(_outside_mdat(file, clock))
    return found


def sniff(head: bytes) -> str | None:
    """FFmpeg's demuxer name for a file that begins with `head` (16 bytes are enough), or None."""
    if head[4:8] in MPEG4_FIRST_BOXES:
        return MPEG4_FORMAT
    if head[:4] == b"RIFF" and head[8:11] == b"AVI":
        return "avi"
    beginnings = {
        b"\x1aE\xdf\xa3": "matroska",
        b"OggS": "ogg",
        b"\x00\x00\x01\xba": "mpeg",
        b"FLV\x01": "flv",
        b"\x1f\x07\x00": "dv",
    }
    return next((name for magic, name in beginnings.items() if head.startswith(magic)), None)


def _check_declared_samples(header: bytes) -> None:
    """Refuse an MP4 whose tables claim more samples than are worth an index.

    They are looked for by name wherever they stand outside the pictures (`mdat`): FFmpeg accepts them in many places.
    """
    n_samples, n_edits = 0, 1
    for name, fields in _declared_tables(header):
        if name == b"cmov":  # a compressed header would hide the tables from this check; Blender writes none
            raise UnreadableVideo("video_not_a_video", "The header is compressed ('cmov'), which is not accepted.")
        if name == b"elst":  # each edit may repeat every sample
            n_edits = max(n_edits, fields[1])
        else:
            n_samples += fields[1] if name == b"trun" else fields[2]
    if n_samples * n_edits > MAX_DECLARED_SAMPLES:
        raise too_large("declared samples", n_samples * n_edits, MAX_DECLARED_SAMPLES)


def _declared_tables(header: bytes) -> Iterator[tuple[bytes, tuple[int, ...]]]:
    """Each table's name and its first three 32-bit fields."""
    for match in re.finditer(rb"(stsz|stz2|trun|elst|cmov)(.{12})", header, re.DOTALL):
        yield match[1], struct.unpack(">3I", match[2])


def _outside_mdat(file: BinaryIO, clock: Clock) -> bytes:
    """All of the file but the payload of its top-level `mdat` boxes: a few kB for a file from Blender."""
    end = file.seek(0, os.SEEK_END)
    kept = bytearray()
    position = 0
    while position + 8 <= end:
        clock.check(0)
        file.seek(position)
        size, name, long_size = struct.unpack(">I4sQ", file.read(16).ljust(16, b"\0"))
        size = long_size if size == 1 else size
        if size < 8 or position + size > end:  # 0 means "to the end of the file"
            size = end - position
        if name != b"mdat":
            if len(kept) + size > MAX_TABLE_BYTES:
                raise too_large("bytes of tables", len(kept) + size, MAX_TABLE_BYTES)
            file.seek(position)
            kept += file.read(size)
        position += size
    return bytes(kept)


def reason(error: BaseException) -> str:
    """FFmpeg's words for an error, without the names of its functions and of our files."""
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
