"""The video of a run: read at the script's end, and again where something changed it after that."""

import os
from pathlib import Path

import pytest

from harness.run_video import RunVideo
from harness.settings import HarnessSettings
from harness.video import UnreadableVideo
from harness.video_reader import VideoReader
from harness.workspace import NotTaken
from tests.harness.videos import moving_bars, video

SETTINGS = HarnessSettings(preview_frames=2, content_samples=2, preview_width=80)


@pytest.fixture
def films(tmp_path: Path) -> tuple[bytes, bytes]:
    """Two sound videos, of 4 and of 6 frames."""
    four, six = (video(tmp_path / f"{n}.mp4", moving_bars(n)).read_bytes() for n in (4, 6))
    return four, six


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def test_what_is_there_at_the_end_is_read_once(
    workspace: Path, films: tuple[bytes, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the reader that was started while Blender ran; its bytes are kept."""
    output, n_started = workspace / "output.mp4", 0
    start = VideoReader.start

    def counted_start(reader: VideoReader) -> None:
        nonlocal n_started
        n_started += 1
        start(reader)

    monkeypatch.setattr(VideoReader, "start", counted_start)
    with RunVideo(workspace, SETTINGS) as film:
        film.start()
        output.write_bytes(films[0])
        film.begin()
        assert film.reading(keep=workspace / "kept").facts.n_frames == 4
    assert (workspace / "kept").read_bytes() == films[0]
    assert n_started == 1


@pytest.mark.parametrize("how", ["rewritten", "replaced", "grown"])
def test_what_changes_after_the_end_is_read_anew(workspace: Path, films: tuple[bytes, bytes], how: str) -> None:
    """Also where the first bytes were no video yet."""
    output = workspace / "output.mp4"
    with RunVideo(workspace, SETTINGS) as film:
        film.start()
        output.write_bytes(films[1][:500] if how == "grown" else films[0])
        film.begin()
        if how == "replaced":
            output.unlink()
        output.write_bytes(films[1])
        assert film.reading(keep=workspace / "kept").facts.n_frames == 6
    assert (workspace / "kept").read_bytes() == films[1]


def test_what_comes_after_the_end_is_read(workspace: Path, films: tuple[bytes, bytes]) -> None:
    """Nothing, or a link, at the end does not hinder a video that is there in the end."""
    output = workspace / "output.mp4"
    output.symlink_to("/etc/hostname")
    with RunVideo(workspace, SETTINGS) as film:
        film.start()
        film.begin()
        output.unlink()
        output.write_bytes(films[0])
        assert film.reading(keep=None).facts.n_frames == 4


def test_what_is_gone_or_no_file_is_said(workspace: Path, films: tuple[bytes, bytes]) -> None:
    """A video that was there at the end and is not any more is missing; a pipe in its place is refused."""
    output = workspace / "output.mp4"
    for in_its_place, error in (("nothing", FileNotFoundError), ("pipe", NotTaken)):
        with RunVideo(workspace, SETTINGS) as film:
            film.start()
            output.write_bytes(films[0])
            film.begin()
            output.unlink()
            if in_its_place == "pipe":
                os.mkfifo(output)
            with pytest.raises(error):
                film.reading(keep=None)
        output.unlink(missing_ok=True)


def test_a_reader_that_a_first_video_broke_is_replaced(workspace: Path, films: tuple[bytes, bytes]) -> None:
    """Nonsense stays an unreadable video; a good one after it is read."""
    output = workspace / "output.mp4"
    with RunVideo(workspace, SETTINGS) as film:
        film.start()
        output.write_bytes(b"no video")
        film.begin()
        with pytest.raises(UnreadableVideo):
            film.reading(keep=None)
        output.write_bytes(films[0])
        assert film.reading(keep=None).facts.n_frames == 4
