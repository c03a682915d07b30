"""The virtual environment that holds bpy and its dependencies, and nothing else.

Made without pip in it: Debian's Python 3.11 has no ensurepip unless python3-venv is installed.
"""

import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from harness.interpreter import PROJECT_DIR, PythonEnvironment, default_places, read_environment
from harness.setup.download import NotFetchable, RemoteFile, fetch
from harness.setup.pip import Pip, find_pip
from harness.setup.plan import Plan, Progress, SetupFailed

BPY_VERSION = "4.5.15"
NUMPY = "numpy<2"
PYTHON_VERSION = (3, 11)
"""bpy 4.5 exists for this Python alone."""

_NEEDED_BYTES = 2_500_000_000


def default_place() -> Path:
    """Where the Blender environment is or, if there is none yet, where it is to be made."""
    for place in default_places():
        if (place / "bin/python").is_file() and has_bpy(read_environment(place / "bin/python")):
            return place
    in_project = (PROJECT_DIR / "pyproject.toml").is_file() and os.access(PROJECT_DIR, os.W_OK)
    return PROJECT_DIR / ".venv-blender" if in_project else default_places()[-1]


def installed_bpy(environment: PythonEnvironment) -> str | None:
    """The version of bpy that is installed whole in `environment`, from its files alone."""
    for distribution in metadata.distributions(name="bpy", path=[str(environment.site_packages)]):
        # pip writes INSTALLER after everything else is unpacked, and bpy after its dependencies
        if distribution.read_text("INSTALLER"):
            return distribution.version
    return None


def has_bpy(environment: PythonEnvironment) -> bool:
    return installed_bpy(environment) == BPY_VERSION


def make_environment(plan: Plan, progress: Progress) -> str:
    """Make or repair the virtual environment; returns what was done."""
    python = plan.into / "bin/python"
    found = python_version(python) if (plan.into / "pyvenv.cfg").is_file() else None
    if found == PYTHON_VERSION:
        return "kept"
    if found:
        raise SetupFailed(
            f"'{plan.into}' is an environment of Python {_dotted(found)}; bpy {BPY_VERSION} needs "
            f"{_dotted(PYTHON_VERSION)}. Delete it, or name another folder with --into."
        )
    base = find_python(plan.python)
    progress.say(f"making a virtual environment of {base}")
    for stale in plan.into.glob("bin/python*"):
        stale.unlink()
    ended = subprocess.run([base, "-m", "venv", "--without-pip", plan.into], capture_output=True, text=True)
    if ended.returncode or python_version(python) != PYTHON_VERSION:
        raise SetupFailed(f"'{base}' cannot make a virtual environment in '{plan.into}': {ended.stderr.strip()[-500:]}")
    return f"made with {base}"


def find_python(wanted: Path | None) -> Path:
    """A Python that bpy can live in: the one named, the one that runs this, or python3.11 on PATH."""
    if wanted:
        version = python_version(wanted)
        if version != PYTHON_VERSION:
            what = f"is Python {_dotted(version)}" if version else "does not run"
            raise SetupFailed(f"'{wanted}' {what}; bpy {BPY_VERSION} needs Python {_dotted(PYTHON_VERSION)}.")
        return wanted
    name = f"python{_dotted(PYTHON_VERSION)}"
    for candidate in (sys.executable, shutil.which(name), f"/usr/bin/{name}"):
        if candidate and python_version(Path(candidate)) == PYTHON_VERSION:
            return Path(candidate)
    raise SetupFailed(
        f"bpy {BPY_VERSION} needs Python {_dotted(PYTHON_VERSION)}, and there is no {name} on PATH. Install it "
        f"(Debian 12: `apt-get install {name}`; anywhere: uv or pyenv), or name one with --python."
    )


def python_version(python: Path) -> tuple[int, int] | None:
    """(major, minor), by running it; None when it does not run."""
    try:
        ended = subprocess.run(
            [python, "-I", "-S", "-c", "import sys; print(*sys.version_info[:2])"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        major, minor = ended.stdout.split()
        return int(major), int(minor)
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None


def install_bpy(plan: Plan, progress: Progress) -> str:
    """Install bpy unless that version is there; returns what was done."""
    if has_bpy(plan.environment):
        return "kept"
    _require_disk_space(plan.into)
    _forget_half_installed(plan.environment.site_packages)
    progress.say("asking pip where the wheel is")
    pip = find_pip(plan.environment.python)
    wheel = _fetch_wheel(pip, plan, progress)
    progress.say(f"installing bpy {BPY_VERSION} (1.1 GB unpacked)")
    pip.run("install", "--quiet", "--only-binary", "bpy,numpy", str(wheel or f"bpy=={BPY_VERSION}"), NUMPY)
    if not has_bpy(plan.environment):
        raise SetupFailed(f"pip succeeded, but bpy {BPY_VERSION} is not in '{plan.environment.site_packages}'.")
    shutil.rmtree(plan.downloads_dir, ignore_errors=True)
    return f"installed bpy {BPY_VERSION}"


def _fetch_wheel(pip: Pip, plan: Plan, progress: Progress) -> Path | None:
    """The downloaded wheel; None when only pip itself can get it (a local index, a password, an odd proxy)."""
    try:
        remote = _locate(pip, plan.downloads_dir)
        if remote is None:
            return None
        progress.say(f"downloading bpy {BPY_VERSION}")
        return fetch(remote, plan.downloads_dir, progress)
    except NotFetchable as error:
        progress.say(f"leaving the download to pip ({error})")
        return None


def _locate(pip: Pip, downloads: Path) -> RemoteFile | None:
    downloads.mkdir(parents=True, exist_ok=True)
    try:
        return pip.newer(downloads / "pip").locate(f"bpy=={BPY_VERSION}", downloads / "report.json")
    except SetupFailed as error:
        raise NotFetchable("pip cannot say where the wheel is") from error


def _require_disk_space(folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < _NEEDED_BYTES:
        raise SetupFailed(
            f"Only {free / 1e9:.1f} GB are free for '{folder}'; installing bpy needs {_NEEDED_BYTES / 1e9:.1f} GB. "
            "Make room, or name another folder with --into."
        )


def _forget_half_installed(site_packages: Path) -> None:
    """pip takes what was interrupted for installed; without its dist-info it unpacks it again."""
    for folder in site_packages.glob("*.dist-info"):
        if not (folder / "INSTALLER").is_file():
            shutil.rmtree(folder)


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
