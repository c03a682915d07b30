"""Every failure has its class, whoever's client it comes from."""

import json
from datetime import UTC, datetime
from typing import Any

import httpx
import litellm
import pytest
import requests

from agent_plugin.models.deadline import RequestTookTooLong
from agent_plugin.models.failures import (
    ERRORS,
    EXIT_STATUSES,
    FailureKind,
    classify,
    retry_after_seconds,
    says_too_many_images,
)
from agent_plugin.models.openrouter import OpenRouterError

ARGS: Any = {"llm_provider": "openai", "model": "m"}
ANSWER = httpx.Response(422, request=httpx.Request("POST", "http://x"))
NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def caused(kind: Any, cause: Exception) -> Exception:
    """An error of litellm's with this cause."""
    error: Exception = kind("x", **ARGS)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (litellm.exceptions.RateLimitError("slow down", **ARGS), "rate_limit"),
        (litellm.exceptions.RateLimitError("insufficient_quota", **ARGS), "rejected"),
        (litellm.exceptions.InternalServerError("oops", **ARGS), "server"),
        (litellm.exceptions.ServiceUnavailableError("overloaded", **ARGS), "server"),
        (litellm.exceptions.APIError(529, "overloaded", **ARGS), "server"),
        (litellm.exceptions.Timeout("too slow", **ARGS), "timeout"),
        (RequestTookTooLong("no whole answer within 2 s"), "timeout"),
        (litellm.exceptions.AuthenticationError("bad key", **ARGS), "authentication"),
        (litellm.exceptions.BadRequestError("no such parameter", **ARGS), "rejected"),
        (litellm.exceptions.NotFoundError("no such model", **ARGS), "rejected"),
        (litellm.exceptions.UnprocessableEntityError("no", response=ANSWER, **ARGS), "rejected"),
        (litellm.exceptions.ContextWindowExceededError("long", **ARGS), "context_window"),
        (litellm.exceptions.BadRequestError("prompt is too long: 250000 tokens > 200000", **ARGS), "context_window"),
        (litellm.exceptions.ContentPolicyViolationError("no", **ARGS), "content_policy"),
        (litellm.exceptions.BadRequestError("At most 4 image(s) may be provided", **ARGS), "too_many_images"),
        (caused(litellm.exceptions.InternalServerError, ConnectionRefusedError()), "unreachable"),
        (caused(litellm.exceptions.APIConnectionError, httpx.ConnectError("refused")), "unreachable"),
        (caused(litellm.exceptions.APIConnectionError, httpx.RemoteProtocolError("cut")), "connection_lost"),
        (caused(litellm.exceptions.APIConnectionError, json.JSONDecodeError("no", "", 0)), "unusable_answer"),
        (litellm.exceptions.APIConnectionError("KeyError: 'choices'", **ARGS), "unusable_answer"),
        (OpenRouterError(429, "slow", {}), "rate_limit"),
        (OpenRouterError(502, "backend", {}), "server"),
        (OpenRouterError(401, "no", {}), "authentication"),
        (OpenRouterError(400, "This endpoint's maximum context length is 8192 tokens", {}), "context_window"),
        (OpenRouterError(403, "requires moderation; your input was flagged", {}), "authentication"),
        (OpenRouterError(408, "slow", {}), "timeout"),
        (OpenRouterError(409, "conflict", {}), "server"),
        (requests.exceptions.ConnectionError("[Errno 111] Connection refused"), "unreachable"),
        (requests.exceptions.ReadTimeout("slow"), "timeout"),
        (requests.exceptions.ChunkedEncodingError("cut"), "connection_lost"),
        (KeyError("output"), "unusable_answer"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)  # fmt: skip
def test_each_error_has_its_class(error: Exception, kind: FailureKind) -> None:
    """By type, status, cause or words."""
    assert classify(error).kind == kind


def test_every_class_ends_somehow() -> None:
    """Either as an error without a result, or as a result."""
    from typing import get_args

    assert set(ERRORS) | set(EXIT_STATUSES) == set(get_args(FailureKind))
    assert not set(ERRORS) & set(EXIT_STATUSES)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("soon", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    """A date that has passed is no wait; nonsense is nothing."""
    assert retry_after_seconds(value, NOW) == seconds


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (OpenRouterError(429, "slow", {"Retry-After": "9"}), 9.0),
        (litellm.exceptions.RateLimitError("x", response=httpx.Response(429, headers={"retry-after": "4"},
            request=httpx.Request("POST", "http://x")), **ARGS), 4.0),
        (litellm.exceptions.RateLimitError('{"retryDelay": "17s"}', **ARGS), 17.0),
        (OpenRouterError(429, "slow", {}), None),
    ],
)  # fmt: skip
def test_what_the_provider_asks_for_is_found(error: Exception, seconds: float | None) -> None:
    """In a header of the answer, or in Gemini's words."""
    assert classify(error).retry_after == seconds


@pytest.mark.parametrize(
    "text",
    [
        "messages: too many images: 107 > 100",
        "At most 1 image(s) may be provided in one prompt.",
        "Too many images in request: 52 > 50",
        "The maximum number of images is 8",
        "This model supports up to 5 images",
        "messages.2: too many images and documents: 24 + 0 > 20",
        "image dimensions exceed max allowed size for many-image requests: 2000 pixels",
    ],
)
def test_a_refusal_for_the_number_of_pictures(text: str) -> None:
    """In the words of several services."""
    assert says_too_many_images(text)


@pytest.mark.parametrize(
    "text",
    [
        "image exceeds the maximum: 6000000 bytes > 3932160 bytes",
        "Image exceeds 5 MB maximum",
        "Could not process image.",
        "max_tokens must be at most 8192",
        "image_url is not supported for role tool",
    ],
)
def test_a_refusal_for_something_else(text: str) -> None:
    """Half as many pictures would not help."""
    assert not says_too_many_images(text)


def test_whatever_is_raised_has_a_class() -> None:
    """Also an error that was caused by itself, in a way."""
    error: Any = RuntimeError("x")
    error.__cause__ = error
    assert classify(error).kind == "unusable_answer"
