"""What is measured of real videos, made here with PyAV and, at the end, by Blender itself."""

import dataclasses
import io
import itertools
import json
import os
import random
import subprocess
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from PIL import Image

from harness.in_sandbox.video_analysis import analyse_video, evenly_spaced
from harness.video import UnreadableVideo, VideoFacts, VideoLimits
from tests.harness.videos import edited, joined, moving_bars, video

NTSC_FILM, NTSC = Fraction(24000, 1001), Fraction(30000, 1001)
BLENDER = Path(__file__).parents[3] / ".venv-blender" / "bin" / "python"


def growing_video(path: Path) -> Path:
    """Three PNG frames of 64x48, then three of 200x150, in one QuickTime stream."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=24, width=64, height=48, pix_fmt="rgb24")
        for tick in range(6):
            width, height = (64, 48) if tick < 3 else (200, 150)
            buffer = io.BytesIO()
            Image.new("RGB", (width, height), (40 * tick, 90, 30)).save(buffer, "PNG")
            packet = av.Packet(buffer.getvalue())
            packet.stream, packet.pts, packet.dts, packet.time_base = stream, tick, tick, Fraction(1, 24)
            container.mux(packet)
    return path


def sound(path: Path) -> Path:
    """A second of silence, with no picture."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("aac", rate=44100, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 44100), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def facts_of(path: Path) -> VideoFacts:
    return analyse_video(path).facts


