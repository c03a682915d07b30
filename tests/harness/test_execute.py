"""Scripts that do what models do, each in a real Blender, and what the harness makes of them."""

import os
import time
from pathlib import Path

import pytest

from harness.execute import execute
from harness.execution import ExecutionResult
from harness.report import report_text
from harness.settings import HarnessSettings
from tests.conftest import FILM, RENDER, TINY, RunScript, processes_naming

SANDBOXES = pytest.mark.parametrize("sandbox", ["auto", "off"])


def codes(result: ExecutionResult) -> list[str]:
    return [problem.code for problem in result.problems]


# good scripts


@SANDBOXES
def test_good_script_is_good(run_script: RunScript, tmp_path: Path, sandbox: str) -> None:
    """A script that renders what is asked is good, and everything about it is measured."""
    result = run_script(FILM + RENDER, sandbox=sandbox)
    assert result.ok, report_text(result)
    assert result.outcome == "ok"
    assert result.problems == ()
    assert result.video is not None
    assert (result.video.n_frames, result.video.width, result.video.height, result.video.fps) == (4, 64, 36, 24.0)
    assert result.scene is not None
    assert (result.scene.camera, result.scene.n_moving, result.scene.objects_by_type["MESH"]) == ("Camera", 1, 1)
    assert [frame.index for frame in result.preview_frames] == [0, 3]
    assert (tmp_path / "preview.png").read_bytes().startswith(b"\x89PNG")
    assert result.blender.startswith("4.5.15")
    assert result.sandbox_level == ("limits-only" if sandbox == "off" else "bwrap+seccomp")


LEFT_BEHIND = {
    "handler": "bpy.app.handlers.frame_change_post.append(lambda *a: None)",
    "class": "class Op(bpy.types.Operator):\n    bl_idname, bl_label = 'object.op', 'op'\nbpy.utils.register_class(Op)",
    "timer": "bpy.app.timers.register(lambda: 1.0, persistent=True)",
    "driver namespace": "bpy.app.driver_namespace['f'] = lambda: 1.0",
    "non-simple driver": "cube.driver_add('rotation_euler', 2).driver.expression = 'sum([frame * 0.1, 1])'",
    "generic alias": "import typing\nclass Local: pass\nx = typing.List[Local]",
    "daemon thread": "import threading, time\nthreading.Thread(target=time.sleep, args=(600,), daemon=True).start()",
    "atexit that sleeps": "import atexit, time\natexit.register(time.sleep, 600)",
}


@pytest.mark.parametrize("name", LEFT_BEHIND)
def test_what_hangs_bare_blender_at_exit_ends_in_time(run_script: RunScript, name: str) -> None:
    """A script that leaves something behind ends when it ends, and is judged good."""
    result = run_script(f"{FILM}{LEFT_BEHIND[name]}\n{RENDER}", exec_timeout=60)
    assert result.ok, report_text(result)
    assert result.seconds < 40


def test_script_sees_itself_as_main(run_script: RunScript, tmp_path: Path) -> None:
    """`__name__`, `__file__`, `sys.argv` and imports from the workspace are those of `python main.py`."""
    (tmp_path / "helper_module.py").write_text("VALUE = 7\n")
    source = (
        "import sys, os, helper_module, __main__\n"
        "assert __name__ == '__main__' and __main__.__dict__ is globals()\n"
        "assert os.path.basename(__file__) == sys.argv[0] and os.path.isabs(__file__)\n"
        "assert helper_module.VALUE == 7 and len(sys.argv) == 1\n"
        "assert not [m for m in sys.modules if m.split('.')[0] == 'harness'], 'our modules are in the way'\n"
    )
    result = run_script(source + FILM + RENDER)
    assert result.ok, report_text(result)


def test_hash_seed_is_fixed(run_script: RunScript) -> None:
    """Iteration over sets of strings is the same in each run: PYTHONHASHSEED is 0."""
    result = run_script("print('hash', hash('blender'))\n" + FILM + RENDER)
    second = run_script("print('hash', hash('blender'))\n" + FILM + RENDER)
    assert result.log.lines == second.log.lines
    assert result.log.lines[0].startswith("hash")


