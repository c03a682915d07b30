"""Debian's and Ubuntu's packages: installed by root, or downloaded and unpacked into a folder by anybody.

An unpacked folder is complete (Mesa and all it links to but the C library): the variables that lead to it
hide the system's drivers, so half a Mesa would be worse than none.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.setup.plan import Progress, SetupFailed

PACKAGES = (
    "libegl1", "libgl1", "libegl-mesa0", "libgl1-mesa-dri", "libx11-6", "libxrender1", "libxfixes3", "libxi6",
    "libxkbcommon0", "libxxf86vm1", "libsm6", "libice6", "libgomp1",
)  # fmt: skip
SANDBOX_PACKAGE = "bubblewrap"

_NEVER_UNPACKED = {"libc6"}
"""The C library belongs to the system's dynamic linker; two of them do not mix."""


@dataclass(frozen=True)
class Apt:
    """apt-get, with the system's package lists or with private ones that need no root."""

    options: tuple[str, ...] = ()

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        """Its output. Raises SetupFailed with the end of what it said."""
        ended = subprocess.run(
            ["apt-get", *self.options, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=cwd,
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"},
            close_fds=False,  # it inherits the lock of `steps.locked`
        )  # fmt: skip
        if ended.returncode:
            raise SetupFailed(f"apt-get could not do it: {' '.join(arguments)}\n{ended.stdout.strip()[-1500:]}")
        return ended.stdout


def install(packages: Sequence[str], progress: Progress) -> int:
    """Install what is missing of `packages` as root; returns how many packages came new."""
    apt = Apt()
    arguments = ("install", "-y", "--no-install-recommends", *packages)
    progress.say(f"installing {', '.join(packages)}")
    try:
        said = apt.run(*arguments)
    except SetupFailed:  # the usual cause: lists that are missing or old
        progress.say("updating the package lists")
        apt.run("update")
        said = apt.run(*arguments)
    counted = re.search(r"(\d+) newly installed", said)
    return int(counted[1]) if counted else 0


def unpack(into: Path, downloads: Path, progress: Progress) -> int:
    """Download Mesa, its dependencies and bubblewrap, and unpack them as `into`; returns how many packages."""
    archives = _download(downloads, progress)
    progress.say(f"unpacking {len(archives)} packages")
    tree, assembled = downloads / "tree", downloads / "assembled"
    for folder in (tree, assembled):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    for archive in archives:
        subprocess.run(["dpkg-deb", "-x", archive, tree], check=True, capture_output=True)
    _assemble(tree, assembled)
    if into.exists():
        shutil.rmtree(into)
    assembled.rename(into)
    shutil.rmtree(tree)
    return len(archives)


def _download(downloads: Path, progress: Progress) -> list[Path]:
    """The packages' archives, with the system's lists or, where these do not do, with lists of our own."""
    debs, lists, cache = downloads / "debs", downloads / "apt/lists", downloads / "apt/cache"
    for folder in (debs, lists / "partial", cache / "archives/partial"):
        folder.mkdir(parents=True, exist_ok=True)
    nothing_installed = downloads / "apt/status"
    nothing_installed.touch()
    # as root, apt would fetch as a user who may not write here
    common = ("-o", "APT::Sandbox::User=root", "-o", f"Dir::Cache={cache}")
    private = Apt((*common, "-o", f"Dir::State::Lists={lists}"))
    try:
        return _download_with(Apt(common), nothing_installed, debs, progress)
    except SetupFailed:
        progress.say("fetching the package lists")
        private.run("update")
        return _download_with(private, nothing_installed, debs, progress)


def _download_with(apt: Apt, nothing_installed: Path, debs: Path, progress: Progress) -> list[Path]:
    simulated = apt.run(
        "-o", f"Dir::State::status={nothing_installed}", "install", "-s", "--no-install-recommends",
        *PACKAGES, SANDBOX_PACKAGE,
    )  # fmt: skip
    names = [name for name in re.findall(r"^Inst (\S+) ", simulated, re.MULTILINE) if name not in _NEVER_UNPACKED]
    progress.say(f"downloading {len(names)} packages")
    said = apt.run("--print-uris", "download", *names, cwd=debs)
    apt.run("download", *names, cwd=debs)  # leaves alone what is there whole
    return [debs / name for name in re.findall(r"^'\S+' (\S+\.deb) ", said, re.MULTILINE)]


def _assemble(tree: Path, into: Path) -> None:
    """Pick libraries, drivers, EGL vendor files and bubblewrap out of the unpacked packages."""
    for folder in [*tree.glob("usr/lib/*-linux-gnu*"), *tree.glob("lib/*-linux-gnu*")]:
        for path in sorted(folder.glob("*.so*")):
            _move(path, into / "lib")
        for path in sorted(folder.glob("dri/*.so")):
            _move(path, into / "lib/dri")
    for path in tree.glob("usr/share/glvnd/egl_vendor.d/*.json"):
        _move(path, into / "share/glvnd/egl_vendor.d")
    for path in tree.glob("usr/bin/bwrap"):
        _move(path, into / "bin")


def _move(path: Path, folder: Path) -> None:
    """Into `folder`; a link that leads to another folder becomes a copy of the file behind it."""
    folder.mkdir(parents=True, exist_ok=True)
    if path.is_symlink() and path.readlink().name != str(path.readlink()):
        shutil.copy2(path, folder / path.name)
    else:
        path.rename(folder / path.name)
