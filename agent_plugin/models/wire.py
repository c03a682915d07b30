"""Counts what leaves: pictures and bytes in the body that litellm is about to post. Keeps the body that comes back.

A picture that is in our messages may still be lost between them and the wire; the record says how many arrived there.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

from agent_plugin.models.pictures import count_pictures


@dataclass
class Wire:
    """One body. None: the client did not show it."""

    n_images: int | None = None
    n_bytes: int | None = None
    answer: dict[str, Any] = field(default_factory=dict)
    """The body that came back to the last request, before the client reads it; empty where it did not show it."""

    def see(self, body: Any) -> None:
        """Count a body, as JSON or already written."""
        self.answer = {}
        if isinstance(body, str | bytes):
            text = body if isinstance(body, str) else body.decode("utf-8", "replace")
            try:
                body = json.loads(text)
            except ValueError:
                return
        else:
            text = json.dumps(body, default=str)
        self.n_images, self.n_bytes = count_pictures(body), len(text.encode("utf-8", "replace"))


class _Watch(CustomLogger):
    """Told by litellm, in the thread of the call, what it is about to post."""

    def log_pre_api_call(self, model: Any, messages: Any, kwargs: Any) -> None:
        del model, messages
        see_body((kwargs.get("additional_args") or {}).get("complete_input_dict"))

    def log_post_api_call(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        del response_obj, start_time, end_time
        wire: Wire | None = getattr(_here, "wire", None)
        if wire is not None:
            # told a second time where reading fails, with the failure
            wire.answer = _as_object(kwargs.get("original_response")) or wire.answer


def _as_object(body: Any) -> dict[str, Any]:
    try:
        content = json.loads(body) if isinstance(body, str | bytes) else body
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


_here = threading.local()
_watch = _Watch()


def see_body(body: Any) -> None:
    """Count a body that this thread is about to post, where somebody watches."""
    wire: Wire | None = getattr(_here, "wire", None)
    if wire is not None and body:
        wire.see(body)


@contextmanager
def watched(wire: Wire) -> Iterator[None]:
    """Within it, bodies that this thread posts through litellm are counted in `wire`."""
    if _watch not in litellm.input_callback:
        litellm.input_callback.append(_watch)
    _here.wire = wire
    try:
        yield
    finally:
        _here.wire = None
