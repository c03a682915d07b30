"""The verdict on a video task: the script's video has to be a render of the scene that the script made.

Nothing that the script's own interpreter says can pass it; what it says can fail it. The script runs in a clean
workspace and its scene is saved (A); video and scene file are taken out without following links (T); another Blender,
which sees nothing but the scene file and runs none of its scripts, renders it (B); each video is decoded in a sandbox
of its own (C), and what is read of them is compared block by block here.
"""

from collections.abc import Set
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness.blender import BlenderRun, run_in_blender
from harness.blender_slots import BLENDER_MB, blender_slots
from harness.execute import execute
from harness.execution import ExecutionResult, Problem
from harness.folders import private_folder
from harness.sandbox import Bind
from harness.scene_facts import SceneFacts, parse_scene_facts
from harness.settings import HarnessSettings
from harness.video import Shape, UnreadableVideo
from harness.video_compare import (
    FRAME_THRESHOLD,
    LASTING,
    THRESHOLD,
    VideoComparison,
    changed_share,
    compare_videos,
)
from harness.workspace import NotTaken, take_file

_SCENE, _RENDER, _FLAT = "scene.blend", "judge.mp4", "flat.mp4"
_TIMES_AS_LONG = 3
"""So many times what the script may take, may the judge: it renders a film with pictures twice, and load changes."""
_PIXELS_OVER_ASKED = 4
"""The judge refuses frames with more than so many times the pixels that the task asks."""


@dataclass(frozen=True)
class Pictures:
    """Pictures in the scene: how many, their pixels, and the largest share (0..1) of a frame that they fill.

    That is what changes when each is replaced by its mean colour, over all frames of the film.
    """

    n: int
    pixels: int
    share: float


