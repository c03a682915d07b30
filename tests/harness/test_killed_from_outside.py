"""A Blender that somebody outside kills, or that the machine has no room for, is no fault of what runs in it."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from harness.errors import DiskFull, NotEnoughMemory
from harness.execute import execute
from harness.sandbox import process as sandboxed
from harness.settings import HarnessSettings
from harness.step_session import StepSession
from tests.conftest import FILM, RENDER, TINY

pytestmark = pytest.mark.blender

SLOW_CUBE = "time.sleep(2.5)\nbpy.ops.mesh.primitive_cube_add(location=(3, 0, 0))"


def python_below(word: str) -> list[psutil.Process]:
    """Our Blenders that run the program `word`, oldest first."""
    found = []
    for one in psutil.Process().children(recursive=True):
        try:
            if one.name().startswith("python") and any(word in argument for argument in one.cmdline()):
                found.append(one)
        except psutil.NoSuchProcess:
            continue
    return found


@contextmanager
def killing(word: str, which: int, after: float) -> Iterator[list[int]]:
    """Kill one of the processes of `word`, once, `after` seconds after there is one. Yields the pids killed."""
    killed: list[int] = []

    def kill() -> None:
        deadline = time.monotonic() + 30
        while not python_below(word) and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(after)
        victim = python_below(word)[which]
        victim.send_signal(signal.SIGKILL)
        killed.append(victim.pid)

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        thread.join()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[StepSession]:
    with StepSession(tmp_path, HarnessSettings(visual_feedback=False)) as session:
        assert session.step("import bpy, time").ok
        yield session


@pytest.mark.parametrize("which", [0, 1, -1], ids=["root", "head", "step"])
def test_a_step_whose_blender_is_killed_is_run_again(session: StepSession, which: int) -> None:
    """Whichever of its processes it is: the step takes effect, once, and its result tells of the new Blender."""
    with killing("session.py", which, 1.0) as killed:
        result = session.step(SLOW_CUBE)
    assert killed
    assert (result.outcome, result.rebuilt, result.rebuilt_differs) == ("ok", True, False)
    assert result.changes == ("+ Object 'Cube.001'", "+ Mesh 'Cube.001'")
    assert [step.number for step in session.good_steps] == [1, 2]


def test_a_run_whose_blender_is_killed_is_run_again(tmp_path: Path) -> None:
    """Its result is that of the second run."""
    (tmp_path / "main.py").write_text(f"import time\ntime.sleep(1.5)\n{FILM}{RENDER}")
    with killing("run_script.py", 0, 0.7) as killed:
        result = execute("main.py", tmp_path, HarnessSettings.model_validate(TINY))
    assert killed
    assert result.ok, result.problems


def test_a_disk_that_somebody_else_fills_is_not_the_steps_doing(
    session: StepSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that wrote nothing has no result; it is no `limit`."""
    monkeypatch.setattr(sandboxed, "_LEAST_DISK_MB", 1 << 40)  # as if so much had to be free
    assert session._process is not None
    session._process._free_at_start_mb = 1 << 41
    with pytest.raises(DiskFull, match=r"\d+ MiB were left"):
        session.step(SLOW_CUBE)


def test_memory_that_somebody_else_takes_is_not_the_steps_doing(
    session: StepSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that took no more than it may has no result; it is not `out_of_memory`."""
    monkeypatch.setattr(sandboxed, "_LEAST_MEMORY_MB", 1 << 40)  # as if so much had to be free
    with pytest.raises(NotEnoughMemory, match=r"\d+ MiB were left"):
        session.step(SLOW_CUBE)
