"""Runs pip for the Blender environment from outside, so that the environment holds bpy alone.

No package index is named here: pip's own configuration says where packages come from.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.setup.download import RemoteFile
from harness.setup.plan import SetupFailed

_OLDEST_WITH_PYTHON_OPTION = (22, 3)
_OLDEST_WITH_CHEAP_REPORT = (25, 3)  # older ones download a wheel to report its address


@dataclass(frozen=True)
class Pip:
    """A pip that installs into `python`'s environment."""

    python: Path
    command: tuple[str, ...]
    version: tuple[int, int]

    def run(self, *arguments: str) -> str:
        """Its output. Raises SetupFailed with the end of what it said."""
        ended = subprocess.run(
            [*self.command, "--no-input", "--disable-pip-version-check", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            close_fds=False,  # it inherits the lock of `steps.locked`
        )  # fmt: skip
        if ended.returncode:
            raise SetupFailed(f"pip could not do it: {' '.join(arguments)}\n{ended.stdout.strip()[-1500:]}")
        return ended.stdout

    def newer(self, folder: Path) -> "Pip":
        """One that can report cheaply: itself, or a newer one put into `folder` for that."""
        if self.version >= _OLDEST_WITH_CHEAP_REPORT:
            return self
        wanted = "pip>={}.{}".format(*_OLDEST_WITH_CHEAP_REPORT)
        if not (folder / "pip/__main__.py").is_file():
            self.run("install", "--quiet", "--no-deps", "--target", str(folder), wanted)
        return Pip(self.python, (str(self.python), str(folder / "pip")), _OLDEST_WITH_CHEAP_REPORT)

    def locate(self, requirement: str, report: Path) -> RemoteFile | None:
        """Where the wheel for `requirement` is. None when it is a local file or the index gives no hash."""
        self.run(
            "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--only-binary", ":all:",
            "--use-feature=fast-deps", "--report", str(report), requirement,
        )  # fmt: skip
        source = json.loads(report.read_bytes())["install"][0]["download_info"]
        url, sha256 = str(source["url"]), source.get("archive_info", {}).get("hashes", {}).get("sha256")
        if not sha256 or not url.startswith(("http://", "https://")):
            return None
        return RemoteFile(url=url, name=url.split("?")[0].split("#")[0].rsplit("/", 1)[1], sha256=str(sha256))


def find_pip(python: Path) -> Pip:
    """The pip of the Python that runs blendscribe, else of the environment, else on PATH, else the bundled one."""
    for command in (
        (sys.executable, "-m", "pip", "--python", str(python)),
        (str(python), "-m", "pip"),
        ("pip3", "--python", str(python)),
    ):
        version = _version(command)
        if version and version >= _OLDEST_WITH_PYTHON_OPTION:
            return Pip(python, command, version)
    subprocess.run([python, "-m", "ensurepip"], capture_output=True)
    version = _version((str(python), "-m", "pip"))
    if version is None:
        raise SetupFailed(
            f"No pip 22.3 or newer: '{sys.executable}' has none, PATH has no pip3, and '{python}' cannot make one. "
            f"Install it: `uv pip install pip`, or `{sys.executable} -m ensurepip`, or the package 'python3-pip'."
        )
    return Pip(python, (str(python), "-m", "pip"), version)


def _version(command: Sequence[str]) -> tuple[int, int] | None:
    """Of the pip behind `command`; None when there is none."""
    try:
        ended = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.match(r"pip (\d+)\.(\d+)", ended.stdout)
    return (int(found[1]), int(found[2])) if found else None
