"""Whether a request brings a key, where its provider looks for it. Any key will do, unless one is asked for."""

from collections.abc import Mapping

from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import Refused

_HEADERS = ("x-api-key", "api-key", "x-goog-api-key", "x-portkey-api-key")


def check_key(
    headers: Mapping[str, str], query: Mapping[str, list[str]], provider: Provider, wanted: str | None
) -> None:
    """Raises Refused ("unauthorized") for no key where one is needed, or for another than `wanted`.

    `headers`: names in small letters.
    """
    signed = ("AWS4-HMAC-SHA256 ", "Bearer ")
    if provider.is_signed and not headers.get("authorization", "").startswith(signed):
        raise Refused("forbidden", "Missing Authentication Token")
    given = _given(headers, query)
    if not given and (provider.needs_key or wanted):
        raise Refused("unauthorized")
    # a signed request (AWS) holds no key to compare
    if wanted and given != wanted and not given.startswith("AWS4-HMAC-SHA256"):
        raise Refused("unauthorized")


def _given(headers: Mapping[str, str], query: Mapping[str, list[str]]) -> str:
    for name in _HEADERS:
        if headers.get(name):
            return headers[name]
    if query.get("key"):
        return query["key"][0]
    return headers.get("authorization", "").removeprefix("Bearer ").strip()
