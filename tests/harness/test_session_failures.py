"""Steps that fail leave no mark, and a session that is lost is made again."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.state_diff import diff, summarise
from harness.step_report import step_text
from harness.step_session import StepSession
from tests.harness.sessions import BEGIN, good, open_session

pytestmark = pytest.mark.blender


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    """A shared session without a sandbox."""
    with open_session(tmp_path_factory.mktemp("limited"), sandbox="off") as session:
        good(session, BEGIN)
        yield session


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
    "many processes": (
        "for n in range(200):\n    if os.fork() == 0: time.sleep(60)\ntime.sleep(60)",
        {"limit", "step_error"},
    ),
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
        killed = session.step("os.kill(os.getppid(), 9); time.sleep(9)")  # it is run again, so that it rebuilds itself
        assert (killed.outcome, killed.steps_lost, killed.rebuilt_differs) == ("crash", (2,), True)
        result = good(session, "print(y, 'Cube' in bpy.data.objects)")
        assert (result.steps_lost, result.rebuilt_differs, result.log.lines) == ((), False, ("2 True",))
        assert [step.number for step in session.good_steps] == [1, 3, 5]
