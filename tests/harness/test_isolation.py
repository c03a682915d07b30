"""The measured isolation: each level keeps what it promises, and one that does not is given up."""

from collections.abc import Iterator, Mapping

import pytest

from harness import isolation
from harness.isolation import ATTEMPTS, attack, measured_isolation, promised
from harness.sandbox import Level, probe, working_levels
from harness.sandbox.confine import SIGNALS_ABI
from harness.settings import HarnessSettings
from tests.machines import no_landlock, no_user_namespaces

__all__ = ["no_landlock", "no_user_namespaces"]


@pytest.fixture
def _forget_refuted() -> Iterator[None]:
    yield
    probe._refuted.clear()
    probe._best_level.cache_clear()


@pytest.mark.parametrize("level", working_levels(), ids=lambda level: level.name)
def test_what_is_promised_is_measured(level: Level) -> None:
    """What is promised holds; whatever is not does succeed, so that each attempt is known to be real."""
    could = attack(level, HarnessSettings())
    assert {name for name, succeeded in could.items() if not succeeded} == promised(level)
    assert list(could) == list(ATTEMPTS)


def test_signals_are_promised_where_the_kernel_has_scopes() -> None:
    """An older Landlock does not stop them, and the level says so instead of failing."""
    old, new = (Level("landlock+seccomp", landlock_abi=abi) for abi in (SIGNALS_ABI - 1, SIGNALS_ABI))
    assert promised(new) - promised(old) == {"kill_process"}


def test_the_strongest_is_in_force() -> None:
    """Here bubblewrap; there is no stronger one to miss."""
    measured = measured_isolation(HarnessSettings())
    assert (measured.level, measured.why_not) == ("bwrap+seccomp", "")
    assert measured.in_words == f"none of {len(ATTEMPTS)} attempts to get out succeeded"


def test_switched_off_is_measured_too() -> None:
    """Everything succeeds, and the reason is the setting."""
    measured = measured_isolation(HarnessSettings(sandbox="off"))
    assert all(measured.could.values())
    assert (measured.level, measured.why_not) == ("limits-only", "harness.sandbox is 'off'")


@pytest.mark.usefixtures("no_user_namespaces")
def test_without_namespaces() -> None:
    """Landlock is measured, with the reason why it is not bubblewrap."""
    measured = measured_isolation(HarnessSettings())
    assert (measured.level, measured.could["read_file"]) == ("landlock+seccomp", False)
    assert "user namespaces are forbidden" in measured.why_not
    assert measured.in_words == "a script could see another process and its command line"


@pytest.mark.usefixtures("_forget_refuted")
def test_a_level_that_leaks_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its leak is told, the next one is measured, and the rest of the process keeps to that."""

    def leaking(level: Level, settings: HarnessSettings) -> Mapping[str, bool]:
        return {name: level.is_bubblewrap and name == "read_file" for name in ATTEMPTS}

    monkeypatch.setattr(isolation, "attack", leaking)
    measured = measured_isolation(HarnessSettings())
    assert measured.level == "landlock+seccomp"
    assert "bwrap+seccomp does not hold here: a script could read a file outside the workspace" in measured.why_not
    assert probe.choose_level("auto").name == "landlock+seccomp"
