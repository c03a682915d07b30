"""Which versions an episode was made with."""

import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version

from harness.errors import InterpreterMissing
from harness.interpreter import PROJECT_DIR, find_environment
from harness.settings import HarnessSettings


def versions(settings: HarnessSettings) -> dict[str, str]:
    """Name -> version of everything that shapes a result. Starts no Blender."""
    found = {name: _package(name) for name in ("blendscribe", "mini-swe-agent", "litellm", "av")}
    return {
        **found,
        "blendscribe-revision": _revision(),
        "python": platform.python_version(),
        "bpy": _bpy(settings),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _package(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _revision() -> str:
    """The git revision of a checkout, with `+` if files differ from it; empty for an installed wheel."""
    if not (PROJECT_DIR / ".git").exists():
        return ""
    command = ["git", "-C", str(PROJECT_DIR), "describe", "--always", "--dirty=+", "--abbrev=12"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=False).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def _bpy(settings: HarnessSettings) -> str:
    try:
        site = find_environment(settings).site_packages
    except InterpreterMissing:
        return ""
    return next((folder.name.split("-")[1] for folder in sorted(site.glob("bpy-*.dist-info"))), "")
