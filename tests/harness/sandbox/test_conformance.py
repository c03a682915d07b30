"""One suite for every backend: what code inside can do to the machine outside, stated for each and tried.

`HOLDS` is the table. A backend that is not named in a row does not promise it; where that is a known gap of Landlock,
`GAPS` shows that it is one.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from harness.sandbox import RESULT_FD, Bind, Exit, Jail, Level, Limits, working_levels
from harness.sandbox.confine import SIGNALS_ABI
from harness.sandbox.process import SandboxedProcess
from tests.conftest import processes_naming

LEVELS: dict[str, Level] = {level.name: level for level in working_levels()}
BWRAP, FILTERED, NAMED = ("bwrap+seccomp", "bwrap"), ("bwrap+seccomp", "landlock+seccomp"), tuple(LEVELS)
CONFINED = ("bwrap+seccomp", "bwrap", "landlock+seccomp")
SECRET = "outside-the-sandbox"
PYTHON = Path(sys.base_prefix)

HOLDS: dict[str, tuple[tuple[str, ...], str]] = {
    # files
    "read": (CONFINED, "print(open(secret_file).read())"),
    "read by a link": (CONFINED, "os.symlink(secret_file, 'link'); print(open('link').read())"),
    "read by a hard link": (CONFINED, "os.link(secret_file, 'hard'); print(open('hard').read())"),
    "read by a descriptor": (CONFINED, "print(open(f'/proc/{process}/cwd/secret').read())"),
    "list": (CONFINED, "print(*os.listdir(outside))"),
    "write": (CONFINED, "open(outside + '/new', 'w').write('x')"),
    "overwrite": (CONFINED, "open(secret_file, 'w').write('x')"),
    "truncate": (CONFINED, "os.truncate(secret_file, 0)"),
    "delete": (CONFINED, "os.unlink(secret_file)"),
    "rename in": (CONFINED, "os.rename(secret_file, 'mine')"),
    "rename out": (CONFINED, "open('mine', 'w'); os.rename('mine', outside + '/new')"),
    "make a folder": (CONFINED, "os.mkdir(outside + '/new')"),
    "change the mode": (CONFINED, "os.chmod(secret_file, 0o640)"),
    "change the mode by its folder": (CONFINED, "os.chmod('secret', 0o640, dir_fd=os.open(outside, os.O_PATH))"),
    "change the owner": (CONFINED, "os.chown(secret_file, 1234, 1234)"),
    "change attributes": (CONFINED, "os.setxattr(secret_file, 'user.x', b'x')"),
    "a device": (CONFINED, "os.mknod('memory', 0o600 | 0o020000, os.makedev(1, 1)); print('OUT')"),
    "list the folder above": (CONFINED, "print('OUT', *os.listdir(os.path.dirname(outside)))"),
    "system settings": (CONFINED, "f = '/proc/sys/vm/overcommit_memory'; v = open(f).read(); open(f, 'w').write(v);"
                        "print('OUT')"),
    # other processes
    "environment": (CONFINED, "print(open(f'/proc/{process}/environ').read())"),
    "environments": (CONFINED, "[print(of(p, 'environ')) for p in pids()]"),
    "memory": (CONFINED, "open(f'/proc/{process}/mem', 'rb'); print('OUT')"),
    "command lines": (BWRAP, "any('sleep' + chr(0) + command in of(p, 'cmdline') for p in pids()) and print('OUT')"),
    "signal": (CONFINED, "os.kill(process, 9)"),
    "signal all": (CONFINED, "(pid := os.fork()) and os.waitpid(pid, 0) or os.setsid() or os.kill(process, 15)"),
    "signal by a descriptor": (CONFINED, "signal.pidfd_send_signal(os.pidfd_open(process), 9)"),
    "ptrace": (CONFINED, "libc.ptrace(16, process, 0, 0) == 0 and print('OUT')"),
    "limit to death": (CONFINED, "resource.prlimit(process, resource.RLIMIT_CPU, (0, 0)); print('OUT')"),
    # network and services
    "port": (CONFINED, "socket.create_connection(('127.0.0.1', port), 2)"),
    "abstract socket": (CONFINED, "socket.socket(socket.AF_UNIX).connect(chr(0) + abstract)"),
    "socket in a folder": (CONFINED, "socket.socket(socket.AF_UNIX).connect(outside + '/stream')"),
    "datagram": (CONFINED, "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', outside + '/datagram')"),
    "datagram of a pair": (CONFINED,
                           "socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', outside + '/datagram')"),
    "network socket": (FILTERED, "socket.socket(socket.AF_INET, socket.SOCK_DGRAM); print('OUT')"),
    "other sockets": (FILTERED, "[socket.socket(family, socket.SOCK_DGRAM) and print('OUT') for family in (16, 40)]"),
    # rights
    "capabilities": (CONFINED, "0 == int(status()['CapEff'], 16) or print('OUT')"),
    "new rights": (CONFINED, "status()['NoNewPrivs'] == '1' or print('OUT')"),
    "namespaces": (CONFINED, "libc.unshare(0x10000000) == 0 and print('OUT')"),
    "system calls": (FILTERED, "libc.syscall(250, 0, 0, 0, 0) >= 0 and print('OUT')"),
    "hidden memory": (FILTERED, "os.memfd_create('x'); print('OUT')"),
    # nothing is inherited
    "descriptors": (NAMED, "left = {int(d) for d in os.listdir('/proc/self/fd')} - {0, 1, 2, result, 3, 4}\n"
                    "left = [d for d in left if os.path.exists(f'/proc/self/fd/{d}')]\nleft and print('OUT', left)"),
    "our environment": (NAMED, "SECRET in str(os.environ) and print('OUT')"),
}  # fmt: skip
"""What is tried -> where it must fail, and the attempt, which prints OUT or the secret, or leaves a mark."""

GAPS = {
    "size and time of files": "print('OUT', os.stat(secret_file).st_size)",
    "times of files can be set": "os.utime(secret_file, (1, 1)); print('OUT')",
    "processes are seen": "print('OUT' if command in open(f'/proc/{process}/cmdline').read() else '')",
}
"""What Landlock does not keep from code."""

PRELUDE = """
import ctypes, os, resource, signal, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
pids = lambda: [int(name) for name in os.listdir('/proc') if name.isdigit()]
status = lambda: dict(line.split(':', 1) for line in open('/proc/self/status').read().replace('\\t', '').splitlines())
SECRET = 'outside-' 'the-sandbox'