@dataclass(frozen=True)
class SceneRender:
    """What the judge's Blender found in the saved scene and drew of it."""

    comparison: VideoComparison | None
    """None where there was nothing to compare."""
    footage: tuple[str, ...]
    pictures: Pictures | None
    scene: SceneFacts | None
    engine: str
    seconds: float
    problems: tuple[Problem, ...]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values; of the comparison what decides."""
        worst = self.comparison.worst if self.comparison else None
        return asdict(replace(self, comparison=None, problems=(), scene=None)) | {
            "problems": [asdict(problem) for problem in self.problems],
            "scene": self.scene.model_dump(mode="json") if self.scene else None,
            "comparison": {
                "is_same": self.comparison.is_same,
                "n_frames": list(self.comparison.n_frames),
                "shapes": [asdict(shape) for shape in self.comparison.shapes],
                "worst_block": asdict(worst) if worst else None,
                "worst_whole_frame": max(self.comparison.whole_frames, default=None),
            }
            if self.comparison
            else None,
        }


@dataclass(frozen=True)
class VideoVerdict:
    """The script's run, and what its scene gives."""

    result: ExecutionResult
    """Its problems are those of both."""
    render: SceneRender | None
    """None for a run that had failed already."""

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values."""
        return self.result.to_json() | {"scene_render": self.render.to_json() if self.render else None}


def judge_video(
    script: str, workspace: Path, settings: HarnessSettings, *, keep_video: Path, keep_scene: Path | None = None
) -> VideoVerdict:
    """Run `script` in `workspace` (clean: nothing but script and start file) and judge it; the video is kept.

    So is, with `keep_scene`, the scene that the script left, if it ended well and Blender could save it.
    Raises HarnessError for what is not the script's doing.
    """
    with blender_slots().working(BLENDER_MB), private_folder("judged") as folder:
        scene = keep_scene or folder / _SCENE
        result = execute(script, workspace, settings, keep_video=keep_video, keep_scene=scene)
        if not result.ok or result.video is None:
            return VideoVerdict(result, None)
        if not result.is_whole:
            return VideoVerdict(replace(result, problems=(*result.problems, _not_finished())), None)
        if not scene.is_file():
            return VideoVerdict(replace(result, problems=(*result.problems, _not_saved())), None)
        render = render_scene(scene, keep_video, result, settings)
    problems = (*result.problems, *render.problems)
    return VideoVerdict(replace(result, problems=problems, scene=render.scene or result.scene), render)


def render_scene(scene_file: Path, video: Path, result: ExecutionResult, settings: HarnessSettings) -> SceneRender:
    """Render the saved scene in a Blender of its own and compare it with `video`."""
    assert result.video is not None
    known = {problem.code for problem in result.problems}
    n_frames, limit = result.video.n_frames, settings.resolution[0] * settings.resolution[1] * _PIXELS_OVER_ASKED
    with private_folder("judge") as folder, private_folder("judged-render") as taken:
        run = run_in_blender(
            "judge_render.py",
            [scene_file, str(n_frames), str(limit), str(settings.summary_samples)],
            workspace=folder,
            settings=settings,
            limits=replace(settings.limits, timeout_seconds=_TIMES_AS_LONG * settings.exec_timeout),
            binds=[Bind(scene_file, "/scene.blend")],
        )
        comparison, pictures, problems = _compare(run, folder, taken, video, settings, known)
    footage = _footage(run)
    opened = run.message("opened") or {}
    if comparison and not comparison.is_same:
        problems = [_stamped() if opened.get("is_stamped") is True else _not_a_render(comparison, known)]
    if settings.allow_images < 1:
        problems += [*_footage_problem(footage), *_picture_problem(pictures, settings)]
    return SceneRender(
        comparison=comparison,
        footage=footage,
        pictures=pictures,
        scene=parse_scene_facts(run.message("scene")),
        engine=str(opened.get("engine", ""))[:64],
        seconds=round(run.exit.seconds, 3),
        problems=tuple(problems),
    )


def _compare(
    run: BlenderRun, folder: Path, taken: Path, video: Path, settings: HarnessSettings, known: Set[str]
) -> tuple[VideoComparison | None, Pictures | None, list[Problem]]:
    """The judge's renders beside the script's video, or why there are none."""
    n, pixels = ((run.message("pictures") or {}).get(name) for name in ("n", "pixels"))
    is_finished = run.message("finished") is not None and run.exit.returncode == 0
    if not is_finished or not isinstance(n, int) or not isinstance(pixels, int):
        return None, None, [_not_rendered(run, known)]
    try:
        for name in (_RENDER, _FLAT) if n else (_RENDER,):
            take_file(folder, name, taken / name, max_bytes=settings.max_file_mb << 20)
        share = changed_share(taken / _RENDER, taken / _FLAT, settings) if n else 0.0
        return compare_videos(video, taken / _RENDER, settings), Pictures(n, pixels, round(share, 4)), []
    except (FileNotFoundError, NotTaken, UnreadableVideo):
        return None, None, [_not_rendered(run, known)]


def _footage(run: BlenderRun) -> tuple[str, ...]:
    names = (run.message("footage") or {}).get("names")
    return tuple(str(name)[:200] for name in names[:20]) if isinstance(names, list) else ()


# problems


def difference_text(comparison: VideoComparison) -> str:
    """The numbers behind the verdict."""
    n_video, n_scene = comparison.n_frames
    if n_video != n_scene:
        return f"it has {n_video} frames, the scene gives {n_scene}"
    if not comparison.worst_blocks:
        video, scene = map(_shape_text, comparison.shapes)
        return f"its frames have {video}, the scene's {scene}"
    frame, side = comparison.telling_frame, comparison.shapes[0].block
    block = comparison.worst_blocks[frame]
    return (
        f"a block of frame {frame + 1} ({side}x{side} pixels, {block.left} from the left, {block.top} from "
        f"above) differs by {block.difference:.2f} grey levels of 255 ({THRESHOLD:g} are allowed, more in up to "
        f"{LASTING - 1} frames), the whole frame by {comparison.whole_frames[frame]:.2f} "
        f"({FRAME_THRESHOLD:g} is allowed)"
    )


def _shape_text(shape: Shape) -> str:
    width, height = shape.pixel_aspect
    aspect = f" (each {width} to {height})" if width != height else ""
    tags = "-".join(str(tag) for tag in shape.colours)
    return f"{shape.width}x{shape.height} pixels{aspect} in {shape.pixel_format} with the colour tags {tags}"


def _not_finished() -> Problem:
    return Problem(
        "run_not_finished",
        "error",
        "What the run said of its end does not go with how its process ended: it was not measured to the end, or "
        "something else spoke for it.",
        fix="Let the script run to its end; leave no handler behind that hangs or raises.",
    )


def _not_saved() -> Problem:
    return Problem(
        "scene_not_saved",
        "error",
        "The scene could not be saved after the script had ended, so that the video cannot be compared with it.",
        fix="Do not replace bpy.ops, and leave Blender working at the end of the script.",
    )


def _not_rendered(run: BlenderRun, known: Set[str]) -> Problem:
    failed = (run.message("failed") or {}).get("why")
    ended = f"it was stopped: {run.exit.stopped_by}" if run.exit.stopped_by else run.exit.signal_name
    why = str(failed or ended or "it did not come to its end")
    cause = _known_cause(known & {"other_scene_rendered"})
    return Problem(
        "scene_not_rendered",
        "error",
        f"{cause} The saved scene could not be rendered again ({' '.join(why.split())[:300]}), so that the video "
        "cannot be compared with it.".lstrip(),
        fix="Mend that first: it has an entry of its own in this list."
        if cause
        else "Leave the scene at the end of the script as it is rendered, with its camera and its size.",
    )


def _known_cause(known: Set[str]) -> str:
    """What the script's run has told already, by the codes of its problems; '' for nothing."""
    causes = {
        "other_scene_rendered": "The scene that was rendered is not the one that is active at the end.",
        "frame_range_changed": "The frame range changed after the render.",
        "animated_by_code": "The animation lives in a frame handler or a driver function: keyframe it.",
    }
    return next((cause for code, cause in causes.items() if code in known), "")


