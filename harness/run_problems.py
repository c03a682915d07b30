"""Words how a script's process ended: one problem for each outcome, with the usual causes and a way out."""

from collections.abc import Sequence

from harness.execution import Outcome, Problem, ScriptError
from harness.sandbox import Exit, StopCause
from harness.settings import HarnessSettings

_API_HINTS = {
    "BLENDER_EEVEE'": "In Blender 4.5 EEVEE is called 'BLENDER_EEVEE_NEXT' (slow here); use 'BLENDER_WORKBENCH'.",
    "use_auto_smooth": "Gone since Blender 4.1: use mesh.shade_smooth(), or bpy.ops.object.shade_auto_smooth().",
    "calc_normals": "Gone since Blender 4.1: normals are kept up to date.",
    "'Specular'": "Since Blender 4.0 the Principled BSDF socket is 'Specular IOR Level'.",
    "'Emission'": "Since Blender 4.0 the Principled BSDF socket is 'Emission Color'.",
    "'Transmission'": "Since Blender 4.0 the Principled BSDF socket is 'Transmission Weight'.",
    "'Subsurface'": "Since Blender 4.0 the Principled BSDF socket is 'Subsurface Weight'.",
    "'Clearcoat'": "Since Blender 4.0 the Principled BSDF socket is 'Coat Weight'.",
    "'Sheen'": "Since Blender 4.0 the Principled BSDF socket is 'Sheen Weight'.",
    "context is incorrect": "This operator needs an editor window, which a headless Blender does not have: "
    "set the data directly (bpy.data, bmesh) or use bpy.context.temp_override(...).",
    "Cannot render, no camera": "Add a camera and set scene.camera to it.",
    "StructRNA of type": "The object was removed or the file was reloaded; fetch it again from bpy.data.",
}
"""Part of an error text -> what changed in Blender. Shown as the problem's fix, and so recorded with it."""


def script_error_problem(error: ScriptError, script: str) -> Problem:
    """The script raised."""
    where = f"{script} line {error.line}" if error.line else script
    said = error.message.strip()
    if error.type == "SystemExit":
        message = f"The script ended by sys.exit({said}), which means failure."
        return Problem("script_exit", "error", message, where, fix="Exit with 0, or let the script end by itself.")
    fix = next((hint for part, hint in _API_HINTS.items() if part in error.message or part in error.traceback), "")
    message = f"{error.type}: {said}" if said else error.type
    return Problem("script_error", "error", message, where, fix or "Read the traceback and repair that line.")


def script_missing_problem(script: str, what: str, files: Sequence[str]) -> Problem:
    """There is nothing to run."""
    have = f"The workspace has: {', '.join(files[:20])}." if files else "The workspace is empty."
    return Problem(
        "script_missing",
        "error",
        f"'{script}' {what}. {have}",
        script,
        "Write the script first, or name it right.",
    )


def early_exit_warning(script: str, line: int | None) -> Problem:
    """sys.exit(0) with a video: fine, but worth saying."""
    where = f"{script} line {line}" if line else script
    return Problem("early_exit", "warning", "The script ended by sys.exit(0); nothing after that ran.", where)


def scene_not_measured_warning(reason: str) -> Problem:
    """The video may be good all the same."""
    return Problem(
        "scene_not_measured",
        "warning",
        f"The scene could not be measured after the script ended ({reason}).",
        fix="Check frame handlers and drivers: they run while frames are sampled.",
    )


def animated_by_code_warning(code: Sequence[str]) -> Problem:
    """The final check renders the saved scene, where none of this is."""
    return Problem(
        "animated_by_code",
        "warning",
        f"The script left Python that Blender calls while it renders ({', '.join(code[:5])}). The scene has to move by "
        "itself: the final check renders the saved scene, in which such code does not run, and compares.",
        fix="Put the animation into the scene: keyframe_insert, constraints, modifiers, simple driver expressions.",
    )


