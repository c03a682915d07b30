"""Runs untrusted processes: isolation level, jail, limits, one launcher."""

from harness.sandbox.jail import Bind, Jail
from harness.sandbox.launch import Exit, launch
from harness.sandbox.level import Level, LevelName, SandboxMode
from harness.sandbox.limits import Limits, StopCause, Usage
from harness.sandbox.probe import best_level, choose_level
from harness.sandbox.process import REQUEST_FD, RESULT_FD, SandboxedProcess

__all__ = [
    "REQUEST_FD",
    "RESULT_FD",
    "Bind",
    "Exit",
    "Jail",
    "Level",
    "LevelName",
    "Limits",
    "SandboxMode",
    "SandboxedProcess",
    "StopCause",
    "Usage",
    "best_level",
    "choose_level",
    "launch",
]
