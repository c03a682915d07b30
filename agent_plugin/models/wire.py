"""Counts what leaves: pictures and bytes in the body that litellm is about to post.

A picture that is in our messages may still be lost between them and the wire; the record says how many arrived there.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import litellm
from litellm.integrations.custom_logger import CustomLogger

from agent_plugin.models.pictures import count_pictures


@dataclass
class Wire:
    """One body. None: the client did not show it."""

    n_images: int | None = None
    n_bytes: int | None = None

    def see(self, body: Any) -> None:
        """Count a body, as JSON or already written."""
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
