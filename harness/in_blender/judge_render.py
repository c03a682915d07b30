"""Renders the scene that a script saved, and says what of it is not made of geometry. Trusted code; no script runs.

    python -P -s judge_render.py RESULT_FD SCENE_FILE N_FRAMES MAX_PIXELS SUMMARY_SAMPLES        (cwd: an empty folder)

The file was made by untrusted code: it is opened with its scripts off, and everything in it that writes files is taken
out first. Engine, size, frame rate, compositor and sequencer are the scene's own, so that an honest render comes out
the same. Writes `judge.mp4`, N_FRAMES frames from the scene's first one on, and, where there are pictures in the scene,
`flat.mp4`, the same with each of them in its mean colour. Nothing that a driver could read differs between the two.
Messages: `opened`, `footage`, `rendered`, `pictures`, `scene`, `finished`.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender import flat_pictures, scene_summary
from harness.in_blender.result_pipe import ResultPipe

VIDEO, FLAT_VIDEO = "judge.mp4", "flat.mp4"
_MAX_NAMES = 20


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    scene_file, n_frames, max_pixels, n_samples = sys.argv[2], *map(int, sys.argv[3:6])
    import bpy

    bpy.context.preferences.filepaths.use_scripts_auto_execute = False
    bpy.ops.wm.open_mainfile(filepath=scene_file, load_ui=False, use_scripts=False)
    bpy.context.preferences.system.use_gpu_subdivision = False
    scene = bpy.context.scene
    pipe.send("opened", engine=scene.render.engine, is_stamped=_is_stamped(scene.render))
    pipe.send("footage", names=list(footage())[:_MAX_NAMES])
    share = scene.render.resolution_percentage / 100
    if scene.render.resolution_x * share * scene.render.resolution_y * share > max_pixels:
        pipe.send("failed", why=f"it renders more than {max_pixels} pixels a frame")
        os._exit(0)
    _take_out_what_writes(scene)
    try:
        _render(scene, n_frames)
        pipe.send("rendered", was_script_blocked=bool(bpy.app.autoexec_fail))
        n_pictures, n_pixels = flat_pictures.flatten_all()
        if n_pictures:
            os.rename(VIDEO, f"first-{VIDEO}")
            _render(scene, n_frames)
            os.rename(VIDEO, FLAT_VIDEO)
            os.rename(f"first-{VIDEO}", VIDEO)
    except RuntimeError as error:
        pipe.send("failed", why=str(error)[:500])
        os._exit(0)
    pipe.send("pictures", n=n_pictures, pixels=n_pixels)
    pipe.send("scene", **scene_summary.measure(n_samples))
    pipe.send("finished")
    os._exit(0)


def _is_stamped(render: Any) -> bool:
    """Whether the frames show text that is another one in each render."""
    changing = ("date", "render_time", "memory", "hostname", "filename")
    return bool(render.use_stamp) and any(getattr(render, f"use_stamp_{name}") for name in changing)


def footage() -> Iterator[str]:
    """Moving pictures that were made elsewhere, wherever the scene can show them."""
    import bpy

    for image in bpy.data.images:
        if image.source in {"MOVIE", "SEQUENCE"} and image.users:
            yield f"image '{image.name}' ({image.source.lower()})"
    for clip in bpy.data.movieclips:
        yield f"movie clip '{clip.name}'"
    for scene in bpy.data.scenes:
        strips = scene.sequence_editor.strips_all if scene.sequence_editor else []
        for strip in strips:
            if strip.type in {"MOVIE", "IMAGE", "MOVIECLIP"}:
                yield f"{strip.type.lower()} strip '{strip.name}' of scene '{scene.name}'"
    for library in bpy.data.libraries:
        yield f"linked file '{os.path.basename(library.filepath)}'"


def _take_out_what_writes(scene: Any) -> None:
    """A File Output node writes whenever the scene is rendered, scripts or not."""
    import bpy

    trees = [s.node_tree for s in bpy.data.scenes if s.node_tree]
    for tree in [*trees, *(g for g in bpy.data.node_groups if g.bl_idname == "CompositorNodeTree")]:
        for node in [node for node in tree.nodes if node.bl_idname == "CompositorNodeOutputFile"]:
            tree.nodes.remove(node)
    render = scene.render
    render.use_overwrite, render.use_placeholder = True, False


def _render(scene: Any, n_frames: int) -> None:
    import bpy

    scene.frame_end = scene.frame_start + (n_frames - 1) * scene.frame_step
    render = scene.render
    _write_films(render)
    render.ffmpeg.audio_codec, render.ffmpeg.use_autosplit = "NONE", False
    render.use_file_extension = False
    render.filepath = os.path.join(os.getcwd(), VIDEO)
    bpy.ops.render.render(animation=True)


def _write_films(render: Any) -> None:
    """With the scene's own codec, pixels and quality, also where it went on to stills: the cost is then that of both.

    Blender takes setting the kind of file, even to what it is, for a wish to have the others set: they are put back.
    """
    image = render.image_settings
    if image.file_format == "FFMPEG":
        return
    names = [name for name, kind in render.ffmpeg.bl_rna.properties.items() if not kind.is_readonly]
    before = [(render.ffmpeg, name, getattr(render.ffmpeg, name)) for name in names]
    before += [(image, name, getattr(image, name)) for name in ("color_mode", "color_depth")]
    image.file_format = "FFMPEG"
    for settings, name, value in before:
        with suppress(TypeError):  # of stills, as 32 bit are: the codec has none such
            setattr(settings, name, value)


if __name__ == "__main__":
    try:
        main()
    finally:
        os._exit(1)  # Python's own exit may hang (see run_script)
