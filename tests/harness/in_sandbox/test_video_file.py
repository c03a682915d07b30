"""Attacks on the opening of a video: other files, lying sizes, things that are no file."""

import contextlib
import os
import struct
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from harness.in_sandbox.video_analysis import analyse_video
from harness.in_sandbox.video_file import sniff
from harness.video import UnreadableVideo, VideoLimits


@pytest.fixture
def mp4(tmp_path: Path) -> Path:
    """Six grey frames of 64x48 in an MP4."""
    path = tmp_path / "good.mp4"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=24, width=64, height=48, pix_fmt="yuv420p")
        for index in range(6):
            picture = av.VideoFrame.from_ndarray(np.full((48, 64, 3), index * 40, np.uint8))
            picture.pts, picture.time_base = index, Fraction(1, 24)
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return path


def refusal(path: Path, limits: VideoLimits | None = None) -> UnreadableVideo:
    with pytest.raises(UnreadableVideo) as caught:
        analyse_video(path, limits=limits or VideoLimits())
    return caught.value


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def patched_field(path: Path, box: bytes, offset: int, value: int) -> Path:
    """The MP4 with one 32-bit field after a box's name replaced."""
    content = bytearray(path.read_bytes())
    position = content.index(box) + 4 + offset
    content[position : position + 4] = struct.pack(">I", value)
    return written(path, bytes(content))


def test_an_empty_file_is_named_so(tmp_path: Path) -> None:
    """Blender leaves a file of 0 bytes when a codec does not fit its container."""
    assert refusal(written(tmp_path / "output.mp4", b"")).code == "video_empty_file"


def test_text_is_not_a_video(tmp_path: Path) -> None:
    """The message tells which containers are known."""
    found = refusal(written(tmp_path / "output.mp4", b"Rendering finished.\n" * 50))
    assert found.code == "video_not_a_video"
    assert "MP4" in found.message


def test_a_missing_file_is_the_callers_error(tmp_path: Path) -> None:
    """Whether there is a video at all is asked elsewhere."""
    with pytest.raises(FileNotFoundError):
        analyse_video(tmp_path / "output.mp4")


def test_a_directory_is_not_a_video(tmp_path: Path) -> None:
    """A script may make one under the name of its output."""
    assert refusal(tmp_path).code == "video_not_a_video"


def test_a_named_pipe_does_not_make_us_wait(tmp_path: Path) -> None:
    """Nobody writes into it, and still there is an answer."""
    os.mkfifo(tmp_path / "output.mp4")
    assert refusal(tmp_path / "output.mp4").code == "video_not_a_video"


@pytest.mark.parametrize(
    "playlist",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\n{video}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile '{video}'\n",
        "<?xml version='1.0'?><MPD><BaseURL>{video}</BaseURL></MPD>",
    ],
    ids=["hls", "ffconcat", "dash"],
)
def test_a_playlist_does_not_open_another_file(mp4: Path, tmp_path: Path, playlist: str) -> None:
    """FFmpeg's own probe would follow it to the video that it names."""
    path = written(tmp_path / "output.mp4", playlist.format(video=mp4).encode())
    assert refusal(path).code == "video_not_a_video"


def test_a_picture_under_a_videos_name_is_not_a_video(tmp_path: Path) -> None:
    """A PNG renamed to .mp4 would be a one-frame video to FFmpeg's probe."""
    Image.new("RGB", (64, 48)).save(tmp_path / "frame.png")
    path = (tmp_path / "frame.png").rename(tmp_path / "output.mp4")
    assert refusal(path).code == "video_not_a_video"


def test_a_file_over_the_limit_is_not_read(mp4: Path) -> None:
    """The message says what was too much, how much, and the limit."""
    size = mp4.stat().st_size
    found = refusal(mp4, VideoLimits(max_bytes=100))
    assert (found.code, found.message) == ("video_too_large", f"The video has {size} bytes; the limit is 100.")