def refusal(path: Path, limits: VideoLimits | None = None) -> UnreadableVideo:
    with pytest.raises(UnreadableVideo) as caught:
        analyse_video(path, limits=limits or VideoLimits())
    return caught.value


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sound H.264 video of 24 frames."""
    return video(tmp_path_factory.mktemp("video") / "output.mp4", moving_bars(24))


def test_a_good_video_is_described(good: Path) -> None:
    """Container, codec, pixel format, size, frames, rate and duration are those that were written."""
    facts = facts_of(good)
    assert (facts.container, facts.codec, facts.pixel_format) == ("mp4", "h264", "yuv420p")
    assert (facts.width, facts.height, facts.n_frames, facts.n_frames_claimed) == (160, 90, 24, 24)
    assert (facts.fps, facts.is_variable_rate, facts.has_audio) == (24.0, False, False)
    assert facts.duration_seconds == pytest.approx(1.0)
    assert facts.size_bytes == good.stat().st_size


def test_the_facts_are_plain_json(good: Path) -> None:
    """They cross borders and are stored."""
    facts = dataclasses.asdict(facts_of(good))
    assert json.loads(json.dumps(facts))["n_frames"] == 24


def test_the_analysis_is_repeatable(good: Path) -> None:
    """Two analyses of one file are equal, pictures included, however the threads ran."""
    assert analyse_video(good) == analyse_video(good)


@pytest.mark.parametrize("ending", ["mp4", "mkv", "avi"])
@pytest.mark.parametrize("rate", [NTSC_FILM, NTSC, Fraction(25)])
def test_fractional_rates_are_exact(tmp_path: Path, rate: Fraction, ending: str) -> None:
    """23.976 and 29.97 come back to far better than 0.01, whatever the container rounds."""
    facts = facts_of(video(tmp_path / f"output.{ending}", moving_bars(10), codec="mpeg4", rate=rate))
    assert facts.fps == pytest.approx(float(rate), abs=1e-4)
    assert not facts.is_variable_rate


def test_uneven_times_are_a_variable_rate(tmp_path: Path) -> None:
    """The average rate is then frames over duration."""
    path = video(tmp_path / "output.mp4", moving_bars(6), codec="mpeg4", ticks=[0, 1, 2, 6, 7, 11])
    facts = facts_of(path)
    assert facts.is_variable_rate
    assert facts.fps == pytest.approx(6 / facts.duration_seconds, rel=0.05)


def test_previews_are_evenly_spaced_small_jpegs(tmp_path: Path) -> None:
    """First and last frame are among them; each has its time, and is as wide as asked for."""
    path = video(tmp_path / "output.mp4", moving_bars(24, 320, 180))
    frames = analyse_video(path, n_preview_frames=4, preview_width=100).preview_frames
    assert [frame.index for frame in frames] == [0, 8, 15, 23]
    assert [frame.seconds for frame in frames] == pytest.approx([index / 24 for index in (0, 8, 15, 23)])
    for frame in frames:
        picture = Image.open(io.BytesIO(frame.jpeg))
        assert (picture.format, picture.size) == ("JPEG", (100, 56))
        assert (frame.width, frame.height) == (100, 56)


def test_previews_are_never_enlarged(good: Path) -> None:
    """A video narrower than the preview keeps its size."""
    assert {frame.width for frame in analyse_video(good, preview_width=640).preview_frames} == {160}


def test_previews_show_the_frames_they_name(tmp_path: Path) -> None:
    """Colour n is in frame n: decoding order and threads do not shift them."""
    colours = [(10 * index, 255 - 10 * index, 128) for index in range(24)]
    path = video(tmp_path / "output.mp4", [np.full((48, 64, 3), colour, np.uint8) for colour in colours])
    for frame in analyse_video(path).preview_frames:
        shown = Image.open(io.BytesIO(frame.jpeg)).getpixel((32, 24))
        assert shown == pytest.approx(colours[frame.index], abs=8)


def test_the_sheet_shows_the_thirds(good: Path) -> None:
    """Frames 0, n/3, 2n/3 and n-1."""
    assert [frame.index for frame in analyse_video(good).sheet_frames] == [0, 8, 16, 23]


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_short_video_gives_each_frame_once(tmp_path: Path, n: int) -> None:
    """Three frames give three previews, not eight."""
    analysis = analyse_video(video(tmp_path / "output.mp4", moving_bars(n)))
    assert [frame.index for frame in analysis.preview_frames] == list(range(n))
    assert [frame.index for frame in analysis.sheet_frames] == list(range(n))
    assert len(analysis.facts.neighbour_differences) == n - 1
    assert analysis.facts.fps == pytest.approx(24)


def test_an_empty_picture_deviates_less_than_a_detailed_one(tmp_path: Path) -> None:
    """The grey deviation tells a bare background from something to see."""
    bare = facts_of(video(tmp_path / "bare.mp4", [np.full((90, 160, 3), 60, np.uint8)] * 8))
    detailed = facts_of(video(tmp_path / "detailed.mp4", moving_bars(8)))
    assert max(sample.standard_deviation for sample in bare.content_samples) < 1
    assert min(sample.standard_deviation for sample in detailed.content_samples) > 10


def test_detail_finer_than_a_block_is_averaged(tmp_path: Path) -> None:
    """A one-pixel checkerboard is middle grey, not the black or white that picking pixels would give."""
    board = np.indices((360, 640)).sum(axis=0) % 2 * 255
    path = video(
        tmp_path / "board.mov",
        [np.repeat(board[..., None], 3, axis=2).astype(np.uint8)],
        codec="png",
        pixel_format="rgb24",
    )
    (sample,) = facts_of(path).content_samples
    assert sample.mean == pytest.approx(127.5, abs=4)
    assert sample.standard_deviation < 4


def test_grey_is_full_range_in_every_pixel_format(tmp_path: Path) -> None:
    """White is 255 and black 0, from studio-range YUV as from RGB."""
    frames = [np.full((48, 64, 3), value, np.uint8) for value in (0, 255)]
    for codec, pixel_format in (("mpeg4", "yuv420p"), ("png", "rgb24")):
        facts = facts_of(video(tmp_path / f"{codec}.mov", frames, codec=codec, pixel_format=pixel_format))
        assert [sample.mean for sample in facts.content_samples] == pytest.approx([0, 255], abs=2)


def test_a_static_video_has_no_neighbour_differences(tmp_path: Path) -> None:
    """And a moving one has."""
    static = facts_of(video(tmp_path / "static.mp4", moving_bars(1) * 12))
    moving = facts_of(video(tmp_path / "moving.mp4", moving_bars(12)))
    assert max(static.neighbour_differences) < 0.5
    assert min(moving.neighbour_differences) > 0.5
    assert len(moving.neighbour_differences) == len(moving.content_samples) - 1 == 7


@pytest.mark.parametrize(
    ("name", "codec", "pixel_format"),
    [
        ("odd.mkv", "libx264", "yuv444p"),
        ("ten_bit.mkv", "libx264", "yuv444p10le"),
        ("grey.mkv", "ffv1", "gray"),
        ("deep_grey.mkv", "ffv1", "gray16le"),
        ("rgb.mkv", "ffv1", "bgr0"),
        ("alpha.mov", "png", "rgba"),
        ("alpha_rle.mov", "qtrle", "argb"),
        ("planar.mkv", "ffv1", "gbrp12le"),
    ],
)
def test_unusual_pixels_are_read(tmp_path: Path, name: str, codec: str, pixel_format: str) -> None:
    """Odd sizes, deep colours, grey, RGB and alpha give the same kind of facts."""
    path = video(tmp_path / name, moving_bars(3, 161, 91), codec=codec, pixel_format=pixel_format)
    analysis = analyse_video(path, preview_width=80)
    assert (analysis.facts.width, analysis.facts.height, analysis.facts.n_frames) == (161, 91, 3)
    assert analysis.facts.pixel_format == pixel_format
    assert {(frame.width, frame.height) for frame in analysis.preview_frames} == {(80, 45)}


def test_a_tiny_picture_is_read(tmp_path: Path) -> None:
    """Smaller than the grey reduction, in both directions."""
    facts = facts_of(video(tmp_path / "tiny.mkv", moving_bars(2, 22, 2), codec="ffv1", pixel_format="bgr0"))
    assert (facts.width, facts.height, facts.n_frames) == (22, 2, 2)


def test_pixels_need_not_be_square(tmp_path: Path) -> None:
    """Previews keep the stored pixels."""
    path = tmp_path / "output.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("mpeg4", rate=24, width=160, height=90, pix_fmt="yuv420p")
        stream.codec_context.sample_aspect_ratio = Fraction(2)
        for pixels in moving_bars(4):
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels)))
        container.mux(stream.encode(None))
    assert {(frame.width, frame.height) for frame in analyse_video(path).preview_frames} == {(160, 90)}


def test_sound_beside_the_picture_is_noticed(tmp_path: Path) -> None:
    """It is a fact, and does not disturb the others."""
    path = tmp_path / "output.mp4"
    with av.open(str(path), "w") as container:
        pictures = container.add_stream("mpeg4", rate=24, width=160, height=90, pix_fmt="yuv420p")
        tones = container.add_stream("aac", rate=44100, layout="mono")
        for pixels in moving_bars(4):
            container.mux(pictures.encode(av.VideoFrame.from_ndarray(pixels)))
        silence = av.AudioFrame.from_ndarray(np.zeros((1, 4096), np.float32), format="fltp", layout="mono")
        silence.sample_rate = 44100
        for stream, frame in ((tones, silence), (tones, None), (pictures, None)):
            container.mux(stream.encode(frame))  # type: ignore[arg-type]
    facts = facts_of(path)
    assert (facts.has_audio, facts.n_frames) == (True, 4)


def test_sound_alone_is_no_video(tmp_path: Path) -> None:
    """The message says what there is instead."""
    found = refusal(sound(tmp_path / "output.mp4"))
    assert (found.code, "sound" in found.message) == ("video_no_video_stream", True)


@pytest.mark.parametrize("ending", ["mp4", "mov", "mkv", "avi"])
def test_a_second_film_in_the_file_is_refused(tmp_path: Path, ending: str) -> None:
    """FFmpeg shows the larger one, another player the first."""
    films = [video(tmp_path / f"{n}.avi", moving_bars(4, 16 * n, 48), codec="mpeg4") for n in (3, 4)]
    with pytest.raises(UnreadableVideo, match=r"2 streams that a player can show \(video, video\)") as refusal:
        analyse_video(joined(films, tmp_path / f"both.{ending}"))
    assert refusal.value.code == "video_more_streams"


def test_a_film_that_begins_in_the_middle_of_the_file_is_found(tmp_path: Path) -> None:
    """MPEG has no table of its streams, and FFmpeg alone looks for them in the first 5 MB."""
    noise = np.random.default_rng(1).integers(0, 256, (40, 360, 640, 3), np.uint8)
    fast = {"b": "40000000", "maxrate": "60000000", "bufsize": "8000000"}
    large = video(tmp_path / "1.mpg", noise, codec="mpeg2video", options=fast).read_bytes()
    other = video(tmp_path / "2.mpg", moving_bars(8, 640, 360), codec="mpeg2video").read_bytes()
    assert len(large) > 7_000_000
    (tmp_path / "v.mpg").write_bytes(large + other.replace(b"\0\0\1\xe0", b"\0\0\1\xe1") + large)
    with pytest.raises(UnreadableVideo) as refusal:
        analyse_video(tmp_path / "v.mpg")
    assert refusal.value.code == "video_more_streams"


def test_a_cover_and_subtitles_are_refused(tmp_path: Path, good: Path) -> None:
    """Both are shown by some players."""
    cover = av.VideoFrame(64, 48, "yuvj420p")
    words = tmp_path / "words.srt"
    words.write_text("1\n00:00:00,000 --> 00:00:01,000\nApproved\n")
    with av.open(str(tmp_path / "cover.mkv"), "w") as container:
        stream = container.add_stream("mjpeg", rate=1, width=64, height=48, pix_fmt="yuvj420p")
        container.mux(stream.encode(cover))
        container.mux(stream.encode(None))
    for other in (tmp_path / "cover.mkv", words):
        with pytest.raises(UnreadableVideo) as refusal:
            analyse_video(joined([good, other], tmp_path / "both.mkv"))
        assert refusal.value.code == "video_more_streams"


def test_data_that_changes_what_is_shown_is_refused(tmp_path: Path) -> None:
    """By light levels a player shows the same numbers brighter or darker."""
    lights = "mastering-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,50):cll=1000,400"
    film = video(tmp_path / "v.mp4", moving_bars(3), options={"x264-params": lights})
    with pytest.raises(UnreadableVideo, match=r"carries '[A-Z_]+' data") as refusal:
        analyse_video(film)
    assert refusal.value.code == "video_more_data"


@pytest.mark.parametrize("options", [{}, {"bf": "0", "g": "1"}])
def test_an_edit_list_may_only_shift(tmp_path: Path, options: dict[str, str]) -> None:
    """As encoders with B-frames write it. One that hides, repeats or reorders frames is refused."""
    whole = video(tmp_path / "v.mp4", moving_bars(16), options=options)
    assert analyse_video(whole).facts.n_frames == 16
    tick, start = 512, 1024 if not options else 0
    for edits in (
        [(333, start + 8 * tick)],
        [(333, start)],
        [(667, start), (667, start)],
        [(333, start + 8 * tick), (334, start)],
    ):
        with pytest.raises(UnreadableVideo, match="edit list") as refusal:
            analyse_video(edited(whole, edits))
        assert refusal.value.code == "video_edited"
    assert analyse_video(edited(whole, [(100, -1), (667, start)])).facts.n_frames == 16


def test_a_stream_without_frames_is_named_so(tmp_path: Path, good: Path) -> None:
    """The header describes a video, and not one packet follows."""
    path = tmp_path / "output.mp4"
    with (
        av.open(str(good)) as source,
        av.open(str(path), "w", options={"movflags": "frag_keyframe+empty_moov"}) as target,
    ):
        target.add_stream_from_template(source.streams.video[0])
        target.start_encoding()
    assert refusal(path).code == "video_no_frames"


def test_half_a_file_is_refused(tmp_path: Path, good: Path) -> None:
    """Blender writes the index last: a killed render leaves none."""
    path = tmp_path / "output.mp4"
    path.write_bytes(good.read_bytes()[: good.stat().st_size // 2])
    assert refusal(path).code == "video_not_a_video"


def test_half_a_file_with_its_index_first_is_corrupt(tmp_path: Path, good: Path) -> None:
    """The message says how many frames are good."""
    path = tmp_path / "output.mp4"
    with av.open(str(good)) as source, av.open(str(path), "w", options={"movflags": "faststart"}) as target:
        stream = target.add_stream_from_template(source.streams.video[0])
        for packet in source.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                target.mux(packet)
    content = path.read_bytes()
    path.write_bytes(content[: (content.index(b"mdat") + len(content)) // 2])
    found = refusal(path)
    assert (found.code, "good frames" in found.message) == ("video_corrupt", True)


def test_a_size_that_changes_mid_stream_is_read(tmp_path: Path) -> None:
    """The facts tell the first frame's size, each preview its own."""
    analysis = analyse_video(growing_video(tmp_path / "output.mov"))
    assert (analysis.facts.width, analysis.facts.height, analysis.facts.n_frames) == (64, 48, 6)
    assert [frame.width for frame in analysis.preview_frames] == [64] * 3 + [200] * 3


