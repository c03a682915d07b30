"""Where root runs the harness, what it runs in bubblewrap is another user: a uid that nobody has, one a workspace.

Root's processes are not counted by RLIMIT_NPROC (a fork bomb of 400 went through a limit of 100, also as uid 1000 of a
user namespace), and whatever root owns on the machine would be the script's own. Measured with bubblewrap 0.8:
- To start bubblewrap itself as another user fails where Python lies under root's home (0700): it looks up what it
  binds by name, after it has given up all rights, also for `--bind-fd` and /proc/self/fd/N ("Permission denied").
- So root makes a user namespace of two users, 0 and 1000; bubblewrap joins it and mounts as 0, and `setpriv` becomes
  1000 for good before the command starts. What is bound needs no path that 1000 could walk. It costs 6 ms.
  As pid 1 belongs to 0, the command cannot kill it or write its memory either.

The folders that the sandbox may write are handed over to its user, and back when the last sandbox in them has ended:
an agent's bash and a live Blender share one. Only what root or a sandbox owns changes its owner. Where any of it
cannot be (fewer capabilities, an old bubblewrap, a file system without owners, something bound that only root may
read), the sandbox runs as root, and the watchdog alone counts processes. Not covered: two harnesses of root in one
workspace at once; the one that ends first takes the files back from the other's script.
"""

import os
import stat
import subprocess
import threading
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.errors import SandboxFailed
from harness.sandbox.jail import WORKSPACE, Jail, system_folders
from harness.sandbox.level import Level

_UNSHARE, _SETPRIV, _ENV, _BASH = "/usr/bin/unshare", "/usr/bin/setpriv", "/usr/bin/env", "/usr/bin/bash"
_NEEDED_FEATURES = frozenset({"--userns", "--perms"})
_NEEDED_CAPABILITIES = (0, 1, 3, 5, 6, 7, 8, 21)
"""chown, dac_override, fowner, kill, setgid, setuid, setpcap, sys_admin: their numbers in capabilities(7)."""
_UIDS = range(2_000_000_000, 2_140_000_000)
"""Above all that systemd and container tools give out, and a positive number for tools that count with 31 bits."""
_DEEPEST = 100
_MAX_ENTRIES = 1_000_000
_BARE = {"PATH": "/usr/bin:/bin"}

_CAPABILITIES = ("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP")
"""What `become_user` needs, and gives up."""

_sharing = threading.Lock()
_n_sandboxes: Counter[int] = Counter()
"""Of this process, by the uid of their user."""


@dataclass(frozen=True)
class OtherUser:
    """The user of one sandbox."""

    uid: int
    namespace_fd: int
    """A user namespace in which 1000 is this user and 0 is root."""


def become_user(namespace_fd: int) -> tuple[str, ...]:
    """The beginning of a command that is run in the workspace as the sandbox's user."""
    close = f'exec {namespace_fd}<&-; exec "$@"'  # bubblewrap leaves it open; only bash knows numbers over 9
    return (
        _SETPRIV, "--reuid", "1000", "--regid", "1000", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
        "--", _BASH, "-c", close, "bash",
        # bubblewrap's own user may not enter the workspace; the other three are bash's
        _ENV, "--chdir", WORKSPACE, "-u", "SHLVL", "-u", "OLDPWD", "-u", "_", f"PWD={WORKSPACE}",
    )  # fmt: skip


def join(namespace_fd: int) -> tuple[str, ...]:
    """Options for bubblewrap, which join a namespace made here."""
    return ("--userns", str(namespace_fd), *_CAPABILITIES)


@contextmanager
def other_user(jail: Jail, level: Level) -> Iterator[OtherUser | None]:
    """A user for one sandbox, who owns what the jail may write while this lasts. None where there cannot be one.

    Leave it only when nothing of this sandbox runs any more.
    """
    if not can_be_had(level) or not _is_readable_by_all(jail):
        yield None
        return
    uid = _uid_for(jail.workspace)
    with _handed_over(jail, uid) as is_theirs:
        if not is_theirs:
            yield None
            return
        try:
            namespace = _make_namespace(uid)
        except OSError as error:
            raise SandboxFailed(f"A user for the sandbox cannot be made: {error}") from error
        try:
            yield OtherUser(uid, namespace)
        finally:
            os.close(namespace)


def _uid_for(workspace: Path) -> int:
    """The same for everything that shares the workspace, another for other workspaces."""
    state = workspace.stat()
    return _UIDS[zlib.crc32(f"{state.st_dev}:{state.st_ino}".encode()) % len(_UIDS)]