# scripts that fail


def test_syntax_error(run_script: RunScript) -> None:
    """A script that cannot be parsed is a script error with its line and no frame of the harness."""
    result = run_script("import bpy\nx = = 3\n")
    assert (result.outcome, result.ok, codes(result)) == ("script_error", False, ["script_error"])
    assert result.error is not None
    assert (result.error.type, result.error.line) == ("SyntaxError", 2)
    assert "x = = 3" in result.error.traceback
    assert "run_script" not in result.error.traceback


@SANDBOXES
def test_exception(run_script: RunScript, tmp_path: Path, sandbox: str) -> None:
    """A traceback starts at the script's first frame, quotes its lines and shows no path of the host."""
    source = "import bpy\ndef build():\n    bpy.data.objects['Cub'].location.x = 1\nbuild()\n"
    result = run_script(source, sandbox=sandbox)
    assert (result.outcome, codes(result)) == ("script_error", ["script_error"])
    assert result.error is not None
    assert (result.error.type, result.error.line) == ("KeyError", 3)
    lines = result.error.traceback.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1].startswith(f'  File "{result.script}", line 4')
    assert "bpy.data.objects['Cub']" in result.error.traceback
    report = report_text(result)
    assert str(tmp_path) not in report
    assert "site-packages" not in report
    assert "/root" not in report
    assert report.startswith("RUN FAILED: script_error\n")


def test_exception_in_a_library_keeps_the_path_short(run_script: RunScript) -> None:
    """Frames below the script are kept, without the place where the library is installed."""
    result = run_script("import json\njson.loads('{')\n", sandbox="off")
    assert result.error is not None
    assert '"<python>/decoder.py"' in result.error.traceback
    assert "/lib/python3" not in result.error.traceback


def test_api_drift_gets_a_hint(run_script: RunScript) -> None:
    """An error that comes from another Blender version is explained."""
    result = run_script("import bpy\nbpy.context.scene.render.engine = 'BLENDER_EEVEE'\n")
    assert "BLENDER_EEVEE_NEXT" in result.problems[0].fix


def test_sys_exit_0_before_the_render(run_script: RunScript) -> None:
    """sys.exit(0) is no success: there is no video, and the report says where the script left."""
    result = run_script("import sys\n\nsys.exit(0)\n")
    assert (result.outcome, result.ok) == ("ok", False)
    assert set(codes(result)) == {"video_not_rendered", "early_exit"}
    assert "line 3" in next(p.message for p in result.problems if p.code == "video_not_rendered")


def test_sys_exit_0_after_the_render(run_script: RunScript) -> None:
    """A script may end by sys.exit(0) when its video is there."""
    result = run_script(FILM + RENDER + "import sys\nsys.exit(0)\n")
    assert result.ok, report_text(result)
    assert codes(result) == ["early_exit"]


def test_sys_exit_with_an_error(run_script: RunScript) -> None:
    """sys.exit(3) is a failure even with a good video."""
    result = run_script(FILM + RENDER + "import sys\nsys.exit(3)\n")
    assert (result.outcome, codes(result)) == ("script_error", ["script_exit"])
    assert "sys.exit(3)" in result.problems[0].message


@SANDBOXES
def test_os_exit_is_no_result(run_script: RunScript, sandbox: str) -> None:
    """os._exit(0), even after a good render, is not success: exit status 0 proves nothing."""
    result = run_script(FILM + RENDER + "import os\nos._exit(0)\n", sandbox=sandbox)
    assert (result.outcome, result.ok, codes(result)) == ("no_result", False, ["no_result"])


@SANDBOXES
def test_segfault(run_script: RunScript, sandbox: str) -> None:
    """A crash names its signal, and how to find its cause."""
    result = run_script("import ctypes\nprint('before', flush=True)\nctypes.string_at(0)\n", sandbox=sandbox)
    assert (result.outcome, codes(result)) == ("crash", ["blender_crashed"])
    assert "SIGSEGV" in result.problems[0].message
    assert "by halves" in result.problems[0].fix
    assert "before" in result.log.lines


