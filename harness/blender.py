"""Starts Blender. The only way in: every program of `in_blender/` runs through `run_in_blender`."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.blender_slots import BLENDER_MB, blender_slots
from harness.folders import private_folder
from harness.interpreter import (
    IN_BLENDER_DIR,
    PROJECT_DIR,
    RUN_ENVIRONMENT,
    PythonEnvironment,
    find_environment,
    library_environment,
    libs_dir,
    python_mounts,
    shader_cache_dir,
)
from harness.plain_text import plain_values
from harness.sandbox import RESULT_FD, Bind, Exit, Jail, Level, LevelName, Limits, Midway, choose_level, launch
from harness.sandbox.jail import HOME, Word, identity_files
from harness.settings import HarnessSettings

_SHADER_CACHE_INSIDE = f"{HOME}/.cache/shaders"


@dataclass(frozen=True)
class BlenderRun:
    """How a program in Blender ended and what it said (claims, where it ran untrusted code)."""

    exit: Exit
    messages: tuple[dict[str, Any], ...]
    level: LevelName

    def message(self, kind: str) -> dict[str, Any] | None:
        """The first message of that kind."""
        return next((m for m in self.messages if m["kind"] == kind), None)


def level_in_force(settings: HarnessSettings) -> Level:
    """The isolation that these settings lead to here. Raises InterpreterMissing or SandboxUnavailable."""
    return choose_level(settings.sandbox, libs_dir(settings, find_environment(settings)))


def blender_jail(
    environment: PythonEnvironment,
    libs: Path | None,
    cache: Path,
    workspace: Path,
    limits: Limits,
    binds: Sequence[Bind] = (),
) -> Jail:
    """What a program in Blender sees: Blender, its libraries, our code in Blender, a shader cache, the workspace, and
    `binds`."""
    mounts = python_mounts(environment, "blender")
    return Jail(
        workspace=workspace,
        binds=(
            *mounts.binds,
            Bind(IN_BLENDER_DIR, "/opt/blendscribe/harness/in_blender"),
            Bind(cache, _SHADER_CACHE_INSIDE, is_writable=True),
            *((Bind(libs, "/opt/mesa"),) if libs else ()),
            *binds,
        ),
        files={**identity_files(), **mounts.files},
        symlinks=mounts.symlinks,
        aliases=mounts.aliases,
        originals=(*mounts.originals, PROJECT_DIR / "harness/__init__.py"),
        listed=(PROJECT_DIR,),
        environment={
            **RUN_ENVIRONMENT,
            **library_environment(mounts.binds, libs),
            "MESA_SHADER_CACHE_DIR": cache,
            **blender_slots().environment,
        },
        tmp_mb=limits.tmp_mb,
    )


def blender_command(environment: PythonEnvironment, program: str, arguments: Sequence[Word]) -> list[Word]:
    """The command that starts `in_blender/<program>`."""
    # -I would ignore PYTHONHASHSEED; the environment is ours anyway
    return [environment.python, "-P", "-s", IN_BLENDER_DIR / program, *arguments]


def run_in_blender(
    program: str,
    arguments: Sequence[Word],
    *,
    workspace: Path,
    settings: HarnessSettings,
    limits: Limits | None = None,
    binds: Sequence[Bind] = (),
    level: Level | None = None,
    meanwhile: Callable[[], object] = lambda: None,
    midway: tuple[str, Callable[[], object]] | None = None,
    is_repeatable: bool = True,
) -> BlenderRun:
    """Run `in_blender/<program>` with the result pipe's number and `arguments`, cwd the workspace; it sees `binds` too.

    `meanwhile` is called once Blender has been started, `midway`'s function once a message of the kind that it names
    has come; both should soon return, since nothing is measured before. Without a `level`, it is that of the
    settings. It waits for its turn (`blender_slots.py`). One that is killed (SIGKILL) is run once more where it
    `is_repeatable`: it may have been somebody outside; what does it by itself does it again.
    Raises InterpreterMissing, SandboxUnavailable, SandboxFailed, NotEnoughMemory or WaitStopped.
    """
    environment = find_environment(settings)
    libs = libs_dir(settings, environment)
    level = level or choose_level(settings.sandbox, libs)
    limits = limits or settings.limits
    command = blender_command(environment, program, [RESULT_FD, *arguments])
    then = Midway(f'{{"kind": "{midway[0]}"'.encode(), midway[1]) if midway else None
    with blender_slots().working(BLENDER_MB), private_shader_cache(shader_cache_dir(environment)) as cache:
        jail = blender_jail(environment, libs, cache, workspace, limits, binds)
        ended = launch(command, jail, limits, level, meanwhile=meanwhile, midway=then)
        if ended.was_killed and is_repeatable:
            ended = launch(command, jail, limits, level, meanwhile=meanwhile, midway=then)
    return BlenderRun(exit=ended, messages=tuple(parse_messages(ended.result)), level=level.name)


@contextmanager
def private_shader_cache(warm: Path) -> Iterator[Path]:
    """A throw-away copy of the warm shader cache (200 kB, 1 ms; a cold one costs 0.95 s of compiling)."""
    with private_folder("shaders") as folder:
        cache = folder / "cache"
        if warm.is_dir():
            shutil.copytree(warm, cache)
        else:
            cache.mkdir()
        yield cache


def parse_messages(result: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of the result pipe that are whole; anything else on it is not ours."""
    for line in result.splitlines():
        try:
            message = json.loads(line)
            if not _is_plain_json(line):
                message = plain_values(message)
        except (ValueError, RecursionError):
            continue
        if isinstance(message, dict) and isinstance(message.get("kind"), str):
            yield message


def _is_plain_json(line: bytes) -> bool:
    """Whether its texts are plain by themselves: a scene state has thousands, and most lines no other character.

    JSON lets control characters in by an escape alone, but for the last one of ASCII.
    """
    return line.isascii() and b"\\" not in line and b"\x7f" not in line
