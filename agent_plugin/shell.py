"""The agent's bash: one fresh sandbox a command over the shared workspace, with `run_blender` on its PATH.

Inside bubblewrap, Blender is `/opt/blender`, our own code `/opt/blendscribe`, its dependencies `/opt/packages`; the
harness's environment, home and network are not there. Elsewhere everything has the host's name. Settings reach
`run_blender` as JSON in VCSFT_HARNESS.
"""

import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pydantic

from agent_plugin.places import SETTINGS_VARIABLE
from harness.blender import level_in_force
from harness.folders import private_folder
from harness.interpreter import (
    PROJECT_DIR,
    RUN_ENVIRONMENT,
    PythonEnvironment,
    find_environment,
    library_environment,
    libs_dir,
    python_mounts,
    read_environment,
    shader_cache_dir,
)
from harness.sandbox import Bind, Exit, Jail, Level, launch
from harness.sandbox.jail import Word, identity_files
from harness.settings import HarnessSettings
from harness.workspace import reopen

_TOOLS = "/opt/blendscribe/bin"
_PACKAGES = Path(pydantic.__file__).parent.parent
_RUN_BLENDER = """import sys
sys.path[:0] = [{ours!r}, {packages!r}]
from agent_plugin.commands.run_blender import console_script
console_script()"""


def run_bash(
    command: str, workspace: Path, settings: HarnessSettings, *, timeout_seconds: float, variables: Mapping[str, str]
) -> Exit:
    """Run `command` with the workspace as its folder; it may write there and in /tmp, and reaches no network.

    Raises HarnessError if the sandbox or the Blender interpreter is not to be had.
    """
    reopen(workspace)
    blender = find_environment(settings)
    libs = libs_dir(settings, blender)
    level = level_in_force(settings)
    limits = replace(settings.limits, timeout_seconds=timeout_seconds)
    with private_folder("tools") as tools:
        make_jail = _jail if level.is_bubblewrap else _bare_jail
        jail = make_jail(workspace, settings, blender, libs, tools)
        jail = replace(jail, environment={**jail.environment, **variables}, tmp_mb=limits.tmp_mb)
        return launch([_bash(level), "-c", command], jail, limits, level)


def _bash(level: Level) -> str:
    return "/bin/bash" if level.is_bubblewrap else shutil.which("bash") or "/bin/sh"


def _jail(
    workspace: Path, settings: HarnessSettings, blender: PythonEnvironment, libs: Path | None, tools: Path
) -> Jail:
    """`tools` is an empty folder, which becomes the first one of PATH."""
    agent = read_environment(Path(sys.executable))
    ours, theirs = python_mounts(replace(agent, prefix=agent.base_prefix), "agent"), python_mounts(blender, "blender")
    python = Jail(workspace, binds=ours.binds, aliases=ours.aliases).inside(agent.base_python)
    inside = settings.model_copy(
        update={
            "bpy_python": theirs.aliases[blender.python],
            "bpy_libs": "/opt/mesa" if libs else "",
            "sandbox": "off",  # it is inside one
            "visual_feedback": False,  # frames come from the tool; a shell's output is text
        }
    )
    _make_tools(tools, python, "/opt/blendscribe", "/opt/packages")
    return Jail(
        workspace=workspace,
        binds=(*ours.binds, *theirs.binds, *_code_binds(blender, libs, tools)),
        files={**identity_files(), **ours.files, **theirs.files},
        symlinks=theirs.symlinks,
        environment={
            **RUN_ENVIRONMENT,
            **library_environment((*ours.binds, *theirs.binds), libs),
            "PATH": f"{_TOOLS}:{RUN_ENVIRONMENT['PATH']}",
            SETTINGS_VARIABLE: inside.model_dump_json(),
        },
    )


def _bare_jail(
    workspace: Path, settings: HarnessSettings, blender: PythonEnvironment, libs: Path | None, tools: Path
) -> Jail:
    """The same where everything has its own name: what is bound is what Landlock lets it read."""
    agent = read_environment(Path(sys.executable))
    ours, theirs = python_mounts(agent, "agent"), python_mounts(blender, "blender")
    inside = settings.model_copy(
        update={
            "bpy_python": str(blender.python),
            "bpy_libs": str(libs or ""),
            "sandbox": "off",  # it is inside whatever there is
            "visual_feedback": False,
        }
    )
    _make_tools(tools, sys.executable, str(PROJECT_DIR), str(_PACKAGES))
    environment: dict[str, Word] = {
        **RUN_ENVIRONMENT,
        "GIT_CONFIG_NOSYSTEM": "1",  # git gives up over an /etc/gitconfig that it may not read
        "PATH": f"{tools}:{Path(sys.executable).parent}:{RUN_ENVIRONMENT['PATH']}",
        SETTINGS_VARIABLE: inside.model_dump_json(),
    }
    return Jail(
        workspace=workspace,
        binds=(*ours.binds, *theirs.binds, *_code_binds(blender, libs, tools)),
        originals=(*ours.originals, *theirs.originals),
        listed=(PROJECT_DIR,),
        environment=environment,
    )


def _code_binds(blender: PythonEnvironment, libs: Path | None, tools: Path) -> tuple[Bind, ...]:
    """Our code and what it needs, for `run_blender`."""
    warm = shader_cache_dir(blender)
    return (
        Bind(PROJECT_DIR / "harness", "/opt/blendscribe/harness"),
        Bind(PROJECT_DIR / "agent_plugin", "/opt/blendscribe/agent_plugin"),
        Bind(PROJECT_DIR / "recorder", "/opt/blendscribe/recorder"),
        Bind(_PACKAGES, "/opt/packages"),
        Bind(tools, _TOOLS),
        # read-only: run_blender, inside, works on copies of it as it does outside
        *((Bind(warm, "/opt/blender/var/shader_cache"),) if warm.is_dir() else ()),
        *((Bind(libs, "/opt/mesa"),) if libs else ()),
    )


def _make_tools(tools: Path, python: str, ours: str, packages: str) -> None:
    """Fill the folder `tools` with what the shell finds first."""
    tools.chmod(0o755)
    source = shlex.quote(_RUN_BLENDER.format(ours=ours, packages=packages))
    (tools / "run_blender").write_text(f'#!/bin/sh\nexec {shlex.quote(python)} -P -s -c {source} "$@"\n')
    (tools / "run_blender").chmod(0o755)
    if not Path("/usr/bin/python3").exists():
        (tools / "python3").symlink_to(python)
