"""The launcher: what a sandboxed process can see and do, how it is bounded, and that nothing of it survives."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.sandbox import LEVEL_NAMES, RESULT_FD, Bind, Exit, Jail, Level, Limits, launch, working_levels
from harness.sandbox.jail import identity_files
from tests.conftest import processes_naming

LEVELS = working_levels()
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/tmp/home"}
ALL = pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)


def run(command: str, workspace: Path, level: Level, **limits: object) -> Exit:
    """A shell command in an empty jail."""
    jail = Jail(workspace, files=identity_files(), environment=ENVIRONMENT, tmp_mb=64)
    merged: dict[str, object] = {"timeout_seconds": 20, "tmp_mb": 64, **limits}
    return launch(["/bin/bash", "-c", command], jail, Limits(**merged), level)  # type: ignore[arg-type]


def sandboxed(command: str, workspace: Path, **limits: object) -> Exit:
    return run(command, workspace, LEVELS[0], **limits)


def test_this_machine_has_a_sandbox() -> None:
    """The tests of this project run where bubblewrap works, and the levels below it."""
    assert tuple(level.name for level in LEVELS) == LEVEL_NAMES


@ALL
@pytest.mark.parametrize(
    ("command", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -SEGV $$", 139), ("kill -9 $$", 137)]
)
def test_exit_status(tmp_path: Path, level: Level, command: str, status: int) -> None:
    """The status is the command's, 128 + n for signal n, at every level."""
    assert run(command, tmp_path, level).returncode == status


@ALL
def test_workspace_is_shared(tmp_path: Path, level: Level) -> None:
    """The command starts in the workspace, and what it writes there stays."""
    (tmp_path / "in").write_text("hello")
    assert run("cat in > out", tmp_path, level).returncode == 0
    assert (tmp_path / "out").read_text() == "hello"


@ALL
def test_result_pipe(tmp_path: Path, level: Level) -> None:
    """What is written to the result pipe arrives apart from the output."""
    jail = Jail(tmp_path, environment=ENVIRONMENT)
    command = ["/bin/bash", "-c", "echo result >&$0; echo output", RESULT_FD]
    ended = launch(command, jail, Limits(timeout_seconds=10), level)
    assert (ended.result, ended.output.text()) == (b"result\n", "output\n")


