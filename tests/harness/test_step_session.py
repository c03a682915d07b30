"""A live Blender: whatever a step does, the next one finds a scene that stands, and the steps become one script."""

import ast
import json
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.errors import HarnessError
from harness.interpreter import PROJECT_DIR, RUN_ENVIRONMENT, find_environment, library_environment, libs_dir
from harness.sandbox.jail import Jail
from harness.settings import HarnessSettings
from harness.state_diff import diff, summarise
from harness.step_report import step_text
from harness.step_result import StepResult
from harness.step_session import StepSession, StepStart, final_script

pytestmark = pytest.mark.blender

SMALL = {
    "exec_timeout": 3,
    "memory_mb": 800,
    "max_output_mb": 8,
    "max_processes": 60,
    "max_disk_mb": 60,
    "visual_feedback": False,
}


def open_session(workspace: Path, start: StepStart | None = None, **settings: object) -> StepSession:
    return StepSession(workspace, HarnessSettings.model_validate({**SMALL, **settings}), start)


def good(session: StepSession, code: str, **options: Any) -> StepResult:
    """The result of a step that has to take effect."""
    result = session.step(textwrap.dedent(code), **options)
    assert result.ok, step_text(result)
    return result


def printed(session: StepSession, code: str) -> str:
    return "\n".join(good(session, code).log.lines)


BEGIN = """
import bpy, ctypes, os, signal, sys, threading, time
kept = 1
open('kept.txt', 'w').write('kept')
open('gone.txt', 'w').write('kept')
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    """Shared by tests that leave the scene as it is, or add to it under names of their own."""
    with open_session(tmp_path_factory.mktemp("shared")) as session:
        good(session, BEGIN)
        yield session


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    """The same without a sandbox."""
    with open_session(tmp_path_factory.mktemp("limited"), sandbox="off") as session:
        good(session, BEGIN)
        yield session


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


# steps that fail

SPOIL = """
bpy.data.objects.remove(bpy.data.objects['Cube'])
bpy.ops.mesh.primitive_monkey_add()
kept = 2
del ctypes.c_longdouble
os.chdir('/')
os.chdir('/workspace' if os.path.isdir('/workspace') else os.path.dirname(__file__))
open('kept.txt', 'w').write('spoiled')
os.remove('gone.txt')
os.makedirs('new_folder/deep')
open('new_folder/new.txt', 'w').write('new')
print('spoiling', flush=True)
"""
"""Changes the scene, names, a module and files, before the step fails in its own way."""

IGNORE_SIGNALS = """
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
while True: pass
"""

WRITE_EVERYWHERE = """
for number in range(3, 1024):
    try: os.write(number, {})
    except OSError: pass
"""

FAILURES = {
    "exception": ("raise ValueError('no')", {"step_error"}),
    "syntax error": ("x = = 1", {"step_error"}),
    "null byte": ("x = '\0'", {"step_error"}),
    "KeyboardInterrupt": ("raise KeyboardInterrupt", {"step_error"}),
    "interrupted by itself": ("os.kill(os.getpid(), signal.SIGINT); time.sleep(1)", {"step_error"}),
    "sys.exit": ("sys.exit(0)", {"refused"}),
    "os._exit": ("os._exit(0)", {"no_result"}),
    "abort": ("os.abort()", {"crash"}),
    "segfault": ("ctypes.string_at(0)", {"crash"}),
    "endless loop": ("while True: pass", {"timeout"}),
    "endless loop that ignores signals": (IGNORE_SIGNALS, {"timeout"}),
    "stopped by itself": ("os.kill(os.getpid(), signal.SIGSTOP)", {"timeout"}),
    "allocation that fails": ("x = bytearray(1 << 46)", {"out_of_memory"}),
    "memory that grows": ("x = []\nwhile True: x.append(bytearray(b'1' * (20 << 20)))", {"out_of_memory"}),
    "memory of a child": (
        "if os.fork() == 0:\n    x = bytearray(b'1' * (900 << 20))\n    time.sleep(60)\ntime.sleep(60)",
        {"out_of_memory"},
    ),
    "stops the session and fails": ("os.kill(os.getppid(), signal.SIGSTOP)\n1 / 0", {"step_error"}),
    "kills the session": ("os.kill(os.getppid(), signal.SIGKILL); time.sleep(60)", {"crash"}),
    "daemon": (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)\n"
        "    while True: open('kept.txt', 'a').write('x')\ntime.sleep(0.3)\n1 / 0",
        {"step_error"},
    ),
    "closes everything": ("os.closerange(0, 1024)", {"refused"}),
    "closes a lot and fails": ("os.closerange(0, 256)\n1 / 0", {"step_error"}),
    "junk in every pipe": (WRITE_EVERYWHERE.format(r"b'junk\n'"), {"no_result"}),
    "half a line in every pipe": (WRITE_EVERYWHERE.format(r"""b'{"kind": "step_done", "id": '"""), {"no_result"}),
    "a forged list": (WRITE_EVERYWHERE.format(r"b'[1]\n'"), {"no_result"}),
    "a forged failure": (
        WRITE_EVERYWHERE.format(r"""b'{"ok": false, "error": [5], "refused": 7}\n'"""),
        {"refused", "no_result"},
    ),
    "a forged success": (
        WRITE_EVERYWHERE.format(r"""b'{"ok": true}\n'""") + "\ntime.sleep(60)",
        {"crash", "timeout"},
    ),
    "leaves a daemon": (
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork(): os._exit(0)\n    time.sleep(600)\ntime.sleep(0.2)",
        {"refused"},
    ),
    "thread": ("threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", {"refused"}),
    "broken stdout": ("sys.stdout = sys.stderr = None\n1 / 0", {"step_error"}),
    "future statement": ("from __future__ import annotations", {"refused"}),
    "flood of output": ("while True: print('x' * 100_000)", {"limit"}),
    "flood of files": (
        "for i in range(99):\n    open(f'f{i}', 'wb').write(b'1' * (4 << 20)); time.sleep(0.02)",
        {"limit"},
    ),
    "own GPU context": (
        "import _bpy\nbpy.context.scene.render.engine = 'BLENDER_WORKBENCH'\n"
        "bpy.context.scene.render.resolution_percentage = 5\n_bpy.ops.call('render.render', {})",
        {"refused"},
    ),
}
SANDBOXED_FAILURES = {
    "kills everything": ("os.kill(-1, signal.SIGKILL); time.sleep(60)", {"crash"}),
    "many processes": ("for n in range(200):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(60)", {"limit"}),
}
AT_ONCE = {"syntax error", "null byte", "future statement"}
"""These run nothing at all, and have to stand alone."""
UNSANDBOXED = ["exception", "sys.exit", "os._exit", "segfault", "endless loop", "kills the session", "daemon"]


def assert_leaves_no_mark(session: StepSession, name: str, code: str, outcomes: set[str]) -> None:
    before = session.state
    n_good = len(session.good_steps)
    result = session.step(code if name in AT_ONCE else f"{SPOIL}\n{code}")
    assert result.outcome in outcomes, step_text(result)
    assert result.seconds < 12
    if name not in AT_ONCE | {"flood of files"}:
        assert result.files_put_back == ("gone.txt", "kept.txt", "new_folder/new.txt")
    assert len(session.good_steps) == n_good
    after = good(
        session,
        """
        assert kept == 1 and ctypes.c_longdouble and open('kept.txt').read() == 'kept'
        assert sorted(os.listdir()) == ['gone.txt', 'kept.txt'], os.listdir()
        print('stands')
        """,
    )
    assert after.log.lines == ("stands",)
    assert summarise(diff(before, session.state)) == []
    assert not after.rebuilt_differs


@pytest.mark.parametrize("name", FAILURES | SANDBOXED_FAILURES)
def test_failed_step_leaves_no_mark(session: StepSession, name: str) -> None:
    """After a step that fails in whatever way, scene, names and files are as before, and steps work."""
    assert_leaves_no_mark(session, name, *(FAILURES | SANDBOXED_FAILURES)[name])


@pytest.mark.parametrize("name", UNSANDBOXED)
def test_failed_step_leaves_no_mark_without_a_sandbox(limited: StepSession, name: str) -> None:
    """Atomic steps do not need the sandbox."""
    assert limited.level.name == "limits-only"
    assert_leaves_no_mark(limited, name, *FAILURES[name])


def test_failure_is_told(session: StepSession) -> None:
    """A failed step has its traceback with the step's own lines, what it printed, and no changes."""
    result = session.step("def f():\n    print('in f')\n    return bpy.data.objects['Nobody']\nf()\n")
    assert (result.outcome, result.changes, result.state_hash) == ("step_error", (), None)
    assert result.error is not None
    assert (result.error.type, result.error.line) == ("KeyError", 3)
    name = f"step_{result.number:02d}.py"
    assert result.error.traceback.splitlines()[1] == f'  File "{name}", line 4, in <module>'
    assert "return bpy.data.objects['Nobody']" in result.error.traceback
    assert result.log.lines == ("in f",)