@SANDBOXES
def test_endless_loop(run_script: RunScript, sandbox: str) -> None:
    """A loop that never ends is stopped in time, even when it ignores every signal; its log is kept."""
    source = (
        "import signal\nfor n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except Exception: pass\n"
        "print('looping', flush=True)\nwhile True: pass\n"
    )
    started = time.monotonic()
    result = run_script(source, exec_timeout=4, sandbox=sandbox)
    assert time.monotonic() - started < 15
    assert (result.outcome, codes(result)) == ("timeout", ["timeout"])
    assert "timed out after 4 s (render included)" in result.problems[0].message
    assert "looping" in result.log.lines


@SANDBOXES
@pytest.mark.parametrize("ending", ["", "while True: pass\n"], ids=["good", "timeout"])
def test_fork_does_not_outlive_the_run(run_script: RunScript, sandbox: str, ending: str) -> None:
    """Daemons that forked twice and left the session are dead when the run is over, and hold nothing up."""
    marker = f"86400.{os.getpid()}{len(ending)}{len(sandbox)}"
    source = (
        "import os\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
        f"        os.execv('/bin/sleep', ['sleep', '{marker}'])\n    os._exit(0)\n" + FILM + RENDER + ending
    )
    result = run_script(source, sandbox=sandbox, exec_timeout=20 if not ending else 6)
    assert result.ok is not bool(ending), report_text(result)
    assert processes_naming(marker) == []


def test_flood_of_output(run_script: RunScript) -> None:
    """100 MB of output do not fill the memory: the run is stopped, and told why."""
    result = run_script("for i in range(100):\n    print('x' * 1_000_000)\n", max_output_mb=8)
    assert (result.outcome, codes(result)) == ("limit", ["output_limit"])
    assert "more than 8 MiB" in result.problems[0].message


def test_log_within_bounds_keeps_its_end(run_script: RunScript) -> None:
    """Of a long log the last 25 lines are shown, and how many are not."""
    result = run_script("for i in range(1000):\n    print('line', i)\n" + FILM + RENDER)
    assert result.ok, report_text(result)
    assert len(result.log.lines) == 25
    assert (result.log.lines[-1], result.log.n_left_out) == ("line 999", 975)


def test_memory_limit(run_script: RunScript) -> None:
    """A run that takes too much memory is stopped, and told how much it may take."""
    result = run_script("x = []\nwhile True:\n    x.append(bytearray(b'1' * (20 << 20)))\n", memory_mb=600)
    assert (result.outcome, codes(result)) == ("out_of_memory", ["out_of_memory"])


def test_fork_bomb(run_script: RunScript) -> None:
    """A fork bomb is stopped at the process limit; in the sandbox nothing of it is left."""
    source = (
        "import os, time\nfor n in range(400):\n    if os.fork() == 0:\n        time.sleep(60)\n        os._exit(0)\n"
        "time.sleep(60)\n"
    )
    result = run_script(source, max_processes=60, exec_timeout=30, memory_mb=2048)
    assert not result.ok
    assert codes(result)[0] in ("processes_limit", "script_error")  # EAGAIN where the kernel stops it first


def test_disk_limit(run_script: RunScript) -> None:
    """A run that fills the disk is stopped."""
    source = "for i in range(60):\n    open(f'f{i}', 'wb').write(b'1' * (4 << 20))\nimport time\ntime.sleep(30)\n"
    result = run_script(source, max_disk_mb=40)
    assert (result.outcome, codes(result)[0]) == ("limit", "disk_limit")


def test_killed_from_inside(run_script: RunScript) -> None:
    """A script that kills everything it can reach in the sandbox hurts only itself."""
    result = run_script("import os\nos.kill(-1, 9)\nos.kill(os.getpid(), 9)\n")
    assert result.outcome in ("crash", "no_result")
    assert not result.ok


