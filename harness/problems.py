"""Judges a video and its scene: pure functions from facts to problems. Nothing here touches a file or Blender."""

import re
from collections.abc import Sequence

from harness.execution import Problem
from harness.scene_facts import SceneFacts
from harness.settings import HarnessSettings
from harness.video import UnreadableVideo, VideoFacts

FPS_TOLERANCE = 0.01
EMPTY_DEVIATION = 2.0
"""Grey levels; a background alone has about 0.6, geometry over 3."""
STATIC_DIFFERENCE = 0.5
"""Grey levels, mean over the 64x36 reduction of two neighbouring samples."""
_MAX_NAMES = 5
_VIDEO_ENDINGS = (".mp4", ".mkv", ".mov", ".avi", ".webm", ".mpg", ".ogv")

UNREADABLE_FIXES = {
    "video_empty_file": "Nothing was written into it: let bpy.ops.render.render(animation=True) run to its end.",
    "video_not_a_video": "Let Blender write it: image_settings.file_format = 'FFMPEG', ffmpeg.format = 'MPEG4'.",
    "video_no_video_stream": "Render the animation into it; ffmpeg.codec must not be 'NONE'.",
    "video_more_streams": "Let Blender write it: one film, and sound at most; do not change the file afterwards.",
    "video_no_frames": "Set scene.frame_start and scene.frame_end, then render with animation=True.",
    "video_corrupt": "Render it again, and do not change the file afterwards.",
    "video_turned": "Let Blender write it, turn the camera and not the file, and do not change the file afterwards.",
    "video_more_data": "Let Blender write it, and do not change the file afterwards.",
    "video_edited": "Let Blender write it, with the frames that it is to show, and do not change the file afterwards.",
    "video_too_large": "Lower the resolution or the number of frames to what the task asks.",
    "video_decode_timeout": "Use a plain H.264 MP4 at the size that the task asks.",
}
"""Advice for each code of UnreadableVideo."""


def video_problems(video: VideoFacts, scene: SceneFacts | None, settings: HarnessSettings) -> list[Problem]:
    """What is wrong with a readable video, its form first, then its content."""
    form = [*_frame_count(video, scene, settings), *_fps(video, settings), *_resolution(video, settings)]
    return [*form, *_content(video, scene)]


def unreadable_problem(error: UnreadableVideo, name: str) -> Problem:
    """The video exists but cannot be judged."""
    return Problem(error.code, "error", f"{name}: {error.message}", where=name, fix=UNREADABLE_FIXES[error.code])


def not_taken_problem(what: str, name: str) -> Problem:
    """The video's name leads to something that is not a plain file."""
    return Problem(
        "video_not_a_file",
        "error",
        f"{name} is {what}, not a plain file of its own, and is not opened.",
        where=name,
        fix=f"Remove it and let Blender write {name} itself.",
    )


def not_rendered_problem(name: str, written: Sequence[str], *, exit_line: int | None) -> Problem:
    """The script ended well, but there is no video."""
    elsewhere = [n for n in written if n.lower().endswith(_VIDEO_ENDINGS) or n.startswith(name)]
    message = f"The script ended without writing {name}."
    if exit_line is not None:
        message += f" It left early by sys.exit() at line {exit_line}."
    if elsewhere:
        message += f" It wrote {_names(elsewhere)} instead."
    cause, fix = next((found for other in written if (found := _renamed(name, other))), ("", ""))
    return Problem(
        "video_not_rendered",
        "error",
        f"{message} {cause}".rstrip(),
        where=name,
        fix=fix
        or f"Set scene.render.filepath = '{name}', file_format = 'FFMPEG', and end the script with "
        "bpy.ops.render.render(animation=True).",
    )


def _renamed(name: str, written: str) -> tuple[str, str] | None:
    """What made Blender write under another name than was set, and what ends it; None for another cause."""
    stem, dot, ending = name.rpartition(".")
    if re.fullmatch(rf"{re.escape(stem)}_[^.]{{1,64}}{re.escape(dot + ending)}", written):
        if re.search(r"_\d{3}\.", written):
            return "scene.render.ffmpeg.use_autosplit numbers the files.", "scene.render.ffmpeg.use_autosplit = False"
        return "scene.render.use_multiview writes a file for each view.", "scene.render.use_multiview = False"
    if re.fullmatch(rf"{re.escape(name)}\d+-\d+\.\w+", written):
        return (
            "Blender added the frames and the ending of the container, whose files do not end so.",
            f"scene.render.use_file_extension = False, or a container whose files end in '.{ending}'",
        )
    return None


def extra_files_problem(names: Sequence[str], output_video: str) -> list[Problem]:
    """Files other than the video that the run wrote."""
    if not names:
        return []
    return [
        Problem(
            "extra_files",
            "error",
            f"The script wrote {len(names)} file(s) other than {output_video}: {_names(names)}.",
            where=names[0],
            fix=f"Write nothing but {output_video} into the workspace (temporary files may go to /tmp).",
        )
    ]


