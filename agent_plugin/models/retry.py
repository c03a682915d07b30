"""The one loop that asks a provider again. The clients' own retries, and mini-swe-agent's, are switched off.

What is tried again, and for how long, is a table by class of failure.
"""

import random
import re
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, NoReturn

from agent_plugin.models.deadline import Stopped, call_within, never
from agent_plugin.models.failures import ERRORS, Failure, FailureKind, ModelCallFailed, classify
from agent_plugin.models.rate import ProviderGate

UNREACHABLE_SECONDS = 15.0
"""A server that is not there is not waited for any longer."""
_LONGEST_WAIT = 60.0
_JITTER = 0.25
_UNUSABLE_ATTEMPTS = 3
_TIMES_AS_LONG = 4
"""As `retry_seconds`, a call may be tried while others are answered: one may be too large for the rate by itself."""
_OVERLOADED = re.compile(r"overloaded|\b529\b|slow.?down|too many requests|at capacity", re.IGNORECASE)
RETRIED: frozenset[FailureKind] = frozenset(
    {"unreachable", "rate_limit", "server", "timeout", "connection_lost", "unusable_answer"}
)


class CallRefused(Exception):
    """A failure that belongs to the conversation (its length, its content, its pictures): the caller decides."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        super().__init__(failure.text)


@dataclass
class Retries:
    """What was tried in vain for one step; grows while it is asked."""

    records: list[dict[str, Any]] = field(default_factory=list)
    """Fields of recorder.records.Retry."""

    def add(self, failure: Failure, wait: float) -> None:
        self.records.append({"kind": failure.kind, "wait_seconds": round(wait, 3), "error": failure.text})


@dataclass(frozen=True)
class RetryPolicy:
    """Limits of one model call, in seconds by the clock."""

    request_timeout: float
    retry_seconds: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    is_stopped: Callable[[], bool] = never
    gate: ProviderGate | None = None
    """Shared with all who ask this provider."""
    say: Callable[[str], None] = lambda _what: None
    """Told when the gate is waited for, and '' when it goes on."""


def ask(call: Callable[[], Any], policy: RetryPolicy, retries: Retries) -> Any:
    """The answer to `call`, asked again where that may help.

    Raises a ModelCallFailed when it may not, or no longer; CallRefused where the conversation is at fault; Stopped.
    An answer to somebody else, while the provider complains of too many calls, begins the time anew: it is there, and
    this one's turn will come. Waiting at the provider's gate does not count.
    """
    gate = policy.gate
    first, attempt, n_since_answer = policy.clock(), 0, 0
    started, at_gate = first, 0.0
    while True:
        attempt, n_since_answer = attempt + 1, n_since_answer + 1
        came = policy.clock()
        try:
            with gate.call(policy.is_stopped, policy.say) if gate else nullcontext():
                began = policy.clock()
                at_gate += began - came
                answer = call_within(policy.request_timeout, call, policy.is_stopped)
            if gate:
                gate.answered()
            return answer
        except Stopped:
            raise
        except Exception as error:  # noqa: BLE001 - every client raises its own types; `classify` knows them
            failure = classify(error)
            if gate and is_complaint(failure):
                gate.complained(failure, began)
                if started < gate.answered_at <= first + _TIMES_AS_LONG * policy.retry_seconds:
                    started, at_gate, n_since_answer = gate.answered_at, 0.0, 1
            wait = _wait(failure, n_since_answer)
            elapsed = policy.clock() - started - at_gate
            if not _may_go_on(failure, attempt, elapsed + wait, policy):
                _give_up(failure, error, attempt, elapsed, wait)
        retries.add(failure, wait)
        policy.sleep(wait)


def is_complaint(failure: Failure) -> bool:
    """Whether the provider says that it is asked too much: by everybody, not by this call alone."""
    if failure.kind == "server":
        return failure.retry_after is not None or bool(_OVERLOADED.search(failure.text))
    return failure.kind == "rate_limit"


def _may_go_on(failure: Failure, attempt: int, next_at: float, policy: RetryPolicy) -> bool:
    """Whether another attempt may begin `next_at` seconds after the first one did."""
    if failure.kind not in RETRIED:
        return False
    if failure.kind == "unusable_answer" and attempt >= _UNUSABLE_ATTEMPTS:
        return False
    limit = policy.retry_seconds
    return next_at <= (min(limit, UNREACHABLE_SECONDS) if failure.kind == "unreachable" else limit)


def _wait(failure: Failure, attempt: int) -> float:
    """Seconds before the next attempt: what the provider asks for, else 1, 2, 4 … 60, spread a little."""
    if failure.retry_after and failure.kind in ("rate_limit", "server"):  # 0 is no invitation to ask without a pause
        return failure.retry_after
    longest = 4.0 if failure.kind == "unreachable" else _LONGEST_WAIT
    base: float = min(longest, 2.0 ** (attempt - 1))
    return base * (1 - _JITTER * random.random())  # many episodes that failed together should not come back together


def _give_up(failure: Failure, error: Exception, attempts: int, elapsed: float, wait: float) -> NoReturn:
    if failure.kind not in ERRORS or failure.kind == "too_many_images":
        raise CallRefused(failure) from error
    raise _as_error(failure, attempts, elapsed, wait) from error


def _as_error(failure: Failure, attempts: int, elapsed: float, wait: float) -> ModelCallFailed:
    tried = f"{attempts} attempt{'s' * (attempts > 1)} in {elapsed:.0f} s"
    if failure.kind == "unreachable":
        what = f"The model's server cannot be reached ({tried}). Is it running, and is api_base right?"
    elif failure.kind == "rate_limit" and failure.retry_after:
        what = f"The provider asks to wait {wait:.0f} s ({tried}), longer than model.retry_seconds allows."
    elif failure.kind in RETRIED:
        what = f"The model did not answer ({tried})."
    else:
        what = "The provider refused the request."
    return ERRORS[failure.kind](f"{what} {failure.text}")