def test_what_a_killed_try_rendered_is_not_judged(run_script: RunScript) -> None:
    """A run that is killed is tried once more: the second try has to render its own video."""
    source = (
        "import os\nif os.path.exists('tried'):\n    raise SystemExit\n"
        "open('tried', 'w')\nopen('output.mp4', 'wb').write(b'0' * 5000)\nos.kill(os.getpid(), 9)\n"
    )
    result = run_script(source)
    assert result.outcome == "ok"  # of the second try, which ended well and rendered nothing
    assert "video_not_rendered" in codes(result)


def test_missing_script(tmp_path: Path) -> None:
    """A script that is not there is told with what is."""
    (tmp_path / "scene.py").write_text("")
    result = execute("main.py", tmp_path, HarnessSettings())
    assert (result.outcome, codes(result)) == ("script_missing", ["script_missing"])
    assert "scene.py" in result.problems[0].message


@pytest.mark.parametrize("name", ["/etc/passwd", "../main.py", "folder", "link.py"])
def test_script_outside_the_workspace(tmp_path: Path, name: str) -> None:
    """Only a plain file of the workspace is run."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.py").symlink_to("/etc/hostname")
    result = execute(name, tmp_path, HarnessSettings())
    assert result.outcome == "script_missing"


# videos that are wrong


def test_stale_video_is_not_judged(run_script: RunScript, tmp_path: Path) -> None:
    """A good video from an earlier run does not help a script that renders nothing."""
    assert run_script(FILM + RENDER).ok
    assert (tmp_path / "output.mp4").exists()
    result = run_script("print('nothing rendered')\n")
    assert codes(result) == ["video_not_rendered"]
    assert not (tmp_path / "output.mp4").exists()


SPECIAL_FILES = {
    "symbolic link": "os.symlink('/etc/passwd', 'output.mp4')",
    "named pipe": "os.mkfifo('output.mp4')",
    "folder": "os.mkdir('output.mp4')",
    "hard link": "open('a', 'w').write('x'); os.link('a', 'output.mp4')",
    "socket": "import socket; socket.socket(socket.AF_UNIX).bind('output.mp4')",
}


@pytest.mark.parametrize(
    ("setting", "fix"),
    [
        ("scene.render.ffmpeg.format, scene.render.ffmpeg.codec = 'QUICKTIME', 'QTRLE'", "use_file_extension = False"),
        ("scene.render.use_multiview = True", "use_multiview = False"),
        ("scene.render.ffmpeg.use_autosplit = True", "use_autosplit = False"),
    ],
)
def test_a_video_under_another_name_is_found(run_script: RunScript, setting: str, fix: str) -> None:
    """Though the path was set: what made Blender change it is told."""
    problem = run_script(f"{FILM}{setting}\n{RENDER}").problems[0]
    assert (problem.code, fix in problem.fix) == ("video_not_rendered", True), problem


def test_an_error_ends_without_a_line_break(run_script: RunScript) -> None:
    """Blender's own end with one."""
    assert run_script("raise RuntimeError('it failed\\n')").problems[0].message == "RuntimeError: it failed"


@pytest.mark.parametrize("kind", SPECIAL_FILES)
def test_output_that_is_not_a_plain_file(run_script: RunScript, tmp_path: Path, kind: str) -> None:
    """What is not a plain file of its own is named and not opened, and is gone before the next run."""
    result = run_script(f"import os\n{SPECIAL_FILES[kind]}\n")
    assert "video_not_a_file" in codes(result)
    assert kind in next(p.message for p in result.problems if p.code == "video_not_a_file")
    (tmp_path / "a").unlink(missing_ok=True)
    assert run_script(FILM + RENDER).ok


def test_extra_files(run_script: RunScript) -> None:
    """Files beside the video are named; files in /tmp are nobody's business."""
    result = run_script(FILM + RENDER + "open('notes.txt', 'w').write('x')\nopen('/tmp/scratch', 'w').write('x')\n")
    assert codes(result) == ["extra_files"]
    assert "'notes.txt'" in result.problems[0].message
    assert "scratch" not in result.problems[0].message


def test_video_under_another_name(run_script: RunScript) -> None:
    """A missing video is explained by the one that was written instead."""
    result = run_script(FILM.replace("'output.mp4'", "'output'") + RENDER)
    assert "video_not_rendered" in codes(result)
    assert "output0001-0004.mp4" in result.problems[0].message


