"""A sandbox can be ended at any moment, and thousands can be started: nothing of them stays on the machine."""

import os
import random
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from harness.sandbox import Jail, Limits, SandboxedProcess, choose_level, launch
from harness.sandbox.jail import identity_files
from harness.sandbox.owner import mark
from tests.conftest import processes_naming

N_AT_ONCE = 12
LEVEL = choose_level("auto")
STUBBORN = (
    "trap '' TERM HUP INT; setsid sleep {0} & (setsid nohup sleep {0} >/dev/null 2>&1 &); while sleep {0}; do :; done"
)


def jail(workspace: Path) -> Jail:
    return Jail(workspace, files=identity_files(), environment={"PATH": "/usr/bin:/bin"}, tmp_mb=16)


def at_once(work: Callable[[int], None], numbers: Iterable[int]) -> None:
    """Do `work` for each number in a few threads. Each starts its sandbox and waits for it."""
    with ThreadPoolExecutor(N_AT_ONCE) as threads:
        list(threads.map(work, numbers))


@pytest.fixture
def workspaces(tmp_path: Path) -> Callable[[], Path]:
    """A folder for each thread."""
    local = threading.local()

    def mine() -> Path:
        if not hasattr(local, "folder"):
            local.folder = Path(tempfile.mkdtemp(dir=tmp_path))
        folder: Path = local.folder
        return folder

    return mine


@pytest.fixture
def nothing_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Afterwards this process has the descriptors, mounts, temporary files and children that it had before."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    launch(["/bin/true"], jail(temporary), Limits(timeout_seconds=10, tmp_mb=16), LEVEL)

    def look() -> dict[str, object]:
        return {
            "descriptors": sorted(os.listdir("/proc/self/fd")),  # noqa: PTH208 - its own descriptor is the same
            "mounts": Path("/proc/self/mounts").read_text(),
            "temporary files": sorted(temporary.rglob("*")),
            "children": psutil.Process().children(recursive=True),
            "sandboxes": processes_naming(mark()),
        }

    before = look()
    yield
    assert look() == before


@pytest.mark.timeout(120)
def test_a_thousand_kills_leave_no_process(nothing_left: None, workspaces: Callable[[], Path]) -> None:
    """1,000 sandboxes with stubborn daemons, killed at random moments up to 300 ms after their start.

    Every other one before anything was read from it: its init is not known then.
    """
    marker = f"86405.{os.getpid()}"
    moments = random.Random(7)
    seconds = [moments.uniform(0, 0.3) for _ in range(1000)]

    def kill_one(number: int) -> None:
        process = SandboxedProcess(jail(workspaces()), Limits(timeout_seconds=30, tmp_mb=16), LEVEL)
        try:
            process.start(["/bin/sh", "-c", STUBBORN.format(marker)])
            if number % 2:
                assert process.watch(timeout_seconds=seconds[number]) == "timeout"
            else:
                time.sleep(seconds[number])
        finally:
            process.close()

    at_once(kill_one, range(1000))
    assert processes_naming(marker) == []


@pytest.mark.timeout(120)
def test_five_hundred_starts_leave_nothing(nothing_left: None, workspaces: Callable[[], Path]) -> None:
    """500 commands that end by themselves, one in five with a daemon, one in five past its time."""
    marker = f"86406.{os.getpid()}"
    commands = ["true", "echo x > f", f"(setsid sleep {marker} &)", "exit 3", f"sleep {marker}"]

    def start_one(number: int) -> None:
        command = commands[number % len(commands)]
        seconds = 0.2 if command.startswith("sleep") else 20.0
        limits = Limits(timeout_seconds=seconds, tmp_mb=16)
        ended = launch(["/bin/sh", "-c", command], jail(workspaces()), limits, LEVEL)
        assert ended.returncode == {"exit 3": 3, f"sleep {marker}": None}.get(command, 0), ended.output.text()

    at_once(start_one, range(500))
    assert processes_naming(marker) == []
