"""What `run_blender` costs over the bare script: report, 8 frames, contact sheet and sandbox included.

Measured for both ways in: the shell command, its own start included, and the agent's tool, which an episode calls
in the launcher's process.
"""

import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.execute import execute
from harness.interpreter import find_environment
from harness.report import frames_text, report_text
from harness.settings import HarnessSettings
from tests.bench.pairs import run_pairs

TARGET = 1.10
N_PAIRS = 15

SCRIPT = """
import bpy, math
scene = bpy.context.scene
scene.render.engine = 'BLENDER_WORKBENCH'
scene.display.render_aa = 'FXAA'
scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 640, 360, 100
scene.render.fps = 24
scene.frame_start, scene.frame_end = 1, 24
scene.render.image_settings.file_format = 'FFMPEG'
scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'MPEG4', 'H264'
scene.render.filepath = 'output.mp4'
bpy.ops.mesh.primitive_plane_add(size=30)
for i in range(30):
    a = i * math.tau / 30
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.3, location=(3 * math.cos(a), 3 * math.sin(a), 0.5))
    ball = bpy.context.object
    ball.keyframe_insert('location', frame=1)
    ball.location.z = 2 + math.sin(a * 3)
    ball.keyframe_insert('location', frame=24)
for x in (-1, 1):
    bpy.ops.mesh.primitive_monkey_add(location=(x, 0, 1.5))
    bpy.context.object.modifiers.new('smooth', 'SUBSURF').levels = 2
bpy.ops.render.render(animation=True)
"""
"""Some 30 objects, two of them subdivided, 24 frames at 640x360."""


def main() -> None:
    """Print the ratio."""
    with tempfile.TemporaryDirectory(prefix="blendscribe-bench-") as folder:
        workspace = Path(folder)
        (workspace / "main.py").write_text(SCRIPT)
        (workspace / "harness.yaml").write_text("harness: {resolution: [640, 360], fps: 24, frame_count: 24}\n")
        settings = HarnessSettings()
        bare = [str(find_environment(settings).python), "main.py"]
        ours = [str(Path(sys.executable).with_name("run_blender")), "main.py", "--config", "harness.yaml"]
        graphics = {"EGL_PLATFORM": "surfaceless", "LIBGL_ALWAYS_SOFTWARE": "1", "GALLIUM_DRIVER": "llvmpipe"}
        run_bare = lambda: _seconds(bare, workspace, {**os.environ, **graphics})  # noqa: E731 - one of a row
        jobs = {
            "shell command": lambda: _seconds(ours, workspace, dict(os.environ)),
            "agent's tool": lambda: _seconds_of_tool(workspace),
        }
        print("run_blender / bare script (24 frames, 640x360, report and 8 frames):")
        for name, job in jobs.items():
            print("  " + run_pairs(run_bare, job, N_PAIRS).line(name, TARGET), flush=True)


def _seconds(command: list[str], workspace: Path, environment: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, cwd=workspace, env=environment, capture_output=True, check=True, timeout=300)
    return time.perf_counter() - started


def _seconds_of_tool(workspace: Path) -> float:
    started = time.perf_counter()
    result = execute("main.py", workspace, HarnessSettings(resolution=(640, 360), fps=24, frame_count=24))
    assert result.ok
    print(report_text(result), frames_text(result.preview_frames), file=io.StringIO())
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
