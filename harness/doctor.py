"""Examines whether this machine can do the work, by doing a little of it. Prints nothing, changes nothing.

Every check is a function in `CHECKS` that returns a finding with its remedy. What a check concludes comes from
files and pictures that are looked at here; only timings and names are taken from Blender's word.
"""

import io
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import psutil

from harness.blender import BlenderRun, level_in_force, run_in_blender
from harness.errors import HarnessError
from harness.folders import private_folder
from harness.interpreter import PythonEnvironment, find_environment, libs_dir
from harness.isolation import measured_isolation
from harness.sandbox import Level, Limits, best_level
from harness.sandbox.other_user import can_be_had
from harness.settings import HarnessSettings
from harness.setup.blender_env import BPY_VERSION, installed_bpy
from harness.setup.shaders import has_warm_shaders
from harness.setup.system_libraries import BWRAP, OTHER_SYSTEMS, find_missing
from harness.video import UnreadableVideo
from harness.video_reader import VideoReader

Status = Literal["ok", "warning", "failed"]

_RUN_SETUP = "Run `blendscribe setup`."
_MIN_GLIBC = (2, 28)
_MIN_DISK_GB = 2.0
_N_CLIP_FRAMES = 5
_EMPTY_STD = 2.0  # grey levels; a background alone has about 0.6
_LIMITS = Limits(timeout_seconds=120, disk_mb=64)


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    name: str
    status: Status
    detail: str
    remedy: str = ""
    """What to do about it; empty when there is nothing to do."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What was measured, for `--json`."""


def ok(detail: str) -> Finding:
    return Finding("", "ok", detail)


def warning(detail: str, remedy: str = "") -> Finding:
    """Work is possible, but not as it should be."""
    return Finding("", "warning", detail, remedy)


def failed(detail: str, remedy: str) -> Finding:
    """No Blender work can be done."""
    return Finding("", "failed", detail, remedy)


class NotExamined(Exception):
    """A check needs something that another check has found missing."""


@dataclass(frozen=True)
class BlenderTrial:
    """A run of `in_blender/examine.py`, and the files it wrote."""

    run: BlenderRun
    files: Mapping[str, bytes]

    def message(self, kind: str, *, after: str) -> dict[str, Any]:
        """Raises NotExamined when Blender did not even come to `after`, HarnessError when it ended between the two."""
        found = self.run.message(kind)
        if found:
            return found
        if self.run.message(after) is None:
            raise NotExamined("Blender did not come that far")
        raise HarnessError(f"Blender ended before it had {kind}: {self.last_words}")

    def file(self, name: str) -> io.BytesIO:
        """What Blender wrote under that name. Raises HarnessError when there is no such file."""
        if name not in self.files:
            raise HarnessError(f"Blender wrote no '{name}': {self.last_words}")
        return io.BytesIO(self.files[name])

    @property
    def last_words(self) -> str:
        how = self.run.exit.stopped_by or self.run.exit.signal_name or f"exit status {self.run.exit.returncode}"
        return f"{how}; {self.run.exit.output.text().strip()[-400:] or 'it printed nothing'}"


class Machine:
    """What several checks look at, found out once."""

    def __init__(self, settings: HarnessSettings) -> None:
        self.settings = settings

    @cached_property
    def environment(self) -> PythonEnvironment:
        return find_environment(self.settings)

    @property
    def libs(self) -> Path | None:
        return libs_dir(self.settings, self.environment)

    @cached_property
    def trial(self) -> BlenderTrial:
        with private_folder("doctor") as folder:
            run = run_in_blender("examine.py", [], workspace=folder, settings=self.settings, limits=_LIMITS)
            files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
        return BlenderTrial(run, files)

    @property
    def memory_bytes(self) -> int:
        """What this machine or the control group that we live in has."""
        limits: list[int] = [psutil.virtual_memory().total]
        for name in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
            try:
                limits.append(int(Path(name).read_text()))
            except (OSError, ValueError):
                continue  # no such control group, or "max"
        return min(limits)


def examine(settings: HarnessSettings) -> list[Finding]:
    """Every check's finding, in the order of `CHECKS`; a check never raises, and never hides another."""
    machine = Machine(settings)
    return [_examined(name, check, machine) for name, check in CHECKS.items()]


def can_work(findings: list[Finding]) -> bool:
    """Whether Blender work can be run on this machine."""
    return not any(finding.status == "failed" for finding in findings)


Check = Callable[[Machine], Finding]