def test_crash_names_its_signal(session: StepSession) -> None:
    """A crash tells which signal it was, and keeps what was printed before."""
    result = session.step("print('before', flush=True)\nctypes.string_at(0)")
    assert "SIGSEGV" in result.reason
    assert result.log.lines == ("before",)


# what persists


def test_names_and_scene_persist(session: StepSession) -> None:
    """A step finds what earlier steps made: names, objects, imports, the working directory."""
    good(session, "os.makedirs('sub', exist_ok=True); os.chdir('sub')\nmine = bpy.data.objects.new('Mine', None)")
    good(session, "bpy.context.collection.objects.link(mine)\nopen('here.txt', 'w').write('x')")
    assert (session.workspace / "sub/here.txt").exists()
    good(session, "os.remove('here.txt'); os.chdir('..'); os.rmdir('sub')\nbpy.data.objects.remove(mine); del mine")


def test_changes_are_told(session: StepSession) -> None:
    """A good step's changes are told against the last good step, and a step that changes nothing has none."""
    result = good(session, "bpy.data.objects['Cube'].location.x = 3")
    assert result.changes == ("~ Object 'Cube': location (0, 0, 0) -> (3, 0, 0)",)
    assert result.scene is not None
    assert result.scene.n_objects == 3
    result = good(session, "bpy.data.objects['Cube'].location.x = 0\nkept = 1")
    assert good(session, "pass").n_changes == 0
    assert session.state


def test_classes_handlers_and_operators_persist(session: StepSession) -> None:
    """What one step defines and registers works in the next: classes, operators, handlers, drivers, timers."""
    good(
        session,
        """
        class Shape:
            "A shape."
            def area(self):
                return 1
        class Double(bpy.types.Operator):
            bl_idname, bl_label = 'object.double', 'Double'
            def execute(self, context):
                context.object.scale *= 2
                return {'FINISHED'}
        class Mood(bpy.types.PropertyGroup):
            happy: bpy.props.BoolProperty(default=True)
        bpy.utils.register_class(Double); bpy.utils.register_class(Mood)
        bpy.types.Object.mood = bpy.props.PointerProperty(type=Mood)
        seen = []
        def note(scene, *rest):
            seen.append(scene.frame_current)
        bpy.app.handlers.frame_change_post.append(note)
        bpy.app.driver_namespace['tripled'] = lambda x: 3 * x
        bpy.app.timers.register(lambda: 1.0, persistent=True)
        helper = bpy.data.objects.new('Helper', None)
        bpy.context.collection.objects.link(helper)
        bpy.context.view_layer.objects.active = helper
        """,
    )
    assert (
        printed(
            session,
            """
            import pickle, inspect
            assert bpy.ops.object.double() == {'FINISHED'} and tuple(helper.scale) == (2, 2, 2)
            assert helper.mood.happy and Shape().area() == 1
            driver = helper.driver_add('location', 0).driver
            driver.expression = 'tripled(2)'
            bpy.context.scene.frame_set(5)
            assert seen == [5], seen
            assert helper.location.x == 6
            assert isinstance(pickle.loads(pickle.dumps(Shape())), Shape)
            assert inspect.getsource(note).strip().endswith('seen.append(scene.frame_current)')
            assert inspect.getsource(Shape).startswith('class Shape'), inspect.getsource(Shape)
            import __main__
            assert __name__ == '__main__' and __main__.__dict__ is globals() and __main__.Shape is Shape
            print('works')
            """,
        )
        == "works"
    )
    good(
        session,
        """
        bpy.app.handlers.frame_change_post.clear()
        bpy.context.scene.frame_set(1)
        del bpy.types.Object.mood
        bpy.utils.unregister_class(Double); bpy.utils.unregister_class(Mood)
        bpy.data.objects.remove(helper); del helper
        """,
    )


def test_traceback_through_earlier_steps(session: StepSession) -> None:
    """A traceback through a function of an earlier step quotes the lines of both steps."""
    first = good(session, "def deep(x):\n    return x.no_such_attribute  # of the earlier step\n")
    result = session.step("# comment\ndeep(5)  # of this step\n")
    assert result.error is not None
    assert f'File "step_{first.number:02d}.py", line 2, in deep' in result.error.traceback
    assert "return x.no_such_attribute  # of the earlier step" in result.error.traceback
    assert "deep(5)  # of this step" in result.error.traceback
    assert result.error.line == 2


def test_our_modules_are_not_in_the_way(session: StepSession) -> None:
    """A step sees itself as a script in the workspace and can import a module called harness."""
    (session.workspace / "harness.py").write_text("VALUE = 7\n")
    code = """
    import harness
    assert harness.VALUE == 7 and sys.path[0] == os.getcwd() and sys.argv == ['final_script.py']
    assert os.path.basename(__file__) == 'final_script.py' and os.path.isabs(__file__)
    assert not [m for m in sys.modules if m.startswith('harness.')]
    """
    good(session, code)
    (session.workspace / "harness.py").unlink()
    good(session, "import shutil; shutil.rmtree('__pycache__', ignore_errors=True)")


