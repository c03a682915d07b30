"""The agent's bash: one fresh sandbox a command over the shared workspace, with `run_blender` on its PATH.

Inside, Blender is `/opt/blender`, our own code `/opt/blendscribe`, its dependencies `/opt/packages`; the
harness's environment, home and network are not there. Settings reach `run_blender` as JSON in VCSFT_HARNESS.
"""

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
_START_RUN_BLENDER = """#!/bin/sh
exec {python} -P -s -c 'import sys
sys.path[:0] = ["/opt/blendscribe", "/opt/packages"]
from agent_plugin.commands.run_blender import console_script
console_script()' "$@"
"""


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
        jail = (
            _jail(workspace, settings, blender, libs, tools)
            if level.is_sandbox
            else _bare_jail(workspace, settings, blender, libs)
        )
        jail = replace(jail, environment={**jail.environment, **variables}, tmp_mb=limits.tmp_mb)
        return launch([_bash(level), "-c", command], jail, limits, level)


def _bash(level: Level) -> str:
    return "/bin/bash" if level.is_sandbox else shutil.which("bash") or "/bin/sh"


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
    warm = shader_cache_dir(blender)
    tools.chmod(0o755)
    (tools / "run_blender").write_text(_START_RUN_BLENDER.format(python=python))
    (tools / "run_blender").chmod(0o755)
    if not Path("/usr/bin/python3").exists():
        (tools / "python3").symlink_to(python)
    return Jail(
        workspace=workspace,
        binds=(
            *ours.binds,
            *theirs.binds,
            Bind(PROJECT_DIR / "harness", "/opt/blendscribe/harness"),
            Bind(PROJECT_DIR / "agent_plugin", "/opt/blendscribe/agent_plugin"),
            Bind(PROJECT_DIR / "recorder", "/opt/blendscribe/recorder"),
            Bind(Path(pydantic.__file__).parent.parent, "/opt/packages"),
            Bind(tools, _TOOLS),
            # read-only: run_blender, inside, works on copies of it as it does outside
            *((Bind(warm, "/opt/blender/var/shader_cache"),) if warm.is_dir() else ()),
            *((Bind(libs, "/opt/mesa"),) if libs else ()),
        ),
        files={**identity_files(), **ours.files, **theirs.files},
        symlinks=theirs.symlinks,
        environment={
            **RUN_ENVIRONMENT,
            **library_environment((*ours.binds, *theirs.binds), libs),
            "PATH": f"{_TOOLS}:{RUN_ENVIRONMENT['PATH']}",
            SETTINGS_VARIABLE: inside.model_dump_json(),
        },
    )


def _bare_jail(workspace: Path, settings: HarnessSettings, blender: PythonEnvironment, libs: Path | None) -> Jail:
    """Without a sandbox everything has its own name, and `run_blender` is the one beside our interpreter."""
    inside = settings.model_copy(
        update={"bpy_python": str(blender.python), "bpy_libs": str(libs or ""), "visual_feedback": False}
    )
    environment: dict[str, Word] = {
        **RUN_ENVIRONMENT,
        "PATH": f"{Path(sys.executable).parent}:{RUN_ENVIRONMENT['PATH']}",
        SETTINGS_VARIABLE: inside.model_dump_json(),
    }
    return Jail(workspace=workspace, environment=environment)
