"""Makes a history fit to be sent: without our bookkeeping, and with calls that every route can take. Pure."""

import json
from collections.abc import Sequence
from typing import Any

Message = dict[str, Any]

OUTPUT = "output_items"
"""Field of an assistant message that keeps the items of a Responses API answer as they came, to be sent again."""

_MAX_INVALID = 2_000
_REASONING = ("reasoning_content", "reasoning", "reasoning_details", "thinking_blocks", "provider_specific_fields")
_THINKING = ("thinking", "redacted_thinking")


def bare(history: Sequence[Message]) -> list[Message]:
    """The messages without `extra` and without mini-swe-agent's exit message, calls whole, thinking first."""
    kept = [{k: v for k, v in message.items() if k != "extra"} for message in history if message["role"] != "exit"]
    return [_thinking_first(_with_whole_calls(message)) for message in kept]


def without_reasoning(messages: Sequence[Message]) -> list[Message]:
    """Replies without what only some services know: others refuse a field that is new to them."""
    return [
        {k: v for k, v in message.items() if k not in _REASONING} if message["role"] == "assistant" else message
        for message in messages
    ]


def without_items(messages: Sequence[Message]) -> list[Message]:
    """Replies without what only the Responses API knows: an episode that goes on with a model of another family."""
    return [{k: v for k, v in message.items() if k != OUTPUT} for message in messages]


def whole_arguments(raw: str | None) -> str:
    """The arguments if they are a JSON object, else one that holds their beginning: several routes need one."""
    text = raw or "{}"
    try:
        is_object = isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        is_object = False
    return text if is_object else json.dumps({"invalid_arguments": text[:_MAX_INVALID]})


def _with_whole_calls(message: Message) -> Message:
    """What the model wrote stays in the history; here it is only sent in another form."""
    changed = dict(message)
    if message.get("tool_calls"):
        changed["tool_calls"] = [_whole_call(call) for call in message["tool_calls"]]
    if message.get(OUTPUT):
        changed[OUTPUT] = [_whole_item(item) for item in message[OUTPUT]]
    return changed


def _whole_call(call: Message) -> Message:
    function = call["function"]
    return call | {"function": function | {"arguments": whole_arguments(function.get("arguments"))}}


def _whole_item(item: Message) -> Message:
    if item.get("type") != "function_call":
        return item
    return item | {"arguments": whole_arguments(item.get("arguments"))}


def _thinking_first(message: Message) -> Message:
    """Anthropic wants thinking before other blocks, and something after it."""
    content = message.get("content")
    if message["role"] != "assistant" or not isinstance(content, list):
        return message
    thinking = [block for block in content if block.get("type") in _THINKING]
    others = [block for block in content if block.get("type") not in _THINKING]
    if not thinking:
        return message
    return message | {"content": [*thinking, *(others or [{"type": "text", "text": ""}])]}