def test_odd_streams_do_not_stop_the_session(session: StepSession) -> None:
    """After a step that closed or replaced the output streams, steps work, and print again when they are put back."""
    good(session, "saved = sys.stdout\nsys.stdout = open(os.devnull, 'w')\nprint('nowhere')")
    assert printed(session, "print('nowhere')\nsys.stdout = saved\nprint('here')") == "here"
    good(session, "os.close(0); os.close(1); os.close(2)")
    assert printed(session, "print('again', flush=True)") == "again"
    good(
        session,
        "class Odd:\n    def write(self, text): pass\n    def flush(self): raise RuntimeError\nsys.stdout = Odd()",
    )
    assert printed(session, "sys.stdout = saved\nprint('here')") == "here"


def test_clocks_and_signals_do_not_stop_the_session(session: StepSession) -> None:
    """Alarms of a step do not go off later, and its signal handlers do not take the session's children."""
    good(session, "signal.alarm(1)\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)")
    time.sleep(1.2)
    result = good(session, "signal.signal(signal.SIGCHLD, lambda *a: os.waitpid(-1, os.WNOHANG))\nprint('alive')")
    assert (result.log.lines, result.rebuilt) == (("alive",), False)
    assert not good(session, "pass").rebuilt


def test_stopping_the_session_does_not_hold_it(session: StepSession) -> None:
    """A good step that stops its parent, or everything it can, still becomes the session."""
    result = good(session, "os.kill(os.getppid(), signal.SIGSTOP)\nprint('on')")
    assert not good(session, "pass").rebuilt
    assert result.log.lines == ("on",)


def test_background_process_is_refused(session: StepSession) -> None:
    """A step that leaves a process running is refused and the process ended; one that has waited for it is good."""
    result = session.step("import subprocess\nsubprocess.Popen(['sleep', '600'])")
    assert (result.outcome, "left 1 process(es) running" in result.reason) == ("refused", True)
    good(session, "import subprocess\nsubprocess.run(['sleep', '0'], check=True)")


# lost sessions


def test_lost_session_is_rebuilt(workspace: Path) -> None:
    """A killed session is made again from the good steps, on the files that they found, and says so."""
    (workspace / "log.txt").write_text("start\n")
    with open_session(workspace) as session:
        good(session, "import bpy, os, signal, time\nopen('log.txt', 'a').write('one\\n')")
        good(session, "lines = open('log.txt').read()\nbpy.data.objects['Cube'].name = f'{len(lines)}'")
        good(session, "open('log.txt', 'a').write('three\\n')")
        before = session.state
        assert session.step("os.kill(os.getppid(), 9); time.sleep(9)").outcome == "crash"
        result = good(session, "print(len(bpy.data.objects))")
        assert (result.rebuilt, result.rebuilt_differs, result.log.lines) == (True, False, ("3",))
        assert "gave the same scene" in step_text(result)
        assert diff(before, session.state) == []
        assert (workspace / "log.txt").read_text() == "start\none\nthree\n"


def test_killed_between_steps(workspace: Path) -> None:
    """A session that died while nothing ran is rebuilt, and no step is blamed for it."""
    with open_session(workspace) as session:
        good(session, "import bpy\nx = 5")
        assert session._process is not None
        session._process.kill()
        result = good(session, "print(x)")
        assert (result.rebuilt, result.log.lines) == (True, ("5",))


def test_rebuild_that_differs_is_told(workspace: Path) -> None:
    """Unseeded randomness shows when the session is rebuilt; the step is not blamed, the scene goes on as it is now."""
    with open_session(workspace) as session:
        good(session, "import bpy, os, random, time\nbpy.data.objects['Cube'].location.x = random.random()")
        session.step("os.kill(os.getppid(), 9); time.sleep(9)")
        result = good(session, "pass")
        assert (result.rebuilt, result.rebuilt_differs) == (True, True)
        assert "NOT the same" in step_text(result)
        session.step("random.seed(1)\nos.kill(os.getppid(), 9); time.sleep(9)")


def test_step_that_fails_when_run_again_counts_no_more(workspace: Path) -> None:
    """A step that cannot be repeated is dropped and told, the others are kept."""
    with open_session(workspace) as session:
        good(session, "import bpy, os, time")
        good(session, f"assert time.time() < {time.time() + 2}\nbpy.data.objects.remove(bpy.data.objects['Cube'])")
        good(session, "y = 2")
        time.sleep(2)
        session.step("os.kill(os.getppid(), 9); time.sleep(9)")
        result = good(session, "print(y, 'Cube' in bpy.data.objects)")
        assert (result.steps_lost, result.rebuilt_differs, result.log.lines) == ((2,), True, ("2 True",))
        assert [step.number for step in session.good_steps] == [1, 3, 5]


def test_measuring_that_kills_the_session(workspace: Path) -> None:
    """A handler that ends everything while the scene is measured costs the measure, not the episode."""
    code = """
    import bpy, os
    def end(*arguments):
        os.kill(-1, 9)
    bpy.app.handlers.frame_change_pre.append(end)
    """
    with open_session(workspace) as session:
        good(session, "import bpy")
        assert good(session, code).state_hash is None
        assert good(session, "bpy.app.handlers.frame_change_pre.clear()").state_hash is not None


def test_measuring_that_hangs(workspace: Path) -> None:
    """A frame handler that hangs costs the summary and the views; the state is still compared."""
    code = "import bpy\ndef hang(*a):\n    while True: pass\nbpy.app.handlers.frame_change_pre.append(hang)"
    with open_session(workspace) as session:
        result = good(session, code, views=True)
        assert (result.scene, result.n_changes, result.views_failed) == (None, 0, True)
        assert result.state_hash
        assert result.seconds < 20
        assert good(session, "bpy.app.handlers.frame_change_pre.clear()").scene is not None


# measuring changes nothing

LOOK = """
def look():
    c, l = bpy.context, bpy.context.view_layer
    o = bpy.data.objects
    return repr([
        [tuple(map(tuple, x.matrix_world)) for x in o], [x.name for x in l.objects if x.select_get()],
        l.objects.active and l.objects.active.name, [x.mode for x in o], c.scene.frame_current,
        {n: len(getattr(bpy.data, n)) for n in ('meshes', 'materials', 'images', 'actions', 'objects', 'worlds')},
        random.getstate(), np.random.get_state()[1].tolist(),
        c.scene.render.engine, c.scene.render.filepath, c.scene.world.name, c.scene.camera.name,
        c.scene.cursor.location[:], os.getcwd(), sorted(os.listdir()), os.environ.get('TZ'), len(sys.modules),
    ])
"""