def test_huge_dimensions_are_refused_before_decoding(mp4: Path) -> None:
    """The size stands in the container; not one frame is decoded."""
    found = refusal(mp4, VideoLimits(max_pixels=64 * 48 - 1))
    assert (found.code, "3072 pixels" in found.message) == ("video_too_large", True)


def test_too_many_frames_are_refused_by_their_packets(mp4: Path) -> None:
    """Counting stops at the limit."""
    found = refusal(mp4, VideoLimits(max_frames=5))
    assert (found.code, "6 frames" in found.message) == ("video_too_large", True)


def test_the_clock_ends_an_analysis(mp4: Path) -> None:
    """A limit of no time at all is over at the first look."""
    assert refusal(mp4, VideoLimits(decode_seconds=0.0)).code == "video_decode_timeout"


def test_claimed_samples_cost_nothing(mp4: Path) -> None:
    """A file of some kB that claims 50 million samples of one byte would take 13 s and 3.5 GB to open."""
    patched_field(patched_field(mp4, b"stsz", 4, 1), b"stsz", 8, 50_000_000)
    started = time.monotonic()
    assert refusal(mp4).code == "video_too_large"
    assert time.monotonic() - started < 1


def test_repeating_edits_cost_nothing(mp4: Path) -> None:
    """An edit list multiplies the samples; the product is limited."""
    patched_field(mp4, b"elst", 4, 4_000_000)
    assert refusal(mp4).code == "video_too_large"


def test_a_lying_frame_count_is_only_a_claim(mp4: Path) -> None:
    """100 million frames in the header, six in the file: six is the fact."""
    patched_field(mp4, b"stts", 8, 100_000_000)
    facts = analyse_video(mp4).facts
    assert (facts.n_frames, facts.n_frames_claimed) == (6, 100_000_000)


def test_a_compressed_header_is_refused(mp4: Path) -> None:
    """It would hide its tables from the check above."""
    written(mp4, mp4.read_bytes() + struct.pack(">I4s", 24, b"free") + b"cmov" + bytes(12))
    assert refusal(mp4).code == "video_not_a_video"


@pytest.mark.parametrize("seed", range(4))
def test_no_content_raises_anything_but_the_one_exception(mp4: Path, seed: int) -> None:
    """Damage anywhere, header included, is a finding or no finding, never a crash."""
    good, random = mp4.read_bytes(), np.random.default_rng(seed)
    for _ in range(60):
        content = bytearray(good)
        for position in random.integers(0, len(good), size=8):
            content[position] = random.integers(256)
        with contextlib.suppress(UnreadableVideo):
            assert analyse_video(written(mp4, bytes(content))).facts.n_frames > 0


def test_ffmpeg_writes_nothing_on_our_standard_error(mp4: Path) -> None:
    """Its complaints about a damaged file stay inside the exception."""
    content = mp4.read_bytes()
    written(mp4, content[: len(content) // 2])
    code = f"""
from pathlib import Path
from harness.in_sandbox.video_analysis import analyse_video
from harness.video import UnreadableVideo
try:
    analyse_video(Path({str(mp4)!r}))
except UnreadableVideo as found:
    print(found.code)
"""
    root = Path(__file__).parents[3]
    child = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert child.stderr == ""
    assert child.stdout.startswith("video_")


@pytest.mark.parametrize(
    ("head", "demuxer"),
    [
        (b"\x00\x00\x00\x20ftypisom\x00\x00\x02\x00", "mp4"),
        (b"RIFF\x00\x00\x00\x00AVI LIST", "avi"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt ", None),
        (b"\x1aE\xdf\xa3\x9fB\x86\x81\x01B\xf7\x81\x01B\xf2\x81", "matroska"),
        (b"", None),
    ],
)
def test_the_first_bytes_choose_the_demuxer(head: bytes, demuxer: str | None) -> None:
    """No name and no ending of a file has a say."""
    assert sniff(head) == demuxer
