"""A sandboxed process tree: started, fed, drained, measured and ended. Says nothing about whether its work is good.

Facts behind the shape (measured):
- bubblewrap stays as pid 1 inside, and its own environment and arguments are readable there: it is started with a
  bare environment and takes its options from an anonymous file.
- Killing only the outer bubblewrap leaves survivors in its first milliseconds; the namespace's init is killed first,
  through a pidfd.
- PDEATHSIG follows the *thread* that forked: start and wait happen in one thread.
- It is set late: a harness killed in a sandbox's first milliseconds leaves it behind, for `harness.sweep` to find by
  the name under which bubblewrap is started.
"""

import fcntl
import json
import os
import select
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

from harness.errors import DiskFull, NotEnoughMemory, SandboxFailed
from harness.folders import private_folder
from harness.sandbox.jail import Jail, Word, bwrap_options, landlock_rules, open_data
from harness.sandbox.level import Level
from harness.sandbox.limits import Limits, StopCause, Usage
from harness.sandbox.other_user import OtherUser, become_user, join, other_user
from harness.sandbox.output import BoundedOutput
from harness.sandbox.owner import mark
from harness.sandbox.seccomp import program
from harness.sandbox.watchdog import (
    available_memory_mb,
    folder_usage,
    free_disk_mb,
    inodes_used,
    process_tree,
    proportional_memory_mb,
    tree_usage,
)

RESULT_FD = "{result_fd}"
"""A word of a command that stands for the number of the inherited result pipe (for writing)."""
REQUEST_FD = "{request_fd}"
"""A word of a command that stands for the number of the inherited request pipe (for reading)."""

WatchEnd = StopCause | Literal["ended", "until"]
"""Why watching ended: a limit was passed, the process has ended, or what was waited for is there."""

_TICK_SECONDS = 0.05
_PIPE_BYTES = 1 << 20
_TICKS_PER_FOLDER_WALK = 6
_GRACE_SECONDS = 5
_MAX_LAST_READS = 4096
_MAX_COUNTED_BEFORE = 1_000_000
_LEAST_MEMORY_MB = 384
"""Left on the machine: below it whatever runs here is stopped, before the kernel ends something else."""
_LEAST_DISK_MB = 512
"""Left where the workspace lies (or half of what was free at the start, on a small disk)."""
_SUPERVISOR = Path(__file__).with_name("supervise.py")