BEFORE_LOOK = {
    "stale matrix": "bpy.data.objects['Cube'].location.z = 7",
    "selection": "bpy.ops.object.select_all(action='DESELECT'); bpy.data.objects['Light'].select_set(True)",
    "active object": "bpy.context.view_layer.objects.active = bpy.data.objects['Camera']",
    "frame": "bpy.context.scene.frame_current = 33",
    "orphans": "bpy.data.meshes.new('orphan'); bpy.data.materials.new('orphan')",
    "random": "random.seed(5); random.random(); np.random.seed(6); np.random.rand()",
    "files": "bpy.app.handlers.frame_change_pre.append(lambda *a: open('written', 'a').write('x'))",
}


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    with open_session(tmp_path_factory.mktemp("looked_at"), exec_timeout=30) as session:
        good(session, "import bpy, bmesh, mathutils, os, random, sys\nimport numpy as np" + LOOK)
        yield session


@pytest.mark.parametrize("name", BEFORE_LOOK)
def test_measuring_and_drawing_change_nothing(looked_at: StepSession, name: str) -> None:
    """What the next step sees is what the last one left: measured, summed up over frames and drawn in between."""
    good(looked_at, f"{BEFORE_LOOK[name]}\nleft = look()", views=True)
    assert printed(looked_at, "now = look()\nprint(now == left)\nbpy.app.handlers.frame_change_pre.clear()") == "True"


def test_stale_matrix_stays_stale(looked_at: StepSession) -> None:
    """`matrix_world` after a change of location is the old one in the next step too, as in one script."""
    code = "cube = bpy.data.objects['Cube']\nbpy.context.view_layer.update()\ncube.location.x = 40"
    good(looked_at, code, views=True)
    assert printed(looked_at, "print(cube.matrix_world.translation.x == 40)\ncube.location.x = 0") == "False"


def test_edit_mode_stays(looked_at: StepSession) -> None:
    """A step finds edit mode and its uncommitted BMesh as the last one left it; sculpt mode too."""
    good(
        looked_at,
        """
        cube = bpy.data.objects['Cube']
        bpy.context.view_layer.objects.active = cube
        bpy.ops.object.mode_set(mode='EDIT')
        buffer = bmesh.from_edit_mesh(cube.data)
        buffer.verts.new((9, 9, 9))
        """,
        views=True,
    )
    code = "print(cube.mode, len(buffer.verts), len(cube.data.vertices))\nbpy.ops.object.mode_set(mode='SCULPT')"
    assert printed(looked_at, code) == "EDIT 9 8"
    assert printed(looked_at, "print(cube.mode)\nbpy.ops.object.mode_set(mode='OBJECT')") == "SCULPT"
    good(looked_at, "cube.data.vertices[8].co = (0, 0, 0)")


def test_undo_stays(looked_at: StepSession) -> None:
    """Undo steps are those that the steps pushed."""
    good(
        looked_at,
        """
        bpy.ops.ed.undo_push(message='one')
        bpy.data.objects['Cube'].location.y = 3
        bpy.ops.ed.undo_push(message='two')
        """,
        views=True,
    )
    assert printed(looked_at, "print(bpy.ops.ed.undo(), bpy.data.objects['Cube'].location.y)") == "{'FINISHED'} 0.0"


def test_simulation_is_not_advanced(looked_at: StepSession) -> None:
    """Sampling and drawing later frames does not fill the caches of a simulation."""
    code = """
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_end = 20
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 5))
    falling = bpy.context.object
    bpy.ops.rigidbody.object_add()
    for frame in range(1, 6):
        bpy.context.scene.frame_set(frame)
    """
    cache = "print(bpy.context.scene.rigidbody_world.point_cache.info, round(falling.matrix_world.translation.z, 4))"
    result = good(looked_at, code + "\n    " + cache, views=True)
    assert printed(looked_at, cache) == "\n".join(result.log.lines)


# renders

FILM = """
import bpy, os
scene = bpy.context.scene
scene.render.engine = 'BLENDER_WORKBENCH'
scene.display.render_aa = 'OFF'
scene.render.resolution_x = scene.render.resolution_y = 32
scene.render.resolution_percentage = 100
scene.cycles.samples = 1
scene.frame_end = 3
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    with open_session(tmp_path_factory.mktemp("studio"), exec_timeout=40, memory_mb=3000) as session:
        good(session, FILM)
        yield session


RENDERS = {
    "Workbench still": ("bpy.ops.render.render(write_still=True)", "PNG", ["out.png"]),
    "Cycles still": ("scene.render.engine = 'CYCLES'\nbpy.ops.render.render(write_still=True)", "PNG", ["out.png"]),
    "animation": (
        "bpy.ops.render.render(animation=True)",
        "PNG",
        ["out0001.png", "out0002.png", "out0003.png"],
    ),
    "film": ("bpy.ops.render.render(animation=True)", "FFMPEG", ["out0001-0003.mkv"]),
    "EXR": ("bpy.ops.render.render(write_still=True)", "OPEN_EXR", ["out.exr"]),
    "multilayer EXR": ("bpy.ops.render.render(write_still=True)", "OPEN_EXR_MULTILAYER", ["out.exr"]),
    "invoked": ("bpy.ops.render.render('INVOKE_DEFAULT', write_still=True)", "PNG", ["out.png"]),
    "compositor": (
        "scene.use_nodes = True\nbpy.ops.render.render(write_still=True)\nscene.use_nodes = False",
        "PNG",
        ["out.png"],
    ),
    "sequencer": (
        "strips = scene.sequence_editor_create().strips\n"
        "strip = strips.new_effect('c', 'COLOR', 1, frame_start=1, frame_end=9)\n"
        "bpy.ops.render.render(write_still=True)\nstrips.remove(strip)",
        "PNG",
        ["out.png"],
    ),
}


@pytest.mark.parametrize("name", RENDERS)
def test_render_in_a_step(studio: StepSession, name: str) -> None:
    """The model's own render writes its files, returns what Blender returns, and leaves a session that goes on."""
    code, file_format, files = RENDERS[name]
    *before, call, after = ["", *code.split("\n"), ""] if name not in ("compositor", "sequencer") else code.split("\n")
    steps = [
        "scene.render.engine = 'BLENDER_WORKBENCH'",
        f"scene.render.image_settings.file_format = '{file_format}'",
        "os.makedirs('out', exist_ok=True)",
        "scene.render.filepath = os.path.abspath('out/out')",
        *before,
        f"returned = {call}",
        after,
        "print(returned, sorted(os.listdir('out')))",
        "import shutil; shutil.rmtree('out')",
    ]
    assert printed(studio, "\n".join(steps)) == f"{{'FINISHED'}} {files}"
    assert not good(studio, "pass").rebuilt


def test_render_errors_come_back(studio: StepSession) -> None:
    """A render that Blender refuses raises in the step, with Blender's words; so does a wrong argument."""
    code = """
    camera, scene.camera = scene.camera, None
    for call in (lambda: bpy.ops.render.render(), lambda: bpy.ops.render.render(nonsense=1), bpy.ops.render.opengl):
        try:
            call()
        except Exception as error:
            print(type(error).__name__, str(error).strip()[:60])
    scene.camera = camera
    """
    lines = printed(studio, code).splitlines()
    assert "RuntimeError Error: Cannot render, no camera" in lines
    assert any(line.startswith("TypeError Converting py args") for line in lines)
    assert any("background mode" in line for line in lines)