def _examined(name: str, check: Check, machine: Machine) -> Finding:
    try:
        finding = check(machine)
    except NotExamined as reason:
        finding = warning(f"not examined: {reason}")
    except HarnessError as error:
        finding = failed(str(error), _RUN_SETUP)
    except Exception as error:  # noqa: BLE001 - whatever breaks a check is its finding; the others go on
        finding = failed(f"the check itself broke: {type(error).__name__}: {error}", "Report this as a bug.")
    return replace(finding, name=name)


def _platform(_machine: Machine) -> Finding:
    libc, version = platform.libc_ver()
    detail = f"{platform.system()} {platform.release()} on {platform.machine()}, {libc or 'unknown libc'} {version}"
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        return failed(detail, "Use Linux on x86_64, or a container or virtual machine of it.")
    if libc == "glibc" and tuple(int(part) for part in version.split(".")[:2]) < _MIN_GLIBC:
        return failed(detail, "bpy needs glibc 2.28 or newer: use a newer system.")
    if libc != "glibc":
        return failed(detail, "bpy needs glibc: use a system that has it, such as Debian.")
    return ok(detail)


def _python(_machine: Machine) -> Finding:
    return ok(f"{platform.python_version()} at {sys.executable}")


def _interpreter(machine: Machine) -> Finding:
    return ok(str(machine.environment.python))


def _blender(machine: Machine) -> Finding:
    _require_interpreter(machine)
    started = machine.trial.run.message("started")
    if started is None:
        return failed(f"Blender does not start: {machine.trial.last_words}", _RUN_SETUP)
    detail = f"Blender {started['blender']}"
    if started["version"][:2] != [int(part) for part in BPY_VERSION.split(".")[:2]]:
        return failed(f"{detail}; blendscribe is written for 4.5", "Run `blendscribe setup --into DIR`.")
    return ok(detail)


def _libraries(machine: Machine) -> Finding:
    _require_interpreter(machine)
    if installed_bpy(machine.environment) is None:
        raise NotExamined("there is no bpy whose needs could be looked up")
    missing = [name for name in find_missing(machine.environment, machine.libs) if name != BWRAP]
    if missing:
        remedy = f"{_RUN_SETUP} Where there is no apt-get, install the packages:\n{OTHER_SYSTEMS}"
        return failed(f"missing: {', '.join(missing)}", remedy)
    return ok(f"complete, in {machine.libs}" if machine.libs else "complete, the system's")


def _render(machine: Machine) -> Finding:
    from PIL import Image

    trial = _require_trial(machine)
    rendered = trial.message("rendered", after="started")
    with Image.open(trial.file("still.png")) as image:
        pixels = np.asarray(image.convert("L"))
    height, width = pixels.shape
    detail = f"{width}x{height} Workbench still in {rendered['seconds']:.2f} s"
    if (width, height) != (64, 36) or pixels.std() < _EMPTY_STD:
        return failed(f"{detail}, but it shows nothing", _RUN_SETUP)
    return ok(detail)


def _graphics(machine: Machine) -> Finding:
    rendered = _require_trial(machine).message("rendered", after="rendered")
    detail = f"{rendered['vendor']}, {rendered['renderer']}, {rendered['version']}"
    if "llvmpipe" not in rendered["renderer"]:
        remedy = "Renders will differ from those of other machines. `blendscribe setup --no-system` unpacks Mesa."
        return warning(f"not llvmpipe: {detail}", remedy)
    return ok(detail)


def _video(machine: Machine) -> Finding:
    trial = _require_trial(machine)
    trial.message("encoded", after="rendered")
    with VideoReader(machine.settings) as reader:
        reader.start()
        reader.video.write_bytes(trial.file("clip.mp4").getvalue())
        try:
            facts = reader.analyse().facts
        except UnreadableVideo as error:
            return failed(f"the clip that Blender encoded cannot be read: {error.message}", _RUN_SETUP)
    detail = f"{facts.n_frames} frames of {facts.codec} encoded by Blender, decoded by PyAV {version('av')}"
    is_empty = any(sample.standard_deviation < _EMPTY_STD for sample in facts.content_samples)
    if facts.n_frames != _N_CLIP_FRAMES or is_empty:
        return failed(f"{detail}; expected {_N_CLIP_FRAMES} frames that show something", _RUN_SETUP)
    return ok(detail)


def _ending(machine: Machine) -> Finding:
    trial = _require_trial(machine)
    trial.message("finished", after="encoded")
    if trial.run.exit.returncode != 0:
        return failed(f"Blender does not end well: {trial.last_words}", "Report this as a bug.")
    return ok(f"Blender ended by itself after {trial.run.exit.seconds:.2f} s, with a handler left behind")


