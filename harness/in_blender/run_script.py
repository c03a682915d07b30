"""Runs one script in a fresh Blender, as `python main.py` would, then measures the scene it left.

    python -P -s run_script.py RESULT_FD SCRIPT SUMMARY_SAMPLES [SCENE_FILE]        (cwd: the workspace)

Messages: `started` (Blender is there), `ended` (how the script ended, what of its code Blender would still call, and
how the scene stands to the last render), `scene` (what it left), `finished`. With SCENE_FILE, the scene of a script
that ended well is saved there.
The process ends by os._exit after flushing: a script that leaves a handler, a registered class, a timer or
a non-simple driver behind would otherwise hang for ever in Blender's exit code.
"""

import os
import sys
import time
import types
from typing import Any

HARNESS_DIR = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HARNESS_DIR)))

from harness.in_blender import saving, scene_summary, script_errors
from harness.in_blender.result_pipe import ResultPipe


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    script, n_samples, scene_file = sys.argv[2], int(sys.argv[3]), (sys.argv[4:] or [""])[0]
    import bpy

    _fix_preferences()
    last_render = LastRender()
    hooks_before = animating_code()
    pipe.send("started", blender=bpy.app.version_string, build=bpy.app.build_hash.decode())
    started = time.monotonic()
    outcome = run(script)
    _flush()
    hooks = sorted(animating_code() - hooks_before)
    seconds = time.monotonic() - started
    pipe.send("ended", seconds=seconds, animating_code=hooks, since_render=last_render.since(), **outcome)
    _silence()
    if scene_file and outcome["ok"]:
        try:
            saving.save_scene(scene_file, compress=False)
        except Exception as error:  # noqa: BLE001 - whatever the script did to Blender, there is no file then
            pipe.send("scene_not_saved", error=f"{type(error).__name__}: {error}"[:500])
    try:
        pipe.send("scene", **scene_summary.measure(n_samples))
    except Exception as error:  # noqa: BLE001 - handlers and drivers of the script run while measuring
        pipe.send("scene_not_measured", error=f"{type(error).__name__}: {error}"[:500])
    pipe.send("finished")
    os._exit(0)


def run(script: str) -> dict[str, object]:
    """Execute `script` as `__main__`; returns how it ended."""
    workspace = os.getcwd()
    places = script_errors.Places(workspace=workspace, script=script, harness=HARNESS_DIR)
    sys.argv = [script]
    sys.path[0] = workspace
    for name in [name for name in sys.modules if name.split(".")[0] == "harness"]:
        del sys.modules[name]  # the script may have a module of that name
    module = types.ModuleType("__main__")
    module.__dict__.update(__file__=os.path.join(workspace, script), __builtins__=__builtins__)
    sys.modules["__main__"] = module
    try:
        with open(script, "rb") as file:
            source = file.read()
        script_errors.remember_source(script, source.decode(errors="replace"))
        exec(compile(source, script, "exec"), module.__dict__)
    except SystemExit as end:
        return _exit_outcome(end, places)
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is the script's outcome
        return {"ok": False, "error": script_errors.describe(error, places), "exit_code": None}
    return {"ok": True, "error": None, "exit_code": None}


class LastRender:
    """Which scene and frames the last film was of. A script that empties `render_complete` leaves it unknown."""

    def __init__(self) -> None:
        import bpy

        self._name, self._frames = "", (0, 0, 0)

        def note(scene: Any, *_arguments: object) -> None:
            if scene.render.is_movie_format:
                self._name, self._frames = scene.name, _frame_range(scene)

        bpy.app.handlers.render_complete.append(bpy.app.handlers.persistent(note))

    def since(self) -> dict[str, object]:
        """What is another now: the active scene (then its frames are its own), or the frames."""
        import bpy

        scene = bpy.context.scene
        if not self._name or scene is None:
            return {}
        if scene.name != self._name:
            return {"rendered_scene": self._name, "active_scene": scene.name}
        now = _frame_range(scene)
        return {"rendered_frames": self._frames, "frames": now} if now != self._frames else {}


def _frame_range(scene: Any) -> tuple[int, int, int]:
    return scene.frame_start, scene.frame_end, scene.frame_step


_ANIMATING_HANDLERS = (
    "frame_change_pre", "frame_change_post", "depsgraph_update_pre", "depsgraph_update_post",
    "render_init", "render_pre",
)  # fmt: skip


def animating_code() -> set[str]:
    """Python that can change the scene from frame to frame and that no file keeps."""
    import bpy

    handlers = {
        f"handler {name}: {getattr(function, '__name__', '?')}"[:120]
        for name in _ANIMATING_HANDLERS
        for function in getattr(bpy.app.handlers, name)
    }
    # Blender's own names in there, which it adds at the first driver, are written in C
    functions = {n for n, value in bpy.app.driver_namespace.items() if isinstance(value, types.FunctionType)}
    return handlers | {f"driver function {name}"[:120] for name in functions}


def _exit_outcome(end: SystemExit, places: script_errors.Places) -> dict[str, object]:
    """sys.exit() and sys.exit(0) end a script early but well; anything else is an error."""
    described = script_errors.describe(end, places)
    # the code may be any object of the script's, with an __eq__ of its own
    is_good = end.code is None or (type(end.code) is int and end.code == 0)
    if is_good:
        return {"ok": True, "error": None, "exit_code": 0, "exit_line": described["line"]}
    code = end.code if type(end.code) is int else 1
    return {"ok": False, "error": described, "exit_code": code, "exit_line": described["line"]}


def _fix_preferences() -> None:
    """GPU subdivision makes the second render of a scene differ from the first; a factory reset brings it back."""
    import bpy

    def keep_subdivision_on_cpu(*_arguments: object) -> None:
        bpy.context.preferences.system.use_gpu_subdivision = False

    keep_subdivision_on_cpu()
    bpy.app.handlers.load_post.append(bpy.app.handlers.persistent(keep_subdivision_on_cpu))


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # the script closed or replaced it


def _silence() -> None:
    """What the script's handlers print while the scene is measured is not its output."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(1)  # not reached by a main that came to its end: Python's own exit may hang (see above)
