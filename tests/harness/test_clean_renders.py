"""The sandboxed program that makes raw pictures clean, and the distrust of what it answers."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image, PngImagePlugin

from harness.clean_renders import Cleaned, FilmJob, PictureJob, clean_renders
from harness.errors import SandboxFailed
from harness.settings import HarnessSettings

SETTINGS = HarnessSettings()


def raw_picture(
    folder: Path, name: str, box: tuple[int, int, int, int] | None, size: tuple[int, int] = (64, 48)
) -> None:
    """A white box on nothing, with text that tells where it was made."""
    image = Image.new("RGBA", size, (0, 0, 0, 0))
    if box:
        image.paste((255, 255, 255, 255), box)
    text = PngImagePlugin.PngInfo()
    text.add_text("File", "/home/somebody/scene.blend")
    image.save(folder / name, pnginfo=text)


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    folder = tmp_path / "raw"
    folder.mkdir()
    raw_picture(folder, "white.png", (16, 12, 48, 36))
    raw_picture(folder, "empty.png", None)
    for n in range(4):
        raw_picture(folder, f"frame_{n}.png", (8 * n, 8, 8 * n + 8, 16))
    return folder


def clean(raw: Path, *pictures: PictureJob, film: FilmJob | None = None, program: Path | None = None) -> Cleaned:
    keep = raw.with_name("keep")
    keep.mkdir()
    more = {"program": program} if program else {}
    return clean_renders(pictures, film, "sheet.png", raw=raw, destination=keep, settings=SETTINGS, **more)


def job(name: str, **more: object) -> PictureJob:
    return PictureJob(name, name, f"caption of {name}", **more)  # type: ignore[arg-type]


def test_figures_stand_before_a_backdrop(raw: Path) -> None:
    """White stays white, what was nothing is a grey between black and white, and text is gone."""
    cleaned = clean(raw, job("white.png"))
    assert cleaned.states == {"white.png": "good"}
    assert cleaned.sizes["white.png"] == (64, 48)
    with Image.open(raw.with_name("keep") / "white.png") as picture:
        pixels, text = np.asarray(picture.convert("L")).astype(int), picture.info
    assert pixels[24, 32] == 255
    assert 60 < pixels[2, 2] < pixels[46, 2] < 170
    assert text == {}


def test_pictures_of_nothing_are_not_published(raw: Path) -> None:
    """Nor is one of a single colour, or what cannot be read; each has its state."""
    raw_picture(raw, "even.png", (0, 0, 64, 48))
    (raw / "text.png").write_text("no picture")
    cleaned = clean(raw, *(job(name) for name in ("white.png", "empty.png", "even.png", "text.png", "missing.png")))
    states = ["good", "empty", "even", "unreadable", "unreadable"]
    assert list(cleaned.states.values()) == states
    assert sorted(cleaned.sizes) == ["sheet.png", "white.png"]


def test_labels_and_bars_are_below_the_picture(raw: Path) -> None:
    """The picture keeps its pixels; the strip holds text at the left and a bar of the given length at the right."""
    raw_picture(raw, "wide.png", (100, 100, 700, 500), size=(800, 600))
    clean(raw, job("wide.png", strip="from the front", bar=("1 m", 120.0)))
    with Image.open(raw.with_name("keep") / "wide.png") as picture:
        pixels = np.asarray(picture.convert("L")).astype(int)
    assert pixels.shape == (628, 800)
    assert (pixels[100:500, 100:700] == 255).all()
    bright = pixels[614] > 200
    runs = np.diff(np.flatnonzero(np.diff(np.concatenate([[0], bright, [0]]))))[::2]
    assert runs.max() == pytest.approx(121, abs=3)
    assert (pixels[604:626, 5:200] > 200).any()


def test_frames_may_be_empty_where_one_is_not(raw: Path) -> None:
    """A frame of nothing tells something if others show something; frames of nothing alone do not."""
    frames = [job(name, may_be_empty=True) for name in ("frame_0.png", "empty.png")]
    film = FilmJob(("frame_0.png", "frame_1.png", "empty.png"), "film.mp4", 12.0)
    cleaned = clean(raw, *frames, film=film)
    assert sorted(cleaned.sizes) == ["empty.png", "film.mp4", "frame_0.png", "sheet.png"]
    raw.with_name("keep").rename(raw.with_name("first"))
    cleaned = clean(
        raw, job("empty.png", may_be_empty=True), film=FilmJob(("empty.png", "empty.png"), "film.mp4", 12.0)
    )
    assert cleaned.sizes == {}


def test_equal_pixels_give_equal_bytes(raw: Path) -> None:
    """Pictures, sheet and film."""
    film = FilmJob(tuple(f"frame_{n}.png" for n in range(4)), "film.mp4", 29.97)
    jobs = [job("white.png"), job("frame_0.png", strip="frame 0", may_be_empty=True)]
    clean(raw, *jobs, film=film)
    first = {file.name: file.read_bytes() for file in raw.with_name("keep").iterdir()}
    raw.with_name("keep").rename(raw.with_name("first"))
    clean(raw, *jobs, film=film)
    assert first == {file.name: file.read_bytes() for file in raw.with_name("keep").iterdir()}
    assert sorted(first) == ["film.mp4", "frame_0.png", "sheet.png", "white.png"]


HOSTILE = {
    "a PNG with text": "save(own + '/white.png', pnginfo=text)",
    "more behind its end": "save(own + '/white.png'); open(own + '/white.png', 'ab').write(b'secret')",
    "a link": "os.symlink('/etc/passwd', own + '/white.png')",
    "a folder": "os.mkdir(own + '/white.png')",
    "something else": "open(own + '/white.png', 'w').write('<svg/>')",
}
PROGRAM = """
import os, sys
own = sys.argv[3]
sys.path += sys.argv[4:]
from PIL import Image, PngImagePlugin
text = PngImagePlugin.PngInfo()
text.add_text('Comment', 'secret')
save = Image.new('RGB', (4, 4)).save
{}
for answer in ('"started"', '"picture", "file": "white.png", "state": "good"', '"finished"'):
    os.write(int(sys.argv[1]), ('{{"kind": ' + answer + '}}\\n').encode())
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_a_program_that_was_taken_over_publishes_no_other_form(raw: Path, name: str) -> None:
    """Whatever it answers: a PNG that holds pixels alone is taken, anything else is not."""
    program = raw.with_name("program.py")
    program.write_text(PROGRAM.format(HOSTILE[name]))
    cleaned = clean(raw, job("white.png"), program=program)
    assert cleaned.sizes == {}
    assert list(raw.with_name("keep").iterdir()) == []


def test_a_program_that_ends_early_is_told(raw: Path) -> None:
    """What it had not got to is missing, with the reason."""
    program = raw.with_name("program.py")
    answer = '{"kind": "started"}\\n'
    program.write_text(f"import os, sys\nos.write(int(sys.argv[1]), b'{answer}')\nos._exit(3)\n")
    cleaned = clean(raw, job("white.png"), program=program)
    assert cleaned.sizes == {}
    assert cleaned.stopped == "making them clean stopped (3)"


def test_a_program_that_does_not_start_is_a_failure_of_the_machine(raw: Path) -> None:
    """Then nothing was wrong with the pictures."""
    program = raw.with_name("program.py")
    program.write_text("import nothing_of_this_name\n")
    with pytest.raises(SandboxFailed, match=r"(?s)did not start.*nothing_of_this_name"):
        clean(raw, job("white.png"), program=program)
