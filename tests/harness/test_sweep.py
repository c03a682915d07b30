"""What a killed harness leaves is gone after the next start of any command; a living one is not touched."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from harness.folders import private_folder
from harness.sandbox import choose_level
from harness.sandbox.owner import mark
from harness.sweep import sweep
from tests.conftest import processes_naming

ROOT = Path(__file__).resolve().parents[2]

RUN = """
import sys
from pathlib import Path
from harness.blender import run_in_blender
from harness.settings import HarnessSettings
workspace = Path(sys.argv[1])
(workspace / 's.py').write_text("import time\\nopen('ready', 'w')\\ntime.sleep(600)")
run_in_blender('run_script.py', ['s.py', '3'], workspace=workspace, settings=HarnessSettings())
"""
SESSION = """
import sys
from pathlib import Path
from harness.settings import HarnessSettings
from harness.step_session import StepSession
with StepSession(Path(sys.argv[1]), HarnessSettings()) as session:
    session.step("open('ready', 'w')\\nimport time\\ntime.sleep(600)")
"""
MANY_STARTS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from harness.folders import private_folder
from harness.sandbox import Jail, Limits, choose_level, launch
level = choose_level('auto')
(Path(sys.argv[1]) / 'ready').touch()
def start(_):
    with private_folder('test') as folder:
        launch(['/bin/sleep', sys.argv[2]], Jail(folder, tmp_mb=16), Limits(timeout_seconds=30, tmp_mb=16), level)
with ThreadPoolExecutor(4) as threads:
    list(threads.map(start, range(4)))
"""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files of everything that a test starts."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def start_harness(source: str, folder: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A harness of its own, which has come so far that it made `ready` in `folder`."""
    folder.mkdir(exist_ok=True)
    harness = subprocess.Popen([sys.executable, "-c", source, folder, *arguments], cwd=ROOT)
    await_true((folder / "ready").exists)
    return harness


