"""The warm shader cache: without it the first frame of every run costs a second of compiling.

A stamp beside the cache says from what it was made; where that has changed, the cache is made anew.
"""

import hashlib
import json
import shutil
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.blender import run_in_blender
from harness.interpreter import IN_BLENDER_DIR, PythonEnvironment, shader_cache_dir
from harness.sandbox import Limits
from harness.setup.blender_env import installed_bpy
from harness.setup.plan import Plan, Progress, SetupFailed

_PROGRAM = IN_BLENDER_DIR / "warm_shaders.py"
_LIMITS = Limits(timeout_seconds=300, disk_mb=64)


class LibraryFile(BaseModel):
    """A file of Mesa or LLVM that drew, as it was then."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: Path
    n_bytes: int
    modified_ns: int

    @classmethod
    def of(cls, path: Path) -> "LibraryFile":
        """Raises OSError where there is no such file."""
        state = path.stat()
        return cls(path=path, n_bytes=state.st_size, modified_ns=state.st_mtime_ns)

    @property
    def is_unchanged(self) -> bool:
        try:
            return LibraryFile.of(self.path) == self
        except OSError:
            return False


class ShaderStamp(BaseModel):
    """From what a shader cache was made."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    bpy: str
    recipe: str
    """Hash of the program that made it."""
    libs: Path | None
    """The folder with an unpacked Mesa; None for the system's."""
    renderer: str
    version: str
    """What OpenGL calls itself; Mesa's version is in it."""
    libraries: tuple[LibraryFile, ...]

    def is_valid_for(self, environment: PythonEnvironment, libs: Path | None) -> bool:
        return (
            self.bpy == installed_bpy(environment)
            and self.recipe == _recipe()
            and self.libs == libs
            and all(library.is_unchanged for library in self.libraries)
        )


def warm_shader_cache(plan: Plan, progress: Progress) -> str:
    """Make the shader cache unless there is a valid one; returns what was done."""
    if has_warm_shaders(plan.environment, plan.libs):
        return "kept"
    progress.say("compiling the shaders of Workbench")
    cache = shader_cache_dir(plan.environment)
    workspace = cache.with_name("new")
    try:
        shutil.rmtree(workspace, ignore_errors=True)  # of a setup that was killed
        workspace.mkdir(parents=True)
        made, stamp = _make(plan, workspace)
        n_bytes = sum(path.stat().st_size for path in made.rglob("*") if path.is_file())
        _replace(cache, made, stamp)
    except OSError as error:
        raise SetupFailed(f"Cannot write the shader cache: {error}. Run setup as the owner of it.") from error
    finally:
        shutil.rmtree(workspace, ignore_errors=True)
    return f"made ({n_bytes / 1e6:.1f} MB; {stamp.renderer}, {stamp.version})"


def has_warm_shaders(environment: PythonEnvironment, libs: Path | None) -> bool:
    """Whether runs in this environment start from compiled shaders."""
    stamp = _read_stamp(environment)
    return stamp is not None and shader_cache_dir(environment).is_dir() and stamp.is_valid_for(environment, libs)


def _make(plan: Plan, workspace: Path) -> tuple[Path, ShaderStamp]:
    run = run_in_blender(_PROGRAM.name, [], workspace=workspace, settings=plan.settings, limits=_LIMITS)
    message = run.message("warmed")
    if message is None:
        raise SetupFailed(
            f"Blender does not render here ({run.exit.stopped_by or f'exit status {run.exit.returncode}'}): "
            f"{run.exit.output.text().strip()[-800:]}"
        )
    stamp = ShaderStamp(
        bpy=installed_bpy(plan.environment) or "",
        recipe=_recipe(),
        libs=plan.libs,
        renderer=message["renderer"],
        version=message["version"],
        libraries=tuple(LibraryFile.of(_on_host(Path(path), plan.libs)) for path in message["libraries"]),
    )
    return workspace / "shader_cache", stamp


def _replace(cache: Path, made: Path, stamp: ShaderStamp) -> None:
    """Swap the cache. Without a stamp it does not count, so an interruption at any point is harmless."""
    _stamp_path(cache).unlink(missing_ok=True)
    if cache.exists():
        cache.rename(made.with_name("old"))  # quicker than deleting: a run may be about to copy it
    made.rename(cache)
    written = made.with_name("stamp")
    written.write_text(stamp.model_dump_json(indent=2) + "\n")
    written.rename(_stamp_path(cache))


def _read_stamp(environment: PythonEnvironment) -> ShaderStamp | None:
    try:
        return ShaderStamp.model_validate(json.loads(_stamp_path(shader_cache_dir(environment)).read_bytes()))
    except (OSError, ValueError, ValidationError):
        return None


def _stamp_path(cache: Path) -> Path:
    return cache.with_name("shader_cache.json")


def _recipe() -> str:
    return hashlib.sha256(_PROGRAM.read_bytes()).hexdigest()[:16]


def _on_host(path: Path, libs: Path | None) -> Path:
    """The host's name of a file that Blender had loaded."""
    inside = Path("/opt/mesa")
    return libs / path.relative_to(inside) if libs and path.is_relative_to(inside) else path