def of(pid, name):
    try:
        return open(f'/proc/{pid}/{name}', errors='replace').read()
    except OSError:
        return ''

result = int(sys.argv[1])
"""


@dataclass
class Outside:
    """What stands outside, and whether something was done to it."""

    folder: Path
    process: "subprocess.Popen[bytes]"
    servers: list[socket.socket]
    command: str

    def __post_init__(self) -> None:
        self.before = self._look()

    def _look(self) -> list[tuple[object, ...]]:
        states = [(entry.name, entry.lstat()) for entry in sorted(self.folder.iterdir())]
        marks: list[tuple[object, ...]] = [(name, s.st_size, s.st_mode, s.st_uid, s.st_nlink) for name, s in states]
        return [*marks, *((path, os.listxattr(path)) for path in self.folder.glob("secret"))]

    def damage(self) -> list[str]:
        """What has happened."""
        time.sleep(0.02)
        found = [] if self._look() == self.before else ["a file was changed"]
        found += [] if self.process.poll() is None else ["the process was ended"]
        return found + [f"{server.getsockname()!r} was reached" for server in self.servers if _was_reached(server)]


def _was_reached(server: socket.socket) -> bool:
    server.settimeout(0)
    try:
        if server.type == socket.SOCK_STREAM:
            server.accept()[0].close()
        else:
            server.recv(9)
    except OSError:
        return False
    return True


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    """A file, a process with the secret in its environment, and servers."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text(SECRET)
    command = f"86404.{os.getpid()}"
    servers = [socket.create_server(("127.0.0.1", 0)), socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)]
    servers.append(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
    for server, address in zip(servers[1:], ("\0" + folder.as_posix()[-60:], folder / "stream", folder / "datagram"),
                               strict=True):  # fmt: skip
        server.bind(str(address))
    for server in servers[1:3]:
        server.listen()
    with subprocess.Popen(["/bin/sleep", command], env={"TOKEN": SECRET}, cwd=folder) as process:
        yield Outside(folder, process, servers, command)
        process.kill()
    for server in servers:
        server.close()


def run(command: list[str | Path], workspace: Path, level: Level, **limits: float) -> Exit:
    from harness.sandbox import launch

    workspace.mkdir(exist_ok=True)
    jail = Jail(
        workspace,
        binds=() if Path("/usr") == PYTHON else (Bind(PYTHON, "/opt/python"),),
        environment={"PATH": "/usr/bin:/bin", "LD_LIBRARY_PATH": (PYTHON / "lib",)},
        tmp_mb=64,
    )
    asked: dict[str, float] = {"timeout_seconds": 20, "tmp_mb": 64, **limits}
    return launch(command, jail, Limits(**asked), level)  # type: ignore[arg-type]


def attempt(source: str, outside: Outside, workspace: Path, level: Level) -> str:
    """What it printed, its errors included."""
    names = {
        "outside": str(outside.folder),
        "secret_file": str(outside.folder / "secret"),
        "process": outside.process.pid,
        "port": outside.servers[0].getsockname()[1],
        "abstract": outside.folder.as_posix()[-60:],
        "command": outside.command,
    }
    lines = [f"{name} = {value!r}" for name, value in names.items()]
    code = "\n".join([PRELUDE, *lines, source])
    return run([PYTHON / "bin/python3.11", "-c", code, RESULT_FD], workspace, level).output.text()


def promised_at(what: str) -> list[str]:
    """The levels of this machine on which an attempt must fail."""
    names: list[str] = [name for name in LEVELS if name in HOLDS[what][0]]
    if "signal" in what:  # a kernel without scopes does not promise it under Landlock
        names = [name for name in names if not 0 < LEVELS[name].landlock_abi < SIGNALS_ABI]
    return names


@pytest.mark.parametrize(("what", "name"), [(what, name) for what in HOLDS for name in promised_at(what)])
def test_it_holds(tmp_path: Path, outside: Outside, what: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempt fails: nothing of the outside is printed, and nothing outside has changed."""
    level = LEVELS[name]
    monkeypatch.setenv("SOME_KEY", SECRET)
    text = attempt(HOLDS[what][1], outside, tmp_path / "ws", level)
    assert "SyntaxError" not in text
    assert "NameError" not in text
    assert SECRET not in text
    assert "OUT" not in text, text
    assert outside.damage() == []


@pytest.mark.parametrize(
    "what", [what for what, (names, _) in HOLDS.items() if names == CONFINED and "cap" not in what]
)
def test_the_attempts_are_real(tmp_path: Path, outside: Outside, what: str) -> None:
    """With limits only each of them gets out, or fails for a reason of this machine that is named."""
    text = attempt(HOLDS[what][1], outside, tmp_path / "ws", LEVELS["limits-only"])
    got_out = SECRET in text or "OUT" in text or bool(outside.damage()) or "secret" in text.split()
    refusals = ["Operation not permitted", "Operation not supported"]
    if os.geteuid() != 0:  # which may do less with no sandbox at all
        refusals += ["Permission denied", "Read-only file system"]
    assert got_out or any(refusal in text for refusal in refusals), text


@pytest.mark.parametrize("what", GAPS)
def test_what_landlock_lets_through(tmp_path: Path, outside: Outside, what: str) -> None:
    """The documented gaps are gaps; bubblewrap has none of them."""
    assert "OUT" in attempt(GAPS[what], outside, tmp_path / "ws", LEVELS["landlock+seccomp"])
    assert "OUT" not in attempt(GAPS[what], outside, tmp_path / "ws", LEVELS["bwrap+seccomp"])


HONEST = {
    "a file": "open('f', 'w').write('x'); os.rename('f', 'g'); os.link('g', 'h'); os.unlink('g')",
    "folders": "os.makedirs('a/b'); open('a/b/f', 'w'); os.rename('a/b/f', 'f'); os.rmdir('a/b')",
    "temporary files": "import tempfile; tempfile.TemporaryFile(); open(tempfile.gettempdir() + '/x', 'w')",
    "a copy with its mode": "import shutil; open('f', 'w'); shutil.copy('f', 'g'); shutil.copy2('f', 'h')",
    "processes": "import subprocess; subprocess.run(['sh', '-c', 'kill -9 $$']).returncode == -9 or 1 / 0",
    "a forked process": "import multiprocessing as m; m.Pipe(); p = m.Process(target=print); p.start(); p.join()",
    "threads": "import threading; t = threading.Thread(target=print); t.start(); t.join()",
    "devices": "open('/dev/null', 'w').write('x'); open('/dev/urandom', 'rb').read(4); open('/dev/zero', 'rb').read(4)",
    "its own process": "open('/proc/self/maps').read(); open('/proc/self/environ').read(); os.listdir('/proc/self/fd')",
    "memory of the machine": "open('/proc/meminfo').read()",
}


@pytest.mark.parametrize("level", LEVELS.values(), ids=lambda level: level.name)
@pytest.mark.parametrize("what", HONEST)
def test_honest_work_is_possible(tmp_path: Path, outside: Outside, what: str, level: Level) -> None:
    """What programs usually do works at every level."""
    assert attempt(f"{HONEST[what]}\nprint('fine')", outside, tmp_path / "ws", level).endswith("fine\n")


@pytest.mark.parametrize("end", ["by itself", "timeout"])
@pytest.mark.parametrize("level", LEVELS.values(), ids=lambda level: level.name)
def test_daemons_are_dead_at_the_end(tmp_path: Path, level: Level, end: str) -> None:
    """Those in sessions of their own, that ignore every signal, too: after the command, and after a timeout."""
    marker = f"86405.{os.getpid()}"
    daemon = f"(trap '' TERM HUP INT; setsid nohup sh -c 'trap \"\" TERM; sleep {marker}' >/dev/null 2>&1 &) &"
    last = "sleep 0.2" if end == "by itself" else f"sleep {marker}"
    ended = run(["/bin/bash", "-c", f"{daemon * 5} {last}"], tmp_path / "ws", level, timeout_seconds=2)
    assert ended.stopped_by == (None if end == "by itself" else "timeout")
    assert processes_naming(marker) == []


@pytest.mark.parametrize("level", LEVELS.values(), ids=lambda level: level.name)
def test_many_forks_are_stopped(tmp_path: Path, level: Level) -> None:
    """Processes that multiply while they are being killed end all the same."""
    marker = f"86406.{os.getpid()}"
    source = f"f() {{ sleep {marker} & [ $1 -gt 0 ] && {{ f $(($1 - 1)) & f $(($1 - 1)) & }}; wait; }}; f 6"
    ended = run(["/bin/bash", "-c", source], tmp_path / "ws", level, max_processes=40)
    assert ended.stopped_by in ("processes", "timeout")
    assert processes_naming(marker) == []


@pytest.mark.parametrize("level", LEVELS.values(), ids=lambda level: level.name)
def test_the_private_place_is_bounded(tmp_path: Path, level: Level) -> None:
    """What is written beside the workspace is bounded too: by its size, or by the watchdog."""
    source = "head -c 200M /dev/zero > ${TMPDIR:-/tmp}/x; stat -c %s ${TMPDIR:-/tmp}/x; sleep 2"
    ended = run(["/bin/bash", "-c", source], tmp_path / "ws", level, disk_mb=64)
    assert ended.stopped_by == "disk" or "No space left" in ended.output.text()


@pytest.mark.parametrize("name", ["landlock+seccomp", "limits-only"])
def test_a_killed_supervisor(tmp_path: Path, name: str) -> None:
    """The command dies with it. A daemon lives on, with Landlock as confined as before: it still reads nothing."""
    level, workspace = LEVELS[name], tmp_path / "ws"
    workspace.mkdir()
    (tmp_path / "secret").write_text(SECRET)
    marker = f"86407.{os.getpid()}"
    daemon = f"setsid sh -c 'touch ready; sleep 1; cat {tmp_path}/secret > leak; touch alive' & sleep {marker}"
    process = SandboxedProcess(Jail(workspace, environment={"PATH": "/usr/bin:/bin"}), Limits(), level)
    try:
        process.start(["/bin/bash", "-c", daemon])
        deadline = time.monotonic() + 30
        while not (workspace / "ready").exists():
            assert time.monotonic() < deadline, process.output.text()
            process.watch(timeout_seconds=0.02)
        os.kill(process._pid, signal.SIGKILL)
        assert process.watch(timeout_seconds=5) == "ended"
        assert process.returncode is None or process.returncode < 0
        while not (workspace / "alive").exists():
            assert time.monotonic() < deadline, process.output.text()
            time.sleep(0.05)
    finally:
        process.close()
        for left in psutil.process_iter(["cmdline"]):
            if left.info["cmdline"] == ["sleep", marker]:
                left.kill()
    assert (workspace / "leak").read_text() == ("" if level.is_confined else SECRET)
