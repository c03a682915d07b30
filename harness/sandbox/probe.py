"""Chooses the isolation level by trying it: the whole recipe around /usr/bin/true. Cached per process."""

from functools import cache
from pathlib import Path

from harness.errors import HarnessError, SandboxUnavailable
from harness.folders import private_folder
from harness.sandbox.jail import Jail, identity_files
from harness.sandbox.launch import launch
from harness.sandbox.level import LIMITS_ONLY, Level, SandboxMode, bwrap_features, find_bwrap
from harness.sandbox.limits import Limits
from harness.sandbox.seccomp import program

NO_BWRAP = "bubblewrap is not installed: run `blendscribe setup`, or install the package 'bubblewrap'"


def choose_level(mode: SandboxMode, libs: Path | None = None) -> Level:
    """The level that `mode` leads to on this machine. Raises SandboxUnavailable for `required` without bubblewrap."""
    if mode == "off":
        return LIMITS_ONLY
    level, why_not = best_level(libs)
    if mode == "required" and not level.is_sandbox:
        raise SandboxUnavailable(f"harness.sandbox is 'required', but {why_not}. Or set it to 'auto' or 'off'.")
    return level


@cache
def best_level(libs: Path | None = None) -> tuple[Level, str]:
    """The strongest level that works here, and why not a stronger one (empty when there is none)."""
    bwrap = find_bwrap(libs)
    if bwrap is None:
        return LIMITS_ONLY, NO_BWRAP
    features = bwrap_features(bwrap)
    level = Level("bwrap+seccomp" if program() else "bwrap", bwrap, features)
    why_not = _trial(level)
    return (LIMITS_ONLY, why_not) if why_not else (level, "")


def _trial(level: Level) -> str:
    """Empty when a process ran at `level`, else what went wrong and the usual cause."""
    with private_folder("probe") as folder:
        jail = Jail(workspace=folder, files=identity_files(), tmp_mb=1)
        try:
            ended = launch(["/usr/bin/true"], jail, Limits(timeout_seconds=10), level)
        except HarnessError as error:
            return (
                f"bubblewrap does not work here ({str(error).strip()[-200:]}). "
                "Usual cause: user namespaces are forbidden by a container or by AppArmor"
            )
    return "" if ended.returncode == 0 else f"bubblewrap ended with {ended.returncode}: {ended.output.text()[-200:]}"
