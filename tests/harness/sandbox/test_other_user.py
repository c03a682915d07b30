"""What runs in the sandbox of a root harness is a user of its own, and the files are root's again afterwards.

Where an ordinary user runs the tests the sandbox is that user, and the same facts hold without any of it.
"""

import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from harness.sandbox import Bind, Exit, Jail, Limits, SandboxedProcess, choose_level, launch
from harness.sandbox.jail import identity_files
from harness.sandbox.other_user import can_be_had, is_sandbox_uid
from tests.conftest import RunScript
from tests.harness.sandbox.test_launch import python_jail

LEVEL = choose_level("auto")
IS_ROOT = os.geteuid() == 0


def jail(workspace: Path) -> Jail:
    return Jail(workspace, files=identity_files(), environment={"PATH": "/usr/bin:/bin"}, tmp_mb=64)


def run(command: str, workspace: Path, meanwhile: Callable[[], object] = lambda: None) -> Exit:
    limits = Limits(timeout_seconds=20, tmp_mb=64)
    return launch(["/bin/bash", "-c", command], jail(workspace), limits, LEVEL, meanwhile=meanwhile)


def run_python(source: str, workspace: Path, **limits: int) -> Exit:
    bound = [bind.host for bind in python_jail(workspace).binds] or [Path("/usr")]  # the system's needs no bind
    command = [bound[0] / "bin/python3.11", "-c", source]
    bounds = {"timeout_seconds": 20, "tmp_mb": 64, **limits}
    return launch(command, python_jail(workspace), Limits(**bounds), LEVEL)  # type: ignore[arg-type]


def await_file(path: Path) -> os.stat_result:
    deadline = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
    return path.stat()


def test_root_has_it_here() -> None:
    """Where root runs the tests, sandboxes have a user of their own; nobody else needs one."""
    assert can_be_had(LEVEL) == IS_ROOT


def test_files_are_theirs_while_it_runs_and_ours_afterwards(tmp_path: Path) -> None:
    """The workspace, what was in it, and what is written, belong to the sandbox's user, then to the harness."""
    (tmp_path / "before").write_text("a")
    (tmp_path / "before").chmod(0o600)
    seen = []

    def look() -> None:
        seen.extend([await_file(tmp_path / "sub/new"), tmp_path.stat(), (tmp_path / "before").stat()])
        (tmp_path / "seen").touch()

    command = "echo b >> before && mkdir sub && touch sub/new && while [ ! -e seen ]; do sleep 0.01; done; id -u"
    assert run(command, tmp_path, look).output.text() == "1000\n"
    assert {is_sandbox_uid(state.st_uid) for state in seen} == {IS_ROOT}
    assert len({state.st_uid for state in seen}) == 1
    for path in (tmp_path, *tmp_path.rglob("*")):
        assert (path.stat().st_uid, path.stat().st_gid) == (os.geteuid(), os.getegid())
    assert (tmp_path / "before").read_text() == "ab\n"
    assert (tmp_path / "before").stat().st_mode & 0o777 == 0o600


FORK_UNTIL_REFUSED = """
import os, resource, time
resource.setrlimit(resource.RLIMIT_NPROC, (30, 30))
n = 0
try:
    while n < 200:
        if os.fork() == 0:
            time.sleep(30)
        n += 1
except BlockingIOError:
    print('refused after', n, flush=True)
os._exit(0)
"""


def test_kernel_counts_processes(tmp_path: Path) -> None:
    """RLIMIT_NPROC holds, also where root runs the harness."""
    words = run_python(FORK_UNTIL_REFUSED, tmp_path).output.text().split()
    assert words[:2] == ["refused", "after"]
    assert 20 <= int(words[2]) < 30


def test_fork_bomb_stops_at_the_limit(tmp_path: Path) -> None:
    """A bomb does not get beyond the limit for a moment, whatever the watchdog sees."""
    allowed = 40 + 4 * (os.cpu_count() or 1)  # what `process.py` sets, for threads of Blender
    ended = run_python(
        "import os\nwhile True:\n try: os.fork()\n except OSError: pass", tmp_path, max_processes=40, timeout_seconds=5
    )
    assert ended.stopped_by in ("processes", "timeout")
    assert ended.peak.n_processes <= allowed + 3  # bubblewrap's own init, and the command that stops it in time