def test_render_result_in_memory(studio: StepSession) -> None:
    """The pixels of a render are not in the session; the step fails and is told how to get them."""
    result = studio.step("bpy.ops.render.render()\nbpy.data.images['Render Result'].save_render('x.png')")
    assert result.outcome == "step_error"
    assert "write_still=True" in step_text(result)


def test_render_that_crashes_is_an_error_of_the_step(studio: StepSession) -> None:
    """A render child that dies raises in the step; the step may catch it and go on."""
    code = """
    def die(*arguments):
        os._exit(3)
    bpy.app.handlers.render_pre.append(die)
    try:
        bpy.ops.render.render()
    except RuntimeError as error:
        print(error)
    bpy.app.handlers.render_pre.clear()
    """
    assert "crashed while rendering" in printed(studio, code)


def test_endless_render_is_stopped(studio: StepSession) -> None:
    """A render that never ends counts as the step's own time."""
    with open_session(studio.workspace) as session:
        code = (
            FILM + "bpy.app.handlers.render_pre.append(lambda *a: [0 for _ in iter(int, 1)])\nbpy.ops.render.render()"
        )
        result = session.step(code)
        assert (result.outcome, result.seconds < 8) == ("timeout", True)
        good(session, "pass")


OPERATORS = {
    "bake": """
        scene.render.engine = 'CYCLES'
        cube = bpy.data.objects['Cube']
        bpy.context.view_layer.objects.active = cube
        cube.select_set(True)
        nodes = cube.data.materials[0].node_tree.nodes
        nodes.active = nodes.new('ShaderNodeTexImage')
        nodes.active.image = bpy.data.images.new('baked', 16, 16)
        print(bpy.ops.object.bake(type='EMIT'))
        nodes.remove(nodes.active)
        """,
    "image.save_render": """
        bpy.data.images.new('i', 4, 4).save_render('i.png')
        print({'FINISHED'} if os.path.exists('i.png') else 'no file')
        """,
    "save_as_mainfile": "print(bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath('s.blend'), copy=True))",
    "sound": "print(bpy.ops.sound.mixdown(filepath=os.path.abspath('a.wav')))",
    "glTF": "print(bpy.ops.export_scene.gltf(filepath=os.path.abspath('a.glb')))",
    "USD": "print(bpy.ops.wm.usd_export(filepath=os.path.abspath('a.usdc')))",
    "Alembic": "print(bpy.ops.wm.alembic_export(filepath=os.path.abspath('a.abc')))",
    "preview": """
        material = bpy.data.materials['Material']
        with bpy.context.temp_override(id=material):
            print(bpy.ops.ed.lib_id_generate_preview())
        """,
    "subdivision": """
        cube = bpy.data.objects['Cube']
        cube.modifiers.new('s', 'SUBSURF').levels = 5
        n = len(cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)
        cube.modifiers.clear()
        print({'FINISHED'} if n > 6000 else n)
        """,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_neither_draw_nor_hang(studio: StepSession, name: str) -> None:
    """Operators that one may suspect of drawing finish, twice in a row, in a session that is not lost."""
    for _ in range(2):
        assert "{'FINISHED'}" in printed(studio, OPERATORS[name]).splitlines()
    assert not good(studio, "bpy.ops.render.render(write_still=False)").rebuilt


@pytest.mark.timeout(120)
def test_sixty_steps_with_a_render_in_every_third(studio: StepSession) -> None:
    """Twenty renders between forty other steps hang nowhere and write twenty pictures."""
    for number in range(60):
        code = f"bpy.data.objects['Cube'].rotation_euler.z = {number / 10}\n"
        if number % 3 == 0:
            code += (
                "scene.render.engine, scene.render.image_settings.file_format = 'BLENDER_WORKBENCH', 'PNG'\n"
                f"scene.render.filepath = os.path.abspath('r{number}.png')\nbpy.ops.render.render(write_still=True)"
            )
        result = good(studio, code)
        assert not result.rebuilt
    pictures = sorted(studio.workspace.glob("r*.png"))
    assert len({picture.read_bytes() for picture in pictures}) == 20


# one script out of all steps


def run_bare(script: Path, timeout: float = 60) -> dict[str, Any]:
    """Run a script by itself with the Blender interpreter, and return the scene's state."""
    settings = HarnessSettings()
    environment = find_environment(settings)
    state = script.with_suffix(".json")
    program = (
        f"import sys, os, json, runpy\nsys.argv = [{str(script)!r}]\n"
        f"runpy.run_path({str(script)!r}, run_name='__main__')\n"
        f"sys.path.insert(0, {str(PROJECT_DIR)!r})\nfrom harness.in_blender.scene_state import scene_state\n"
        f"json.dump(scene_state(), open({str(state)!r}, 'w'))\nsys.stdout.flush()\nos._exit(0)\n"
    )
    variables = {
        **RUN_ENVIRONMENT,
        **library_environment((), libs_dir(settings, environment)),
        "HOME": str(script.parent),
    }
    ended = subprocess.run(
        [str(environment.python), "-c", program],
        cwd=script.parent,
        env={name: Jail.outside(word) for name, word in variables.items()},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    found: dict[str, Any] = json.loads(state.read_text())
    return found


def assert_replays(session: StepSession, folder: Path, *files: str) -> None:
    """The final script alone, in a folder with nothing but `files`, gives the session's scene."""
    for name in files:
        (folder / name).write_bytes((session.workspace / name).read_bytes())
    script = folder / "final_script.py"
    script.write_text(session.final_script(), encoding="utf-8")
    changes = diff(session.state, run_bare(script))
    assert summarise(changes) == []


@pytest.fixture(scope="module")
def start_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with two scenes, the second one in use, at frame 7."""
    folder = tmp_path_factory.mktemp("start")
    with open_session(folder) as session:
        good(
            session,
            """
            import bpy
            other = bpy.data.scenes.new('Other')
            other.collection.objects.link(bpy.data.objects['Cube'])
            bpy.context.window.scene = other if bpy.context.window else None
            bpy.data.objects['Cube'].name = 'Box'
            bpy.context.scene.frame_set(7)
            """,
        )
        session.save("room.blend")
    return folder / "room.blend"


@pytest.mark.parametrize("kind", ["factory", "empty", "file"])
def test_final_script_gives_the_scene(workspace: Path, tmp_path: Path, start_file: Path, kind: str) -> None:
    """From every kind of start, the steps as one script, run by the bare interpreter, give the same state."""
    (workspace / "room.blend").write_bytes(start_file.read_bytes())
    start = StepStart.model_validate({"kind": kind, "file": "room.blend" if kind == "file" else ""})
    with open_session(workspace, start) as session:
        good(
            session,
            '"""A docstring."""\nfrom __future__ import annotations; import bpy\nn: Unknown = len(bpy.data.objects)',
        )
        good(
            session, "def add(x: NotDefined) -> None:\n    bpy.ops.mesh.primitive_cone_add(location=(x, 0, n))\nadd(1)"
        )
        session.step("add(2)\nadd(None)")
        good(session, "add(3)\nbpy.context.object.modifiers.new('Bevel', 'BEVEL').width = 0.1")
        good(session, "assert __doc__ == 'A docstring.'" if kind != "empty" else "pass")
        assert_replays(session, tmp_path, *(["room.blend"] if kind == "file" else []))


def test_start_file_is_opened_as_it_is(workspace: Path, start_file: Path) -> None:
    """The first step finds the file's scene, objects and frame, and where the file is."""
    (workspace / "room.blend").write_bytes(start_file.read_bytes())
    with open_session(workspace, StepStart(kind="file", file="room.blend")) as session:
        assert sorted(key for key in session.state["blocks"] if key.startswith(("Object/", "Scene/"))) == [
            "Object/Box",
            "Object/Camera",
            "Object/Light",
            "Scene/Other",
            "Scene/Scene",
        ]
        code = "import bpy, os\nprint(bpy.context.scene.frame_current, bpy.path.abspath('//x') == os.path.abspath('x'))"
        assert printed(session, code) == "7 True"


def test_start_file_that_steps_overwrite(workspace: Path, start_file: Path) -> None:
    """A rebuilt session starts from the file as it was, even when a step has saved over it."""
    (workspace / "room.blend").write_bytes(start_file.read_bytes())
    with open_session(workspace, StepStart(kind="file", file="room.blend")) as session:
        good(session, "import bpy, os, time\nbpy.data.objects['Box'].name = 'Renamed'\nbpy.ops.wm.save_mainfile()")
        session.step("os.kill(os.getppid(), 9); time.sleep(9)")
        result = good(session, "print('Renamed' in bpy.data.objects)")
        assert (result.rebuilt_differs, result.log.lines) == (False, ("True",))


ODD_CODE = {
    "comment at the end": "a = 1  # no line end",
    "backslash at the end": "b = 1 + \\\n\n",
    "backslash before the end": "b = 1 \\\n\n",
    "block at the end": "if True:\n    c = 3\n    if a:\n        d = 4",
    "form feed": "\x0ce = 5\n\x0c\nf = 6\x0c",
    "tabs": "if True:\n\tg = 7\n\n\n",
    "Windows line ends": "h = '''x\r\ny'''\r\nassert h == 'x\\ny'\r\nif h:\r\n    i = 9\r\n",
    "old line ends": "j = 10\rk = 11\r",
    "byte order mark": "\ufeffl = 12",
    "names in other scripts": "größe = 3\nπ = 'ü😀\u2028'\nassert len(π) == 3",
    "coding line": "# -*- coding: latin-1 -*-\nm = 'é'\nassert len(m) == 1",
    "main guard": "if __name__ == '__main__':\n    n = 14",
    "only a comment": "# nothing",
    "nothing": "",
    "spaces": "   \n\t\n",
    "docstring": '"""A text."""\no = 15',
    "line in a string": "p = '''\n# step 1\n'''",
    "decorated class": "import dataclasses\n@dataclasses.dataclass\nclass Q:\n    r: int = 1\ns = Q().r",
    "global": "def t():\n    global u\n    u = 20\nt()",
    "semicolons": "v = 21; w = 22;",
    "type comment": "x = []  # type: list[int]",
}


@pytest.fixture(scope="module")
def odd_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StepSession, dict[str, StepResult]]]:
    with open_session(tmp_path_factory.mktemp("odd"), StepStart(kind="empty")) as session:
        yield session, {name: session.step(code) for name, code in ODD_CODE.items()}


