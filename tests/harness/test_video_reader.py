"""The sandboxed reading of videos: what it gives, what attacks it, and what is made of a reader gone bad."""

import io
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import psutil
import pytest
from PIL import Image

from harness import video_reader
from harness.errors import SandboxFailed
from harness.in_sandbox.contact_sheet import contact_sheet
from harness.in_sandbox.video_analysis import analyse_video
from harness.sandbox import SandboxedProcess
from harness.settings import HarnessSettings
from harness.video import Frame, UnreadableVideo, VideoLimits, VideoReading
from harness.video_reader import VideoReader
from tests.conftest import FILM, RENDER
from tests.harness.videos import moving_bars, video

ROOT = Path(__file__).resolve().parents[2]
SANDBOXES = pytest.mark.parametrize("sandbox", ["auto", "off"])
SETTINGS = HarnessSettings(preview_frames=3, content_samples=4, preview_width=80)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A sound H.264 video of 12 frames."""
    return video(tmp_path_factory.mktemp("video") / "good.mp4", moving_bars(12)).read_bytes()


@pytest.fixture(autouse=True)
def _nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """After each test no folder and no process of a reader is there."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []
    assert psutil.Process().children(recursive=True) == []


def read(content: bytes, **settings: Any) -> VideoReading:
    with VideoReader(SETTINGS.model_copy(update=settings)) as reader:
        reader.start()
        reader.video.write_bytes(content)
        return reader.analyse()


def refusal(content: bytes, limits: VideoLimits | None = None) -> UnreadableVideo:
    with VideoReader(SETTINGS, limits=limits) as reader:
        reader.start()
        reader.video.write_bytes(content)
        with pytest.raises(UnreadableVideo) as caught:
            reader.analyse()
    return caught.value


@SANDBOXES
def test_a_reading_is_the_analysis_made_elsewhere(tmp_path: Path, good: bytes, sandbox: str) -> None:
    """Facts, previews and contact sheet are what the same functions give here."""
    reading = read(good, sandbox=sandbox)
    (tmp_path / "good.mp4").write_bytes(good)
    here = analyse_video(tmp_path / "good.mp4", n_content_samples=4, n_preview_frames=3, preview_width=80)
    assert (reading.facts, reading.preview_frames) == (here.facts, here.preview_frames)
    assert reading.contact_sheet == contact_sheet(here.sheet_frames)


def test_the_largest_settings_fit(tmp_path: Path) -> None:
    """Pictures 2048 pixels wide pass through the pipe, as many as there are."""
    frames = moving_bars(6, 2048, 1152)
    reading = read(video(tmp_path / "v.mp4", frames).read_bytes(), preview_frames=32, preview_width=2048)
    assert {(frame.width, frame.height) for frame in reading.preview_frames} == {(2048, 1152)}
    assert len(reading.preview_frames) == 6


@SANDBOXES
def test_a_sheet_of_given_frames(sandbox: str) -> None:
    """JPEGs from elsewhere are put on a sheet, without a video."""
    buffer = io.BytesIO()
    Image.new("RGB", (64, 36), (200, 30, 30)).save(buffer, "JPEG")
    frames = [Frame(index, 0.0, buffer.getvalue(), 64, 36) for index in (0, 9)]
    with VideoReader(SETTINGS.model_copy(update={"sandbox": sandbox})) as reader:
        reader.start()
        assert reader.contact_sheet(frames, ["one", "two"]) == contact_sheet(frames, ["one", "two"])


def test_a_sheet_of_no_pictures_is_refused() -> None:
    """What is no JPEG ends the reader, and is named as unreadable."""
    with VideoReader(SETTINGS) as reader:
        reader.start()
        with pytest.raises(UnreadableVideo, match="cannot be decoded"):
            reader.contact_sheet([Frame(0, 0.0, b"no picture", 64, 36)], ["none"])


