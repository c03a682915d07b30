"""A request that a provider refuses, before it is worded in that provider's JSON."""

from typing import Literal

RefusalKind = Literal[
    "invalid",
    "unauthorized",
    "payment",
    "forbidden",
    "not_found",
    "too_large",
    "rate_limit",
    "context_window",
    "content_policy",
    "server_error",
    "unavailable",
    "overloaded",
]

STATUS: dict[RefusalKind, int] = {
    "invalid": 400,
    "unauthorized": 401,
    "payment": 402,
    "forbidden": 403,
    "not_found": 404,
    "too_large": 413,
    "rate_limit": 429,
    "context_window": 400,
    "content_policy": 400,
    "server_error": 500,
    "unavailable": 503,
    "overloaded": 503,
}
"""Refusal -> HTTP status, where a provider has none of its own."""


class Refused(Exception):
    """The provider answers with an error. `message` empty: the provider's own text for this kind."""

    def __init__(self, kind: RefusalKind, message: str = "", *, code: str | None = None, param: str | None = None):
        super().__init__(message)
        self.kind: RefusalKind = kind
        self.message = message
        self.code = code
        self.param = param


def invalid(message: str, *, code: str | None = None, param: str | None = None) -> Refused:
    """The commonest refusal: a request with a mistake in it."""
    return Refused("invalid", message, code=code, param=param)
