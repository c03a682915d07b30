"""Errors that are ours or the machine's, never the model's.

    HarnessError                 nothing about the model's work can be concluded
    ├── InterpreterMissing       no Blender interpreter: run `blendscribe setup`
    ├── SandboxUnavailable       the isolation that the settings require cannot be had
    ├── SandboxFailed            a sandbox that should start did not
    ├── NotEnoughMemory          the machine has none to give for a Blender
    ├── DiskFull                 the disk has no room left, and not by what ran
    └── WaitStopped              the run was stopped while a Blender waited for its turn

What a model's script does wrong is data (see `problems.py`), not an exception.
"""


class HarnessError(Exception):
    """The harness or the machine failed; the episode ends as infrastructure and is not graded."""


class InterpreterMissing(HarnessError):
    """No usable Blender interpreter was found."""


class SandboxUnavailable(HarnessError):
    """The sandbox level that the settings require does not work on this machine."""


class SandboxFailed(HarnessError):
    """A process could not be started inside its sandbox."""


class NotEnoughMemory(HarnessError):
    """There was not enough memory to start a Blender, for as long as is waited, or to go on with one that took no more
    than it may."""


class DiskFull(HarnessError):
    """The disk has no room left, although what ran took no more than it may."""


class WaitStopped(HarnessError):
    """Nothing failed: the run was stopped while a Blender waited for its turn."""
