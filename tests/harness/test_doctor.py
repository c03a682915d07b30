"""`harness.doctor` on this machine as it is, and on settings that break one thing each."""

from pathlib import Path
from types import MappingProxyType

import pytest

from harness import doctor
from harness.doctor import CHECKS, Finding, Machine, can_work, examine
from harness.interpreter import find_environment
from harness.settings import HarnessSettings
from harness.setup.system_libraries import EGL_VENDOR
from tests.machines import no_landlock, no_user_namespaces

__all__ = ["no_landlock", "no_user_namespaces"]


def by_name(findings: list[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


@pytest.fixture(scope="module")
def findings() -> dict[str, Finding]:
    return by_name(examine(HarnessSettings()))


def test_this_machine_can_work(findings: dict[str, Finding]) -> None:
    """After setup no check fails, and every check has its finding, in order."""
    assert {name: f.detail for name, f in findings.items() if f.status == "failed"} == {}
    assert list(findings) == list(CHECKS)


def test_pictures_are_judged(findings: dict[str, Finding]) -> None:
    """A still was rendered, and a clip encoded by Blender was decoded outside it."""
    assert findings["render"].detail.startswith("64x36 Workbench still")
    assert findings["video"].detail.startswith("5 frames of h264")


def test_the_renderer_is_named(findings: dict[str, Finding]) -> None:
    """The OpenGL in use is Mesa's llvmpipe, by its own strings."""
    assert "llvmpipe" in findings["graphics"].detail
    assert "Mesa" in findings["graphics"].detail


def test_a_handler_left_behind_does_not_hang(findings: dict[str, Finding]) -> None:
    """Blender ends by itself although a handler is registered at its end."""
    assert findings["ending"].status == "ok"


def test_everything_but_ok_has_a_remedy() -> None:
    """A finding that is no good news says what to do, unless it was not examined."""
    for finding in examine(HarnessSettings(sandbox="off", memory_mb=1 << 40)):
        assert finding.status == "ok" or finding.remedy or finding.detail.startswith("not examined")


def test_a_missing_interpreter_leaves_the_rest_unexamined(tmp_path: Path) -> None:
    """Without an interpreter one check fails; those that need one are not called broken."""
    found = examine(HarnessSettings(bpy_python=str(tmp_path / "python")))
    assert [f.name for f in found if f.status == "failed"] == ["interpreter"]
    assert by_name(found)["render"].detail == "not examined: no Blender interpreter"
    assert not can_work(found)


def test_an_interpreter_without_bpy_fails() -> None:
    """Python alone is no Blender: its own error is shown."""
    base = find_environment(HarnessSettings()).base_python
    found = by_name(examine(HarnessSettings(bpy_python=str(base))))
    assert "No module named 'bpy'" in found["Blender"].detail
    assert found["render"].detail == "not examined: Blender did not come that far"


def test_a_blender_that_crashes_while_rendering_fails(tmp_path: Path) -> None:
    """Without a Mesa to draw with, the missing file and the crash are both failures."""
    (tmp_path / "lib").mkdir()
    found = by_name(examine(HarnessSettings(bpy_libs=str(tmp_path))))
    assert EGL_VENDOR in found["libraries"].detail
    assert found["Blender"].status == "ok"
    assert (found["render"].status, found["video"].status) == ("failed", "warning")
    assert "SIGABRT" in found["render"].detail


def test_isolation_is_tried_not_assumed() -> None:
    """Without a sandbox the probe gets out, and every way out is named."""
    found = doctor._isolation(Machine(HarnessSettings(sandbox="off")))
    assert found.status == "warning"
    for way in ("read a file", "write a file", "reach a port", "read the environment"):
        assert way in found.detail


def test_the_measured_isolation_is_told(findings: dict[str, Finding]) -> None:
    """The level and what was tried, in words and as facts for --json."""
    found = findings["isolation"]
    assert found.detail == "bwrap+seccomp: none of 10 attempts to get out succeeded"
    assert found.facts["level"] == "bwrap+seccomp"
    assert not any(found.facts["could"].values())


@pytest.mark.usefixtures("no_user_namespaces")
def test_landlock_is_a_warning() -> None:
    """It says why bubblewrap does not work, what to do, and what a run needs; what gets through is told."""
    machine = Machine(HarnessSettings())
    found = doctor._sandbox(machine)
    assert (found.status, found.detail[:17]) == ("warning", "landlock+seccomp:")
    assert "No permissions" in found.detail or "kernel.unprivileged_userns_clone" in found.detail
    assert "--allow-isolation landlock+seccomp" in found.remedy
    assert (
        doctor._isolation(machine).detail == "landlock+seccomp: a script could see another process and its command line"
    )


@pytest.mark.usefixtures("no_landlock")
def test_a_required_sandbox_that_is_missing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`sandbox: required` without bubblewrap is no machine to work on."""
    monkeypatch.setenv("PATH", str(tmp_path))
    found = doctor._sandbox(Machine(HarnessSettings(sandbox="required", bpy_libs=str(tmp_path))))
    assert found.status == "failed"
    assert "bubblewrap is not installed" in found.detail


def test_a_broken_check_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """A check that raises becomes a failed finding with the exception named."""

    def broken(_machine: Machine) -> Finding:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(doctor, "CHECKS", MappingProxyType({"broken": broken, "cores": CHECKS["cores"]}))
    found = by_name(examine(HarnessSettings()))
    assert found["broken"].detail == "the check itself broke: ZeroDivisionError: by zero"
    assert found["cores"].status == "ok"
