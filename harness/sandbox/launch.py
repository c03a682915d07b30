"""Runs one untrusted command to its end: the level's isolation, named limits, everything dead on return."""

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from harness.errors import SandboxFailed
from harness.sandbox.jail import Jail, Word
from harness.sandbox.level import Level
from harness.sandbox.limits import Limits, StopCause, Usage
from harness.sandbox.output import BoundedOutput
from harness.sandbox.process import SandboxedProcess, WatchEnd


@dataclass(frozen=True)
class Midway:
    """What is done while a process still runs: `action`, once, in the launching thread, when `words` have come.

    Nothing is measured until it returns.
    """

    words: bytes
    """Looked for in what the result pipe gave: a claim."""
    action: Callable[[], object]


@dataclass(frozen=True)
class Exit:
    """How a sandboxed process tree ended."""

    returncode: int | None
    """Exit status; 128 + n for signal n; None when it was stopped. A claim."""
    stopped_by: StopCause | None
    seconds: float
    output: BoundedOutput = field(repr=False)
    """stdout and stderr together."""
    result: bytes = field(repr=False)
    """What was written to the result pipe. A claim."""
    peak: Usage

    @property
    def was_killed(self) -> bool:
        """By SIGKILL, and not by us: by itself, by the kernel for want of memory, or by somebody outside."""
        return self.stopped_by is None and self.returncode == 128 + signal.SIGKILL

    @property
    def signal_name(self) -> str | None:
        number = (self.returncode or 0) - 128
        return signal.Signals(number).name if number in set(signal.Signals) else None


def launch(
    command: Sequence[Word],
    jail: Jail,
    limits: Limits,
    level: Level,
    *,
    meanwhile: Callable[[], object] = lambda: None,
    midway: Midway | None = None,
) -> Exit:
    """Run `command` in `jail` at `level` and wait for its end. `meanwhile` is called in this thread once it runs.

    Nothing is measured before `meanwhile` returns: it is for starting what shall work at the same time.
    Raises SandboxFailed when the process could not be started (never for what it did after that), NotEnoughMemory or
    DiskFull when the machine ran out of it through no doing of the process.
    """
    process = SandboxedProcess(jail, limits, level)
    started = time.monotonic()
    try:
        process.start(command)
        meanwhile()
        end = _watch(process, limits.timeout_seconds, midway)
        process.kill()
        process.check_blame()
        if end == "ended" and not process.has_started:
            raise SandboxFailed(f"The sandbox did not start: {process.output.text().strip()[-500:]}")
        is_out_of_reach = level.landlock_abi or level.is_bubblewrap
        if end == "ended" and is_out_of_reach and (process.returncode or 0) < 0:
            raise SandboxFailed("Something outside killed the sandbox's own process, or memory ended")
    finally:
        process.close()
    stopped_by = None if end == "ended" or end == "until" else end
    return Exit(
        returncode=process.returncode if stopped_by is None else None,
        stopped_by=stopped_by,
        seconds=time.monotonic() - started,
        output=process.output,
        result=bytes(process.result),
        peak=process.peak,
    )


def _watch(process: SandboxedProcess, seconds: float, midway: Midway | None) -> WatchEnd:
    deadline = time.monotonic() + seconds
    if midway:
        end = process.watch(timeout_seconds=seconds, until=_finder(midway.words, process.result))
        if end != "until":
            return end
        midway.action()
    return process.watch(timeout_seconds=deadline - time.monotonic())


def _finder(words: bytes, received: bytearray) -> Callable[[], bool]:
    """Whether they have come, by looking only at what is new: a process can send until the limit."""
    start = 0

    def is_there() -> bool:
        nonlocal start
        found = received.find(words, start)
        start = max(0, len(received) - len(words))
        return found >= 0

    return is_there