def test_odd_code_joins(odd_session: tuple[StepSession, dict[str, StepResult]], tmp_path: Path) -> None:
    """Whatever its line ends, indents or last characters, code that ran as a step runs as a part of the script."""
    session, results = odd_session
    assert [name for name, result in results.items() if not result.ok] == ["backslash at the end"]
    names = sorted(good(session, "print(sorted(n for n in dir() if len(n) == 1))").log.lines)
    script = session.final_script() + "\nprint(sorted(n for n in dir() if len(n) == 1))\n"
    (tmp_path / "final_script.py").write_text(script, encoding="utf-8")
    assert diff(session.state, run_bare(tmp_path / "final_script.py")) == []
    assert "'π', 'größe'"[:3] in names[0]


PREFACES = {
    "none": "import bpy",
    "future": "from __future__ import annotations\nimport bpy",
    "futures on one line": "from __future__ import annotations; from __future__ import division; import bpy; x = 'ä'",
    "docstring": '"""Text\nof two lines."""\nimport bpy',
    "docstring and future": '"""ä"""; from __future__ import annotations; import bpy',
    "comments": (
        "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n'd'\n# x\nfrom __future__ import (\n    annotations,\n)\n\nx = 1"
    ),
    "Windows": '"""d"""\r\nfrom __future__ import annotations\r\nx = 1\r\n',
    "only future": "from __future__ import annotations",
    "nothing": "",
    "bytes": "b'no docstring'\nx = 1",
}


@pytest.mark.parametrize("name", PREFACES)
@pytest.mark.parametrize("kind", ["factory", "empty", "file"])
def test_opening_lines_stand_where_they_may(name: str, kind: str) -> None:
    """The lines that open the start come before the first step's code, after its docstring and future imports."""
    code = PREFACES[name]
    start = StepStart.model_validate({"kind": kind, "file": "a.blend" if kind == "file" else ""})
    script = final_script(start, [(1, code), (2, "y = 2")])
    body = ast.parse(script).body
    compile(script, "final_script.py", "exec")
    own = [ast.dump(node) for node in ast.parse(code.replace("\r\n", "\n")).body]
    opening = [ast.dump(node) for node in ast.parse(start.script()).body]
    got = [ast.dump(node) for node in body]
    assert [node for node in got if node not in opening] == [n for n in own if n not in opening] + [
        ast.dump(ast.parse("y = 2").body[0])
    ]
    assert ast.get_docstring(ast.parse(script)) == ast.get_docstring(ast.parse(code))
    if kind == "factory":
        assert script.count(code) == 1 or name == "nothing"


# saving


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    with open_session(tmp_path_factory.mktemp("furnished")) as session:
        good(
            session,
            """
            import bpy, numpy as np
            cube = bpy.data.objects['Cube']
            picture = bpy.data.images.new('picture', 8, 8)
            picture.pixels.foreach_set(np.tile(np.array([1, 0.5, 0.25, 1], dtype=np.float32), 64))
            picture.update()
            file = bpy.data.images.new('file', 4, 4)
            file.filepath_raw, file.file_format = '//picture.png', 'PNG'
            file.filepath_raw = __file__.replace('final_script.py', 'picture.png')
            file.save()
            nodes = cube.data.materials[0].node_tree.nodes
            for image in (picture, bpy.data.images.load(file.filepath_raw)):
                nodes.new('ShaderNodeTexImage').image = image
            bpy.data.images.load('/nowhere/missing.png', check_existing=False) if False else None
            cube.keyframe_insert('location', frame=1)
            cube.location.x = 4
            cube.keyframe_insert('location', frame=50)
            """,
        )
        yield session