def test_it_has_no_right_over_its_init(tmp_path: Path) -> None:
    """No capability is left, none can come back, and where root runs the harness pid 1 is out of reach."""
    text = run("grep -E '^(Cap|NoNewPrivs)' /proc/self/status; kill -9 1; echo alive", tmp_path).output.text()
    values = dict(line.split(":\t") for line in text.splitlines() if ":\t" in line)
    assert {name for name, value in values.items() if int(value, 16)} <= {
        "NoNewPrivs",
        *(() if IS_ROOT else ["CapBnd"]),
    }
    assert text.endswith("alive\n")


def test_two_in_one_workspace(tmp_path: Path) -> None:
    """An agent's bash ends while a live Blender goes on in the same folder: what is there stays writable."""
    (tmp_path / "shared").write_text("")
    first = SandboxedProcess(jail(tmp_path), Limits(timeout_seconds=20, tmp_mb=64), LEVEL)
    try:
        first.start(["/bin/bash", "-c", "while [ ! -e go ]; do sleep 0.01; done; echo a >> shared && echo b >> made"])
        assert run("echo x > made", tmp_path).returncode == 0
        (tmp_path / "go").touch()
        first.watch(timeout_seconds=20)
    finally:
        first.close()
    assert first.output.text() == ""
    assert [(tmp_path / name).read_text() for name in ("shared", "made")] == ["a\n", "x\nb\n"]
    assert {path.stat().st_uid for path in tmp_path.iterdir()} == {os.geteuid()}


def test_nothing_outside_changes_its_owner(tmp_path: Path) -> None:
    """Links are not followed, and files of other users keep theirs."""
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").touch()
    workspace = tmp_path / "workspace"
    (workspace / "sub").mkdir(parents=True)
    (workspace / "file").symlink_to(outside / "file")
    (workspace / "sub/folder").symlink_to(outside / "folder")
    (workspace / "theirs").touch()
    if IS_ROOT:
        os.chown(workspace / "theirs", 12345, 12345)
    owners: list[int] = []

    def look() -> None:
        await_file(workspace / "started")
        owners.extend(path.stat().st_uid for path in (outside, outside / "file", outside / "folder"))
        owners.append((workspace / "theirs").stat().st_uid)
        (workspace / "seen").touch()

    run("touch started; while [ ! -e seen ]; do sleep 0.01; done", workspace, look)
    own = os.geteuid()
    assert owners == [own, own, own, 12345 if IS_ROOT else own]
    assert (workspace / "theirs").stat().st_uid == owners[-1]


def test_folders_swapped_while_they_are_handed_over(tmp_path: Path) -> None:
    """What runs in the workspace swaps a folder for a link all the time: nothing behind the link gets another owner."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    swap = f"""
mkdir a b; touch a/file; ln -s '{outside}' link; touch ready
while [ ! -e stop ]; do mv -T a b/a; mv -T link a; mv -T a link; mv -T b/a a; done
"""
    thread = threading.Thread(target=run, args=(swap, workspace))
    thread.start()
    try:
        await_file(workspace / "ready")
        for _ in range(20):
            run("true", workspace)
            assert (outside / "file").stat().st_uid == os.geteuid()
    finally:
        (workspace / "stop").touch()
        thread.join()


def test_a_killed_harness_leaves_files_that_the_next_one_can_use(tmp_path: Path) -> None:
    """Files that still belong to a sandbox's user are handed over and taken back like ours."""
    (tmp_path / "old").write_text("a\n")
    if IS_ROOT:
        os.chown(tmp_path / "old", 2_000_000_123, 2_000_000_123)
    assert run("echo b >> old", tmp_path).returncode == 0
    assert (tmp_path / "old").read_text() == "a\nb\n"
    assert (tmp_path / "old").stat().st_uid == os.geteuid()


def test_what_only_the_harness_may_read_is_run_as_before(tmp_path: Path) -> None:
    """Where something bound is closed to others the sandbox has the harness's user, and works."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "f").write_text("content")
    workspace = tmp_path / "w"
    workspace.mkdir()
    closed_jail = replace(jail(workspace), binds=(Bind(closed, "/opt/closed"),))
    ended = launch(["/bin/cat", "/opt/closed/f", "/proc/self/uid_map"], closed_jail, Limits(timeout_seconds=9), LEVEL)
    assert ended.output.text().startswith("content")
    assert len(ended.output.text().splitlines()) == 1


def test_blender_is_another_user_too(run_script: RunScript) -> None:
    """Also where Blender's Python lies under root's home, which nobody else may enter."""
    result = run_script("print('users', len(open('/proc/self/uid_map').readlines()))")
    assert f"users {2 if IS_ROOT else 1}" in str(result.log)