class SandboxedProcess:
    """One process tree from start to end. Start, watch and kill belong in one thread: PDEATHSIG follows it."""

    def __init__(self, jail: Jail, limits: Limits, level: Level) -> None:
        self._jail, self._limits, self._level = jail, limits, level
        self._resources = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self._request_fd: int | None = None
        self.output = BoundedOutput()
        """stdout and stderr together, since the start or the last `take_output`."""
        self.result = bytearray()
        """What came through the result pipe, since the start or the last `take_result`. A claim."""
        self._status = bytearray()
        self._init_pidfd: int | None = None
        self._init_pid: int | None = None
        self._home: Path | None = None
        """What stands for the private /tmp where there is no namespace."""
        self.peak = Usage()
        self._short: tuple[StopCause, int] | None = None
        """What the machine ran out of, and how much of it was left, MiB."""
        self._n_ticks = 0
        self._at_start = (0, _MAX_COUNTED_BEFORE)
        self._at_start = self._folders()
        self._free_at_start_mb = free_disk_mb(jail.workspace)

    # start

    def start(self, command: Sequence[Word]) -> None:
        """Start `command`; raises SandboxFailed if that cannot be. `close` gives everything back."""
        user = self._resources.enter_context(other_user(self._jail, self._level))
        result_read, result_write = self._pipe()
        with suppress(OSError):  # 64 kB do, with more turns
            fcntl.fcntl(result_write, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        status_read, status_write = self._pipe()
        numbers = {RESULT_FD: result_write}
        if REQUEST_FD in command:
            request_read, self._request_fd = os.pipe()
            numbers[REQUEST_FD] = request_read
        words = [str(numbers.get(word, word)) if isinstance(word, str) else word for word in command]
        inherited = list(numbers.values())
        inherited.append(status_write)
        if self._level.is_bubblewrap:
            argv, environment, more = self._bwrap_command(words, status_write, user)
            inherited += more
        else:
            argv, environment = self._supervised_command(words, status_write)
        self._started_at = time.monotonic()
        try:
            process = subprocess.Popen(
                [mark() if self._level.is_bubblewrap else argv[0], *argv[1:]],
                executable=argv[0],
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=inherited,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxFailed(f"Cannot start {argv[0]}: {error}") from error
        finally:
            for descriptor in inherited:
                os.close(descriptor)
        assert process.stdout is not None
        self._process = process
        self._resources.callback(process.stdout.close)
        self._selector = self._resources.enter_context(selectors.DefaultSelector())
        self._listen(process.stdout.fileno(), "output")
        self._listen(result_read, "result")
        self._listen(status_read, "status")
        ended = os.pidfd_open(process.pid)
        self._resources.callback(os.close, ended)
        self._selector.register(ended, selectors.EVENT_READ, "ended")

    def _pipe(self) -> tuple[int, int]:
        read, write = os.pipe()
        self._resources.callback(os.close, read)
        return read, write

    def _listen(self, descriptor: int, name: str) -> None:
        os.set_blocking(descriptor, False)
        self._selector.register(descriptor, selectors.EVENT_READ, name)

    def _bwrap_command(
        self, words: list[Word], status_fd: int, user: OtherUser | None
    ) -> tuple[list[str], dict[str, str], list[int]]:
        namespace = [os.dup(user.namespace_fd)] if user else []
        data_fd = {name: open_data(content, "file") for name, content in self._jail.files.items()}
        options = bwrap_options(self._jail, data_fd, self._level.features, join(*namespace) if user else ())
        options += ["--json-status-fd", str(status_fd)]
        descriptors = [*namespace, *data_fd.values()]
        if self._level.name == "bwrap+seccomp":
            filter_program = program()
            assert filter_program is not None
            descriptors.append(open_data(filter_program, "filter"))
            options += ["--seccomp", str(descriptors[-1])]
        descriptors.append(open_data("\0".join([*options, ""]).encode(), "options"))
        argv = [
            str(self._level.bwrap), "--args", str(descriptors[-1]), "--",
            *(become_user(*namespace) if user else ()),
            # ends the tree even if the harness is killed before it can
            "/usr/bin/timeout", "-s", "KILL", f"{self._limits.timeout_seconds + _GRACE_SECONDS:.0f}",
            "/usr/bin/prlimit", *(f"--{name.lower()}={value}" for name, value in self._rlimits().items()), "--",
            *(self._jail.inside(word) for word in words),
        ]  # fmt: skip
        return argv, {"PATH": "/usr/bin:/bin"}, descriptors

    def _supervised_command(self, words: list[Word], status_fd: int) -> tuple[list[str], dict[str, str]]:
        self._home = self._resources.enter_context(private_folder("home"))
        home = str(self._home)
        environment = {name: Jail.outside(word) for name, word in self._jail.environment.items()}
        environment |= {
            "HOME": home,
            "TMPDIR": home,
            "XDG_CACHE_HOME": f"{home}/.cache",
            "XDG_RUNTIME_DIR": home,
        }
        argv = [
            sys.executable, "-I", "-S", str(_SUPERVISOR),
            f"{self._limits.timeout_seconds + _GRACE_SECONDS}", str(self._jail.workspace), str(status_fd),
            *(landlock_rules(self._jail, self._home) if self._level.landlock_abi else ()),
            *(f"RLIMIT_{name}={value}" for name, value in self._rlimits().items()), "--",
            *(Jail.outside(word) for word in words),
        ]  # fmt: skip
        return argv, environment

    def _rlimits(self) -> dict[str, int]:
        """Hard per-process stops behind the watchdog. No RLIMIT_AS: llvmpipe crashes at random under one."""
        cores = os.cpu_count() or 1
        limits = {
            "FSIZE": self._limits.max_file_mb << 20,
            "DATA": self._limits.memory_mb * 3 // 2 << 20,
            "CORE": 0,
            "NOFILE": 1024,
            "CPU": int(self._limits.timeout_seconds * cores) + 10,
        }
        if self._level.is_bubblewrap:  # outside a pid namespace it would count every process of the user
            limits["NPROC"] = self._limits.max_processes + 4 * cores
        return limits

    # watch

    def watch(self, *, timeout_seconds: float, until: Callable[[], bool] = lambda: False) -> WatchEnd:
        """Drain and measure until the process ends, a limit is passed (which stops nothing yet), or `until` holds."""
        deadline = time.monotonic() + timeout_seconds
        next_tick = time.monotonic() + _TICK_SECONDS
        while not until():
            names = self._read(max(0.0, min(next_tick, deadline) - time.monotonic()))
            if "ended" in names:
                return "ended"
            if time.monotonic() > deadline:
                return "timeout"
            if self.output.n_bytes > self._limits.output_mb << 20:
                return "output"
            if time.monotonic() >= next_tick:
                if cause := self._measure():
                    return cause
                next_tick = time.monotonic() + _TICK_SECONDS
        return "until"

    def send(self, request: bytes) -> None:
        """Write to the request pipe. Raises BrokenPipeError when nobody is left to read it."""
        assert self._request_fd is not None
        view = memoryview(request)
        while view:
            view = view[os.write(self._request_fd, view) :]

    def drain(self) -> None:
        """Read what is in the pipes now."""
        for _ in range(_MAX_LAST_READS):
            if not self._read(0) - {"ended"}:
                return

    def take_output(self) -> BoundedOutput:
        """What was printed so far; printing after this is counted anew."""
        taken, self.output = self.output, BoundedOutput()
        return taken

    def _read(self, timeout: float) -> set[str]:
        names = set()
        for key, _ in self._selector.select(timeout):
            name = str(key.data)
            names.add(name)
            if name == "ended":
                continue
            try:
                chunk = os.read(key.fd, _PIPE_BYTES)
            except BlockingIOError:
                continue
            if not chunk:
                self._selector.unregister(key.fd)
            elif name == "output":
                self.output.write(chunk)
            elif name == "result":
                self.result += chunk[: (self._limits.result_mb << 20) - len(self.result)]
            else:
                self._status += chunk
                self._find_init()
        return names

    def _find_init(self) -> None:
        if self._init_pid is not None or b"}" not in self._status:
            return
        self._init_pid = int(json.JSONDecoder().raw_decode(self._status.decode())[0]["child-pid"])
        try:
            self._init_pidfd = os.pidfd_open(self._init_pid)
            self._resources.callback(os.close, self._init_pidfd)
        except ProcessLookupError:
            pass  # it has ended already

    def _measure(self) -> StopCause | None:
        """The limit that is passed now, if any."""
        usage = tree_usage(self._pid, max_processes=self._limits.max_processes)
        self.peak = self.peak.peak(usage)
        if usage.n_processes > self._limits.max_processes:
            return "processes"
        if self._n_ticks % _TICKS_PER_FOLDER_WALK == 0 and (cause := self._measure_folders()):
            return cause
        self._n_ticks += 1
        if usage.memory_mb > self._limits.memory_mb:
            usage = self._without_double_counts(usage)
        self.peak = self.peak.peak(usage)
        if usage.memory_mb > self._limits.memory_mb:
            return "memory"
        if (left := available_memory_mb()) < _LEAST_MEMORY_MB:
            self._short = ("memory", left)
            return "memory"
        return None

    def _measure_folders(self) -> StopCause | None:
        """What was added to the folders that the process may write, beyond what was there."""
        n_bytes, n_files = self._folders()
        added = Usage(disk_mb=max(0, n_bytes - self._at_start[0]) >> 20)
        self.peak = self.peak.peak(added)
        if max(n_files - self._at_start[1], self._tmp_inodes()) > self._limits.max_files:
            return "files"
        if added.disk_mb > self._limits.disk_mb:
            return "disk"
        if (left := free_disk_mb(self._jail.workspace)) < min(_LEAST_DISK_MB, self._free_at_start_mb // 2):
            self._short = ("disk", left)
            return "disk"
        return None

    def _folders(self) -> tuple[int, int]:
        """(bytes, entries) in the workspace and the other writable folders."""
        writable = [self._jail.workspace, *(bind.host for bind in self._jail.binds if bind.is_writable)]
        writable += [self._home] if self._home else []
        most = self._limits.max_files + self._at_start[1]
        used = [folder_usage(folder, max_entries=most) for folder in writable]
        return sum(n_bytes for n_bytes, _ in used), sum(n_entries for _, n_entries in used)

    def _without_double_counts(self, usage: Usage) -> Usage:
        """A process that forks shares its memory with its children: look again before calling it too much."""
        exact = proportional_memory_mb(self._pid)
        return replace(usage, memory_mb=exact) if exact else usage

    def _tmp_inodes(self) -> int:
        if self._init_pid is None or "--size" not in self._level.features:
            return 0
        return inodes_used(self._init_pid, "/tmp", size_bytes=self._jail.tmp_mb << 20)

    # end

    def kill(self) -> None:
        """End the whole tree; the namespace's init first, which takes everything inside with it."""
        process = self._process
        if process is None:
            return
        if self._level.is_bubblewrap:
            self._kill_namespace(process)
        elif process.poll() is None:
            process.terminate()  # the supervisor kills its tree, then itself
            try:
                process.wait(_GRACE_SECONDS)
            except subprocess.TimeoutExpired:
                pass
        if process.poll() is None:
            process.kill()
        process.wait()
        self.drain()

    def _kill_namespace(self, process: subprocess.Popen[bytes]) -> None:
        if self._init_pidfd is not None:
            try:
                signal.pidfd_send_signal(self._init_pidfd, signal.SIGKILL)
            except ProcessLookupError:
                pass
            # the init is gone only when every process of its namespace is; the outer bubblewrap does not wait for that
            select.select([self._init_pidfd], [], [], _GRACE_SECONDS)
        elif process.poll() is None:
            # too early to know the init: stop the outer process, then kill what it has started
            process.send_signal(signal.SIGSTOP)
            # until it really stands it can still fork, after the tree was read
            os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            for pid in process_tree(process.pid)[1:]:
                _kill_and_wait(pid)

    @property
    def _pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def close(self) -> None:
        """Kill what is left and give back every descriptor and folder."""
        try:
            self.kill()
        finally:
            if self._request_fd is not None:
                os.close(self._request_fd)
                self._request_fd = None
            self._resources.close()

    @property
    def returncode(self) -> int | None:
        """Exit status once it has ended."""
        return self._process.returncode if self._process else None

    def check_blame(self) -> None:
        """After `kill`: raises NotEnoughMemory or DiskFull if it was stopped because the machine ran out of something,
        of which it had taken no more than it may: what it held comes back with its end, also what was not to be seen.
        """
        if self._short is None:
            return
        what, left = self._short
        if what == "memory" and available_memory_mb() - left <= self._limits.memory_mb:
            raise NotEnoughMemory(f"The machine's memory came to an end ({left} MiB were left); Blender was stopped.")
        if what == "disk" and free_disk_mb(self._jail.workspace) - left <= self._limits.disk_mb:
            raise DiskFull(f"The disk of the workspace is full ({left} MiB were left); what ran there was stopped.")

    @property
    def was_killed(self) -> bool:
        """Whether it has ended by SIGKILL: by itself, by the kernel for want of memory, or by somebody outside. Asked
        before `kill`."""
        if self._process is None or self._process.poll() is None:
            return False
        return self._process.returncode in (-signal.SIGKILL, 128 + signal.SIGKILL)

    @property
    def has_started(self) -> bool:
        """Whether the isolation stood and the command was reached."""
        return self._init_pid is not None


def _kill_and_wait(pid: int) -> None:
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        select.select([descriptor], [], [], _GRACE_SECONDS)
    except ProcessLookupError:
        pass
    finally:
        os.close(descriptor)
