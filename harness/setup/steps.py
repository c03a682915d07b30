"""The steps of `blendscribe setup`, in order. Each looks first, does only what is lacking, and says what it did."""

import fcntl
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.setup import debian
from harness.setup.blender_env import install_bpy, make_environment
from harness.setup.plan import Plan, Progress, SetupFailed
from harness.setup.shaders import warm_shader_cache
from harness.setup.system_libraries import BWRAP, OTHER_SYSTEMS, can_use_apt, find_missing


@dataclass(frozen=True)
class Step:
    """One thing that has to be there, and the function that sees to it and returns what it did."""

    name: str
    run: Callable[[Plan, Progress], str]


def check_machine(_plan: Plan, _progress: Progress) -> str:
    """bpy 4.5 for Linux is built for x86_64 alone, and so is the system call filter."""
    system, machine = platform.system(), platform.machine()
    if (system, machine) != ("Linux", "x86_64"):
        raise SetupFailed(
            f"This is {system} on {machine}; blendscribe needs Linux on x86_64. "
            "Use such a machine, or a container or virtual machine."
        )
    return f"{system} on {machine}"


def provide_libraries(plan: Plan, progress: Progress) -> str:
    """Mesa, the libraries that bpy links to, and bubblewrap: the system's, or unpacked ones."""
    where = "unpacked" if plan.libs else "the system's"
    missing = find_missing(plan.environment, plan.libs)
    is_wanted_unpacked = not plan.may_install_packages and plan.libs is None
    if not missing and not is_wanted_unpacked:
        shutil.rmtree(plan.downloads_dir, ignore_errors=True)  # what a killed setup left behind
        return f"kept ({where})"
    if not can_use_apt():
        raise SetupFailed(
            f"Missing: {', '.join(missing) or 'apt-get, which --no-system needs'}. There is no apt-get here: "
            f"install the packages and run setup again:\n{OTHER_SYSTEMS}"
        )
    if plan.may_install_packages and os.geteuid() == 0 and plan.libs is None:
        done = _install(missing, progress)
    else:
        done = f"unpacked {debian.unpack(plan.unpacked_libs_dir, plan.downloads_dir, progress)} packages"
    still_missing = find_missing(plan.environment, plan.libs)
    if set(still_missing) - {BWRAP}:
        raise SetupFailed(f"Still missing, although setup {done}: {', '.join(still_missing)}.")
    shutil.rmtree(plan.downloads_dir, ignore_errors=True)
    return done + (f"; without {BWRAP} scripts run with limits only" if still_missing else "")


def _install(missing: tuple[str, ...], progress: Progress) -> str:
    n_installed = 0
    if set(missing) - {BWRAP}:
        n_installed += debian.install(debian.PACKAGES, progress)
    if BWRAP in missing:
        try:
            n_installed += debian.install([debian.SANDBOX_PACKAGE], progress)
        except SetupFailed as error:
            progress.say(f"going on without {BWRAP}: {error}")
    return f"installed {n_installed} packages"


STEPS = (
    Step("machine", check_machine),
    Step("environment", make_environment),
    Step("bpy", install_bpy),
    Step("libraries", provide_libraries),
    Step("shader cache", warm_shader_cache),
)


def take(step: Step, plan: Plan, progress: Progress) -> str:
    """Run one step; returns what it did. Raises HarnessError, also for what the file system refuses."""
    try:
        return step.run(plan, progress)
    except OSError as error:
        raise SetupFailed(f"{error.strerror or error}: '{error.filename or plan.into}'.") from error


@contextmanager
def locked(folder: Path, progress: Progress) -> Iterator[None]:
    """One setup at a time for a folder, which is made if need be; another one waits.

    pip and apt-get inherit the lock: when setup is killed and one of them works on, the next setup waits for its end.
    """
    _require_ours(folder)
    if folder.is_dir() and not os.access(folder, os.W_OK):
        yield  # somebody else's: it can be looked at, and nothing in it can be changed
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SetupFailed(f"Cannot make '{folder}': {error.strerror}. Name another folder with --into.") from error
    with (folder / "setup.lock").open("w") as lock:
        os.set_inheritable(lock.fileno(), True)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say(f"waiting for another setup of '{folder}'")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _require_ours(folder: Path) -> None:
    """A folder with other things in it is not turned into an environment."""
    if folder.exists() and not folder.is_dir():
        raise SetupFailed(f"'{folder}' is not a folder. Name another with --into.")
    is_ours = any((folder / name).exists() for name in ("pyvenv.cfg", "setup.lock"))
    if folder.is_dir() and any(folder.iterdir()) and not is_ours:
        raise SetupFailed(f"'{folder}' holds other files. Name a new or empty folder with --into.")
