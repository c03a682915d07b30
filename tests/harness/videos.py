"""Videos made with PyAV, for tests of what reads them."""

import itertools
import struct
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


def moving_bars(n: int, width: int = 160, height: int = 90) -> list[Pixels]:
    """A bright bar that walks over a gradient."""
    frames = []
    for index in range(n):
        frame = np.zeros((height, width, 3), np.uint8)
        frame[..., 2] = np.linspace(0, 200, width, dtype=np.uint8)
        left = index * (width - 20) // max(n - 1, 1)
        frame[:, left : left + 20] = (255, 220, 180)
        frames.append(frame)
    return frames


def video(
    path: Path,
    frames: Iterable[Pixels],
    *,
    codec: str = "libx264",
    pixel_format: str = "yuv420p",
    rate: Fraction = Fraction(24),
    ticks: Iterable[int] = itertools.count(),
    options: Mapping[str, str] | None = None,
) -> Path:
    """Write frames as a video; `ticks` are their presentation times in units of 1 / rate."""
    given = [av.VideoFrame.from_ndarray(pixels, "rgba" if pixels.shape[2] == 4 else "rgb24") for pixels in frames]
    pictures = [picture.reformat(format=pixel_format) for picture in given]
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=rate, options=dict(options or {}))
        assert isinstance(stream, av.VideoStream)
        stream.width, stream.height, stream.pix_fmt = pictures[0].width, pictures[0].height, pixel_format
        for picture, tick in zip(pictures, ticks, strict=False):
            picture.pts, picture.time_base = tick, 1 / rate
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return path


def turned(source: Path, destination: Path, degrees: int) -> Path:
    """The same packets, with a display matrix that turns them."""
    with av.open(str(source)) as given, av.open(str(destination), "w") as written:
        stream = written.add_stream_from_template(given.streams.video[0])
        stream.set_display_rotation(degrees)
        for packet in given.demux(given.streams.video[0]):
            if packet.dts is not None:
                packet.stream = stream
                written.mux(packet)
    return destination


def joined(films: Iterable[Path], destination: Path) -> Path:
    """The packets of several films, each in a stream of its own of one file."""
    with ExitStack() as stack:
        written = stack.enter_context(av.open(str(destination), "w"))
        given = [stack.enter_context(av.open(str(film))) for film in films]
        streams = [written.add_stream_from_template(film.streams[0]) for film in given]
        for film, stream in zip(given, streams, strict=True):
            for packet in film.demux(film.streams[0]):
                if packet.dts is not None:
                    packet.stream = stream
                    written.mux(packet)
    return destination


def edited(film: Path, edits: Iterable[tuple[int, int]]) -> Path:
    """The MP4 with another edit list: (duration in ms, tick of the media) each."""
    content = film.read_bytes()
    table = b"".join(struct.pack(">IiI", duration, start, 1 << 16) for duration, start in edits)
    n = len(table) // 12
    new = struct.pack(">I4sII", 16 + len(table), b"elst", 0, n) + table
    new = struct.pack(">I4s", 8 + len(new), b"edts") + new
    place = content.index(b"edts") - 4
    grown = len(new) - int.from_bytes(content[place : place + 4], "big")
    changed = bytearray(content)
    changed[place : place + int.from_bytes(content[place : place + 4], "big")] = new
    for box in (b"moov", b"trak"):
        start = content.index(box) - 4
        changed[start : start + 4] = struct.pack(">I", int.from_bytes(content[start : start + 4], "big") + grown)
    film.write_bytes(bytes(changed))  # the pictures stand before: their offsets stay
    return film
