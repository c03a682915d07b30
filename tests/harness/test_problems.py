"""Facts to problems: pure functions, tested without Blender."""

import pytest

from harness.problems import (
    UNREADABLE_FIXES,
    extra_files_problem,
    not_rendered_problem,
    unreadable_problem,
    video_problems,
)
from harness.scene_facts import SceneFacts
from harness.settings import HarnessSettings
from harness.video import ContentSample, UnreadableVideo, VideoFacts

SETTINGS = HarnessSettings(frame_count=48)


def video(**changes: object) -> VideoFacts:
    facts: dict[str, object] = {
        "container": "mp4", "codec": "h264", "pixel_format": "yuv420p", "width": 640, "height": 360, "n_frames": 48,
        "n_frames_claimed": 48, "fps": 24.0, "is_variable_rate": False, "duration_seconds": 2.0, "size_bytes": 9999,
        "has_audio": False, "content_samples": samples(20.0, 21.0, 22.0), "neighbour_differences": (3.0, 4.0),
    }  # fmt: skip
    return VideoFacts(**{**facts, **changes})  # type: ignore[arg-type]


def samples(*deviations: float) -> tuple[ContentSample, ...]:
    return tuple(ContentSample(index, 100.0, deviation) for index, deviation in enumerate(deviations))


def scene(**changes: object) -> SceneFacts:
    facts: dict[str, object] = {
        "frame_start": 1, "frame_end": 48, "frame_step": 1, "fps": 24.0, "engine": "BLENDER_WORKBENCH",
        "resolution": (640, 360), "camera": "Camera", "n_objects": 3, "objects_by_type": {"MESH": 1}, "n_drawn": 1,
        "n_instances": 0, "n_faces": 6, "n_animated": 1, "animated": [], "sampled_frames": [1, 48], "n_moving": 0,
        "moving": [], "n_outside": 0, "outside": [], "n_always_outside": 0,
    }  # fmt: skip
    return SceneFacts.model_validate({**facts, **changes})


def codes(facts: VideoFacts, settings: HarnessSettings = SETTINGS, of: SceneFacts | None = None) -> list[str]:
    return [problem.code for problem in video_problems(facts, of or scene(), settings)]


def test_good_video_has_no_problem() -> None:
    """A video as asked has nothing wrong with it."""
    assert codes(video()) == []


@pytest.mark.parametrize(("fps", "wrong"), [(24.009, False), (23.991, False), (24.02, True), (23.976, True)])
def test_fps_tolerance(fps: float, wrong: bool) -> None:
    """The rate may be off by 0.01 and not more."""
    assert codes(video(fps=fps)) == (["video_fps"] if wrong else [])


def test_variable_rate_is_a_wrong_rate() -> None:
    """A variable rate is no rate, even where its mean is right."""
    assert codes(video(is_variable_rate=True)) == ["video_fps"]


def test_fractional_fps_fix_is_exact() -> None:
    """The advice for 23.976 frames per second is fps 24 over a base that gives it."""
    settings = HarnessSettings(fps=24000 / 1001)
    fix = video_problems(video(fps=30.0), scene(), settings)[0].fix
    base = float(fix.split("fps_base = ")[1].split()[0])
    assert 24 / base == pytest.approx(24000 / 1001, abs=1e-4)


@pytest.mark.parametrize(
    ("n", "most", "wrong"), [(48, None, 0), (47, None, 1), (49, None, 1), (60, 60, 0), (61, 60, 1)]
)
def test_frame_count(n: int, most: int | None, wrong: int) -> None:
    """The number of frames is exact, or inside the range; in a range it is also the scene's."""
    settings = HarnessSettings(frame_count=48, max_frame_count=most)
    assert codes(video(n_frames=n), settings, scene(frame_end=n)) == ["video_frame_count"] * wrong


def test_frame_count_advice_starts_where_the_scene_starts() -> None:
    """A scene that starts at frame 0 is told to end at 47."""
    problem = video_problems(video(n_frames=10), scene(frame_start=0, frame_end=9), SETTINGS)[0]
    assert "frame_end = 47" in problem.fix


def test_range_must_match_the_scene() -> None:
    """Where a range is allowed, a video shorter than the scene's frame range is told apart; step counts."""
    settings = HarnessSettings(frame_count=10, max_frame_count=60)
    assert codes(video(), settings, scene(frame_end=50)) == ["video_not_the_scene_range"]
    assert codes(video(n_frames=24), settings, scene(frame_step=2)) == []


@pytest.mark.parametrize(
    ("deviations", "is_empty"), [((1.9, 1.9, 30), True), ((1.9, 30, 30), False), ((2.0, 2.0), False)]
)
def test_empty_means_more_than_half(deviations: tuple[float, ...], is_empty: bool) -> None:
    """A video is empty when more than half of its samples are flat: fades to black are fine."""
    assert ("video_empty" in codes(video(content_samples=samples(*deviations)))) is is_empty


def test_static_means_no_change_at_all() -> None:
    """One change between neighbouring samples is enough not to be static."""
    assert codes(video(neighbour_differences=(0.49, 0.0))) == ["video_static"]
    assert codes(video(neighbour_differences=(0.0, 0.5))) == []


def test_nothing_in_view_needs_every_object_in_every_frame() -> None:
    """One object that is seen once is enough."""
    assert codes(video(), of=scene(n_drawn=3, n_always_outside=3)) == ["nothing_in_view"]
    assert codes(video(), of=scene(n_drawn=3, n_always_outside=2)) == []
    assert codes(video(), of=scene(n_drawn=0, n_always_outside=0)) == []


def test_a_video_without_scene_facts_is_judged_by_itself() -> None:
    """When the scene could not be measured the video still is."""
    assert [p.code for p in video_problems(video(n_frames=3), None, SETTINGS)] == ["video_frame_count"]


@pytest.mark.parametrize("code", UNREADABLE_FIXES)
def test_every_unreadable_code_has_advice(code: str) -> None:
    """Each way in which a video cannot be read leads to advice."""
    problem = unreadable_problem(UnreadableVideo(code, "why"), "output.mp4")
    assert problem.fix
    assert "why" in problem.message


def test_names_are_bounded() -> None:
    """Of many files five are named and the rest counted."""
    problem = extra_files_problem([f"f{i:03}" for i in range(100)], "output.mp4")[0]
    assert "'f004' and 95 more" in problem.message
    assert extra_files_problem([], "output.mp4") == []


def test_not_rendered_names_the_early_exit() -> None:
    """A script that left before its render is told where."""
    assert "line 7" in not_rendered_problem("output.mp4", [], exit_line=7).message


@pytest.mark.parametrize(
    ("written", "fix"),
    [
        ("output_L.mp4", "use_multiview = False"),
        ("output_000.mp4", "use_autosplit = False"),
        ("output.mp40001-0008.mov", "use_file_extension = False"),
        ("other.mp4", "scene.render.filepath = 'output.mp4'"),
    ],
)
def test_not_rendered_knows_how_blender_renames(written: str, fix: str) -> None:
    """The setting that changed the name is named, and else the usual advice is given."""
    problem = not_rendered_problem("output.mp4", [written], exit_line=None)
    assert fix in problem.fix
    assert written in problem.message
