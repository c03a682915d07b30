"""Runs untrusted processes: isolation level, jail, limits, one launcher."""

from harness.sandbox.jail import Bind, Jail
from harness.sandbox.launch import Exit, Midway, launch
from harness.sandbox.level import LEVEL_NAMES, Level, LevelName, SandboxMode, is_at_least
from harness.sandbox.limits import Limits, StopCause, Usage
from harness.sandbox.probe import best_level, choose_level, refute, working_levels
from harness.sandbox.process import REQUEST_FD, RESULT_FD, SandboxedProcess

__all__ = [
    "LEVEL_NAMES",
    "REQUEST_FD",
    "RESULT_FD",
    "Bind",
    "Exit",
    "Jail",
    "Level",
    "LevelName",
    "Limits",
    "Midway",
    "SandboxMode",
    "SandboxedProcess",
    "StopCause",
    "Usage",
    "best_level",
    "choose_level",
    "is_at_least",
    "launch",
    "refute",
    "working_levels",
]
