"""Finds the Blender interpreter and says how a sandbox sees a Python environment.

Inside a sandbox an environment is rebuilt under a name of its own (`/opt/blender`), so that no path of the
host shows in a traceback, and the base installation may live under a home folder that stays hidden.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import InterpreterMissing
from harness.sandbox.jail import Bind, Word
from harness.settings import HarnessSettings

ENVIRONMENT_VARIABLE = "BLENDSCRIBE_BPY_PYTHON"
PROJECT_DIR = Path(__file__).resolve().parent.parent
IN_BLENDER_DIR = PROJECT_DIR / "harness/in_blender"

RUN_ENVIRONMENT: Mapping[str, Word] = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp/home",
    "TMPDIR": "/tmp",
    "XDG_CACHE_HOME": "/tmp/home/.cache",
    "XDG_RUNTIME_DIR": "/tmp",
    "LANG": "C.UTF-8",
    "TZ": "UTC",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "PYTHONHASHSEED": "0",
    "EGL_PLATFORM": "surfaceless",
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GALLIUM_DRIVER": "llvmpipe",
    "MESA_DISK_CACHE_SINGLE_FILE": "1",  # its private copies are 3 files instead of 131 in 100 folders
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # large pages: a fork of Blender 0.9 instead of 1.6 ms (measured)
}
"""All that a sandboxed process finds in its environment; nothing is inherited."""


@dataclass(frozen=True)
class PythonEnvironment:
    """A Python interpreter on this machine: a virtual environment, or an installation itself."""

    python: Path
    """What one calls."""
    prefix: Path
    """Its environment (`sys.prefix`)."""
    base_python: Path
    """The interpreter of the installation behind it, links resolved."""

    @property
    def base_prefix(self) -> Path:
        return self.base_python.parent.parent

    @property
    def is_venv(self) -> bool:
        return self.prefix != self.base_prefix

    @property
    def site_packages(self) -> Path:
        return self.prefix / "lib" / self.base_python_name / "site-packages"

    @property
    def base_python_name(self) -> str:
        """`python3.11`."""
        for folder in sorted((self.prefix / "lib").glob("python3.*")):
            return folder.name
        return "python3.11"


@dataclass(frozen=True)
class Mounts:
    """What to add to a jail so that an environment works in it."""

    binds: tuple[Bind, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    symlinks: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[Path, str] = field(default_factory=dict)
    originals: tuple[Path, ...] = ()


def find_environment(settings: HarnessSettings) -> PythonEnvironment:
    """The Blender interpreter that the settings mean. Raises InterpreterMissing with the way out."""
    if settings.bpy_python:
        named, source = Path(settings.bpy_python).expanduser(), "harness.bpy_python"
    elif os.environ.get(ENVIRONMENT_VARIABLE):
        named, source = Path(os.environ[ENVIRONMENT_VARIABLE]).expanduser(), ENVIRONMENT_VARIABLE
    else:
        return _find_default()
    if not named.is_file():
        raise InterpreterMissing(
            f"No Blender interpreter at '{named}' (named by {source}). Correct it, or run `blendscribe setup`."
        )
    return read_environment(named)


def default_places() -> list[Path]:
    """Where `blendscribe setup` puts the Blender environment, in the order in which they are searched."""
    data_home = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    places = [PROJECT_DIR / ".venv-blender"] if (PROJECT_DIR / "pyproject.toml").is_file() else []
    return [*places, Path.cwd() / ".venv-blender", data_home / "blendscribe/venv-blender"]


def _find_default() -> PythonEnvironment:
    for place in default_places():
        if (place / "bin/python").is_file():
            return read_environment(place / "bin/python")
    searched = ", ".join(str(place) for place in dict.fromkeys(default_places()))
    raise InterpreterMissing(f"No Blender interpreter found. Run `blendscribe setup`. Searched: {searched}.")


def read_environment(python: Path) -> PythonEnvironment:
    """What `python` is, from its files alone (starting it would cost 15 ms)."""
    python = python.absolute()
    prefix = python.parent.parent
    if (prefix / "pyvenv.cfg").is_file():
        return PythonEnvironment(python, prefix, python.resolve())
    resolved = python.resolve()
    return PythonEnvironment(resolved, resolved.parent.parent, resolved)


def libs_dir(settings: HarnessSettings, environment: PythonEnvironment) -> Path | None:
    """The folder with Mesa (and bubblewrap) that setup unpacked or the settings name; None for the system's."""
    if settings.bpy_libs:
        return Path(settings.bpy_libs).expanduser().absolute()
    unpacked = environment.prefix / "blender-libs"
    return unpacked if (unpacked / "lib").is_dir() else None


def shader_cache_dir(environment: PythonEnvironment) -> Path:
    """Mesa's compiled shaders, warmed by setup. Runs work on private copies: a shared one could be poisoned."""
    return environment.prefix / "var/shader_cache"


def python_mounts(environment: PythonEnvironment, name: str) -> Mounts:
    """The environment rebuilt as `/opt/<name>`, its installation as `/opt/python` unless it is the system's."""
    base = environment.base_prefix
    is_system = base == Path("/usr")
    inside_base = "/usr" if is_system else f"/opt/python-{name}"
    inside_base_python = f"{inside_base}/bin/{environment.base_python.name}"
    binds = () if is_system else (Bind(base, inside_base), *_shared_libpython(base))
    if not environment.is_venv:
        return Mounts(binds=binds, aliases={environment.python: inside_base_python})
    root = f"/opt/{name}"
    return Mounts(
        binds=(
            *binds,
            Bind(environment.site_packages, f"{root}/lib/{environment.base_python_name}/site-packages"),
        ),
        files={f"{root}/pyvenv.cfg": f"home = {inside_base}/bin\ninclude-system-site-packages = false\n".encode()},
        symlinks={f"{root}/bin/python": inside_base_python, f"{root}/bin/python3": inside_base_python},
        aliases={environment.python: f"{root}/bin/python"},
        originals=(environment.prefix / "pyvenv.cfg", environment.python.parent),
    )


def _shared_libpython(base: Path) -> tuple[Bind, ...]:
    """Installations built with a shared libpython look for it under their original path."""
    return tuple(
        Bind(library, f"/opt/lib/{library.name}") for library in sorted((base / "lib").glob("libpython3*.so.*"))
    )


def library_environment(binds: tuple[Bind, ...], libs: Path | None) -> dict[str, Word]:
    """Variables that lead the loader to a shared libpython and to an unpacked Mesa."""
    folders: list[Path] = sorted({bind.host.parent for bind in binds if bind.inside.startswith("/opt/lib/")})
    variables: dict[str, Word] = {}
    if libs:
        folders.append(libs / "lib")
        variables["__EGL_VENDOR_LIBRARY_DIRS"] = libs / "share/glvnd/egl_vendor.d"
        variables["LIBGL_DRIVERS_PATH"] = libs / "lib/dri"
    if folders:
        variables["LD_LIBRARY_PATH"] = folders
    return variables
