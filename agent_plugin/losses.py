"""Why an episode has no result: a class that decides how often it is played again, and whom its failure concerns.

A loss is the provider's or the machine's doing, never the model's: what a model does wrong is a result.
"""

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from agent_plugin.models.failures import (
    AuthenticationFailed,
    ConnectionLost,
    ModelCallFailed,
    ModelCallTimeout,
    ProviderFailed,
    ProviderUnreachable,
    RateLimited,
    RequestRejected,
    UnusableAnswer,
)
from harness.errors import (
    DiskFull,
    HarnessError,
    InterpreterMissing,
    NotEnoughMemory,
    SandboxFailed,
    SandboxUnavailable,
)

LossClass = Literal[
    "provider_down",
    "rate_limit",
    "unusable_answer",
    "refused",
    "interpreter",
    "sandbox",
    "disk",
    "memory",
    "harness",
    "unexpected",
]
"""Each has its line in docs/reference.md."""


@dataclass(frozen=True)
class LossPolicy:
    """What follows from a class."""

    n_retries: int
    """How often an episode is played again within one launch, unless `launch.retry` says otherwise."""
    is_of_machine: bool
    """Whether every model's episodes would end so, or only those of this model."""
    what: str
    """What failed, for the message of a pause."""
    advice: str
    """What a person does about it."""


LOSSES: Mapping[LossClass, LossPolicy] = {
    "provider_down": LossPolicy(3, False, "its provider does not answer", "see whether its server runs"),
    "rate_limit": LossPolicy(
        3, False, "its provider limits the rate", "lower model.max_concurrency or -w, or ask for a higher limit"
    ),
    "unusable_answer": LossPolicy(2, False, "its answers cannot be read", "see whether api_base and the model fit"),
    "refused": LossPolicy(
        0, False, "its provider refuses the requests", "see the key, the credit and the model's name"
    ),
    "interpreter": LossPolicy(
        2, True, "Blender's interpreter cannot be used", "run `blendscribe doctor`, then `blendscribe setup`"
    ),
    "sandbox": LossPolicy(2, True, "no sandbox can be started", "run `blendscribe doctor`"),
    "disk": LossPolicy(3, True, "the run's disk cannot be written", "free space on it, or lower --min-free-disk"),
    "memory": LossPolicy(
        2, True, "there is not enough memory for Blender", "end other programs, or lower -w or --blender-slots"
    ),
    "harness": LossPolicy(1, False, "the harness cannot do its work", "run `blendscribe doctor`; look at the error"),
    "unexpected": LossPolicy(0, False, "the program itself failed", "report the error"),
}
"""In the order of docs/reference.md."""

_BY_TYPE: tuple[tuple[type[BaseException], LossClass], ...] = (
    (RateLimited, "rate_limit"),
    (UnusableAnswer, "unusable_answer"),
    (AuthenticationFailed, "refused"),
    (RequestRejected, "refused"),
    (ProviderUnreachable, "provider_down"),
    (ProviderFailed, "provider_down"),
    (ConnectionLost, "provider_down"),
    (ModelCallTimeout, "provider_down"),
    (ModelCallFailed, "provider_down"),
    (InterpreterMissing, "interpreter"),
    (SandboxFailed, "sandbox"),
    (SandboxUnavailable, "sandbox"),
    (NotEnoughMemory, "memory"),
)
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE}


def loss_class(error: BaseException) -> LossClass:
    """The class of what ended an episode. A full disk shows in many ways: the chain of causes tells it."""
    if isinstance(error, OSError | DiskFull):
        return "disk"
    is_disk = any(isinstance(cause, OSError) and cause.errno in _DISK for cause in _causes(error))
    if is_disk and not isinstance(error, ModelCallFailed | InterpreterMissing):
        return "disk"
    for kind, name in _BY_TYPE:
        if isinstance(error, kind):
            return name
    return "harness" if isinstance(error, HarnessError) else "unexpected"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen:
        seen.add(id(one))
        yield one
        one = one.__cause__ or one.__context__
