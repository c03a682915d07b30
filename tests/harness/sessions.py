"""What the tests of a live Blender share: sessions with narrow limits, and steps that have to take effect."""

import textwrap
from pathlib import Path
from typing import Any

from harness.final_script import StepStart
from harness.settings import HarnessSettings
from harness.step_report import step_text
from harness.step_result import StepResult
from harness.step_session import StepSession

SMALL = {
    "exec_timeout": 3,
    "memory_mb": 800,
    "max_output_mb": 8,
    "max_processes": 60,
    "max_disk_mb": 60,
    "visual_feedback": False,
}


def open_session(workspace: Path, start: StepStart | None = None, **settings: object) -> StepSession:
    """A session that is not started yet; `settings` over the narrow ones."""
    return StepSession(workspace, HarnessSettings.model_validate({**SMALL, **settings}), start)


def good(session: StepSession, code: str, **options: Any) -> StepResult:
    """The result of a step that has to take effect."""
    result = session.step(textwrap.dedent(code), **options)
    assert result.ok, step_text(result)
    return result


def printed(session: StepSession, code: str) -> str:
    """What a step prints that has to take effect."""
    return "\n".join(good(session, code).log.lines)


RENUMBERED = """
import bpy
bpy.ops.mesh.primitive_uv_sphere_add()
ball = bpy.context.object
bpy.ops.object.mode_set(mode='EDIT')
bpy.ops.mesh.subdivide(smoothness=0.5)
bpy.ops.mesh.bevel(offset=0.01, segments=2)
bpy.ops.object.mode_set(mode='OBJECT')
"""
"""Numbers the elements of its mesh in another order in each process, so that the state hash is another each time."""
BEGIN = """
import bpy, ctypes, os, signal, sys, threading, time
kept = 1
open('kept.txt', 'w').write('kept')
open('gone.txt', 'w').write('kept')
"""
"""The first step of a shared session: names and files that the tests look for."""