@contextmanager
def _handed_over(jail: Jail, uid: int) -> Iterator[bool]:
    """Whether all that the jail may write is the user's until the end."""
    writable = [jail.workspace, *(bind.host for bind in jail.binds if bind.is_writable)]
    with _sharing:
        _n_sandboxes[uid] += 1
        is_theirs = all(_change_owner(folder, to=uid) for folder in writable)
    if not is_theirs:
        _take_back(writable, uid)
    try:
        yield is_theirs
    finally:
        if is_theirs:
            _take_back(writable, uid)


def _take_back(folders: list[Path], uid: int) -> None:
    """Unless another sandbox works in them."""
    with _sharing:
        _n_sandboxes[uid] -= 1
        if not _n_sandboxes[uid]:
            del _n_sandboxes[uid]
            for folder in folders:
                _change_owner(folder, to=os.geteuid())


def _is_readable_by_all(jail: Jail) -> bool:
    """Whether the other user can read what is bound. The path to it does not matter."""
    for bind in jail.binds:
        if not bind.is_writable:
            try:
                mode = bind.host.stat().st_mode
            except OSError:
                return False  # bubblewrap says what is wrong with it
            wanted = 0o5 if stat.S_ISDIR(mode) else 0o4
            if mode & wanted != wanted:
                return False
    return True


def can_be_had(level: Level) -> bool:
    """Whether sandboxes of this level have a user of their own here."""
    # without the filter the sandbox could make namespaces of its own: `--disable-userns` does not go with `--userns`
    return (
        os.geteuid() == 0
        and level.name == "bwrap+seccomp"
        and level.bwrap is not None
        and level.features >= _NEEDED_FEATURES
        and _works(level.bwrap)
    )


@cache
def _works(bwrap: Path) -> bool:
    """Whether bubblewrap can be another user on this machine: it is tried once."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("CapEff:"))
    if not all(int(line.split()[1], 16) >> number & 1 for number in _NEEDED_CAPABILITIES):
        return False
    try:
        namespace = _make_namespace(_UIDS.stop)
        try:
            folders = ("--unshare-pid", *system_folders(), "--perms", "0755", "--dir", WORKSPACE)
            joined = ("--cap-drop", "ALL", *join(namespace))
            command = [str(bwrap), *joined, *folders, *become_user(namespace), "true"]
            trial = subprocess.run(command, env=_BARE, pass_fds=[namespace], capture_output=True, timeout=10)
        finally:
            os.close(namespace)
    except (OSError, subprocess.SubprocessError):
        return False
    return trial.returncode == 0


def _make_namespace(uid: int) -> int:
    """A descriptor of a user namespace that maps 0 to root and 1000 to `uid`. Nothing is left running."""
    with subprocess.Popen(
        [_UNSHARE, "--user", "--", "/bin/sh", "-c", "echo; read line"],
        env=_BARE,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as holder:
        assert holder.stdout is not None
        if not holder.stdout.readline():
            raise OSError("a user namespace cannot be made")
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{holder.pid}/{name}").write_text(f"0 0 1\n1000 {uid} 1\n")
        return os.open(f"/proc/{holder.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)


def _change_owner(folder: Path, *, to: int) -> bool:
    """Give what is ours, or a sandbox's, to `to`. False if `folder` itself cannot be given.

    Something untrusted may be running in it: everything is reached through open folders, and no link is followed.
    What lies deeper than 100 folders keeps its owner.
    """
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        _give(".", os.fstat(descriptor), to, folder=descriptor)
        _change_owner_below(descriptor, to, depth=1, left=iter(range(_MAX_ENTRIES)))
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _change_owner_below(folder: int, to: int, *, depth: int, left: Iterator[int]) -> None:
    with os.scandir(folder) as entries:
        for entry, _ in zip(entries, left, strict=False):
            try:
                _give(entry.name, entry.stat(follow_symlinks=False), to, folder=folder)
                if not entry.is_dir(follow_symlinks=False) or depth == _DEEPEST:
                    continue
                below = os.open(entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
                try:
                    _change_owner_below(below, to, depth=depth + 1, left=left)
                finally:
                    os.close(below)
            except OSError:
                continue


def _give(name: str, state: os.stat_result, to: int, *, folder: int) -> None:
    """A group that is not a sandbox's stays: it would be lost."""
    uid = to if state.st_uid == os.geteuid() or is_sandbox_uid(state.st_uid) else state.st_uid
    gid = os.getegid() if is_sandbox_uid(state.st_gid) else state.st_gid
    if (uid, gid) != (state.st_uid, state.st_gid):
        os.chown(name, uid, gid, dir_fd=folder, follow_symlinks=False)


def is_sandbox_uid(uid: int) -> bool:
    """Whether files of this uid were left by a sandbox."""
    return uid in _UIDS
