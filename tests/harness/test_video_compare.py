"""When two videos show the same, and where they do not."""

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from harness.in_sandbox.frame_sketches import write_sketches
from harness.settings import HarnessSettings
from harness.video import Shape, Sketches, UnreadableVideo, VideoLimits
from harness.video_compare import (
    FRAME_THRESHOLD,
    THRESHOLD,
    Block,
    VideoComparison,
    changed_share,
    compare,
    compare_videos,
)
from tests.harness.videos import Pixels, moving_bars, turned, video

BLENDER = Path(__file__).parents[2] / ".venv-blender" / "bin" / "python"
SETTINGS = HarnessSettings()


def shaped(width: int, height: int) -> Shape:
    return Shape(width, height, (1, 1), "yuv420p", (2, 2, 2, 0) * 2)


def grey(n: int = 1, height: int = 90, width: int = 160) -> Pixels:
    return np.full((n, height, width, 3), 128, np.uint8)


def sketched(path: Path, frames: Pixels, key: int = 1) -> Sketches:
    """By the sandbox's own code, of a file that loses nothing but half of the colours."""
    film = video(path.with_suffix(".mkv"), frames, codec="ffv1")
    n, shape = write_sketches(film, path, key, VideoLimits())
    return Sketches(path, n, shape)


def compared(folder: Path, first: Pixels, second: Pixels, key: int = 1) -> VideoComparison:
    return compare(sketched(folder / "a", first, key), sketched(folder / "b", second, key))


# sums


def test_a_frame_is_cut_into_a_bounded_number_of_blocks() -> None:
    """Even sides from 8 pixels on; 64x36 blocks for 16:9 from 640x360 on, whatever the size."""
    sizes = [(64, 36), (160, 90), (640, 360), (1920, 1080), (4096, 4096), (16_777_216, 1)]
    shapes = [shaped(width, height) for width, height in sizes]
    assert [shape.block for shape in shapes] == [8, 8, 10, 30, 86, 7282]
    assert [shape.grid for shape in shapes] == [(5, 8), (12, 20), (36, 64), (36, 64), (48, 48), (1, 2304)]


def test_equal_frames_do_not_differ(tmp_path: Path) -> None:
    """Every frame has its worst block, and it is 0."""
    frames = np.random.default_rng(1).integers(0, 256, (3, 90, 160, 3), np.uint8)
    found = compared(tmp_path, frames, frames)
    assert found.worst_blocks == tuple(Block(n, 0, 0, 0.0) for n in range(3))
    assert found.whole_frames == (0.0, 0.0, 0.0)
    assert found.is_same


def test_the_worst_block_has_its_place(tmp_path: Path) -> None:
    """A changed block is found in frame, column and row, also beyond the frames that are read at once."""
    frames = grey(150)
    other = frames.copy()
    other[140, 80:88, 152:160] += 40
    other[7, 24:32, 32:36] += 40
    found = compared(tmp_path, frames, other)
    assert found.worst is not None
    assert (found.worst.frame, found.worst.left, found.worst.top) == (140, 152, 80)
    assert (found.worst_blocks[7].left, found.worst_blocks[7].top) == (32, 24)
    assert [block.frame for block in found.worst_blocks if block.difference] == [7, 140]
    assert not found.is_same


