"""What a failed model call is: a class that decides whether it is tried again, and how the episode ends.

Clients raise their own types (litellm, requests, portkey); they are told apart by the names of their classes, their
HTTP status, what is at the bottom of the chain of causes, and, where that says nothing, by the provider's words.
Imports none of them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

from agent_plugin.models.failure_text import one_line

FailureKind = Literal[
    "unreachable",
    "rate_limit",
    "server",
    "timeout",
    "connection_lost",
    "unusable_answer",
    "too_many_images",
    "context_window",
    "content_policy",
    "authentication",
    "rejected",
]
"""Each has its line in docs/reference.md."""


@dataclass(frozen=True)
class Failure:
    """One failed attempt."""

    kind: FailureKind
    text: str
    """What the client said, on one line; secrets and all."""
    retry_after: float | None = None
    """Seconds that the provider asks to wait."""


class ModelCallFailed(Exception):
    """A model could not be asked: the episode has no result. The class of the failure is the name of the subclass."""


class ProviderUnreachable(ModelCallFailed):
    """Nothing listens there, or the name is not known."""


class RateLimited(ModelCallFailed):
    """429 for longer than is waited."""


class ProviderFailed(ModelCallFailed):
    """5xx for longer than is waited."""


class ModelCallTimeout(ModelCallFailed):
    """No whole answer in time."""


class ConnectionLost(ModelCallFailed):
    """The connection broke again and again."""


class UnusableAnswer(ModelCallFailed):
    """The answer could not be read as one."""


class AuthenticationFailed(ModelCallFailed):
    """The key is missing, wrong, or not allowed to do this."""


class RequestRejected(ModelCallFailed):
    """The provider refused the request itself; asking again would not help."""


ERRORS: dict[FailureKind, type[ModelCallFailed]] = {
    "unreachable": ProviderUnreachable,
    "rate_limit": RateLimited,
    "server": ProviderFailed,
    "timeout": ModelCallTimeout,
    "connection_lost": ConnectionLost,
    "unusable_answer": UnusableAnswer,
    "too_many_images": RequestRejected,
    "authentication": AuthenticationFailed,
    "rejected": RequestRejected,
}
"""What is raised where the provider or the machine is at fault."""

EXIT_STATUSES: dict[FailureKind, str] = {
    "context_window": "ContextWindowExceeded",
    "content_policy": "ContentPolicyViolation",
}
"""How an episode ends where the model's own conversation is at fault: it is a result."""

_UNREACHABLE = {"ConnectionRefusedError", "gaierror", "ConnectError", "NewConnectionError"}
_TIMEOUTS = {"Timeout", "APITimeoutError", "TimeoutException", "TimeoutError", "RequestTookTooLong"}
_LOST = {"NetworkError", "ProtocolError", "ConnectionError", "ChunkedEncodingError", "IncompleteRead"}
_UNREADABLE = {"JSONDecodeError", "NoChoices"}
_WORDS_UNREACHABLE = re.compile(r"connection refused|errno 111|name or service not known|nodename nor servname", re.I)
_WORDS_UNREADABLE = re.compile(r"error converting to valid response|unable to get json", re.I)
_CONTEXT = re.compile(
    r"context.{0,10}(length|window|limit|size)|maximum context|prompt is too long|input is too long|too many tokens"
    r"|exceeds? the (maximum|max) number of tokens|exceeds the available context",
    re.I,
)
_POLICY = re.compile(
    r"content.?(management.)?polic(y|ies)|content.?filter|responsibleaipolicy|flagged (by|as)|safety system|moderation",
    re.I,
)
_IMAGES = re.compile(
    r"too many (\w+ )?images|number of images|image count|many-image"
    r"|(at most|maximum(?: of)?|max|up to|limit(?:ed)?(?: of| to)?|more than|exceeds?|only)"
    r" ?(?:\w+ ){0,2}\d+\D{0,3}images?\b"
    r"|images?\b[^.\d]{0,60}\d+[^.\d]{0,40}(?:>|exceeds?|limit|maximum|max) ?[^.\d]{0,20}\d+"
    r"(?! ?(?:[kmg]?b\b|bytes|pixels|px)|\d)",
    re.I,
)
_NO_MONEY = re.compile(r"insufficient_quota|insufficient (credits|balance|funds)", re.I)
_GEMINI_DELAY = re.compile(r'"retryDelay":\s*"(\d+(?:\.\d+)?)s"')