def _frame_count(video: VideoFacts, scene: SceneFacts | None, settings: HarnessSettings) -> list[Problem]:
    least, most = settings.frame_count, settings.max_frame_count or settings.frame_count
    asked = f"{least}" if least == most else f"{least} to {most}"
    in_scene = f" (the scene's range is {scene.frame_start} to {scene.frame_end})" if scene else ""
    if not least <= video.n_frames <= most:
        start = scene.frame_start if scene else 1
        return [
            Problem(
                "video_frame_count",
                "error",
                f"The video has {_count(video.n_frames, 'frame')}; the task asks for {asked}{in_scene}.",
                where="scene.frame_start, scene.frame_end",
                fix=f"Set scene.frame_start = {start} and scene.frame_end = {start + least - 1}, "
                "fit the animation into them, and render again.",
            )
        ]
    if least != most and scene and scene.n_frames != video.n_frames:
        return [
            Problem(
                "video_not_the_scene_range",
                "error",
                f"The video has {_count(video.n_frames, 'frame')}, but the scene's range "
                f"{scene.frame_start} to {scene.frame_end} (step {scene.frame_step}) gives {scene.n_frames}.",
                where="scene.frame_start, scene.frame_end",
                fix="Leave the scene's frame range as it was rendered.",
            )
        ]
    return []


def _fps(video: VideoFacts, settings: HarnessSettings) -> list[Problem]:
    if abs(video.fps - settings.fps) <= FPS_TOLERANCE and not video.is_variable_rate:
        return []
    rate = "a variable frame rate" if video.is_variable_rate else f"{video.fps:.3f} frames per second"
    return [
        Problem(
            "video_fps",
            "error",
            f"The video has {rate}; the task asks for {settings.fps:g}.",
            where="scene.render.fps, scene.render.fps_base",
            fix=f"Set {_fps_fix(settings.fps)} and render again.",
        )
    ]


def _fps_fix(fps: float) -> str:
    if fps == int(fps):
        return f"scene.render.fps = {int(fps)} and scene.render.fps_base = 1.0"
    whole = round(fps + 0.5)
    return f"scene.render.fps = {whole} and scene.render.fps_base = {whole / fps:.6g}"


def _resolution(video: VideoFacts, settings: HarnessSettings) -> list[Problem]:
    width, height = settings.resolution
    if (video.width, video.height) == (width, height):
        return []
    return [
        Problem(
            "video_resolution",
            "error",
            f"The video is {video.width}x{video.height} pixels; the task asks for {width}x{height}.",
            where="scene.render.resolution_x, resolution_y, resolution_percentage",
            fix=f"Set resolution_x = {width}, resolution_y = {height} and resolution_percentage = 100.",
        )
    ]


def _content(video: VideoFacts, scene: SceneFacts | None) -> list[Problem]:
    problems = []
    samples = video.content_samples
    flat = [sample for sample in samples if sample.standard_deviation < EMPTY_DEVIATION]
    if len(flat) * 2 > len(samples):
        problems.append(
            Problem(
                "video_empty",
                "error",
                f"{len(flat)} of {len(samples)} sampled frames show one even colour: nothing to be seen in them.",
                where=f"frames {', '.join(str(sample.index + 1) for sample in flat[:8])}",
                fix="Check where the camera stands and looks, that objects are not hidden from renders, and that they "
                "differ in colour from the background (Workbench draws material.diffuse_color).",
            )
        )
    if len(samples) > 1 and all(difference < STATIC_DIFFERENCE for difference in video.neighbour_differences):
        problems.append(
            Problem(
                "video_static",
                "error",
                "Nothing moves: no two neighbouring samples of the video differ.",
                where=f"frames {samples[0].index + 1} to {samples[-1].index + 1}",
                fix="Insert keyframes inside the rendered frame range (keyframe_insert(data_path, frame=…)).",
            )
        )
    if scene and scene.is_nothing_in_view:
        problems.append(_nothing_in_view(scene))
    return problems


def _nothing_in_view(scene: SceneFacts) -> Problem:
    return Problem(
        "nothing_in_view",
        "error",
        f"All {_count(scene.n_drawn, 'drawn object')} lie outside the view of camera '{scene.camera}' "
        f"in every sampled frame ({', '.join(str(frame) for frame in scene.sampled_frames)}).",
        where=f"camera '{scene.camera}'",
        fix="Aim the camera: a camera looks along its local -Z axis; "
        "camera.rotation_euler = (target - camera.location).to_track_quat('-Z', 'Y').to_euler(), "
        "or add a Track To constraint.",
    )


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:_MAX_NAMES])
    return shown if len(names) <= _MAX_NAMES else f"{shown} and {len(names) - _MAX_NAMES} more"


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
