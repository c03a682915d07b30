"""Shows `blendscribe doctor` that this Blender works: a still, a clip, which OpenGL drew, and a clean end.

    python -P -s examine.py RESULT_FD        (cwd: a folder that receives `still.png` and `clip.mp4`)

Messages: `started` (Blender is there), `rendered` (seconds, which OpenGL), `encoded`, `finished`. The pictures are
judged outside.
"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from harness.in_blender import graphics
from harness.in_blender.result_pipe import ResultPipe


def main() -> None:
    pipe = ResultPipe(int(sys.argv[1]))
    import bpy

    pipe.send("started", blender=bpy.app.version_string, version=list(bpy.app.version))
    # what is left behind on purpose here would hang for ever in Blender's own exit code
    bpy.app.handlers.frame_change_post.append(lambda *_arguments: None)
    render = bpy.context.scene.render
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = 64, 36, 100
    started = time.monotonic()
    _render_still()
    pipe.send("rendered", seconds=time.monotonic() - started, **graphics.in_use())
    _render_clip()
    pipe.send("encoded")
    sys.stdout.flush()
    pipe.send("finished")
    os._exit(0)


def _render_still() -> None:
    import bpy

    bpy.context.scene.render.filepath = os.path.abspath("still.png")
    bpy.ops.render.render(write_still=True)


def _render_clip() -> None:
    """Five frames of the cube moving."""
    import bpy

    scene = bpy.context.scene
    cube = bpy.data.objects["Cube"]
    scene.frame_start, scene.frame_end = 1, 5
    for frame in (1, 5):
        cube.location.x = frame / 2
        cube.keyframe_insert("location", frame=frame)
    scene.render.image_settings.file_format = "FFMPEG"
    scene.render.ffmpeg.format, scene.render.ffmpeg.codec = "MPEG4", "H264"
    scene.render.filepath = os.path.abspath("clip.mp4")
    bpy.ops.render.render(animation=True)


if __name__ == "__main__":
    main()
