"""Measures the isolation in force, by attacking it from inside. A level counts only if it keeps what it promises.

Owns the attempts, what each level promises about them, and the search for the strongest level that keeps its promise.
It does not choose for the every-day path: `harness.sandbox.probe` says why. A measurement is made once per process
and costs about as much as starting Python twice.
"""

import json
import os
import secrets
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from harness.blender import level_in_force, run_in_blender
from harness.errors import SandboxFailed
from harness.folders import private_folder
from harness.interpreter import find_environment, libs_dir
from harness.sandbox import Level, LevelName, Limits, refute
from harness.sandbox.confine import SIGNALS_ABI
from harness.sandbox.probe import best_level
from harness.settings import HarnessSettings

ATTEMPTS: Mapping[str, str] = MappingProxyType(
    {
        "read_file": "read a file outside the workspace",
        "write_file": "write a file outside the workspace",
        "change_file": "change the rights of a file outside the workspace",
        "read_environment": "read the environment of another process",
        "see_process": "see another process and its command line",
        "kill_process": "kill another process",
        "reach_port": "reach a port of this machine",
        "reach_socket": "reach a socket in the file system",
        "reach_abstract_socket": "reach an abstract socket",
        "make_network_socket": "make a network socket",
    }
)
"""What is tried, and how it is told: `a script could ...`."""

_LIMITS = Limits(timeout_seconds=60, disk_mb=64)
_SECONDS_TO_DIE = 0.1


@dataclass(frozen=True)
class Isolation:
    """What was measured at one level."""

    level: LevelName
    could: Mapping[str, bool]
    """Attempt -> whether it succeeded."""
    why_not: str = ""
    """Why no stronger level is in force; empty when there is none."""

    @property
    def in_words(self) -> str:
        """What a script could do, or that it could do nothing of it."""
        done = [ATTEMPTS[name] for name, succeeded in self.could.items() if succeeded]
        return (
            f"a script could {', '.join(done)}" if done else f"none of {len(self.could)} attempts to get out succeeded"
        )


def promised(level: Level) -> frozenset[str]:
    """The attempts that must fail at `level`."""
    exceptions = {
        "bwrap+seccomp": set[str](),
        "bwrap": {"make_network_socket"},  # in a network of its own, where nothing can be reached
        "landlock+seccomp": {"see_process"} | (set() if level.landlock_abi >= SIGNALS_ABI else {"kill_process"}),
        "limits-only": set(ATTEMPTS),
    }
    return frozenset(ATTEMPTS) - exceptions[level.name]


def measured_isolation(settings: HarnessSettings) -> Isolation:
    """The level that these settings lead to here, once it has kept its promise; one that does not is given up.

    Raises InterpreterMissing, SandboxUnavailable, or SandboxFailed when the attack itself could not be started.
    """
    while True:
        level = level_in_force(settings)
        could = attack(level, settings)
        broken = [ATTEMPTS[name] for name in ATTEMPTS if could[name] and name in promised(level)]
        if not broken:
            return Isolation(level.name, could, _why_not(settings))
        refute(level, f"{level.name} does not hold here: a script could {', '.join(broken)}")


def attack(level: Level, settings: HarnessSettings) -> Mapping[str, bool]:
    """Attempt -> whether it succeeded at `level`, in the jail that Blender gets. Once per process."""
    try:
        return _attack(level, settings.bpy_python, settings.bpy_libs)
    except OSError as error:
        raise SandboxFailed(f"The attack on the isolation '{level.name}' could not be prepared: {error}") from error


def _why_not(settings: HarnessSettings) -> str:
    if settings.sandbox == "off":
        return "harness.sandbox is 'off'"
    return best_level(libs_dir(settings, find_environment(settings)))[1]


@cache
def _attack(level: Level, bpy_python: str, bpy_libs: str) -> Mapping[str, bool]:
    with _Targets() as targets, private_folder("inside") as inside:
        (inside / "targets.json").write_text(json.dumps(targets.described))
        run = run_in_blender(
            "probe_isolation.py",
            [],
            workspace=inside,
            settings=HarnessSettings(bpy_python=bpy_python, bpy_libs=bpy_libs),
            limits=_LIMITS,
            level=level,
        )
        probed = run.message("probed")
        if probed is None:
            said = run.exit.output.text().strip()[-400:]
            raise SandboxFailed(f"The attack on the isolation '{level.name}' did not run: {said or 'it said nothing'}")
        return MappingProxyType(targets.what_succeeded(probed))


class _Targets:
    """Things of ours outside a sandbox: a secret in a file and in a process's environment, places to knock at."""

    def __enter__(self) -> "_Targets":
        with ExitStack() as stack:
            self._outside = stack.enter_context(private_folder("outside"))
            self._secret = secrets.token_hex()
            self._secret_file, self._forbidden = self._outside / "secret", self._outside / "written"
            self._secret_file.write_text(self._secret)
            self._mode = self._secret_file.stat().st_mode
            self._abstract = f"blendscribe-{secrets.token_hex(8)}"
            self._port = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            # by its descriptor, since the address of a socket is cut at 108 bytes, and TMPDIR may be longer
            folder = os.open(self._outside, os.O_PATH | os.O_CLOEXEC)
            stack.callback(os.close, folder)
            self._unix = stack.enter_context(_listening(f"/proc/self/fd/{folder}/socket"))
            self._abstract_unix = stack.enter_context(_listening("\0" + self._abstract))
            self._command = f"60.{secrets.randbelow(10**9):09}"
            self._process = stack.enter_context(_sleeping(self._command, self._secret))
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()

    @property
    def described(self) -> dict[str, object]:
        """For the attacker. Only the secret that it has to find in an environment is told to it."""
        return {
            "secret": self._secret,
            "secret_file": str(self._secret_file),
            "forbidden_file": str(self._forbidden),
            "port": self._port.getsockname()[1],
            "folder": str(self._outside),
            "abstract_socket": self._abstract,
            "process": self._process.pid,
            "command": self._command,
        }

    def what_succeeded(self, probed: Mapping[str, object]) -> dict[str, bool]:
        return {
            "read_file": probed["read"] == self._secret,
            "write_file": self._forbidden.exists(),
            "change_file": self._secret_file.stat().st_mode != self._mode,
            "read_environment": probed["environment"] is True,
            "see_process": probed["seen"] is True,
            "kill_process": self._is_dead(),
            "reach_port": _has_been_called(self._port),
            "reach_socket": _has_been_called(self._unix),
            "reach_abstract_socket": _has_been_called(self._abstract_unix),
            "make_network_socket": probed["network_socket"] is True,
        }

    def _is_dead(self) -> bool:
        try:
            self._process.wait(_SECONDS_TO_DIE)
        except subprocess.TimeoutExpired:
            return False
        return True


@contextmanager
def _listening(address: str) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        yield server


@contextmanager
def _sleeping(command: str, secret: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of the same user, with `command` in its command line and `secret` in its environment."""
    with subprocess.Popen(["/bin/sleep", command], env={"BLENDSCRIBE_SECRET": secret}) as process:
        try:
            yield process
        finally:
            process.kill()


def _has_been_called(server: socket.socket) -> bool:
    server.settimeout(0)
    try:
        server.accept()[0].close()
    except OSError:
        return False
    return True