def classify(error: BaseException) -> Failure:
    """The class of a failure. Never raises."""
    chain = list(_causes(error))
    text = f"{type(error).__name__}: {error}"
    return Failure(_kind(chain, text), one_line(error), _asked_to_wait(chain, str(error)))


def unreadable_arguments(error: BaseException) -> str:
    """Why a client could not read the arguments of the model's call; '' for any other failure.

    Only JSON that the model wrote is nested that deep, or holds such a number: it would do it again.
    """
    for cause in _causes(error):
        text = str(cause)
        if isinstance(cause, RecursionError) and "decoding a JSON" in text:
            return "they are nested too deep"
        if isinstance(cause, ValueError) and text.startswith("Exceeds the limit"):
            return "a number in them is too long"
    return ""


def retry_after_seconds(value: str, now: datetime) -> float | None:
    """A Retry-After header: seconds, or a date. None for anything else."""
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=UTC)
    return max(0.0, (date - now).total_seconds())


def says_too_many_images(text: str) -> bool:
    """Whether a refusal is about how many pictures there are (not how large)."""
    return bool(_IMAGES.search(text))


def _kind(chain: list[BaseException], text: str) -> FailureKind:
    names = {base.__name__ for cause in chain for base in type(cause).__mro__}
    status = _status(chain)
    if names & _UNREACHABLE or (status in (None, 500) and _WORDS_UNREACHABLE.search(text)):
        return "unreachable"
    if names & _TIMEOUTS or status == 408:
        return "timeout"
    if (status is not None and status < 400) or _WORDS_UNREADABLE.search(text):
        return "unusable_answer"  # litellm takes its own failure to read an answer for a refusal
    if status is None or status >= 500:
        return _failed_kind(names, status)
    return _refused_kind(names, status, text)


def _failed_kind(names: set[str], status: int | None) -> FailureKind:
    """Of what is not the request's fault; litellm gives status 500 to whatever it did not understand."""
    if names & {"ContextWindowExceededError"}:
        return "context_window"
    if names & _UNREADABLE:
        return "unusable_answer"
    if names & _LOST:
        return "connection_lost"
    if status is None or "APIConnectionError" in names:
        return "unusable_answer"
    return "server"


def _refused_kind(names: set[str], status: int, text: str) -> FailureKind:
    if status == 429:
        return "rejected" if _NO_MONEY.search(text) else "rate_limit"
    if status == 409:
        return "server"
    if status in (401, 403):
        return "authentication"
    if says_too_many_images(text):
        return "too_many_images"
    if "ContextWindowExceededError" in names or _CONTEXT.search(text):
        return "context_window"
    if "ContentPolicyViolationError" in names or _POLICY.search(text):
        return "content_policy"
    return "rejected"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, outermost first."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__]
        reason = getattr(one, "reason", None)  # urllib3 keeps its cause there
        waiting.append(reason if isinstance(reason, BaseException) else None)


def _status(chain: list[BaseException]) -> int | None:
    """The HTTP status, as the outermost error knows it."""
    for error in chain:
        for holder in (error, getattr(error, "response", None)):
            status = getattr(holder, "status_code", None)
            if isinstance(status, int) and not isinstance(status, bool):
                return status
    return None


def _asked_to_wait(chain: list[BaseException], text: str) -> float | None:
    for error in chain:
        response = getattr(error, "response", None)
        for headers in (getattr(response, "headers", None), getattr(error, "headers", None)):
            value = _header(headers, "retry-after")
            if value and (seconds := retry_after_seconds(value, datetime.now(UTC))) is not None:
                return seconds
    delay = _GEMINI_DELAY.search(text)
    return float(delay[1]) if delay else None


def _header(headers: Any, name: str) -> str:
    """A header's value, '' where there is none; some clients keep them in an ordinary dict."""
    items = headers.items() if hasattr(headers, "items") else ()
    return next((str(value) for key, value in items if str(key).lower() == name), "")