def test_a_size_that_grows_over_the_limit_is_refused(tmp_path: Path) -> None:
    """The decoder refuses it before it takes memory for the picture."""
    found = refusal(growing_video(tmp_path / "output.mov"), VideoLimits(max_pixels=10_000))
    assert (found.code, "10000" in found.message) == ("video_too_large", True)


@pytest.mark.parametrize("n", range(12))
@pytest.mark.parametrize("count", range(10))
def test_evenly_spaced_indexes(n: int, count: int) -> None:
    """As many as there can be, distinct, rising, with both ends, and no gap differs by more than one."""
    indexes = evenly_spaced(n, count)
    assert len(indexes) == len(set(indexes)) == min(n, count)
    assert indexes == sorted(indexes)
    if len(indexes) > 1:
        assert (indexes[0], indexes[-1]) == (0, n - 1)
        gaps = {after - before for before, after in itertools.pairwise(indexes)}
        assert max(gaps) - min(gaps) <= 1


RENDER = """
import os, sys
import bpy

scene = bpy.context.scene
scene.render.engine = "BLENDER_WORKBENCH"
scene.display.render_aa = "OFF"
scene.frame_end = 8
for key, (frame, angle) in enumerate(((1, 0.0), (8, 1.5))):
    bpy.data.objects["Cube"].rotation_euler.z = angle
    bpy.data.objects["Cube"].keyframe_insert("rotation_euler", frame=frame)
scene.render.use_file_extension = False
scene.render.image_settings.file_format = "FFMPEG"
for name in sys.argv[1:]:
    container, codec, colours, width, height = os.path.basename(name).split("-")
    scene.render.fps = 25 if container == "DV" else 24
    scene.render.resolution_x, scene.render.resolution_y = int(width), int(height)
    scene.render.ffmpeg.format, scene.render.ffmpeg.codec = container, codec
    scene.render.image_settings.color_mode = colours
    scene.render.filepath = name
    bpy.ops.render.render(animation=True)
sys.stdout.flush()
os._exit(0)
"""
BLENDER_VIDEOS = (
    "MPEG4-H264-RGB-640-360",
    "MPEG4-H265-RGB-320-180",
    "MPEG4-AV1-RGB-320-180",
    "MPEG4-MPEG4-RGB-320-180",
    "MPEG4-PNG-RGBA-320-180",
    "MKV-FFV1-RGBA-320-180",
    "MKV-HUFFYUV-RGB-320-180",
    "MKV-H264-RGB-320-180",
    "WEBM-WEBM-RGB-320-180",
    "QUICKTIME-QTRLE-RGBA-320-180",
    "QUICKTIME-PRORES-RGB-320-180",
    "AVI-H264-RGB-320-180",
    "AVI-MPEG1-RGB-320-180",
    "OGG-THEORA-RGB-320-180",
    "MPEG1-MPEG1-RGB-320-180",
    "MPEG2-MPEG2-RGB-320-180",
    "FLASH-FLASH-RGB-320-180",
    "DV-DV-RGB-720-576",
)


