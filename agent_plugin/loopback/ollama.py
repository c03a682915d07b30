"""Ollama's /api/chat. Sources: Ollama's API reference and api/types.go. It checks types and little else."""

import json
from typing import Any

from agent_plugin.loopback.answer import Answer
from agent_plugin.loopback.images import image_of
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import STATUS, RefusalKind, Refused, invalid
from agent_plugin.loopback.request import Call, Image, Message, Reasoning, Request, Result, Text
from agent_plugin.loopback.wire import Json, Wording
from agent_plugin.scripted_file import ScriptedTurn

_TEXTS: dict[RefusalKind, str] = {
    "unauthorized": "unauthorized",
    "not_found": "model 'x' not found",
    "rate_limit": "you (loopback) have reached your hourly usage limit",
    "context_window": "the request exceeds the available context size, try increasing it",
    "server_error": "llama runner process has terminated",
    "unavailable": "server busy, please try again. maximum pending requests exceeded",
    "overloaded": "server busy, please try again. maximum pending requests exceeded",
}


class OllamaChat:
    """`POST …/api/chat`."""

    def read(self, path: str, body: Json, provider: Provider) -> Request:
        """The request in neutral form. A message's pictures have no place among its words: they come after them."""
        del path, provider
        return Request(
            model=body["model"],
            messages=tuple(_message(message) for message in body["messages"]),
            tools=tuple(tool["function"]["name"] for tool in body.get("tools") or ()),
            parameters={k: v for k, v in body.items() if k not in ("messages", "model", "tools")},
        )

    def check(self, request: Request, body: Json, provider: Provider, played: tuple[ScriptedTurn | None, ...]) -> None:
        """Raises Refused: without `stream: false` it would stream."""
        del request, provider, played
        if body.get("stream") is not False:
            raise invalid("This loopback does not stream: send 'stream': false.", code="off_script")

    def write(self, answer: Answer, request: Request, provider: Provider) -> Json:
        """A chat reply. A cut call is left out, malformed arguments are empty, declining is words like others."""
        message: Json = {"role": "assistant", "content": answer.text}
        if answer.reasoning:
            message["thinking"] = answer.reasoning
        if answer.whole_calls:
            message["tool_calls"] = [
                {
                    "id": answer.call_id(call, provider.call_id),
                    "function": {"index": call.position - 1, "name": call.name, "arguments": call.arguments_object()},
                }
                for call in answer.whole_calls
            ]
        return {
            "model": request.model,
            "created_at": "2025-01-01T00:00:00Z",
            "message": message,
            "done": True,
            "done_reason": "length" if answer.finish == "length" else "stop",
            "total_duration": 1_000_000,
            "load_duration": 1,
            "prompt_eval_count": answer.usage.prompt,
            "eval_count": answer.usage.completion,
        }

    def word(self, refused: Refused, provider: Provider) -> Wording:
        """The error."""
        del provider
        return Wording(STATUS[refused.kind], {"error": refused.message or _TEXTS.get(refused.kind, refused.kind)})


def _message(message: Json) -> Message:
    role = message["role"]
    own: tuple[Text | Image, ...] = (
        Text(_typed(message.get("content") or "", str, "content", "string")),
        *(image_of(data) for data in message.get("images") or ()),
    )
    if role == "tool":
        return Message("tool", (Result(message.get("tool_call_id") or message.get("tool_name") or "", own),))
    if role == "assistant":
        thought = message.get("thinking")
        return Message("assistant", (*((Reasoning(thought),) if thought else ()), *own, *_calls(message)))
    if role not in ("user", "system"):
        raise invalid(f"invalid role: {role}")
    return Message(role, own)


def _calls(message: Json) -> list[Call]:
    calls = []
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = _typed(
            function["arguments"], dict, "tool_calls.function.arguments", "api.ToolCallFunctionArguments"
        )
        calls.append(Call(call.get("id") or "", function["name"], json.dumps(arguments)))
    return calls


def _typed(value: Any, wanted: type, where: str, name: str) -> Any:
    if not isinstance(value, wanted):
        names: dict[type, str] = {str: "string", list: "array", dict: "object"}
        kind = names.get(type(value), "value")
        raise invalid(f"json: cannot unmarshal {kind} into Go struct field ChatRequest.messages.{where} of type {name}")
    return value