def other_scene_warning(rendered: str, active: str) -> Problem:
    """The final check renders the scene that is active at the end."""
    return Problem(
        "other_scene_rendered",
        "warning",
        f"The scene that was rendered, '{rendered}', is not the one that is active at the end, '{active}', which the "
        "final check renders and compares.",
        where=f"scene '{active}'",
        fix=f"bpy.context.window.scene = bpy.data.scenes[{rendered!r}], then bpy.ops.render.render(animation=True) "
        "without another scene's name, and leave it active.",
    )


def frame_range_changed_warning(rendered: Sequence[int], now: Sequence[int]) -> Problem:
    """Ranges are first frame, last frame and step."""
    (start, end, step), at_end = rendered, "{} to {}, step {}".format(*now)
    return Problem(
        "frame_range_changed",
        "warning",
        f"The frame range changed after the render: {start} to {end}, step {step}, were rendered, the scene now says "
        f"{at_end}, which the final check renders and compares.",
        where="scene.frame_start, scene.frame_end, scene.frame_step",
        fix=f"Set the range before the render, and leave it: frame_start = {start}, frame_end = {end}, "
        f"frame_step = {step}.",
    )


def end_problem(outcome: Outcome, ended: Exit, settings: HarnessSettings) -> Problem:
    """One problem for a process that did not come to the end of its script."""
    if outcome == "timeout":
        return _timeout(settings)
    if outcome == "out_of_memory":
        return _out_of_memory(ended, settings)
    if outcome == "limit":
        assert ended.stopped_by is not None
        return _limit(ended.stopped_by, ended, settings)
    if outcome == "crash":
        return _crash(ended)
    return _no_result(ended)


def _timeout(settings: HarnessSettings) -> Problem:
    return Problem(
        "timeout",
        "error",
        f"timed out after {settings.exec_timeout:g} s (render included); it was stopped.",
        fix="Look for a loop that does not end. Render cheaper: BLENDER_WORKBENCH, "
        "scene.display.render_aa = 'FXAA', fewer subdivisions, the resolution that the task asks. "
        "Scenes that strips of the sequencer show have a size and an anti-aliasing of their own: set them there, too.",
    )


def _out_of_memory(ended: Exit, settings: HarnessSettings) -> Problem:
    return Problem(
        "out_of_memory",
        "error",
        f"out of memory: the run used {ended.peak.memory_mb} MiB; its limit is {settings.memory_mb} MiB.",
        fix="Lower subdivision levels, array counts, particle counts, simulation or image resolution.",
    )


def _limit(cause: StopCause, ended: Exit, settings: HarnessSettings) -> Problem:
    printed = ended.output.n_bytes >> 20
    messages = {
        "output": (
            f"output limit: it printed more than {settings.max_output_mb} MiB ({printed} MiB read) and was stopped.",
            "Print less: no output in inner loops.",
        ),
        "disk": (
            f"disk limit: it wrote more than {settings.max_disk_mb} MiB into the workspace and was stopped.",
            "Write only the output video.",
        ),
        "files": ("file limit: it made too many files and was stopped.", "Write only the output video."),
        "processes": (
            f"process limit: it started more than {settings.max_processes} processes and was stopped.",
            "Do the work in one process.",
        ),
    }
    message, fix = messages[cause]
    return Problem(f"{cause}_limit", "error", message, fix=fix)


def _crash(ended: Exit) -> Problem:
    name = ended.signal_name or f"status {ended.returncode}"
    return Problem(
        "blender_crashed",
        "error",
        f"Blender crashed ({name}). This is a crash of the process, not a Python error.",
        fix="Usual causes: data used after it was removed (objects, meshes, bmesh), very heavy modifiers, fluid "
        "simulation, ctypes. To find it: print a line before each part and run again, or leave parts out by halves.",
    )


def _no_result(ended: Exit) -> Problem:
    status = "" if ended.returncode is None else f" with status {ended.returncode}"
    return Problem(
        "no_result",
        "error",
        f"The process ended{status} before the end of the script was reached, and without an error: "
        "os._exit(), an exec, or something outside the script's main path ended it.",
        fix="Let the script run to its end. Do not call os._exit().",
    )
