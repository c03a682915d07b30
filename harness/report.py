"""Words an execution for the model. What a model reads about a run is made here or in the problem modules.

Text that came from the script (log, exception, names) stands behind `  | ` or in quotes, so that it cannot
pose as a line of the report, and can never form one of mini-swe-agent's multimodal tags.
"""

import base64
from collections.abc import Sequence

from harness.execution import ExecutionResult, Log, Problem, ScriptError
from harness.scene_facts import SceneFacts
from harness.video import Frame, VideoFacts

OK_LINE = "RUN OK: script executed and rendered a valid video"
FAILED_LINE = "RUN FAILED"
_TAG = "MSWEA_MULTIMODAL_CONTENT"
_MAX_LISTED = 8


def report_text(result: ExecutionResult) -> str:
    """The whole report without pictures; ends with a newline."""
    sections = [
        _headline(result),
        *_problems(result.problems),
        *error_lines(result.error),
        *(log_lines(result.log) if result.outcome != "script_missing" else []),
        *([_video(result.video, result.output_video)] if result.video else []),
        *(scene_lines(result.scene) if result.scene else []),
    ]
    return neutralise("\n".join(sections)) + "\n"


def caption(frame: Frame) -> str:
    """The line that stands before a frame; numbers count from 1."""
    return f"Frame {frame.index + 1} (t = {frame.seconds:.2f} s):"


def frames_text(frames: Sequence[Frame]) -> str:
    """Frames as mini-swe-agent multimodal tags, each after its caption."""
    return "".join(f"{caption(frame)}\n{_multimodal_tag(frame)}\n" for frame in frames)


def neutralise(text: str) -> str:
    """Break up anything that mini-swe-agent would take for a picture."""
    return text.replace(_TAG, _TAG.replace("_", "-"))


def _multimodal_tag(frame: Frame) -> str:
    picture = base64.b64encode(frame.jpeg).decode()
    return f"<{_TAG}><CONTENT_TYPE>image_url</CONTENT_TYPE>data:image/jpeg;base64,{picture}</{_TAG}>"


def _headline(result: ExecutionResult) -> str:
    seconds = f"{result.seconds:.1f} s (Blender's start and the render included)"
    if result.ok:
        return f"{OK_LINE}\nTime: {seconds}"
    reasons = ", ".join(dict.fromkeys(p.code for p in result.problems if p.severity == "error"))
    return f"{FAILED_LINE}: {reasons}\nTime: {seconds}"


def _problems(problems: Sequence[Problem]) -> list[str]:
    if not problems:
        return []
    lines = [f"Problems ({len(problems)}):"]
    for number, problem in enumerate(problems, start=1):
        where = f" [{problem.where}]" if problem.where else ""
        first, *rest = problem.message.splitlines() or [""]
        lines.append(f"{number}. {problem.severity}: {problem.code}{where}: {first}")
        lines += [f"  | {line}" for line in rest]
        if problem.fix:
            lines.append(f"   fix: {problem.fix}")
    return lines


def error_lines(error: ScriptError | None) -> list[str]:
    """The traceback, if there is one."""
    if error is None or not error.traceback or error.type == "SystemExit":
        return []
    return ["Traceback:", *(f"  | {line}" for line in error.traceback.rstrip().splitlines())]


def log_lines(log: Log) -> list[str]:
    """The end of what was printed, and how much is left out."""
    if not log.lines:
        return ["Log: nothing was printed."]
    left_out = f" ({log.n_left_out} earlier lines left out)" if log.n_left_out else ""
    which = f"last {len(log.lines)} lines" if log.n_left_out else _count(len(log.lines), "line")
    return [f"Log, {which}{left_out}, Blender's own chatter not shown:", *(f"  | {line}" for line in log.lines)]


def _video(video: VideoFacts, name: str) -> str:
    differences = ", ".join(f"{difference:.1f}" for difference in video.neighbour_differences)
    deviations = ", ".join(f"{sample.standard_deviation:.1f}" for sample in video.content_samples)
    return (
        f"Video: {name}: {_count(video.n_frames, 'frame')}, {video.width}x{video.height}, {video.fps:g} fps, "
        f"{video.duration_seconds:.2f} s, {video.codec}, {max(1, video.size_bytes >> 10)} kB\n"
        f"  contrast of {len(video.content_samples)} sampled frames (grey levels, under 2 is empty): {deviations}\n"
        f"  change between neighbouring samples (grey levels, all under 0.5 is static): {differences or 'one sample'}"
    )


def scene_lines(scene: SceneFacts) -> list[str]:
    """The scene summary."""
    types = ", ".join(f"{n} {name}" for name, n in scene.objects_by_type.items())
    instances = f", {scene.n_instances} instances" if scene.n_instances else ""
    camera = f"camera {scene.camera!r}" if scene.camera else "NO camera"
    step = f" step {scene.frame_step}" if scene.frame_step != 1 else ""
    return [
        f"Scene: frames {scene.frame_start} to {scene.frame_end}{step} at {scene.fps:g} fps, {camera}, "
        f"{scene.resolution[0]}x{scene.resolution[1]}, engine {scene.engine}",
        f"  {_count(scene.n_objects, 'object')} ({types}){instances}, {scene.n_faces} evaluated faces",
        *_animated(scene),
        *_moving(scene),
        *_outside(scene),
        *_cut(scene),
    ]


def _animated(scene: SceneFacts) -> list[str]:
    if not scene.n_animated:
        return ["  animated objects: none"]
    shown = ", ".join(f"{a.name!r} ({', '.join(a.by)})" for a in scene.animated[:_MAX_LISTED])
    return [f"  animated objects: {scene.n_animated}: {shown}{_more(scene.n_animated, _MAX_LISTED)}"]


def _moving(scene: SceneFacts) -> list[str]:
    if not scene.n_moving:
        return ["  objects that change place, turn or scale: none"]
    frames = ", ".join(str(frame) for frame in scene.sampled_frames)
    lines = [f"  objects that change place, turn or scale: {scene.n_moving}; world positions at frames {frames}:"]
    for moving in scene.moving:
        positions = " ".join(f"({x:g}, {y:g}, {z:g})" for x, y, z in moving.positions)
        lines.append(f"    {moving.name!r}: {positions}")
    if scene.n_moving > len(scene.moving):
        lines.append(f"    and {scene.n_moving - len(scene.moving)} more, left out")
    return lines


def _outside(scene: SceneFacts) -> list[str]:
    if not scene.n_outside:
        return []
    n_samples = len(scene.sampled_frames)
    shown = ", ".join(f"{o.name!r} in {o.n_frames} of {n_samples}" for o in scene.outside[:_MAX_LISTED])
    return [f"  outside the camera's view in sampled frames: {shown}{_more(scene.n_outside, _MAX_LISTED)}"]


def _cut(scene: SceneFacts) -> list[str]:
    if not scene.n_cut:
        return []
    shown = ", ".join(f"{o.name!r} ({' and '.join(o.sides)})" for o in scene.cut[:_MAX_LISTED])
    where = f"cut by the edge of the camera's picture in frame {scene.frame_current}"
    return [f"  {where}: {shown}{_more(scene.n_cut, _MAX_LISTED)}"]


def _more(n: int, shown: int) -> str:
    return f" and {n - shown} more" if n > shown else ""


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
