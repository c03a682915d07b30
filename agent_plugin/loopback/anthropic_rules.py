"""What Anthropic refuses, in its own words as far as public issues quote them."""

import json
import re
from typing import Any

from agent_plugin.loopback.answer import seal
from agent_plugin.loopback.pairing import mismatch
from agent_plugin.loopback.refused import invalid
from agent_plugin.loopback.request import Call, Message, Reasoning, Request, Result, Text
from agent_plugin.loopback.wire import Json
from agent_plugin.scripted_file import ScriptedTurn

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
_MAX_CACHE_MARKS = 4


def check_messages(request: Request, body: Json, played: tuple[ScriptedTurn | None, ...]) -> None:
    """Raises Refused for the first rule that is broken."""
    shift = len(request.messages) - len(body["messages"])  # the system message does not count in Anthropic's indices
    messages = request.messages[shift:]
    if not messages or messages[0].role != "user":
        raise invalid('messages: first message must use the "user" role')
    if request.n_cache_marks > _MAX_CACHE_MARKS:
        raise invalid(f"A maximum of 4 blocks with cache_control may be provided. Found {request.n_cache_marks}.")
    for number, message in enumerate(messages):
        _check_texts(message, number, is_last=number == len(messages) - 1)
        _check_names(message, number)
    _check_marked_texts(body)
    _check_pairs(request, shift)
    _check_seals(messages)
    check_thinking_kept(request, played)


def _check_texts(message: Message, number: int, *, is_last: bool) -> None:
    if not message.parts and not (is_last and message.role == "assistant"):
        raise invalid(
            f"messages.{number}: all messages must have non-empty content except for the optional final assistant "
            "message"
        )
    for container in message.containers():
        for part in container:
            if isinstance(part, Text) and not part.text:
                raise invalid("messages: text content blocks must be non-empty")
            if isinstance(part, Text) and not part.text.strip():
                raise invalid("messages: text content blocks must contain non-whitespace text")
    if is_last and message.role == "assistant" and message.text != message.text.rstrip():
        raise invalid("messages: final assistant content cannot end with trailing whitespace")


def _check_names(message: Message, number: int) -> None:
    for position, part in enumerate(message.parts):
        where = f"messages.{number}.content.{position}"
        if isinstance(part, Call) and not _NAME.fullmatch(part.id):
            raise invalid(f"{where}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if isinstance(part, Call) and not _NAME.fullmatch(part.name):
            raise invalid(f"{where}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")


def _check_marked_texts(found: Any) -> None:
    if isinstance(found, dict):
        if found.get("cache_control") and found.get("type") == "text" and not found.get("text"):
            raise invalid("messages: cache_control cannot be set for empty text blocks")
        if found.get("cache_control") and found.get("type") == "thinking":
            raise invalid("messages: thinking.cache_control: Extra inputs are not permitted")
        for value in found.values():
            _check_marked_texts(value)
    elif isinstance(found, list):
        for value in found:
            _check_marked_texts(value)


def _check_pairs(request: Request, shift: int) -> None:
    ids = [call.id for message in request.messages for call in message.calls]
    if len(ids) != len(set(ids)):
        raise invalid("messages: `tool_use` ids must be unique")
    fault = mismatch(request)
    if fault and fault.kind == "unexpected":
        raise invalid(
            f"messages.{fault.message - shift}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: "
            f"{fault.call_ids[0]}. Each `tool_result` block must have a corresponding `tool_use` block in the previous "
            "message."
        )
    for number, message in enumerate(request.messages):
        is_result = [isinstance(part, Result) for part in message.parts]
        if sorted(is_result, reverse=True) != is_result:
            # a result behind another block does not count as one
            raise _unanswered(number - 1 - shift, [result.call_id for result in message.results])
    if fault:
        raise _unanswered(fault.message - shift, list(fault.call_ids))


def _unanswered(number: int, call_ids: list[str]) -> Exception:
    return invalid(
        f"messages.{number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
        f"{', '.join(call_ids)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
        "message."
    )


def _check_seals(messages: tuple[Message, ...]) -> None:
    for number, message in enumerate(messages):
        for position, part in enumerate(message.parts):
            if isinstance(part, Reasoning) and part.seal != seal(part.text):
                raise invalid(f"messages.{number}.content.{position}: Invalid `signature` in `thinking` block")


def check_thinking_kept(request: Request, played: tuple[ScriptedTurn | None, ...]) -> None:
    """The last reply has to begin with the thinking that it had, if it asked for a tool."""
    replies = [message for message in request.messages if message.role == "assistant"]
    if not replies or not played or played[-1] is None or not played[-1].reasoning or not replies[-1].calls:
        return
    first = replies[-1].parts[0]
    if not isinstance(first, Reasoning):
        kind = "tool_use" if isinstance(first, Call) else "text"
        raise invalid(
            f"messages: Expected `thinking` or `redacted_thinking`, but found `{kind}`. When `thinking` is enabled, a "
            "final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and "
            "`tool_result` blocks)."
        )
    if first.text != played[-1].reasoning:
        changed = json.dumps(first.text[:40])
        raise invalid(f"messages: `thinking` blocks in the latest assistant message cannot be modified: {changed}")