@ALL
def test_environment_is_only_what_is_given(tmp_path: Path, level: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the harness is there, neither in the process's environment nor in that of any process it sees."""
    monkeypatch.setenv("CANARY_API_KEY", "canary-" + "value")
    command = "env; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'" if level.is_confined else "env"
    text = run(command, tmp_path, level).output.text()
    assert "PATH=" in text
    assert "canary-value" not in text


def test_paths_of_the_host_are_not_there(tmp_path: Path) -> None:
    """Home folders, this project and the host's /tmp cannot be read; the options cannot be read from /proc."""
    here = Path(__file__).resolve()
    text = sandboxed(
        f"ls /root /home '{here.parent}' /var 2>&1; cat '{here}'; tr '\\0' ' ' < /proc/1/cmdline", tmp_path
    ).output.text()
    assert text.count("No such file") >= 5
    assert str(tmp_path) not in text


READ_ONLY = ["/x", "/usr/x", "/etc/x", "/dev/x", "/opt/x", "/proc/1/oom_score_adj"]
SYSTEM_SETTINGS = ["kernel/core_pattern", "kernel/hostname", "vm/overcommit_memory", "vm/drop_caches", "fs/file-max"]


@pytest.mark.parametrize("path", [*READ_ONLY, *(f"/proc/sys/{name}" for name in SYSTEM_SETTINGS)])
def test_only_the_workspace_and_tmp_are_writable(tmp_path: Path, path: str) -> None:
    """The root, the system, devices, and the machine's own settings are read-only, also where root runs the harness.

    A writable kernel.core_pattern is a way out: the kernel runs what stands there as root, outside.
    """
    # what is written is what stands there, so that a failing test does not change the machine
    text = sandboxed(
        f'v=$(cat {path} 2>/dev/null); echo "${{v:-3}}" > {path} && echo WROTE; echo x > /tmp/x && echo ok', tmp_path
    )
    assert "WROTE" not in text.output.text()
    assert text.output.text().endswith("ok\n")


@pytest.fixture
def loopback_port() -> Iterator[int]:
    """A listening port of the host."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_no_network(tmp_path: Path, loopback_port: int) -> None:
    """Not even the host's own loopback is reachable."""
    text = sandboxed(f"echo x > /dev/tcp/127.0.0.1/{loopback_port} && echo CONNECTED", tmp_path).output.text()
    assert "CONNECTED" not in text


PYTHON = Path(sys.base_prefix)


def python_jail(workspace: Path) -> Jail:
    """A jail in which the test's own Python runs."""
    libraries = (PYTHON / "lib",)
    return Jail(
        workspace,
        binds=() if Path("/usr") == PYTHON else (Bind(PYTHON, "/opt/python"),),
        files=identity_files(),
        environment={**ENVIRONMENT, "LD_LIBRARY_PATH": libraries},
        tmp_mb=64,
    )


def run_python(source: str, workspace: Path, **limits: object) -> Exit:
    merged: dict[str, object] = {"timeout_seconds": 20, "tmp_mb": 64, **limits}
    command = [Path(sys.base_prefix) / "bin/python3.11", "-c", source]
    return launch(command, python_jail(workspace), Limits(**merged), LEVELS[0])  # type: ignore[arg-type]


def test_system_calls_are_filtered(tmp_path: Path) -> None:
    """Namespaces, foreign socket families, memfd and ptrace are refused."""
    source = """
import ctypes, os, socket
libc = ctypes.CDLL(None, use_errno=True)
for family in (socket.AF_INET, socket.AF_INET6, 16, 40):
    try: socket.socket(family, socket.SOCK_DGRAM); print('SOCKET', family)
    except OSError: pass
socket.socket(socket.AF_UNIX)
try: os.memfd_create('x'); print('MEMFD')
except OSError: pass
if libc.unshare(0x10000000) == 0: print('UNSHARE')
if libc.ptrace(0, 0, 0, 0) == 0: print('PTRACE')
if libc.syscall(250, 0, 0, 0, 0) >= 0: print('KEYCTL')
print('done')
"""
    assert run_python(source, tmp_path).output.text() == "done\n"


def test_tmp_is_sized(tmp_path: Path) -> None:
    """/tmp and /dev/shm are full at their size instead of filling the memory."""
    text = sandboxed(
        "head -c 200M /dev/zero > /tmp/x; head -c 200M /dev/zero > /dev/shm/x; stat -c %s /tmp/x /dev/shm/x", tmp_path
    ).output.text()
    sizes = [int(word) for word in text.split() if word.isdigit()]
    assert len(sizes) == 2
    assert max(sizes) <= 64 << 20


LIMIT_CASES = [
    ("timeout", "trap '' TERM INT HUP; sleep 60", {"timeout_seconds": 1}),
    ("output", "yes", {"output_mb": 2}),
    ("disk", "head -c 80M /dev/zero > f; sleep 30", {"disk_mb": 20}),
    ("files", "for i in $(seq 3000); do : > f$i; done; sleep 30", {"max_files": 1000}),
    ("memory", "x=$(head -c 150M /dev/zero | tr '\\0' x); sleep 30", {"memory_mb": 100}),
    ("processes", "for i in $(seq 60); do sleep 30 & done; wait", {"max_processes": 30}),
]  # fmt: skip


@ALL
@pytest.mark.parametrize(("cause", "command", "limits"), LIMIT_CASES, ids=[case[0] for case in LIMIT_CASES])
def test_each_limit_stops_and_is_named(
    tmp_path: Path, level: Level, cause: str, command: str, limits: dict[str, int]
) -> None:
    """Whatever passes a limit is stopped, and the limit named; RLIMIT_NPROC may keep it from passing."""
    started = time.monotonic()
    ended = run(command, tmp_path, level, **limits)
    assert time.monotonic() - started < 15
    if cause == "processes" and os.geteuid() != 0:
        assert ended.stopped_by in (None, cause)
    else:
        assert (ended.stopped_by, ended.returncode) == (cause, None)


@ALL
def test_daemons_die_with_the_command(tmp_path: Path, level: Level) -> None:
    """Processes that were put into the background in their own session do not outlive the command."""
    marker = f"86401.{os.getpid()}{LEVELS.index(level)}"
    started = time.monotonic()
    ended = run(f"setsid sleep {marker} & (setsid nohup sleep {marker} >/dev/null 2>&1 &) ; exit 0", tmp_path, level)
    assert time.monotonic() - started < 10
    assert ended.returncode == 0
    assert processes_naming(marker) == []


def test_sixty_kills_at_random_moments_leave_nothing(tmp_path: Path) -> None:
    """Stopping a sandbox between 0 and 150 ms after its start leaves no process of it."""
    marker = f"86402.{os.getpid()}"
    for number in range(60):
        ended = sandboxed(f"setsid sleep {marker} & sleep {marker}", tmp_path, timeout_seconds=number * 0.0025)
        assert ended.stopped_by == "timeout"
        assert processes_naming(marker) == []


def test_killed_harness_takes_its_sandbox_along(tmp_path: Path) -> None:
    """When the harness itself is killed, what ran in its sandbox ends."""
    marker = f"86403.{os.getpid()}"
    source = (
        "from pathlib import Path\nfrom harness.sandbox import *\n"
        f"jail = Jail(Path({str(tmp_path)!r}))\n"
        f"launch(['/bin/sleep', '{marker}'], jail, Limits(timeout_seconds=60), choose_level('auto'))\n"
    )
    harness = subprocess.Popen([sys.executable, "-c", source], cwd=Path(__file__).resolve().parents[3])
    deadline = time.monotonic() + 20
    while not [line for line in processes_naming(marker) if line.startswith("/bin/sleep")]:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    deadline = time.monotonic() + 10
    while processes_naming(marker):
        assert time.monotonic() < deadline, processes_naming(marker)
        time.sleep(0.05)


def test_launches_from_many_threads(tmp_path: Path) -> None:
    """Sixteen launches at once, from threads that end at once, do not mix anything up."""
    outputs: dict[int, str] = {}

    def one(number: int) -> None:
        outputs[number] = sandboxed(f"echo {number}", tmp_path).output.text()

    threads = [threading.Thread(target=one, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == {number: f"{number}\n" for number in range(16)}


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    """A launch gives back every descriptor that it opened."""
    sandboxed("true", tmp_path)
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for level in LEVELS:
        run("true", tmp_path, level)
        run("sleep 9", tmp_path, level, timeout_seconds=0.2)
    assert len(os.listdir("/proc/self/fd")) == len(before)  # noqa: PTH208