ROWS, COLUMNS = np.mgrid[:10, :8]
CHECKER = 1 - 2 * ((ROWS // 2 + COLUMNS // 2) % 2)
VIDEO_LEVELS = 219 / 255
"""Steps of brightness in a video for a grey level of a picture."""


@pytest.mark.parametrize(
    ("pattern", "true"),
    [
        (20 * np.ones((8, 8)), 20),
        (20 * CHECKER[:8], 20),
        (80 * ((ROWS == 3) & (COLUMNS == 3))[:8], 10),
        (20 * (ROWS >= 8), 20),  # a block of which the edge leaves two rows
    ],
)
def test_a_difference_is_the_root_mean_square(tmp_path: Path, pattern: Pixels, true: float) -> None:
    """On average over many draws of the signs, whatever the pattern."""
    frames = grey(1, *pattern.shape)
    other = (frames + pattern[..., None]).astype(np.uint8)
    worst = [compared(tmp_path, frames, other, key).worst for key in range(60)]
    squares = [(block.difference / VIDEO_LEVELS) ** 2 for block in worst if block]
    assert np.sqrt(np.mean(squares)) == pytest.approx(true, rel=0.15)


def test_every_draw_sees_fine_detail(tmp_path: Path) -> None:
    """A checker of 2x2 pixels that no block's mean shows is over the threshold whatever the signs."""
    frames = grey(1, 80, 160)
    other = (frames + 10 * np.tile(CHECKER[:8], (10, 20))[..., None]).astype(np.uint8)
    worst = [compared(tmp_path, frames, other, key).worst for key in range(50)]
    assert min(block.difference for block in worst if block) > THRESHOLD


def test_a_change_of_colour_counts(tmp_path: Path) -> None:
    """Though the brightness is the same."""
    other = (grey() + np.array([20, -10, 0])).astype(np.uint8)
    found = compared(tmp_path, grey(), other)
    assert found.worst is not None
    assert found.worst.difference > THRESHOLD


def test_the_thresholds_themselves_are_tolerated() -> None:
    """A block over its threshold in less than three frames is, a frame over its own is not, nor three blocks."""
    shape = shaped(160, 90)

    def is_same(blocks: list[float], frame: float) -> bool:
        worst = tuple(Block(n, 0, 0, difference) for n, difference in enumerate(blocks))
        n = len(blocks)
        return VideoComparison((n, n), (shape, shape), worst, (0.0,) * (n - 1) + (frame,)).is_same

    over = 1.01 * THRESHOLD
    assert is_same([THRESHOLD] * 4, FRAME_THRESHOLD)
    assert is_same([over, over, THRESHOLD, 0], 0)
    assert not is_same([over, 0, over, over], 0)
    assert not is_same([over], 0)
    assert not is_same([0] * 4, 1.01 * FRAME_THRESHOLD)


def test_counts_and_shapes_are_compared_first(tmp_path: Path) -> None:
    """Videos of another length or size are never the same, and no frame of them is looked at."""
    longer, other = compared(tmp_path, grey(4), grey(3)), compared(tmp_path, grey(), grey(1, 92))
    assert (longer.n_frames, longer.worst_blocks, longer.is_same) == ((4, 3), (), False)
    assert ([shape.height for shape in other.shapes], other.worst, other.is_same) == ([90, 92], None, False)


def with_alpha(path: Path, frames: Pixels, codec: str) -> Sketches:
    """RGBA pixels, in a file that loses nothing."""
    ending, pixel_format = {"qtrle": (".mov", "argb"), "png": (".mov", "rgba"), "ffv1": (".mkv", "bgra")}[codec]
    film = video(path.with_suffix(ending), frames, codec=codec, pixel_format=pixel_format)
    n, shape = write_sketches(film, path, 1, VideoLimits())
    return Sketches(path, n, shape)


@pytest.mark.parametrize("codec", ["qtrle", "png", "ffv1"])
def test_alpha_counts_as_brightness_does(tmp_path: Path, codec: str) -> None:
    """What is seen through is not what is painted, under it counts too, and no alpha is another shape."""
    frames = np.full((3, 90, 160, 4), 128, np.uint8)
    alpha, colour = frames.copy(), frames.copy()
    alpha[:, :45, :, 3] = 108
    colour[:, :45, :, :3] = 108
    first = with_alpha(tmp_path / "a", frames, codec)
    differences = []
    for name, other in (("b", alpha), ("c", colour)):
        found = compare(first, with_alpha(tmp_path / name, other, codec))
        assert not found.is_same
        differences.append(found.whole_frames[0] * 2**0.5)
    assert differences == pytest.approx([20, 20], rel=0.35)  # the range of brightness is the codec's
    assert compare(first, with_alpha(tmp_path / "d", frames, codec)).whole_frames == (0.0,) * 3
    without = compare(first, sketched(tmp_path / "e", grey(3)))
    assert (without.worst, without.is_same) == (None, False)


@pytest.mark.parametrize(
    "tags",
    [
        {"colorspace": "bt709"},
        {"color_range": "pc"},
        {"color_trc": "smpte2084"},
        {"color_primaries": "bt2020"},
    ],
)
@pytest.mark.parametrize("ending", ["mp4", "mkv"])
def test_tags_of_colour_are_part_of_the_shape(tmp_path: Path, tags: dict[str, str], ending: str) -> None:
    """A player shows the same numbers in other colours by them."""
    plain = video(tmp_path / f"a.{ending}", moving_bars(3))
    tagged = video(tmp_path / f"b.{ending}", moving_bars(3), options=tags)
    found = compare_videos(plain, tagged, SETTINGS)
    assert (found.n_frames, found.worst, found.is_same) == ((3, 3), None, False)


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


def test_a_turned_video_is_refused(tmp_path: Path, bars: Path) -> None:
    """A player would turn it by its display matrix; the pixels are the same."""
    with pytest.raises(UnreadableVideo, match="display matrix") as refusal:
        compare_videos(turned(bars, tmp_path / "v.mp4", 180), bars, SETTINGS)
    assert refusal.value.code == "video_turned"
    assert compare_videos(turned(bars, tmp_path / "v.mp4", 0), bars, SETTINGS).is_same


@pytest.mark.parametrize(
    "pattern",
    [
        127 * np.ones((180, 320)),
        30 * (np.random.default_rng(1).integers(0, 2, (180, 320)) * 2 - 1),
        128 * (np.arange(320) // 2 % 2 * 2 - 1) * np.ones((180, 1)),
    ],
)
def test_changed_share_counts_blocks(tmp_path: Path, pattern: Pixels) -> None:
    """A quarter of one frame, that differs by far, in low contrast, or in stripes that a smaller picture would lose."""
    frames = grey(3, 360, 640)
    other = frames.astype(int)
    other[1, :180, :320] += pattern.astype(int)[..., None]
    other = other.clip(0, 255).astype(np.uint8)
    first, second = (video(tmp_path / f"{n}.mkv", f, codec="ffv1") for n, f in enumerate((frames, other)))
    assert changed_share(first, second, SETTINGS) == pytest.approx(0.25, abs=0.04)
    assert changed_share(first, first, SETTINGS) == 0


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
render("lowest again", quality="LOWEST")
render("mpeg4", codec="MPEG4")
render("mpeg4 again", codec="MPEG4")
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
@pytest.mark.parametrize("name", ["first", "lowest", "mpeg4"])
def test_a_scene_rendered_again_is_the_same(renders: Path, name: str) -> None:
    """With the same encoder and quality it differs by less than half the threshold."""
    other = {"first": "again"}.get(name, f"{name} again")
    worst = compare_videos(renders / name, renders / other, SETTINGS).worst
    assert worst is not None
    assert worst.difference < THRESHOLD / 2


@pytest.mark.blender
@pytest.mark.parametrize("name", ["less", "late"])
def test_another_scene_is_another(renders: Path, name: str) -> None:
    """A small object that is missing, or a frame's shift, is far over the threshold."""
    worst = compare_videos(renders / "first", renders / name, SETTINGS).worst
    assert worst is not None
    assert worst.difference > 5 * THRESHOLD
