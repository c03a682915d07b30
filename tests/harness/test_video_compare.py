"""When two videos show the same, and where they do not."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness.settings import HarnessSettings
from harness.video import SmallFrames, UnreadableVideo
from harness.video_compare import THRESHOLD, Block, VideoComparison, compare, compare_videos
from tests.harness.videos import Pixels, moving_bars, video

BLENDER = Path(__file__).parents[2] / ".venv-blender" / "bin" / "python"
SETTINGS = HarnessSettings()


def raw(path: Path, frames: Pixels) -> SmallFrames:
    path.write_bytes(frames.tobytes())
    return SmallFrames(path, len(frames))


# small frames


def test_equal_frames_do_not_differ(tmp_path: Path) -> None:
    """Every frame has its worst block, and it is 0."""
    frames = np.random.default_rng(1).integers(0, 256, (3, 90, 160, 3), np.uint8)
    found = compare(raw(tmp_path / "a", frames), raw(tmp_path / "b", frames))
    assert found == VideoComparison((3, 3), tuple(Block(n, 0, 0, 0.0) for n in range(3)))
    assert found.is_same


def test_the_worst_block_has_its_place(tmp_path: Path) -> None:
    """A changed block is found in frame, column and row, also beyond the frames that are read at once."""
    frames = np.zeros((150, 90, 160, 3), np.uint8)
    other = frames.copy()
    other[140, 80:90, 150:160] = 40
    other[7, 20:30, 30:35] = 40
    found = compare(raw(tmp_path / "a", frames), raw(tmp_path / "b", other))
    assert found.worst == Block(140, 150, 80, 40.0)
    assert found.worst_blocks[7] == Block(7, 30, 20, 20.0)
    assert sum(block.difference for block in found.worst_blocks) == 60
    assert not found.is_same


def test_the_sign_does_not_matter(tmp_path: Path) -> None:
    """Bytes are subtracted as numbers: black and white differ by 255 both ways."""
    black, white = np.zeros((1, 90, 160, 3), np.uint8), np.full((1, 90, 160, 3), 255, np.uint8)
    for pair in ((black, white), (white, black)):
        worst = compare(raw(tmp_path / "a", pair[0]), raw(tmp_path / "b", pair[1])).worst
        assert worst == Block(0, 0, 0, 255.0)


def test_the_threshold_itself_is_tolerated(tmp_path: Path) -> None:
    """16 is tolerated, 17 is not."""
    black = np.zeros((1, 90, 160, 3), np.uint8)
    for level in (16, 17):
        found = compare(raw(tmp_path / "a", black), raw(tmp_path / "b", black + np.uint8(level)))
        assert found.is_same == (level <= THRESHOLD)


def test_counts_are_compared_first(tmp_path: Path) -> None:
    """Videos of different length are never the same, and no frame of them is looked at."""
    frames = np.zeros((4, 90, 160, 3), np.uint8)
    found = compare(raw(tmp_path / "a", frames), raw(tmp_path / "b", frames[:3]))
    assert found == VideoComparison((4, 3), ())
    assert (found.worst, found.is_same) == (None, False)


# videos


@pytest.fixture(scope="module")
def bars(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return video(tmp_path_factory.mktemp("bars") / "v.mp4", moving_bars(12, 640, 360))


def test_a_video_is_the_same_as_itself(bars: Path) -> None:
    """Read twice, it gives the same bytes."""
    found = compare_videos(bars, bars, SETTINGS)
    assert found.n_frames == (12, 12)
    assert {block.difference for block in found.worst_blocks} == {0.0}


def test_a_video_shifted_by_a_frame_is_another(tmp_path: Path, bars: Path) -> None:
    """The count is the same; the moving bar is elsewhere."""
    shifted = video(tmp_path / "v.mp4", moving_bars(13, 640, 360)[1:])
    found = compare_videos(bars, shifted, SETTINGS)
    assert found.n_frames == (12, 12)
    assert not found.is_same


def test_a_frame_less_is_another_video(tmp_path: Path, bars: Path) -> None:
    """However equal the others are."""
    shorter = video(tmp_path / "v.mp4", moving_bars(12, 640, 360)[:-1])
    found = compare_videos(bars, shorter, SETTINGS)
    assert (found.n_frames, found.worst_blocks, found.is_same) == ((12, 11), (), False)


def test_a_broken_video_is_compared_with_nothing(tmp_path: Path, bars: Path) -> None:
    """The reason is its own."""
    (tmp_path / "v.mp4").write_text("no video")
    with pytest.raises(UnreadableVideo):
        compare_videos(bars, tmp_path / "v.mp4", SETTINGS)


# renders

RENDERS = """
import os, sys
import bpy

scene = bpy.context.scene
scene.render.engine = "BLENDER_WORKBENCH"
scene.render.resolution_x, scene.render.resolution_y = 640, 360
scene.render.fps, scene.frame_end = 24, 8
cube = bpy.data.objects["Cube"]
for frame, x in ((1, -2.0), (8, 2.0)):
    cube.location.x = x
    cube.keyframe_insert("location", frame=frame)
bpy.ops.mesh.primitive_cube_add(size=0.4, location=(0, -3, 0))
small = bpy.context.object
scene.render.use_file_extension = False
scene.render.image_settings.file_format = "FFMPEG"
scene.render.ffmpeg.format = "MPEG4"


def render(name, codec="H264", quality="MEDIUM"):
    scene.render.ffmpeg.codec, scene.render.ffmpeg.constant_rate_factor = codec, quality
    scene.render.filepath = os.path.join(sys.argv[1], name)
    bpy.ops.render.render(animation=True)


render("first")
render("again")
render("lowest", quality="LOWEST")
render("png", codec="PNG")
render("mpeg4", codec="MPEG4")
small.hide_render = True
render("less")
small.hide_render = False
scene.frame_start, scene.frame_end = 2, 9
render("late")
sys.stdout.flush()
os._exit(0)
"""


@pytest.fixture(scope="module")
def renders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight frames of a cube that crosses the view behind a small one, rendered in several ways."""
    folder = tmp_path_factory.mktemp("renders")
    environment = {**os.environ, "EGL_PLATFORM": "surfaceless", "LIBGL_ALWAYS_SOFTWARE": "1"}
    subprocess.run([BLENDER, "-c", RENDERS, folder], env=environment, capture_output=True, check=True, timeout=170)
    return folder


@pytest.mark.blender
@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("again", 0, 1),
        ("lowest", 0.1, 10),
        ("png", 0, 10),
        ("mpeg4", 0, 10),
        ("less", 2 * THRESHOLD, 255),
        ("late", 2 * THRESHOLD, 255),
    ],
)
def test_renders(renders: Path, name: str, least: float, most: float) -> None:
    """Another encoding is far under the threshold; a small object that is missing, or a frame's shift, far over it."""
    worst = compare_videos(renders / "first", renders / name, SETTINGS).worst
    assert worst is not None
    assert least <= worst.difference <= most