def test_static_scene(run_script: RunScript) -> None:
    """A video in which nothing moves is called static, and nothing else."""
    result = run_script(FILM + "cube.animation_data_clear()\n" + RENDER)
    assert codes(result) == ["video_static"]


def test_camera_that_sees_nothing(run_script: RunScript) -> None:
    """A camera that looks away gives an empty video, and the report says that nothing is in view."""
    result = run_script(FILM + "scene.camera.rotation_euler = (3.14, 0, 0)\nscene.camera.location.z = 50\n" + RENDER)
    assert {"video_empty", "nothing_in_view"} <= set(codes(result))


def test_ground_around_the_camera_is_in_view(run_script: RunScript) -> None:
    """A huge plane whose origin lies behind the camera is not called out of view."""
    source = FILM + (
        "bpy.data.objects.remove(cube)\nbpy.ops.mesh.primitive_plane_add(size=400, location=(150, -150, 0))\n"
        "scene.camera.keyframe_insert('location', frame=1)\nscene.camera.location.z += 1\n"
        "scene.camera.keyframe_insert('location', frame=4)\n"
    )
    result = run_script(source + RENDER)
    assert "nothing_in_view" not in codes(result)
    assert result.scene is not None
    assert result.scene.n_always_outside == 0


WRONG = {
    "video_fps": "scene.render.fps = 30",
    "video_resolution": "scene.render.resolution_percentage = 50",
    "video_frame_count": "scene.frame_end = 6",
}


@pytest.mark.parametrize("code", WRONG)
def test_wrong_form(run_script: RunScript, code: str) -> None:
    """A wrong rate, size or length is named with what was asked, and how to set it."""
    result = run_script(f"{FILM}{WRONG[code]}\n{RENDER}")
    assert codes(result) == [code]
    assert "the task asks for" in result.problems[0].message
    assert (
        "scene.render" in result.problems[0].fix
        or "scene.frame_end" in result.problems[0].fix
        or "resolution_x" in result.problems[0].fix
    )


def test_frame_range(run_script: RunScript) -> None:
    """With a range, the video must be as long as the scene says."""
    good = run_script(FILM + RENDER, frame_count=3, max_frame_count=6)
    assert good.ok, report_text(good)
    changed = run_script(FILM + RENDER + "scene.frame_end = 6\n", frame_count=3, max_frame_count=6)
    assert codes(changed) == ["frame_range_changed", "video_not_the_scene_range"]


def test_video_that_is_no_video(run_script: RunScript) -> None:
    """Garbage under the video's name is a problem, not a traceback."""
    result = run_script("open('output.mp4', 'w').write('not a video')\n")
    assert codes(result) == ["video_not_a_video"]


def test_measuring_that_hangs_does_not_cost_the_video(run_script: RunScript) -> None:
    """A frame handler that hangs only after the render leaves a good run with a warning."""
    source = FILM + RENDER + "def f(*a):\n    while True: pass\nbpy.app.handlers.frame_change_pre.append(f)\n"
    result = run_script(source, exec_timeout=8)
    assert (result.ok, codes(result)) == (True, ["animated_by_code", "scene_not_measured"])


def test_workspace_without_rights(run_script: RunScript, tmp_path: Path) -> None:
    """A script that takes the rights on its own folder away is judged all the same."""
    result = run_script(FILM + RENDER + "import os\nos.chmod('.', 0)\n")
    assert result.ok, report_text(result)


def test_kept_video_is_the_judged_one(tmp_path: Path) -> None:
    """With keep_video the bytes that were judged are kept outside the workspace."""
    workspace = tmp_path / "ws"
    workspace.mkdir()
    (workspace / "main.py").write_text(FILM + RENDER)
    kept = tmp_path / "kept.mp4"
    result = execute("main.py", workspace, HarnessSettings.model_validate(TINY), keep_video=kept)
    assert result.ok
    assert kept.read_bytes() == (workspace / "output.mp4").read_bytes()