def _not_a_render(comparison: VideoComparison, known: Set[str]) -> Problem:
    cause = _known_cause(known)
    if not cause and comparison.shapes[0] != comparison.shapes[1]:
        cause = (
            "The scene's size, pixel aspect, colours or encoder changed after the render, "
            "or the file is not as Blender wrote it."
        )
    cause = cause or (
        "Usual causes: objects moved between single renders without keyframes, the scene or its encoder's settings "
        "changed after the render, a picture or a file that the script wrote itself."
    )
    return Problem(
        "not_a_render_of_the_scene",
        "error",
        f"The video is not a render of the scene that the script left: {difference_text(comparison)}. {cause}",
        where=f"frame {comparison.telling_frame + 1}" if comparison.worst_blocks else "",
        fix="Let the scene hold the whole animation (keyframes, constraints, modifiers, simple drivers), render it by "
        "bpy.ops.render.render(animation=True), and change nothing afterwards.",
    )


def _stamped() -> Problem:
    return Problem(
        "stamp_in_frame",
        "error",
        "The frames show text of the render itself (date, time, memory, file): no two renders of the scene are alike.",
        fix="scene.render.use_stamp = False",
    )


def _footage_problem(footage: tuple[str, ...]) -> list[Problem]:
    if not footage:
        return []
    return [
        Problem(
            "footage_in_scene",
            "error",
            f"Pre-made footage in the scene: {', '.join(footage[:5])}.",
            fix="Model and animate it in Blender. Movies, image sequences and linked files are not allowed here.",
        )
    ]


def _picture_problem(pictures: Pictures | None, settings: HarnessSettings) -> list[Problem]:
    if pictures is None or pictures.share <= settings.allow_images:
        return []
    return [
        Problem(
            "pictures_fill_frame",
            "error",
            f"{pictures.n} picture(s) with {pictures.pixels} pixels in all fill {pictures.share:.0%} of a frame; "
            f"{settings.allow_images:.0%} is allowed.",
            fix="Model it, or use pictures as textures on smaller parts of what is seen.",
        )
    ]
