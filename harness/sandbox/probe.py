"""Chooses the isolation level by trying it: the whole recipe around /usr/bin/true. Cached per process.

Whether a level also keeps what it promises is another question, put by `harness.isolation` with an attack from
inside. That takes a second process and 100 ms; this takes 12 ms, and is asked by every `run_blender`. The attack is
made where its answer decides or is written down: by `doctor`, and when a run or an episode begins. A level that it
finds broken is `refute`d here, so that the rest of the process does not use it.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from threading import Lock

from harness.errors import HarnessError, SandboxUnavailable
from harness.folders import private_folder
from harness.sandbox.confine import MIN_ABI, landlock_abi
from harness.sandbox.jail import Jail, identity_files
from harness.sandbox.launch import launch
from harness.sandbox.level import LIMITS_ONLY, Level, LevelName, SandboxMode, bwrap_features, find_bwrap
from harness.sandbox.limits import Limits
from harness.sandbox.seccomp import program

NO_BWRAP = "bubblewrap is not installed: run `blendscribe setup`, or install the package 'bubblewrap'"

_refuted: dict[LevelName, str] = {}
_one_at_a_time = Lock()
"""Who asks while another tries waits for its answer."""


def choose_level(mode: SandboxMode, libs: Path | None = None) -> Level:
    """The level that `mode` leads to on this machine. Raises SandboxUnavailable for `required` without bubblewrap."""
    if mode == "off":
        return LIMITS_ONLY
    level, why_not = best_level(libs)
    if mode == "required" and not level.is_bubblewrap:
        raise SandboxUnavailable(f"harness.sandbox is 'required', but {why_not}. Or set it to 'auto' or 'off'.")
    return level


def best_level(libs: Path | None = None) -> tuple[Level, str]:
    """The strongest level that works here, and why not a stronger one (empty when there is none)."""
    with _one_at_a_time:
        return _best_level(find_bwrap(libs))


@cache
def _best_level(bwrap: Path | None) -> tuple[Level, str]:
    reasons: list[str] = []
    for level in _candidates(bwrap):
        if isinstance(level, str):
            why_not = level
        else:
            why_not = _refuted.get(level.name) or _trial(level)
            if not why_not:
                return level, "; ".join(reasons)
        reasons += [why_not] if why_not not in reasons else []
    return LIMITS_ONLY, "; ".join(reasons)


def refute(level: Level, why: str) -> None:
    """Do not choose `level` again in this process."""
    _refuted[level.name] = why
    _best_level.cache_clear()


def working_levels(libs: Path | None = None) -> list[Level]:
    """Every level that works here, strongest first."""
    candidates = [level for level in _candidates(find_bwrap(libs)) if isinstance(level, Level)]
    return [*(level for level in candidates if not _trial(level)), LIMITS_ONLY]


def _candidates(bwrap: Path | None) -> Iterator[Level | str]:
    """What can be tried here, strongest first; for what cannot, the reason."""
    has_filter = program() is not None
    if bwrap is None:
        yield NO_BWRAP
    else:
        features = bwrap_features(bwrap)
        if has_filter:
            yield Level("bwrap+seccomp", bwrap, features)
        yield Level("bwrap", bwrap, features)
    abi = landlock_abi()
    if abi < MIN_ABI or not has_filter:
        yield "Landlock of Linux 6.2 or newer on x86_64 would come next, but is not here"
    else:
        yield Level("landlock+seccomp", landlock_abi=abi)


def _trial(level: Level) -> str:
    """Empty when a process ran at `level`, else what went wrong and the usual cause."""
    with private_folder("probe") as folder:
        jail = Jail(workspace=folder, files=identity_files(), tmp_mb=1)
        try:
            ended = launch(["/usr/bin/true"], jail, Limits(timeout_seconds=10), level)
        except HarnessError as error:
            said = str(error).strip()[-200:]
            if not level.is_bubblewrap:
                return f"Landlock does not work here ({said})"
            return (
                f"bubblewrap does not work here ({said}). "
                "Usual cause: user namespaces are forbidden by a container or by AppArmor"
            )
    what = "bubblewrap" if level.is_bubblewrap else "Landlock"
    return "" if ended.returncode == 0 else f"{what} ended with {ended.returncode}: {ended.output.text()[-200:]}"