def test_saved_file_holds_the_scene(furnished: StepSession, tmp_path: Path) -> None:
    """The saved file, opened elsewhere, has the live state, with pictures inside; the live scene stays as it is."""
    before = furnished.state
    path = furnished.save()
    assert path == furnished.workspace / "scene.blend"
    assert path.read_bytes()[:4] in (b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08\x00")  # compressed
    (tmp_path / "scene.blend").write_bytes(path.read_bytes())
    with open_session(tmp_path, StepStart(kind="file", file="scene.blend")) as opened:
        assert summarise(diff(before, opened.state)) == []
        code = "import bpy\nprint(sorted(i.name for i in bpy.data.images if i.packed_file))"
        assert printed(opened, code) == "['picture', 'picture.png']"
        strings = "print([p for p in bpy.utils.blend_paths() if p.startswith(('/workspace', '/tmp'))])"
        assert printed(opened, strings) in ("[]", "['/workspace/picture.png']")
    result = good(furnished, "print({i.packed_file for i in bpy.data.images}, bpy.data.filepath == '')")
    assert (result.n_changes, result.log.lines) == (0, ("{None} True",))
    assert not list(furnished.workspace.glob("*.blend1"))


HOSTILE = {
    "raises": "def f(*a):\n    raise ValueError\nbpy.app.handlers.save_pre.append(f)",
    "hangs": "def f(*a):\n    while True: pass\nfor when in ('pre', 'post'):\n"
    "    getattr(bpy.app.handlers, f'save_{when}').append(f)",
    "in the way": "import os; os.makedirs('scene.blend/x')",
    "a link": "import os; os.symlink('/etc/passwd', 'scene.blend')",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_saving_against_resistance(workspace: Path, name: str) -> None:
    """Handlers of the script do not run while saving, and what stands in the way is removed."""
    with open_session(workspace) as session:
        good(session, f"import bpy\n{HOSTILE[name]}")
        started = time.monotonic()
        path = session.save()
        assert time.monotonic() - started < 5
        assert not path.is_symlink()
        assert path.read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
        good(session, "pass")


def test_saving_that_hangs_is_an_error(workspace: Path) -> None:
    """What hangs all the same (a driver) ends in an error that says so, in time, and the session goes on."""
    code = """
    import bpy, time
    bpy.app.driver_namespace['hang'] = lambda: time.sleep(60) if hanging else 1.0
    hanging = False
    bpy.data.objects['Cube'].driver_add('location', 0).driver.expression = 'hang()'
    bpy.context.view_layer.update()
    """
    with open_session(workspace) as session:
        good(session, code)
        result = good(session, "hanging = True\nbpy.data.objects['Cube'].update_tag()")
        assert (result.state_hash, result.changes) == (None, ("(the scene could not be measured)",))
        with pytest.raises(HarnessError, match="could not be saved: it crashed or took too long"):
            session.save()
        good(session, "hanging = False")
        session.save()


# whole sessions

TWENTY = """
## ok
import bpy, bmesh, math, os, random, sys, time, ctypes
random.seed(3)
scene = bpy.context.scene
scene.render.engine = 'BLENDER_WORKBENCH'
scene.render.resolution_x = scene.render.resolution_y = 32
scene.display.render_aa = 'OFF'
scene.frame_end = 12
## ok
bpy.data.objects.remove(bpy.data.objects['Cube'])
bpy.ops.mesh.primitive_plane_add(size=10)
ground = bpy.context.object
## ok
bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 2))
monkey = bpy.context.object
monkey.modifiers.new('Smooth', 'SUBSURF').levels = 2
monkey.modifiers.new('Solid', 'SOLIDIFY').thickness = 0.1
## step_error
monkey.location = (random.random(), 9, 9)
raise RuntimeError('four')
## ok
red = bpy.data.materials.new('Red')
red.use_nodes = True
nodes, links = red.node_tree.nodes, red.node_tree.links
nodes['Principled BSDF'].inputs['Base Color'].default_value = (0.8, 0.05, 0.02, 1)
links.new(nodes.new('ShaderNodeTexNoise').outputs['Fac'], nodes['Principled BSDF'].inputs['Roughness'])
monkey.data.materials.append(red)
## ok
monkey.keyframe_insert('rotation_euler', frame=1)
monkey.rotation_euler.z = math.pi
monkey.keyframe_insert('rotation_euler', frame=12)
## ok
scene.render.filepath = os.path.abspath('one.png')
assert bpy.ops.render.render(write_still=True) == {'FINISHED'}
## timeout
bpy.data.objects.remove(monkey)
open('one.png', 'w').write('x')
while True: pass
## ok
bpy.context.view_layer.objects.active = ground
bpy.ops.rigidbody.object_add(type='PASSIVE')
balls = []
for i in range(5):
    x = random.uniform(-2, 2)
    bpy.ops.mesh.primitive_ico_sphere_add(radius=0.3, location=(x, 0, 3 + i))
    bpy.ops.rigidbody.object_add()
    balls.append(bpy.context.object)
## ok
for frame in range(1, 13):
    scene.frame_set(frame)
for ball in balls:
    ball['landed'] = ball.matrix_world.translation[:]
scene.frame_set(1)
## ok
bpy.ops.mesh.primitive_grid_add(size=2, x_subdivisions=8, y_subdivisions=8, location=(3, 0, 3))
cloth = bpy.context.object
cloth.modifiers.new('Cloth', 'CLOTH').settings.quality = 2
for frame in range(1, 6):
    scene.frame_set(frame)
scene.frame_set(1)
## crash
del balls
ctypes.string_at(0)
## ok
tree = bpy.data.node_groups.new('Scatter', 'GeometryNodeTree')
tree.interface.new_socket('Geometry', in_out='INPUT', socket_type='NodeSocketGeometry')
tree.interface.new_socket('Geometry', in_out='OUTPUT', socket_type='NodeSocketGeometry')
names = ('NodeGroupInput', 'GeometryNodeDistributePointsOnFaces', 'GeometryNodeMeshCone')
begin, points, cone = (tree.nodes.new(name) for name in names)
place, end = tree.nodes.new('GeometryNodeInstanceOnPoints'), tree.nodes.new('NodeGroupOutput')
points.inputs['Density'].default_value = 0.5
tree.links.new(begin.outputs[0], points.inputs['Mesh'])
tree.links.new(points.outputs['Points'], place.inputs['Points'])
tree.links.new(cone.outputs['Mesh'], place.inputs['Instance'])
tree.links.new(place.outputs[0], end.inputs[0])
## ok
bpy.ops.mesh.primitive_grid_add(size=4, location=(-4, 0, 0))
bpy.context.object.modifiers.new('Scatter', 'NODES').node_group = tree
## ok
scene.render.filepath = os.path.abspath('film_')
bpy.ops.render.render(animation=True)
assert len([name for name in os.listdir() if name.startswith('film_')]) == 12
## out_of_memory
x = []
while True: x.append(bytearray(b'1' * (20 << 20)))
## ok
scene.render.engine = 'CYCLES'
scene.cycles.samples = 1
scene.render.filepath = os.path.abspath('cycles.png')
bpy.ops.render.render(write_still=True)
## ok
bm = bmesh.new()
bmesh.ops.create_cube(bm, size=1)
bmesh.ops.bevel(bm, geom=bm.edges[:], offset=0.1, segments=2, affect='EDGES')
bevelled = bpy.data.objects.new('Bevelled', bpy.data.meshes.new('Bevelled'))
bm.to_mesh(bevelled.data)
bm.free()
scene.collection.objects.link(bevelled)
## ok
bevelled.parent = monkey
bevelled.constraints.new('TRACK_TO').target = ground
scene.camera.data.lens = 20 + 10 * random.random()
## refused
sys.exit('twenty')
## ok
scene.world.color = (0.1, 0.2, 0.3)
scene.frame_set(1)
"""
"""Steps and how each ends."""


@pytest.mark.timeout(150)
def test_twenty_steps_of_which_some_fail(workspace: Path, tmp_path: Path) -> None:
    """Modelling, materials, physics, nodes and renders, with steps that fail between them, replay to an empty diff."""
    with open_session(workspace, exec_timeout=8, memory_mb=1500) as session:
        for number, step in enumerate(TWENTY.split("\n## ")[1:], start=1):
            outcome, _, code = step.partition("\n")
            result = session.step(code)
            assert (result.number, result.outcome) == (number, outcome), step_text(result)
            assert not result.rebuilt
        assert sorted(p.name for p in workspace.iterdir())[:3] == ["cycles.png", "film_0001.png", "film_0002.png"]
        assert (workspace / "one.png").read_bytes()[:4] == b"\x89PNG"
        path = session.save()
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        assert_replays(session, elsewhere)
        opened_in = tmp_path / "opened"
        opened_in.mkdir()
        (opened_in / "scene.blend").write_bytes(path.read_bytes())
        with open_session(opened_in, StepStart(kind="file", file="scene.blend")) as opened:
            assert summarise(diff(session.state, opened.state)) == []


@pytest.fixture
def leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[int, list[str], set[int]]]:
    """Tells this process's descriptors, the folders it has made in /tmp, and its living descendants."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    def look() -> tuple[int, list[str], set[int]]:
        processes = {process.pid for process in psutil.Process().children(recursive=True) if is_alive(process)}
        return len(list(Path("/proc/self/fd").iterdir())), sorted(path.name for path in folder.iterdir()), processes

    return look


@pytest.mark.timeout(180)
def test_a_hundred_sessions_leave_nothing_behind(workspace: Path, leftovers: Callable[[], object]) -> None:
    """After 100 sessions, two at a time, some of them lost, no process, folder or descriptor is left."""
    before = leftovers()

    def run_one(number: int) -> None:
        folder = workspace / str(number)
        folder.mkdir()
        session = open_session(folder)
        session.start()
        if number % 10 == 0:
            good(session, "x = 1")
        if number % 20 == 0:
            session.step("import os\nif os.fork() == 0:\n    os.setsid()\n    os.execv('/bin/sleep', ['sleep', '600'])")
        if number % 50 == 0:
            session.step("import os\nos.kill(os.getppid(), 9)\nwhile True: pass")
        session.close()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(run_one, range(100)))
    assert leftovers() == before


def test_closing_twice_and_without_start(workspace: Path, leftovers: Callable[[], object]) -> None:
    """A session can be closed before it was started, and again."""
    before = leftovers()
    session = open_session(workspace)
    session.close()
    session.close()
    assert leftovers() == before


def test_start_that_cannot_be(workspace: Path, leftovers: Callable[[], object]) -> None:
    """A start file that is no .blend is an error of the harness at once, and leaves nothing behind."""
    (workspace / "room.blend").write_text("no blend")
    before = leftovers()
    start = StepStart(kind="file", file="room.blend")
    with pytest.raises(HarnessError, match="did not start"), open_session(workspace, start):
        pass
    assert leftovers() == before


def sessions_naming(marker: str) -> list[int]:
    """Processes whose working directory or command line tells that they are of a session in `marker`."""
    found = []
    for process in psutil.process_iter(["cmdline", "status"]):
        try:
            if process.info["status"] != psutil.STATUS_ZOMBIE and (
                marker in " ".join(process.info["cmdline"] or [])
                or marker in str(Path(f"/proc/{process.pid}/cwd").readlink())
            ):
                found.append(process.pid)
        except OSError:
            continue
    return found


def is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def wait_until(is_so: Callable[[], bool], seconds: float = 6) -> bool:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_so()


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_session_ends_with_its_thread(workspace: Path, sandbox: str) -> None:
    """When the thread that started a session ends, Blender ends too; another thread gets it rebuilt."""
    session = open_session(workspace, sandbox=sandbox)

    def begin() -> None:
        session.start()
        good(session, "x = 4")

    others = set(psutil.Process().children(recursive=True))
    thread = threading.Thread(target=begin)
    thread.start()
    thread.join()
    below = set(psutil.Process().children(recursive=True)) - others
    assert wait_until(lambda: not any(is_alive(process) for process in below))
    assert good(session, "print(x)").rebuilt
    session.close()


@pytest.mark.parametrize("sandbox", ["auto", "off"])
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_session_ends_with_the_harness(workspace: Path, sandbox: str, busy: bool) -> None:
    """When the harness is killed, idle or in the middle of a step, nothing of the session is left within seconds."""
    marker = f"--{workspace}-{sandbox}-{busy}"
    step = f"import os, time\nprint('running')\nif os.fork() == 0:\n    os.execv('/bin/sleep', ['{marker}', '600'])\n"
    program = (
        f"import sys; sys.path.insert(0, {str(PROJECT_DIR)!r})\nfrom pathlib import Path\n"
        "from harness.settings import HarnessSettings\nfrom harness.step_session import StepSession\n"
        f"session = StepSession(Path({str(workspace)!r}), HarnessSettings(sandbox={sandbox!r}))\n"
        "session.start()\nprint('started', flush=True)\n"
        + (f"session.step({step + 'time.sleep(600)'!r})\n" if busy else "import time; time.sleep(600)\n")
    )
    variables = {**os.environ, "TMPDIR": str(workspace.parent)}  # a killed harness cannot delete its folders
    harness = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, env=variables)
    assert harness.stdout is not None
    assert harness.stdout.readline() == "started\n"
    if busy:
        assert wait_until(lambda: bool(sessions_naming(marker)))
    below = psutil.Process(harness.pid).children(recursive=True)
    assert below
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    harness.stdout.close()
    assert wait_until(lambda: not any(is_alive(process) for process in below))
    assert sessions_naming(marker) == []
