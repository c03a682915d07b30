"""What one `blendscribe setup` is to do, how it tells its progress, and how it fails."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.errors import HarnessError
from harness.interpreter import PythonEnvironment, libs_dir, read_environment
from harness.settings import HarnessSettings


class SetupFailed(HarnessError):
    """A step of setup could not be done; the message says what to do. What was done so far is kept."""


class Progress(Protocol):
    """Who is told while a step goes on. The steps print nothing themselves."""

    def say(self, text: str) -> None:
        """What the step is doing now."""

    def downloaded(self, n_bytes: int, n_total: int) -> None:
        """How much of a download there is; called often."""


@dataclass(frozen=True)
class Plan:
    """Where the Blender environment is to be, and what setup may use for it."""

    into: Path
    """Its folder: a virtual environment with bpy, and beside it libraries and the shader cache."""
    python: Path | None = None
    """The Python 3.11 to build it on; None: look for one."""
    may_install_packages: bool = True
    """Install Debian packages where setup runs as root. False: always unpack them into the folder."""

    @property
    def environment(self) -> PythonEnvironment:
        return read_environment(self.into / "bin/python")

    @property
    def settings(self) -> HarnessSettings:
        """Settings that lead to this environment."""
        return HarnessSettings(bpy_python=str(self.into / "bin/python"))

    @property
    def libs(self) -> Path | None:
        return libs_dir(self.settings, self.environment)

    @property
    def unpacked_libs_dir(self) -> Path:
        """Where packages are unpacked to; `interpreter.libs_dir` finds it there."""
        return self.into / "blender-libs"

    @property
    def downloads_dir(self) -> Path:
        """What has been downloaded and not been installed yet."""
        return self.into / "downloads"
