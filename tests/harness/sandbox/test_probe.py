"""The choice of a level, on this machine and on ones that forbid what it needs."""

from pathlib import Path

import pytest

from harness.errors import SandboxFailed, SandboxUnavailable
from harness.sandbox import LEVEL_NAMES, Bind, Jail, Level, Limits, best_level, choose_level, is_at_least, launch
from harness.sandbox.confine import landlock_abi
from tests.machines import NO_NAMESPACES, no_landlock, no_user_namespaces

__all__ = ["no_landlock", "no_user_namespaces"]


def test_levels_are_in_order() -> None:
    """Each is at least itself and all that come after it."""
    for number, name in enumerate(LEVEL_NAMES):
        assert [is_at_least(name, other) for other in LEVEL_NAMES] == [k >= number for k in range(len(LEVEL_NAMES))]


@pytest.mark.usefixtures("no_user_namespaces")
def test_without_user_namespaces_landlock_is_next() -> None:
    """It is chosen, with what bubblewrap said and the usual cause."""
    level, why_not = best_level()
    assert (level.name, level.landlock_abi) == ("landlock+seccomp", landlock_abi())
    assert NO_NAMESPACES[-100:] in why_not
    assert "Usual cause: user namespaces are forbidden" in why_not
    assert why_not.count("bubblewrap does not work here") == 1


@pytest.mark.usefixtures("no_user_namespaces", "no_landlock")
def test_without_both_there_are_limits() -> None:
    """Both reasons are told."""
    level, why_not = best_level()
    assert level.name == "limits-only"
    assert "No permissions" in why_not or NO_NAMESPACES[-100:] in why_not
    assert "Landlock of Linux 6.2 or newer" in why_not


@pytest.mark.usefixtures("no_user_namespaces")
def test_required_means_bubblewrap() -> None:
    """Landlock is not enough for it."""
    with pytest.raises(SandboxUnavailable, match="'required', but bubblewrap does not work here"):
        choose_level("required")
    assert choose_level("off").name == "limits-only"


def test_a_sandbox_that_does_not_start_is_ours(no_user_namespaces: Path, tmp_path: Path) -> None:
    """It is an error, not an exit status of the command: of bubblewrap, and of Landlock with a path that is gone."""
    jail = Jail(tmp_path, binds=(Bind(tmp_path / "gone", "/opt/gone"),))
    for level in (Level("bwrap", no_user_namespaces), Level("landlock+seccomp", landlock_abi=landlock_abi())):
        with pytest.raises(SandboxFailed, match=r"did not start: .*(No permissions|gone)"):
            launch(["/bin/true"], jail, Limits(timeout_seconds=10), level)