@pytest.fixture(scope="module")
def blender_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight frames of a turning cube, in everything that Blender encodes."""
    folder = tmp_path_factory.mktemp("blender")
    paths = [str(folder / name) for name in BLENDER_VIDEOS]
    environment = {**os.environ, "EGL_PLATFORM": "surfaceless", "LIBGL_ALWAYS_SOFTWARE": "1"}
    subprocess.run([BLENDER, "-c", RENDER, *paths], env=environment, capture_output=True, check=True, timeout=120)
    return folder


@pytest.mark.parametrize("name", BLENDER_VIDEOS)
def test_no_good_file_of_blender_is_flagged(blender_dir: Path, name: str) -> None:
    """Every container and codec that this Blender writes is read in full, at its size and rate."""
    *_, width, height = name.split("-")
    facts = facts_of(blender_dir / name)
    rate = 25 if name.startswith("DV") else 24
    assert (facts.n_frames, facts.width, facts.height, facts.fps) == (8, int(width), int(height), rate)
    assert not facts.is_variable_rate
    assert facts.duration_seconds == pytest.approx(8 / rate, abs=0.002)
    assert min(sample.standard_deviation for sample in facts.content_samples) > 3
    assert max(facts.neighbour_differences) > 0.5


def test_damage_in_the_middle_is_found(blender_dir: Path, tmp_path: Path) -> None:
    """Sixteen zeroed bytes in an H.264 picture are noticed in nearly all places (the module says how nearly)."""
    good = (blender_dir / "MPEG4-H264-RGB-640-360").read_bytes()
    path, places = tmp_path / "output.mp4", random.Random(5)
    codes = []
    for _ in range(30):
        position = places.randrange(good.index(b"mdat") + 1000, good.index(b"moov") - 100)
        path.write_bytes(good[:position] + bytes(16) + good[position + 16 :])
        try:
            analyse_video(path)
        except UnreadableVideo as found:
            codes.append(found.code)
    assert set(codes) == {"video_corrupt"}
    assert len(codes) >= 25
