"""Marks for prompt caches on a request's messages.

mini-swe-agent marks the last message alone, and asserts that it has one part. With a second mark the next request finds
what this one wrote, however many results a turn brings. Anthropic takes four marks in all; these are two.
"""

from collections.abc import Sequence
from typing import Any, Literal

CacheMarks = Literal["none", "message", "part"]
"""Where a mark goes: on a tool message as a whole (litellm puts it on the tool result), or on its last part."""

_MARK = {"cache_control": {"type": "ephemeral"}}
_N_MARKS = 2


def mark_for_cache(messages: Sequence[dict[str, Any]], marks: CacheMarks) -> list[dict[str, Any]]:
    """The messages, with a mark on the last message of each of the last two runs of tool and user messages."""
    if marks == "none":
        return list(messages)
    ends = [
        number
        for number, message in enumerate(messages)
        if message["role"] in ("tool", "user")
        and (number + 1 == len(messages) or messages[number + 1]["role"] == "assistant")
    ]
    marked = set(ends[-_N_MARKS:])
    return [_marked(message, marks) if n in marked else message for n, message in enumerate(messages)]


def _marked(message: dict[str, Any], marks: CacheMarks) -> dict[str, Any]:
    content = message.get("content")
    if message["role"] == "tool" and marks == "message":
        return message | _MARK
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content or [])
    if not parts:
        return message
    return message | {"content": [*parts[:-1], parts[-1] | _MARK]}
