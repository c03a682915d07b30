"""What chat completions refuse. Each rule raises with the true service's words, as far as public issues quote them."""

import json

from agent_plugin.loopback.pairing import mismatch
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import invalid
from agent_plugin.loopback.request import Image, Request
from agent_plugin.loopback.wire import Json
from agent_plugin.scripted_file import ScriptedTurn

_KNOWN_FIELDS = {"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call"}
_DEEPSEEK_DOCS = "For more information, please refer to the guide on thinking mode."


def check_chat(request: Request, body: Json, provider: Provider, played: tuple[ScriptedTurn | None, ...]) -> None:
    """Raises Refused for the first rule that is broken."""
    _check_tools(body)
    _check_fields(body, provider)
    _check_content(request, body)
    _check_calls(request, provider)
    check_images_in_tools(request, provider)
    if provider.wants_reasoning_back:
        _check_reasoning(request, played)


def _check_tools(body: Json) -> None:
    if body.get("tools") == []:
        raise invalid(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            code="empty_array",
            param="tools",
        )


def _check_fields(body: Json, provider: Provider) -> None:
    allowed = _KNOWN_FIELDS if provider.reasoning_field == "none" else _KNOWN_FIELDS | {provider.reasoning_field}
    for number, message in enumerate(body["messages"]):
        extra = sorted(set(message) - allowed)
        if extra and provider.refuses_unknown_fields:
            raise invalid(
                f"'messages.{number}' : property '{extra[0]}' is unsupported",
                code="extra_forbidden",
                param=f"messages[{number}]",
            )


def _check_content(request: Request, body: Json) -> None:
    for number, (message, raw) in enumerate(zip(request.messages, body["messages"], strict=True)):
        if raw.get("content") is None and not message.calls:
            raise invalid(
                f"Invalid value for 'content': expected a string, got null. (messages[{number}])",
                code="invalid_type",
                param=f"messages[{number}].content",
            )
        if raw.get("content") == [] or raw.get("tool_calls") == []:
            raise invalid(
                f"Invalid 'messages[{number}]': empty array.", code="empty_array", param=f"messages[{number}]"
            )


def _check_calls(request: Request, provider: Provider) -> None:
    fault = mismatch(request)
    if fault and fault.kind == "unanswered":
        raise invalid(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(fault.call_ids)}",
            param=f"messages[{fault.message}].role",
        )
    if fault:
        raise invalid(
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
            "'tool_calls'.",
            param=f"messages[{fault.message}].role",
        )
    for number, message in enumerate(request.messages):
        for position, call in enumerate(message.calls):
            where = f"messages[{number}].tool_calls[{position}]"
            if provider.max_call_id and len(call.id) > provider.max_call_id:
                raise invalid(
                    f"Invalid '{where}.id': string too long. Expected a string with maximum length "
                    f"{provider.max_call_id}, but got a string with length {len(call.id)} instead.",
                    code="string_above_max_length",
                    param=f"{where}.id",
                )
            if provider.refuses_malformed_arguments:
                _check_json(call.arguments)


def _check_json(arguments: str) -> None:
    """vLLM's chat template needs an object."""
    try:
        is_object = isinstance(json.loads(arguments), dict)
    except (ValueError, RecursionError):
        is_object = False
    if not is_object:
        raise invalid(f"tool call arguments are not a JSON object: {arguments[:80]!r}")


def check_images_in_tools(request: Request, provider: Provider) -> None:
    """Raises Refused for a picture in a tool message, where the service wants it in a user message."""
    for number, message in enumerate(request.messages):
        has_image = any(isinstance(part, Image) for result in message.results for part in result.parts)
        if has_image and not provider.images.in_tool_results:
            raise invalid(
                f"Invalid 'messages[{number}]'. Image URLs are only allowed for messages with role 'user', but this "
                "message with role 'tool' contains an image URL.",
                code="invalid_value",
                param=f"messages[{number}]",
            )


def _check_reasoning(request: Request, played: tuple[ScriptedTurn | None, ...]) -> None:
    replies = [(i, message) for i, message in enumerate(request.messages) if message.role == "assistant"]
    for (number, message), turn in zip(replies, played, strict=True):
        was = turn.reasoning if turn and turn.calls else ""
        if was and [reasoning.text for reasoning in message.reasoning] != [was]:
            raise invalid(
                f"Missing `reasoning_content` field in the assistant message at message index {number}. "
                f"{_DEEPSEEK_DOCS}"
            )
