"""Between chat messages, which the history holds, and the items of the Responses API. Pure.

A reply keeps its items as they came, reasoning with its encrypted content among them, and is sent again as these items.
"""

from collections.abc import Sequence
from typing import Any

from agent_plugin.models.history import OUTPUT

Message = dict[str, Any]


def to_items(messages: Sequence[Message]) -> list[Message]:
    """The `input` of a request."""
    items: list[Message] = []
    for message in messages:
        if message["role"] == "assistant":
            items += _reply_items(message)
        elif message["role"] == "tool":
            output = [_input_part(part) for part in _parts(message)]
            items.append({"type": "function_call_output", "call_id": message["tool_call_id"], "output": output})
        else:
            content = [_input_part(part) for part in _parts(message)]
            items.append({"type": "message", "role": message["role"], "content": content})
    return items


def to_tools(tools: Sequence[Message]) -> list[Message]:
    """Tools in the flat form of the Responses API. Not strict: what is wrong with a call is ours to tell."""
    return [{"type": "function", **tool["function"], "strict": False} for tool in tools]


def reply_message(response: Message) -> Message:
    """An answer as a chat message."""
    items = [_without_nulls(item) for item in response.get("output") or []]
    calls = [item for item in items if item.get("type") == "function_call"]
    return {
        "role": "assistant",
        "content": _text(items) or None,
        "tool_calls": [_chat_call(call) for call in calls] or None,
        OUTPUT: items,
    }


def finish_reason(response: Message) -> str | None:
    """As chat completions name it: `length` for an answer that was cut, `content_filter` for one that was held back."""
    status = response.get("status")
    if any(part.get("type") == "refusal" for part in _said(response.get("output") or [])):
        return "content_filter"
    if status != "incomplete":
        return status
    reason = (response.get("incomplete_details") or {}).get("reason")
    return "length" if reason == "max_output_tokens" else reason or status


def _reply_items(message: Message) -> list[Message]:
    if message.get(OUTPUT):
        return list(message[OUTPUT])
    items: list[Message] = []  # a reply of another family: an episode that goes on with another model
    if text := "".join(part["text"] for part in _parts(message) if part["type"] == "text"):
        content = [{"type": "output_text", "text": text, "annotations": []}]
        items.append({"type": "message", "role": "assistant", "content": content})
    for call in message.get("tool_calls") or []:
        function = call["function"]
        items.append(
            {
                "type": "function_call",
                "call_id": call["id"],
                "name": function["name"],
                "arguments": function["arguments"],
            }
        )
    return items


def _chat_call(item: Message) -> Message:
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"id": item.get("call_id") or item.get("id"), "type": "function", "function": function}


def _text(items: Sequence[Message]) -> str:
    """What was said; a refusal is something said."""
    return "".join(part.get("text") or part.get("refusal") or "" for part in _said(items))


def _said(items: Sequence[Message]) -> list[Message]:
    return [part for item in items if item.get("type") == "message" for part in item.get("content") or []]


def _parts(message: Message) -> list[Message]:
    content = message.get("content") or []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _input_part(part: Message) -> Message:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}


def _without_nulls(item: Message) -> Message:
    """Fields that are null are not accepted when they come back."""
    return {key: value for key, value in item.items() if value is not None}
