"""What arrived and what was answered: kept for tests and for looking, bounded, without secrets and without pictures."""

import hashlib
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agent_plugin.loopback.request import Request

_SECRET_HEADERS = ("authorization", "api-key", "x-api-key", "x-goog-api-key", "cookie", "x-amz-security-token")
_LONGEST_TEXT = 100_000


@dataclass(frozen=True)
class Exchange:
    """One request and what came of it."""

    number: int
    """Counted from 1, over all conversations."""
    path: str
    """Without the query."""
    route: str
    """The provider."""
    conversation: str
    """What its faults are counted by: the header `x-loopback-conversation`, else the first user message."""
    headers: dict[str, str]
    """Names in small letters; the values of those that carry secrets are replaced by their scheme or 'present'."""
    request: Request | None
    """None where it could not be read."""
    body: Any
    """The JSON as it arrived, pictures and other very long texts replaced by their digest."""
    turn: int | None
    """The turn that was played, from 1."""
    fault: str
    """The kind of the injected fault, or empty."""
    refused: str
    """Why it was refused, or empty."""
    status: int


class Exchanges:
    """The last exchanges. Safe to use from many threads."""

    def __init__(self, keep: int) -> None:
        self._lock = threading.Lock()
        self._kept: deque[Exchange] = deque(maxlen=keep)
        self._n = 0

    def next_number(self) -> int:
        """A number for an exchange that begins."""
        with self._lock:
            self._n += 1
            return self._n

    def add(self, exchange: Exchange) -> None:
        """Keep it; the oldest is dropped when there are too many."""
        with self._lock:
            self._kept.append(exchange)

    def all(self) -> list[Exchange]:
        """Those that are kept, in the order of their ends."""
        with self._lock:
            return list(self._kept)

    def clear(self) -> None:
        """Forget them."""
        with self._lock:
            self._kept.clear()


def without_secrets(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers as they may be kept."""
    return {name.lower(): _shown(name.lower(), value) for name, value in headers.items()}


def without_pictures(found: Any) -> Any:
    """A body as it may be kept: base64 and very long texts become their digest."""
    if isinstance(found, dict):
        return {key: without_pictures(value) for key, value in found.items()}
    if isinstance(found, list):
        return [without_pictures(value) for value in found]
    if isinstance(found, str) and _is_picture(found):
        return f"sha256:{hashlib.sha256(found.encode()).hexdigest()} ({len(found)} characters)"
    return found


def _is_picture(text: str) -> bool:
    starts = ("data:image/", "/9j/", "iVBORw0KGgo", "R0lGOD", "UklGR")
    return text.startswith(starts) or len(text) > _LONGEST_TEXT


def _shown(name: str, value: str) -> str:
    if name not in _SECRET_HEADERS:
        return value
    scheme, _, rest = value.partition(" ")
    return f"{scheme} …" if rest else "present"
