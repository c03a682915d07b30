"""What every test may use. A missing Blender fails the tests that need one; nothing is skipped."""

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from harness.execute import execute
from harness.execution import ExecutionResult
from harness.folders import remove_folder
from harness.settings import HarnessSettings

os.environ.setdefault("MSWEA_SILENT_STARTUP", "1")
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else litellm asks the network at import

TINY = {"resolution": (64, 36), "fps": 24.0, "frame_count": 4, "preview_frames": 2, "content_samples": 4}
"""A film that renders in a tenth of a second once Blender is up."""


def film(width: int, height: int, n_frames: int, anti_aliasing: str) -> str:
    """A script: the default cube crosses the view; without the render itself."""
    return f"""
import bpy
scene = bpy.context.scene
scene.render.engine = 'BLENDER_WORKBENCH'
scene.display.render_aa = '{anti_aliasing}'
scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = {width}, {height}, 100
scene.render.fps = 24
scene.frame_start, scene.frame_end = 1, {n_frames}
scene.render.image_settings.file_format = 'FFMPEG'
scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'MPEG4', 'H264'
scene.render.filepath = 'output.mp4'
cube = bpy.data.objects['Cube']
cube.location.x = -2
cube.keyframe_insert('location', frame=1)
cube.location.x = 2
cube.keyframe_insert('location', frame={n_frames})
"""


FILM = film(64, 36, 4, "OFF")
"""The film of TINY."""

RENDER = "bpy.ops.render.render(animation=True)\n"

_numbers = itertools.count(1)


def processes_naming(marker: str) -> list[str]:
    """Command lines of living processes that hold `marker`."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if marker in line and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(line)
    return found


RunScript = Callable[..., ExecutionResult]


@pytest.fixture
def run_script(tmp_path: Path) -> Iterator[RunScript]:
    """Execute a script's source in `tmp_path`; afterwards no process of it may be alive."""
    names = []

    def run(source: str, **settings: object) -> ExecutionResult:
        name = f"script_{os.getpid()}_{next(_numbers)}.py"
        names.append(name)
        (tmp_path / name).write_text(source)
        return execute(name, tmp_path, HarnessSettings.model_validate({**TINY, **settings}))

    yield run
    for name in names:
        assert processes_naming(name) == []
    # pytest's own clean-up does not come to the ground of what hostile scripts nest
    remove_folder(tmp_path)
    tmp_path.mkdir()


LONGEST = ("test_session_ends", "test_video_compare", "test_session_final_script", "test_kills")
"""Files that are begun first, so that no worker waits for one of them at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that start Blender are marked `blender`, so that the fast ones can run alone; the longest come first."""
    items.sort(key=lambda item: next((i for i, name in enumerate(LONGEST) if name in item.nodeid), len(LONGEST)))
    for item in items:
        fixtures = getattr(item, "fixturenames", ())
        if "run_script" in fixtures or item.get_closest_marker("blender"):
            item.add_marker("blender")