def _sandbox(machine: Machine) -> Finding:
    level, why_not = best_level(_libs_if_any(machine))
    mode = machine.settings.sandbox
    if mode == "off":
        return warning(f"switched off; {level.name} would work", "Set harness.sandbox to 'auto'.")
    if level.is_bubblewrap:
        if level.name == "bwrap":
            return warning(f"bwrap: {why_not or 'no filter of system calls for this architecture'}", "Use x86_64.")
        return ok(f"{level.name} ({level.bwrap}){_whose(level)}")
    weak = failed if mode == "required" else warning
    accept = f"`blendscribe run` needs --allow-isolation {level.name}."
    if level.is_confined:
        return weak(f"{level.name}: {why_not}", f"Allow user namespaces for stronger isolation, or know that {accept}")
    remedy = "Scripts run with limits only and can read what you can read: use a container or VM made for it, where "
    return weak(f"{level.name}: {why_not}", remedy + accept)


def _whose(level: Level) -> str:
    """What root has to know."""
    if os.geteuid() != 0:
        return ""
    return "; not as root" if can_be_had(level) else "; as root, whose processes the kernel does not count"


def _isolation(machine: Machine) -> Finding:
    """Attacked from inside with files, sockets and a process of our own."""
    _require_interpreter(machine)
    level = level_in_force(machine.settings)
    isolation = measured_isolation(machine.settings)
    facts = {"level": isolation.level, "could": dict(isolation.could)}
    detail = f"{isolation.level}: {isolation.in_words}"
    if isolation.level != level.name:
        found = failed(f"{detail}. {isolation.why_not}", "Report this as a bug.")
    elif isolation.level == "limits-only":
        found = warning(f"none, as always with limits only: {isolation.in_words}", "See 'sandbox'.")
    else:
        found = ok(detail)
    return replace(found, facts=facts)


def _shader_cache(machine: Machine) -> Finding:
    _require_interpreter(machine)
    if has_warm_shaders(machine.environment, machine.libs):
        return ok("warm")
    return warning("cold or out of date: every first frame takes about a second longer", _RUN_SETUP)


def _memory(machine: Machine) -> Finding:
    total, available = machine.memory_bytes / 2**20, psutil.virtual_memory().available / 2**20
    wanted = machine.settings.memory_mb
    detail = f"{total:.0f} MiB, {min(total, available):.0f} available; a run may take {wanted}"
    if min(total, available) < wanted:
        return warning(detail, f"Set harness.memory_mb below {min(total, available):.0f}, or free memory.")
    return ok(detail)


def _cores(_machine: Machine) -> Finding:
    n_cores = len(os.sched_getaffinity(0))
    if n_cores < 2:
        return warning("1 core", "Renders take about 1.7 times as long as with two.")
    return ok(f"{n_cores} cores: up to {n_cores} workers are useful")


def _disk(_machine: Machine) -> Finding:
    places = {"here": Path.cwd(), "temporary files": Path(tempfile.gettempdir())}
    free = {name: shutil.disk_usage(place).free / 1e9 for name, place in places.items()}
    detail = ", ".join(f"{gigabytes:.1f} GB free ({name}, {places[name]})" for name, gigabytes in free.items())
    if min(free.values()) < _MIN_DISK_GB:
        return warning(detail, f"Keep {_MIN_DISK_GB:.0f} GB free; TMPDIR moves the temporary files.")
    return ok(detail)


def _require_interpreter(machine: Machine) -> None:
    try:
        machine.environment  # noqa: B018 - found once, or raises
    except HarnessError as error:
        raise NotExamined("no Blender interpreter") from error


def _require_trial(machine: Machine) -> BlenderTrial:
    _require_interpreter(machine)
    return machine.trial


def _libs_if_any(machine: Machine) -> Path | None:
    try:
        return machine.libs
    except HarnessError:
        return None


CHECKS: Mapping[str, Check] = MappingProxyType(
    {
        "platform": _platform,
        "Python": _python,
        "interpreter": _interpreter,
        "libraries": _libraries,
        "Blender": _blender,
        "render": _render,
        "graphics": _graphics,
        "video": _video,
        "ending": _ending,
        "shader cache": _shader_cache,
        "sandbox": _sandbox,
        "isolation": _isolation,
        "memory": _memory,
        "cores": _cores,
        "disk": _disk,
    }
)
"""All checks by name, in the order in which they are shown."""