def await_true(holds: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def below(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    return psutil.Process(process.pid).children(recursive=True)


def is_alive(process: psutil.Process) -> bool:
    """Whether it runs; one that nobody has waited for does not."""
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def kill(harness: subprocess.Popen[bytes]) -> None:
    harness.send_signal(signal.SIGKILL)
    harness.wait()


def sweep_elsewhere() -> None:
    """As the next command does it."""
    subprocess.run([sys.executable, "-c", "from harness.sweep import sweep; sweep()"], cwd=ROOT, check=True, timeout=60)


@pytest.mark.parametrize("source", [RUN, SESSION], ids=["run", "session"])
def test_after_a_kill_the_next_start_leaves_a_clean_machine(tmp_path: Path, temporary: Path, source: str) -> None:
    """Killed in the middle of a run and of a session: no process and no temporary folder after a sweep."""
    harness = start_harness(source, tmp_path / "workspace")
    processes = below(harness)
    assert len(processes) >= 3
    kill(harness)
    assert list(temporary.iterdir()) != []
    sweep_elsewhere()
    await_true(lambda: not any(is_alive(process) for process in processes), 10)
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("source", [RUN, SESSION], ids=["run", "session"])
def test_a_living_harness_is_untouched(tmp_path: Path, temporary: Path, source: str) -> None:
    """While it works, a sweep takes nothing from it."""
    harness = start_harness(source, tmp_path / "workspace")
    try:
        processes, folders = below(harness), sorted(temporary.rglob("*"))
        sweep_elsewhere()
        assert all(is_alive(process) for process in processes)
        assert sorted(temporary.rglob("*")) == folders
    finally:
        kill(harness)
        sweep()


@pytest.mark.timeout(120)
def test_killed_in_its_first_moments(tmp_path: Path, temporary: Path) -> None:
    """Twenty times, with four sandboxes that have only just been started: nothing stays."""
    marker, moments = f"86407.{os.getpid()}", random.Random(3)
    for number in range(20):
        harness = start_harness(MANY_STARTS, tmp_path / str(number), marker)
        time.sleep(moments.uniform(0, 0.08))
        name = mark().replace(f"-{os.getpid()}-", f"-{harness.pid}-").rpartition("-")[0]
        kill(harness)
        await_true(lambda: not left_after_a_sweep(marker, name), 10)  # noqa: B023 - called here
        assert list(temporary.iterdir()) == []


def left_after_a_sweep(*names: str) -> list[str]:
    """A child of the killed one that had not become bubblewrap yet when a sweep looked is found by the next."""
    sweep()
    return [line for name in names for line in processes_naming(name)]


def start_orphan(name: str) -> psutil.Popen:
    """A bubblewrap with this name that does not end with whoever started it."""
    level = choose_level("auto")
    options = ["--unshare-user", "--unshare-pid", "--ro-bind", "/usr", "/usr", "--symlink", "usr/lib", "/lib",
               "--symlink", "usr/lib64", "/lib64", "/usr/bin/sleep", "600"]  # fmt: skip
    process = psutil.Popen([name, *options], executable=level.bwrap)
    await_true(lambda: len(process.children(recursive=True)) == 2)
    return process


def dead_owner() -> str:
    with subprocess.Popen(["/bin/true"]) as gone:
        pass
    return f"blendscribe-sandbox-of-{gone.pid}-1"


def another_process_with_the_same_pid() -> str:
    return f"blendscribe-sandbox-of-{os.getpid()}-1"


@pytest.mark.parametrize("name", [dead_owner, another_process_with_the_same_pid])
def test_orphans_of_the_dead_are_ended(temporary: Path, name: Callable[[], str]) -> None:
    """Both halves of a sandbox end, also if the owner's pid is another process now."""
    orphan = start_orphan(name())
    inner = orphan.children(recursive=True)
    sweep()
    orphan.wait(10)
    assert not any(is_alive(process) for process in inner)


@pytest.mark.parametrize("name", [mark, lambda: "bwrap", lambda: f"x {dead_owner()}"], ids=["ours", "bwrap", "other"])
def test_other_sandboxes_are_left_alone(temporary: Path, name: Callable[[], str]) -> None:
    """Those of a living harness, and those that somebody else started."""
    sandbox = start_orphan(name())
    inner = sandbox.children(recursive=True)
    try:
        sweep()
        time.sleep(0.1)
        assert len(sandbox.children(recursive=True)) == 2
    finally:
        sandbox.kill()
        for process in inner:
            with suppress(psutil.NoSuchProcess):  # the second half ends with the first
                process.kill()
        sandbox.wait()


def test_only_our_abandoned_folders_are_removed(temporary: Path) -> None:
    """A held folder stays, and so do files, links, and folders of other names."""
    (temporary / "blendscribe-run-x.held/deep").mkdir(parents=True)
    (temporary / "blendscribe-without-mark").mkdir()
    (temporary / "blendscribe-file.held").touch()
    (temporary / "other").mkdir()
    (temporary / "blendscribe-link.held").symlink_to(temporary / "other")
    with private_folder("test") as held:
        sweep()
        stay = {"blendscribe-without-mark", "blendscribe-file.held", "other", "blendscribe-link.held"}
        assert {path.name for path in temporary.iterdir()} == {held.name, *stay}
    assert not held.exists()


def test_folders_of_other_users_stay(temporary: Path) -> None:
    """Root clears away what is root's or a sandbox's; an ordinary user has only folders of their own to test with."""
    is_root = os.geteuid() == 0
    for name, owner in (("theirs", 12345), ("sandbox", 2_000_000_001)):
        (temporary / f"blendscribe-{name}.held").mkdir()
        if is_root:
            os.chown(temporary / f"blendscribe-{name}.held", owner, owner)
    sweep()
    assert [path.name for path in temporary.iterdir()] == (["blendscribe-theirs.held"] if is_root else [])


def test_folders_can_be_made_during_sweeps(temporary: Path) -> None:
    """While others sweep without a pause, each new folder is there as long as it is used, and gone afterwards."""
    source = "import time\nfrom harness.sweep import sweep\nend = time.time() + 4\nwhile time.time() < end: sweep()"
    sweepers = [subprocess.Popen([sys.executable, "-c", source], cwd=ROOT) for _ in range(2)]
    while any(sweeper.poll() is None for sweeper in sweepers):
        with private_folder("test") as folder:
            (folder / "file").write_text("x")
            time.sleep(0.002)
            assert (folder / "file").read_text() == "x"
    assert [sweeper.returncode for sweeper in sweepers] == [0, 0]
    assert list(temporary.iterdir()) == []


COMMANDS = [
    ["run", "no-such-file.yaml", "-m", "scripted/demo", "-o", "run"],
    ["replay", "no-such-episode", "--all"],
    ["doctor", "--python", "/no/such/python"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_commands_begin_with_it(tmp_path: Path, temporary: Path, command: list[str]) -> None:
    """`run`, `replay` and `doctor` clear away what is left, also where they go no further."""
    (temporary / "blendscribe-run-x.held").mkdir()
    blendscribe = "from agent_plugin.cli import main; main()"
    subprocess.run(
        [sys.executable, "-c", blendscribe, *command],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=60,
    )
    assert list(temporary.iterdir()) == []
    shutil.rmtree(tmp_path / "run", ignore_errors=True)
