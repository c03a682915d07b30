"""Which parts of a config are secrets: a key reaches the provider in many places, under any name.

Covers settings named like one (`api_key`), variables of `env` named like one, every header and query parameter that is
not HARMLESS, and what a URL carries before its host and in its query. Does not cover a secret in a URL's path.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote_plus

from recorder.redaction import REMOVED, is_secret_field, is_secret_name

HARMLESS = frozenset(
    {
        "accept",
        "anthropic-beta",
        "anthropic-version",
        "api-version",
        "content-type",
        "http-referer",
        "openai-beta",
        "user-agent",
        "x-title",
    }
)
"""Headers and query parameters whose values are kept. Not those that name an account (OpenAI-Organization)."""
_HEADERS_OR_QUERY = re.compile(r"(?:^|[_-])(?:headers?|query|query_params|cookies)$", re.IGNORECASE)
"""Mappings that are sent as they are: any name in them may be that of a key."""
_SECRET_SETTING = re.compile(
    r"(?:^|[_-])(?:key|token|auth|signature|sig|session|cookie|bearer|subscription|passphrase|pwd)$"
    r"|(?<=[a-z])(?:Key|Token|Auth|Signature|Session)$",
)
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s\"'<>]+")
_USER_OF_URL = re.compile(r"(?<=://)([^/?#\s@]+)(?=@)")
_VALUE_IN_URL = re.compile(r"(?<=[?&;#])([^=&;#?]+)=([^&;#]+)")
_Found = Callable[[str], None]


def is_secret_setting(name: str) -> bool:
    """Whether a setting of a config holds a secret, by its name; wider than for fields of records."""
    return any(search(name) for search in (is_secret_field, _SECRET_SETTING.search, _HEADERS_OR_QUERY.search))


def secrets_in(config: Any) -> list[str]:
    """The secrets that a config holds, each once."""
    found: list[str] = []
    _clean(config, found.append)
    forms = [form for secret in found for form in (secret, unquote_plus(secret), *_parts(secret))]
    return list(dict.fromkeys(form for form in forms if form))


def _parts(secret: str) -> list[str]:
    """What a provider may repeat alone: the token of `Bearer TOKEN`, values of cookies that are no words."""
    values = [part for part in re.split(r"[\s;,=]+", secret) if re.search(r"\d", part)]
    return [*secret.split(" ", 1)[1:], *values]


def without_secrets(config: Any) -> Any:
    """The config as it may be written down: a note in the place of each secret, however short."""
    return _clean(config, lambda _secret: None)


def _clean(value: Any, found: _Found, name: str = "") -> Any:
    """The value of the setting `name` without its secrets, which `found` is told."""
    if isinstance(value, Mapping):
        return {key: _clean_member(name, str(key), member, found) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, found, name) for item in value]
    if _HEADERS_OR_QUERY.search(name):  # a list of pairs, or all of them in one text
        return _remove(value, found)
    if isinstance(value, str) and not name.endswith("_template"):
        return _URL.sub(lambda url: _clean_url(url[0], found), value)
    return value


def _clean_member(mapping: str, key: str, value: Any, found: _Found) -> Any:
    if _HEADERS_OR_QUERY.search(mapping):
        is_secret = key.lower() not in HARMLESS
    elif mapping == "env":
        is_secret = is_secret_name(key)
    elif _HEADERS_OR_QUERY.search(key):
        is_secret = False  # its members are looked at one by one
    else:  # a number is one only where nothing else can be meant: `"max_key": 3`
        is_secret = is_secret_field(key) or (is_secret_setting(key) and not isinstance(value, int | float))
    return _remove(value, found) if is_secret else _clean(value, found, key)


def _remove(value: Any, found: _Found) -> Any:
    if value is None or isinstance(value, bool) or value in ("", [], {}):
        return value
    if isinstance(value, str) and value.startswith("[removed"):
        return value
    for text in _texts(value):
        found(text)
    return REMOVED.format(kind="secret")


def _texts(value: Any) -> list[str]:
    """Every text and number in a value."""
    if isinstance(value, Mapping | list | tuple):
        members = value.values() if isinstance(value, Mapping) else value
        return [text for member in members for text in _texts(member)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _clean_url(url: str, found: _Found) -> str:
    """Without user and password, and without the values of its query."""

    def user(match: re.Match[str]) -> str:
        name, _, password = match[1].partition(":")
        found(password or name)
        return REMOVED.format(kind="secret")

    def value(match: re.Match[str]) -> str:
        is_kept = match[1].lower() in HARMLESS
        return match[0] if is_kept else f"{match[1]}={_remove(match[2], found)}"

    return _VALUE_IN_URL.sub(value, _USER_OF_URL.sub(user, url))
