"""Runs untrusted processes: isolation level, jail, limits, one launcher."""

from harness.sandbox.jail import Bind, Jail
from harness.sandbox.launch import RESULT_FD, Exit, launch
from harness.sandbox.level import Level, LevelName, SandboxMode
from harness.sandbox.limits import Limits, StopCause, Usage
from harness.sandbox.probe import best_level, choose_level

__all__ = [
    "RESULT_FD",
    "Bind",
    "Exit",
    "Jail",
    "Level",
    "LevelName",
    "Limits",
    "SandboxMode",
    "StopCause",
    "Usage",
    "best_level",
    "choose_level",
    "launch",
]
