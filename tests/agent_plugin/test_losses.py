"""Each failure of the provider or the machine has its class; the class decides how often an episode is tried again."""

import errno

import pytest

from agent_plugin.launch_settings import LaunchSettings
from agent_plugin.losses import LOSSES, LossClass, loss_class
from agent_plugin.models import failures
from harness.errors import (
    DiskFull,
    HarnessError,
    InterpreterMissing,
    NotEnoughMemory,
    SandboxFailed,
    SandboxUnavailable,
)


def because(error: Exception, cause: Exception) -> Exception:
    try:
        raise error from cause
    except Exception as raised:  # noqa: BLE001 - it was raised to have its cause
        return raised


FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (failures.ProviderUnreachable("x"), "provider_down"),
        (failures.ProviderFailed("x"), "provider_down"),
        (failures.ConnectionLost("x"), "provider_down"),
        (failures.ModelCallTimeout("x"), "provider_down"),
        (failures.RateLimited("x"), "rate_limit"),
        (failures.UnusableAnswer("x"), "unusable_answer"),
        (failures.AuthenticationFailed("x"), "refused"),
        (failures.RequestRejected("x"), "refused"),
        (InterpreterMissing("x"), "interpreter"),
        (SandboxFailed("x"), "sandbox"),
        (SandboxUnavailable("x"), "sandbox"),
        (NotEnoughMemory("x"), "memory"),
        (DiskFull("x"), "disk"),
        (FULL, "disk"),
        (FileNotFoundError(errno.ENOENT, "the run's folder is gone"), "disk"),
        (because(HarnessError("The workspace cannot be kept"), FULL), "disk"),
        (because(SandboxFailed("Cannot start"), FULL), "disk"),
        (because(SandboxFailed("Cannot start"), FileNotFoundError(errno.ENOENT, "bwrap")), "sandbox"),
        (HarnessError("x"), "harness"),
        (ValueError("x"), "unexpected"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_every_failure_has_its_class(error: Exception, expected: LossClass) -> None:
    """A full disk is one wherever it shows."""
    assert loss_class(error) == expected


def test_every_model_failure_has_a_class() -> None:
    """None of them is unexpected."""
    for error in failures.ERRORS.values():
        assert loss_class(error("x")) in LOSSES
        assert loss_class(error("x")) != "unexpected"


def test_retries_are_those_of_the_table_unless_said_otherwise() -> None:
    """A class that is named goes before `all`, and `all` before the table."""
    assert LaunchSettings().n_retries("provider_down") == LOSSES["provider_down"].n_retries == 3
    settings = LaunchSettings(retry={"all": 1, "disk": 7})
    assert (settings.n_retries("disk"), settings.n_retries("refused")) == (7, 1)
