"""However a session ends, and however often, nothing of it is left."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from harness.errors import HarnessError
from harness.final_script import StepStart
from harness.interpreter import PROJECT_DIR
from tests.harness.sessions import good, open_session

pytestmark = pytest.mark.blender


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
