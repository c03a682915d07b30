"""Finds out which system libraries Blender, Mesa and the sandbox lack.

Looked at from where they are needed: what bpy's own module links to, EGL, Mesa's EGL vendor and its software
driver, and bubblewrap. Providing them is `debian.py`'s.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.interpreter import PythonEnvironment
from harness.sandbox.level import find_bwrap

BWRAP = "bubblewrap"
EGL_VENDOR = "Mesa's EGL vendor file (egl_vendor.d/*mesa*.json)"
SOFTWARE_DRIVER = "Mesa's software driver (llvmpipe)"

_EGL_LIBRARIES = ("libEGL.so.1", "libEGL_mesa.so.0")
_VENDOR_FOLDERS = (Path("/etc/glvnd/egl_vendor.d"), Path("/usr/share/glvnd/egl_vendor.d"))
_LDCONFIG = next((path for path in ("/sbin/ldconfig", "/usr/sbin/ldconfig") if Path(path).exists()), "ldconfig")

OTHER_SYSTEMS = """\
    Fedora:     dnf install mesa-libEGL mesa-libGL mesa-dri-drivers libglvnd-egl libX11 libXrender libXfixes libXi \
libxkbcommon libXxf86vm libSM libICE libgomp bubblewrap
    Arch Linux: pacman -S mesa libglvnd libx11 libxrender libxfixes libxi libxkbcommon libxxf86vm libsm libice \
gcc-libs bubblewrap"""


@dataclass(frozen=True)
class Loader:
    """How the dynamic linker finds libraries: an unpacked folder first, then the system's cache."""

    libs: Path | None
    system: Mapping[str, Path]

    def find(self, name: str) -> Path | None:
        unpacked = self.libs / "lib" / name if self.libs else None
        return unpacked if unpacked and unpacked.exists() else self.system.get(name)


def read_loader(libs: Path | None) -> Loader:
    """What `ldconfig` knows of 64-bit libraries, behind those in `libs`."""
    listed = subprocess.run([_LDCONFIG, "-p"], capture_output=True, text=True).stdout
    found = re.findall(r"^\s*(\S+) \(libc6,x86-64[^)]*\) => (\S+)$", listed, re.MULTILINE)
    return Loader(libs, {name: Path(path) for name, path in reversed(found)})


def find_missing(environment: PythonEnvironment, libs: Path | None) -> tuple[str, ...]:
    """What is not there, by name; empty when Blender can render in a sandbox."""
    return tuple(dict.fromkeys(_missing(environment, libs)))


def _missing(environment: PythonEnvironment, libs: Path | None) -> Iterator[str]:
    loader = read_loader(libs)
    yield from _unresolved(environment.site_packages / "bpy/__init__.so", libs)
    yield from (name for name in _EGL_LIBRARIES if loader.find(name) is None)
    # the variables that lead to an unpacked Mesa replace the system's folders
    folders = [libs / "share/glvnd/egl_vendor.d"] if libs else _VENDOR_FOLDERS
    if not any(True for folder in folders for _ in folder.glob("*mesa*.json")):
        yield EGL_VENDOR
    if not _has_software_driver(loader):
        yield SOFTWARE_DRIVER
    if find_bwrap(libs) is None:
        yield BWRAP


def _unresolved(library: Path, libs: Path | None) -> list[str]:
    """Names that the dynamic linker cannot find for `library`, through all that it links to."""
    environment = {"PATH": "/usr/bin:/bin", **({"LD_LIBRARY_PATH": str(libs / "lib")} if libs else {})}
    listed = subprocess.run(["ldd", library], capture_output=True, text=True, env=environment).stdout
    return re.findall(r"^\s*(\S+) => not found", listed, re.MULTILINE)


def _has_software_driver(loader: Loader) -> bool:
    egl = loader.find("libEGL_mesa.so.0")
    folder = loader.libs / "lib" if loader.libs else egl and egl.parent
    return folder is not None and ((folder / "dri/swrast_dri.so").exists() or any(folder.glob("libgallium-*.so")))


def can_use_apt() -> bool:
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))
