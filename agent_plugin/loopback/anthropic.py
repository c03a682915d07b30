"""Anthropic Messages. Sources: Anthropic's API reference; `anthropic_rules` says what is refused."""

import json
from typing import Any

from agent_plugin.loopback.answer import Answer, seal
from agent_plugin.loopback.anthropic_rules import check_messages
from agent_plugin.loopback.images import image_of
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import STATUS, RefusalKind, Refused, invalid
from agent_plugin.loopback.request import Call, Image, Message, Part, Reasoning, Request, Result, Text
from agent_plugin.loopback.wire import Json, Wording
from agent_plugin.scripted_file import ScriptedTurn

_STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
_ERRORS: dict[RefusalKind, tuple[str, str]] = {
    "invalid": ("invalid_request_error", "Invalid request."),
    "unauthorized": ("authentication_error", "invalid x-api-key"),
    "payment": ("billing_error", "Your credit balance is too low to access the Anthropic API."),
    "forbidden": ("permission_error", "Your API key does not have permission to use the specified resource."),
    "not_found": ("not_found_error", "model: not found"),
    "too_large": ("request_too_large", "Request exceeds the maximum size"),
    "rate_limit": ("rate_limit_error", "This request would exceed your organization's rate limit."),
    "context_window": ("invalid_request_error", "prompt is too long: 204800 tokens > 200000 maximum"),
    "content_policy": ("invalid_request_error", "Output blocked by content filtering policy"),
    "server_error": ("api_error", "Internal server error"),
    "unavailable": ("api_error", "Service unavailable"),
    "overloaded": ("overloaded_error", "Overloaded"),
}
"""Kind -> (type, text)."""


class AnthropicMessages:
    """`POST …/v1/messages`."""

    def read(self, path: str, body: Json, provider: Provider) -> Request:
        """The request in neutral form; `system` becomes its first message."""
        del path, provider
        if "max_tokens" not in body:
            raise invalid("max_tokens: Field required")
        system = body.get("system")
        messages = [_message(m, f"messages.{i}") for i, m in enumerate(body["messages"])]
        if system:
            messages.insert(0, Message("system", tuple(_blocks(system, "system"))))
        return Request(
            model=body["model"],
            messages=tuple(messages),
            tools=tuple(tool["name"] for tool in body.get("tools") or ()),
            n_cache_marks=_cache_marks(body),
            parameters={k: v for k, v in body.items() if k not in ("messages", "model", "tools", "system")},
        )

    def check(self, request: Request, body: Json, provider: Provider, played: tuple[ScriptedTurn | None, ...]) -> None:
        """Raises Refused for what the service refuses."""
        del provider
        check_messages(request, body, played)

    def write(self, answer: Answer, request: Request, provider: Provider) -> Json:
        """A `message`. Malformed arguments cannot be said here: what arrives of them is an empty object."""
        blocks: list[Json] = []
        if answer.reasoning:
            blocks.append({"type": "thinking", "thinking": answer.reasoning, "signature": seal(answer.reasoning)})
        if answer.text:
            blocks.append({"type": "text", "text": answer.text})
        blocks += [
            {
                "type": "tool_use",
                "id": answer.call_id(call, provider.call_id),
                "name": call.name,
                "input": call.arguments_object(),
            }
            for call in answer.calls
        ]
        return {
            "id": f"msg_{answer.key}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": blocks,
            "stop_reason": _STOPS[answer.finish],
            "stop_sequence": None,
            "usage": _usage(answer, request),
        }

    def word(self, refused: Refused, provider: Provider) -> Wording:
        """The error."""
        del provider
        kind, text = _ERRORS[refused.kind]
        body = {
            "type": "error",
            "error": {"type": kind, "message": refused.message or text},
            "request_id": "req_loopback",
        }
        return Wording(529 if refused.kind == "overloaded" else STATUS[refused.kind], body)


def _message(message: Json, where: str) -> Message:
    if message["role"] not in ("user", "assistant"):
        raise invalid(f"{where}.role: Input should be 'user' or 'assistant'")
    return Message(message["role"], tuple(_blocks(message["content"], f"{where}.content")))


def _blocks(content: Any, where: str) -> list[Part]:
    if isinstance(content, str):
        return [Text(content)]
    return [_block(block, f"{where}.{i}") for i, block in enumerate(content)]


def _block(block: Json, where: str) -> Part:
    kind = block["type"]
    if kind == "text":
        return Text(block["text"])
    if kind == "image":
        return _image(block["source"], where)
    if kind == "tool_use":
        if not isinstance(block["input"], dict):
            raise invalid(f"{where}.tool_use.input: Input should be a valid dictionary")
        return Call(block["id"], block["name"], json.dumps(block["input"]))
    if kind == "tool_result":
        inside = _blocks(block.get("content") or [], f"{where}.tool_result.content")
        return Result(block["tool_use_id"], tuple(part for part in inside if isinstance(part, Text | Image)))
    if kind == "thinking":
        return Reasoning(block["thinking"], block["signature"])
    if kind == "redacted_thinking":
        return Reasoning("", block["data"])
    raise invalid(f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags")


def _image(source: Json, where: str) -> Image:
    if source["type"] != "base64":
        raise invalid(f"{where}.source: only base64 is served here")
    image = image_of(source["data"], source["media_type"], where)
    if image.media_type != image.true_type:
        raise invalid(
            f"{where}.image.source.base64: The image was specified using the {image.media_type} media type, but the "
            f"image appears to be a {image.true_type} image"
        )
    return image


def _cache_marks(found: Any) -> int:
    """Every `cache_control` of the body: at most four are allowed."""
    if isinstance(found, dict):
        return (found.get("cache_control") is not None) + sum(map(_cache_marks, found.values()))
    return sum(map(_cache_marks, found)) if isinstance(found, list) else 0


def _usage(answer: Answer, request: Request) -> Json:
    usage = answer.usage
    # nothing is cached that was not marked; what was not sent before is written now
    read, written = (usage.cached, usage.prompt - usage.cached) if request.n_cache_marks else (0, 0)
    return {
        "input_tokens": usage.prompt - read - written,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": usage.completion,
    }