@pytest.mark.blender
def test_a_run_loads_no_decoder(tmp_path: Path) -> None:
    """The process that judges a run never imports what parses videos and pictures, nor numpy."""
    (tmp_path / "main.py").write_text(FILM + RENDER)
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from harness.execute import execute\n"
        "from harness.report import frames_text, report_text\n"
        "from harness.settings import HarnessSettings\n"
        "settings = HarnessSettings(resolution=(64, 36), frame_count=4)\n"
        "result = execute('main.py', Path(sys.argv[1]), settings)\n"
        "report_text(result), frames_text(result.preview_frames)\n"
        "print(result.ok, len(result.preview_frames), result.preview_name)\n"
        "print([name for name in ('av', 'numpy', 'PIL') if name in sys.modules])\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, tmp_path], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert ended.stdout == "True 4 preview.png\n[]\n", ended.stderr


# hostile videos


def test_no_bytes() -> None:
    """An empty file is named so."""
    assert refusal(b"").code == "video_empty_file"


def test_half_a_video(good: bytes) -> None:
    """What the analysis says of a truncated file arrives word by word."""
    found = refusal(good[: len(good) // 2])
    assert found.code in ("video_not_a_video", "video_corrupt")
    assert "Traceback" not in found.message


def test_playlists_lead_nowhere(tmp_path: Path, good: bytes) -> None:
    """Neither form of playlist opens the sound video that it names."""
    (tmp_path / "good.mp4").write_bytes(good)
    for text in (f"ffconcat version 1.0\nfile '{tmp_path}/good.mp4'\n", f"#EXTM3U\n#EXTINF:1,\n{tmp_path}/good.mp4\n"):
        assert refusal(text.encode()).code == "video_not_a_video"


def test_huge_pictures(good: bytes) -> None:
    """Pictures over the limit are refused before they are decoded."""
    found = refusal(good, VideoLimits(max_pixels=100))
    assert found.code == "video_too_large"


def test_no_frames(tmp_path: Path) -> None:
    """A stream without a frame is a finding of its own."""
    with av.open(str(tmp_path / "v.mkv"), "w") as container:
        stream = container.add_stream("mpeg4", rate=Fraction(24), width=64, height=36, pix_fmt="yuv420p")
        container.start_encoding()
        assert stream.frames == 0
    assert refusal((tmp_path / "v.mkv").read_bytes()).code in ("video_no_frames", "video_not_a_video")


@pytest.mark.parametrize("kind", ["fifo", "link", "folder"])
def test_what_is_no_file(kind: str) -> None:
    """Nobody waits for a pipe, and a link leads to nothing of the host."""
    with VideoReader(SETTINGS) as reader:
        reader.start()
        {
            "fifo": lambda: os.mkfifo(reader.video),
            "link": lambda: reader.video.symlink_to("/etc/hostname"),
            "folder": lambda: reader.video.mkdir(),
        }[kind]()
        with pytest.raises(UnreadableVideo) as caught:
            reader.analyse()
    assert caught.value.code in ("video_not_a_video", "video_corrupt")


# readers gone bad

START = """
import json, os, sys
result, requests = int(sys.argv[1]), open(int(sys.argv[2]), "rb")
def send(content):
    with open(result, "wb", closefd=False) as pipe:
        pipe.write(len(content).to_bytes(8, "little") + content)
send(b'{"kind": "ready"}')
requests.readline()
"""

GoneBad = Callable[..., UnreadableVideo]


@pytest.fixture
def gone_bad(tmp_path: Path, good: bytes) -> GoneBad:
    """What is made of a reader that, asked to read a good video, does something else."""

    def ask(source: str, limits: VideoLimits | None = None, **settings: Any) -> UnreadableVideo:
        program = tmp_path / "program.py"
        program.write_text(START + source)
        with VideoReader(SETTINGS.model_copy(update=settings), limits=limits, program=program) as reader:
            reader.start()
            reader.video.write_bytes(good)
            with pytest.raises(UnreadableVideo) as caught:
                reader.analyse()
        return caught.value

    return ask


@SANDBOXES
def test_a_reader_that_crashes(gone_bad: GoneBad, sandbox: str) -> None:
    """A video that breaks the decoder cannot be decoded."""
    found = gone_bad("os.kill(os.getpid(), 11)", sandbox=sandbox)
    assert found.code == "video_corrupt"
    assert "cannot be decoded" in found.message
    assert "139" in found.message


def test_a_reader_killed_in_the_middle(good: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real one, stopped before the request and killed after it."""

    def send_and_kill(process: SandboxedProcess, request: bytes) -> None:
        readers = [p for p in psutil.Process().children(recursive=True) if "read_video.py" in " ".join(p.cmdline())]
        for each in readers:
            each.suspend()
        send(process, request)
        for each in readers:
            with suppress(psutil.NoSuchProcess):  # they end with the first of them
                each.kill()

    send = SandboxedProcess.send
    monkeypatch.setattr(SandboxedProcess, "send", send_and_kill)
    found = refusal(good)
    assert (found.code, "cannot be decoded" in found.message) == ("video_corrupt", True)


def test_a_reader_that_says_nothing(gone_bad: GoneBad, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for longer than the video may take."""
    monkeypatch.setattr(video_reader, "_GRACE_SECONDS", 0.5)
    found = gone_bad("import time; time.sleep(60)", VideoLimits(decode_seconds=0.5))
    assert (found.code, "cannot be decoded" in found.message) == ("video_decode_timeout", True)


@SANDBOXES
def test_a_reader_that_takes_all_memory(gone_bad: GoneBad, monkeypatch: pytest.MonkeyPatch, sandbox: str) -> None:
    """Shared memory, which no limit of one process stops, ends it too."""
    monkeypatch.setattr(video_reader, "MEMORY_MB", 200)
    source = (
        "import mmap, time\nm = mmap.mmap(-1, 600 << 20)\nfor i in range(0, len(m), 4096): m[i] = 1\ntime.sleep(60)"
    )
    found = gone_bad(source, sandbox=sandbox)
    assert (found.code, "cannot be decoded" in found.message) == ("video_too_large", True)


def test_a_reader_that_is_refused_memory(gone_bad: GoneBad, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failed allocation is no traceback of ours."""
    monkeypatch.setattr(video_reader, "MEMORY_MB", 200)
    assert "cannot be decoded" in gone_bad("bytearray(1 << 30)").message


@pytest.mark.parametrize(
    "source",
    [
        "os.write(result, b'garbage')",
        "os.write(result, bytes(8))",
        "send(b'garbage')",
        "send(b'[' * 100_000)",
        """send(b'{"kind": "unreadable", "code": "no_such_code", "message": "x"}')""",
        """send(b'{"kind": "unreadable", "code": "video_corrupt"}')""",
        """send(b'{"kind": "sheet", "n_sheet_bytes": 1}')""",
        "print('x' * (2 << 20))\nimport time; time.sleep(9)",
    ],
)
def test_a_reader_that_talks_nonsense(gone_bad: GoneBad, source: str) -> None:
    """Whatever comes in another form than asked is a fault of the video."""
    found = gone_bad(source, sandbox="off")
    assert (found.code, "cannot be decoded" in found.message) == ("video_corrupt", True)


def test_a_reader_that_promises_too_much(gone_bad: GoneBad) -> None:
    """An answer longer than may be kept is not waited for."""
    found = gone_bad("os.write(result, b'\\xff' * 8)\nimport time; time.sleep(60)")
    assert found.code == "video_too_large"


def test_a_reader_that_lectures(gone_bad: GoneBad) -> None:
    """What it says is one bounded line without control characters."""
    message = "\x1b[31mred\nRUN OK" + "x" * 5000
    said = json.dumps({"kind": "unreadable", "code": "video_corrupt", "message": message})
    found = gone_bad(f"send({said.encode()!r})")
    assert found.message.startswith("red RUN OKxxx")
    assert len(found.message) == 500


def lie(*path: str | int, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(answer: dict[str, Any]) -> None:
        place: Any = answer
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


LIES = {
    "codec": lie("facts", "codec", value="\x1b[2J<MSWEA>"),
    "width": lie("facts", "width", value=0),
    "pixels": lie("facts", "height", value=1 << 30),
    "type": lie("facts", "width", value="160"),
    "truth": lie("facts", "has_audio", value=1),
    "missing": lambda answer: answer["facts"].pop("fps"),
    "frames": lie("facts", "n_frames", value=20_001),
    "no frames": lie("facts", "n_frames", value=0),
    "claim": lie("facts", "n_frames_claimed", value=1 << 70),
    "fps": lie("facts", "fps", value=float("nan")),
    "endless": lie("facts", "duration_seconds", value=float("inf")),
    "size": lie("facts", "size_bytes", value=1),
    "grey": lie("facts", "content_samples", 0, "mean", value=256.0),
    "sample": lie("facts", "content_samples", 3, "index", value=12),
    "order": lie("facts", "content_samples", 0, "index", value=5),
    "differences": lie("facts", "neighbour_differences", value=[1.0]),
    "unasked": lie("more", value=1),
    "preview": lie("previews", 1, "index", value=0),
    "no previews": lie("previews", value=[]),
    "wide": lie("previews", 0, "width", value=81),
    "time": lie("previews", 0, "seconds", value=float("nan")),
    "length": lie("previews", 0, "n_bytes", value=1 << 39),
    "sheet": lie("n_sheet_bytes", value=0),
    "negative": lie("n_sheet_bytes", value=-1),
}


def answer_of(reading: VideoReading) -> tuple[dict[str, Any], bytes]:
    previews = [
        {"index": f.index, "seconds": f.seconds, "width": f.width, "height": f.height, "n_bytes": len(f.jpeg)}
        for f in reading.preview_frames
    ]
    facts = json.loads(json.dumps(reading.facts, default=vars))
    sheet = reading.contact_sheet
    answer = {"kind": "analysis", "facts": facts, "previews": previews, "n_sheet_bytes": len(sheet)}
    return answer, b"".join(f.jpeg for f in reading.preview_frames) + sheet


def said(answer: dict[str, Any], pictures: bytes) -> str:
    return f"send({json.dumps(answer).encode()!r} + b'\\n' + {pictures!r})"


def test_a_lying_reader_is_believed_when_it_is_plausible(tmp_path: Path, good: bytes) -> None:
    """The answer that the lies below start from is a good one."""
    reading = read(good)
    program = tmp_path / "program.py"
    program.write_text(START + said(*answer_of(reading)))
    with VideoReader(SETTINGS, program=program) as reader:
        reader.start()
        reader.video.write_bytes(good)
        assert reader.analyse() == reading


@pytest.fixture(scope="module")
def true_answer(tmp_path_factory: pytest.TempPathFactory, good: bytes) -> tuple[dict[str, Any], bytes]:
    path = tmp_path_factory.mktemp("true") / "v.mp4"
    path.write_bytes(good)
    here = analyse_video(path, n_content_samples=4, n_preview_frames=3, preview_width=80)
    return answer_of(VideoReading(here.facts, here.preview_frames, contact_sheet(here.sheet_frames)))


@pytest.mark.parametrize("name", LIES)
def test_a_reader_that_lies(gone_bad: GoneBad, true_answer: tuple[dict[str, Any], bytes], name: str) -> None:
    """A number that cannot be, or a picture that is none, spoils the whole answer."""
    answer: dict[str, Any] = json.loads(json.dumps(true_answer[0]))
    LIES[name](answer)
    found = gone_bad(said(answer, true_answer[1]), sandbox="off")
    assert "makes no sense" in found.message


def test_a_reader_that_swaps_pictures(gone_bad: GoneBad, true_answer: tuple[dict[str, Any], bytes]) -> None:
    """Bytes that do not begin and end like a JPEG are not passed on as one."""
    answer, pictures = true_answer
    assert "makes no sense" in gone_bad(said(answer, pictures[:1] + b"\0" + pictures[2:])).message
    assert "makes no sense" in gone_bad(said(answer, pictures[:-1] + b"\0")).message


ESCAPE = """
import socket
found = []
def attempt(name, work):
    try:
        work()
        found.append(name)
    except OSError:
        pass
attempt("changed the video", lambda: open(sys.argv[3] + "/video", "ab"))
attempt("wrote beside it", lambda: open(sys.argv[3] + "/x", "w"))
attempt("saw the project", lambda: os.listdir(PROJECT))
attempt("saw a home", lambda: os.listdir(HOME))
attempt("opened a socket", lambda: socket.socket(socket.AF_INET))
attempt("wrote into our package", lambda: open("/opt/blendscribe/harness/x", "w"))
found += [name for name in os.environ if "SECRET" in name]
open("x", "w").close()
send(json.dumps({"kind": "unreadable", "code": "video_corrupt", "message": str(found)}).encode())
"""


def test_a_reader_is_in_jail(gone_bad: GoneBad, monkeypatch: pytest.MonkeyPatch) -> None:
    """It can write in its own folder, and that is all."""
    monkeypatch.setenv("SECRET_KEY", "x")
    assert gone_bad(f"PROJECT, HOME = {str(ROOT)!r}, {str(Path.home())!r}\n{ESCAPE}").message == "[]"


@pytest.mark.parametrize(
    "source", ["sys.exit('no luck')", "import no_such_library", "os.write(1, b'no luck'); os.kill(os.getpid(), 9)"]
)
def test_a_reader_that_does_not_start_is_ours(tmp_path: Path, good: bytes, source: str) -> None:
    """Before it was asked, no video can have broken it."""
    (tmp_path / "program.py").write_text(f"import os, sys\n{source}\n")
    with VideoReader(SETTINGS, program=tmp_path / "program.py") as reader:
        reader.start()
        reader.video.write_bytes(good)
        with pytest.raises(SandboxFailed, match=r"no luck|no_such_library"):
            reader.analyse()


def test_a_reader_that_cannot_be_started_is_ours(tmp_path: Path) -> None:
    """A jail that cannot be built fails the run, not the video."""
    with VideoReader(SETTINGS, program=tmp_path / "missing.py") as reader:
        reader.start()
        with pytest.raises(SandboxFailed, match="did not start"):
            reader.analyse()


# sketches


def test_sketches_are_of_all_frames(tmp_path: Path, good: bytes) -> None:
    """The sums of every block of every frame are there."""
    with VideoReader(SETTINGS) as reader:
        reader.start()
        reader.video.write_bytes(good)
        sketches = reader.sketches(tmp_path / "sketches", 1)
    assert sketches.n_frames == 12
    assert sketches.path.stat().st_size == 12 * 12 * 20 * 16 * 2


def test_a_video_that_cannot_be_read_has_no_sketches(tmp_path: Path, good: bytes) -> None:
    """Damage is noticed as it is by an analysis."""
    with VideoReader(SETTINGS) as reader:
        reader.start()
        reader.video.write_bytes(good[:-400])
        with pytest.raises(UnreadableVideo):
            reader.sketches(tmp_path / "sketches", 1)
    assert not (tmp_path / "sketches").exists()


SHAPE = {"width": 8, "height": 8, "pixel_aspect": [1, 1], "pixel_format": "gray", "colours": [2] * 8}


@pytest.mark.parametrize(
    "source",
    [
        "",
        "os.symlink('/etc/passwd', 'sketches')",
        "os.mkfifo('sketches')",
        "open('sketches', 'wb').write(bytes(31))",
        "open('sketches', 'wb').write(bytes(33))",
    ],
)
def test_a_reader_that_forges_the_file(tmp_path: Path, good: bytes, source: str) -> None:
    """The file has to be a plain one, of just the size that was told."""
    assert "makes no sense" in forged_sketches(tmp_path, good, source, SHAPE)


@pytest.mark.parametrize(
    "lies",
    [
        {"width": 0},
        {"width": -8, "height": -8},
        {"width": 1 << 20, "height": 1 << 20},
        {"pixel_format": "\x1b[2J"},
        {"colours": [2] * 7},
    ],
)
def test_a_reader_that_forges_the_shape(tmp_path: Path, good: bytes, lies: dict[str, Any]) -> None:
    """The shape has to be one that a video may have."""
    source = "open('sketches', 'wb').write(bytes(32))"
    assert "makes no sense" in forged_sketches(tmp_path, good, source, {**SHAPE, **lies})


def forged_sketches(folder: Path, video: bytes, source: str, shape: dict[str, Any]) -> str:
    program = folder / "program.py"
    said = json.dumps({"kind": "sketches", "n_frames": 1, "shape": shape})
    program.write_text(f"{START}\n{source}\nsend({said!r}.encode())")
    with VideoReader(SETTINGS, program=program) as reader:
        reader.start()
        reader.video.write_bytes(video)
        with pytest.raises(UnreadableVideo) as caught:
            reader.sketches(folder / "taken", 1)
    return caught.value.message
