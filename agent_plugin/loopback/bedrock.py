"""Amazon Bedrock's Converse. Sources: the AWS API reference; `bedrock_rules` says what is refused."""

import json
from typing import Any

from agent_plugin.loopback.answer import Answer, seal
from agent_plugin.loopback.bedrock_rules import check_converse
from agent_plugin.loopback.images import image_of
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import STATUS, RefusalKind, Refused, invalid
from agent_plugin.loopback.request import Call, Image, Message, Part, Reasoning, Request, Result, Text
from agent_plugin.loopback.wire import Json, Wording
from agent_plugin.scripted_file import ScriptedTurn

_STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "content_filtered"}
_ERRORS: dict[RefusalKind, tuple[int, str, str]] = {
    "unauthorized": (403, "UnrecognizedClientException", "The security token included in the request is invalid."),
    "payment": (403, "AccessDeniedException", "Your account has no valid payment method."),
    "forbidden": (403, "AccessDeniedException", "You don't have access to the model with the specified model ID."),
    "not_found": (404, "ResourceNotFoundException", "Could not resolve the foundation model."),
    "rate_limit": (429, "ThrottlingException", "Too many requests, please wait before trying again."),
    "context_window": (
        400,
        "ValidationException",
        "The model returned the following errors: Input is too long for requested model.",
    ),
    "content_policy": (400, "ValidationException", "Output blocked by content filtering policy"),
    "server_error": (500, "InternalServerException", "The system encountered an unexpected error."),
    "unavailable": (503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
    "overloaded": (503, "ServiceUnavailableException", "Too many connections, please wait before trying again."),
}
"""Kind -> (status, type, text); the rest is a ValidationException."""


class BedrockConverse:
    """`POST …/model/{model}/converse`."""

    def read(self, path: str, body: Json, provider: Provider) -> Request:
        """The request in neutral form; `system` becomes its first message."""
        del provider
        messages = [
            Message(m["role"], tuple(_blocks(m["content"], f"messages.{i}.content")))
            for i, m in enumerate(body["messages"])
        ]
        if body.get("system"):
            messages.insert(0, Message("system", tuple(_blocks(body["system"], "system"))))
        tools = (body.get("toolConfig") or {}).get("tools") or ()
        return Request(
            model=path.rsplit("/model/", 1)[-1].removesuffix("/converse"),
            messages=tuple(messages),
            tools=tuple(tool["toolSpec"]["name"] for tool in tools if "toolSpec" in tool),
            n_cache_marks=json.dumps(body).count('"cachePoint"'),
            parameters={k: v for k, v in body.items() if k not in ("messages", "system", "toolConfig")},
        )

    def check(self, request: Request, body: Json, provider: Provider, played: tuple[ScriptedTurn | None, ...]) -> None:
        """Raises Refused for what the service refuses."""
        del provider
        check_converse(request, body, played)

    def write(self, answer: Answer, request: Request, provider: Provider) -> Json:
        """A Converse reply. Malformed arguments cannot be said here."""
        blocks: list[Json] = []
        if answer.reasoning:
            thought = {"text": answer.reasoning, "signature": seal(answer.reasoning)}
            blocks.append({"reasoningContent": {"reasoningText": thought}})
        if answer.text:
            blocks.append({"text": answer.text})
        for call in answer.calls:
            own_id = answer.call_id(call, provider.call_id)
            blocks.append({"toolUse": {"toolUseId": own_id, "name": call.name, "input": call.arguments_object()}})
        return {
            "output": {"message": {"role": "assistant", "content": blocks}},
            "stopReason": _STOPS[answer.finish],
            "usage": _usage(answer, request),
            "metrics": {"latencyMs": 1},
        }

    def word(self, refused: Refused, provider: Provider) -> Wording:
        """The error: its type is a header."""
        del provider
        known = _ERRORS.get(refused.kind, (STATUS[refused.kind], "ValidationException", "The request is not valid."))
        status, kind, text = known
        return Wording(status, {"message": refused.message or text}, {"x-amzn-ErrorType": kind})


def _blocks(blocks: list[Json], where: str) -> list[Part]:
    return [_block(block, f"{where}.{i}") for i, block in enumerate(blocks) if "cachePoint" not in block]


def _block(block: Json, where: str) -> Part:
    kind, value = next(iter(block.items()))
    if len(block) != 1:
        raise invalid(f"{where}: a ContentBlock has exactly one member, here: {', '.join(sorted(block))}")
    if kind == "text":
        return Text(value)
    if kind == "image":
        return _image(value, where)
    if kind == "toolUse":
        if not isinstance(value["input"], dict):
            raise invalid(f"The value at {where}.toolUse.input is invalid. Provide a json object for the field")
        return Call(value["toolUseId"], value["name"], json.dumps(value["input"]))
    if kind == "toolResult":
        inside = _blocks([_as_text(inner) for inner in value["content"]], f"{where}.toolResult.content")
        return Result(value["toolUseId"], tuple(part for part in inside if isinstance(part, Text | Image)))
    if kind == "reasoningContent":
        return _reasoning(value)
    raise invalid(f"Unknown field at {where}: '{kind}'")


def _as_text(block: Json) -> Json:
    return {"text": json.dumps(block["json"])} if "json" in block else block


def _reasoning(value: Json) -> Reasoning:
    if "redactedContent" in value:
        return Reasoning("", value["redactedContent"])
    return Reasoning(value["reasoningText"]["text"], value["reasoningText"].get("signature") or "")


def _image(value: Any, where: str) -> Image:
    if value["format"] not in ("png", "jpeg", "gif", "webp"):
        raise invalid(f"The format field at {where}.image is not one of: png, jpeg, gif, webp")
    return image_of(value["source"]["bytes"], f"image/{value['format']}", where)


def _usage(answer: Answer, request: Request) -> Json:
    usage = answer.usage
    read, written = (usage.cached, usage.prompt - usage.cached) if request.n_cache_marks else (0, 0)
    return {
        "inputTokens": usage.prompt - read - written,
        "outputTokens": usage.completion,
        "totalTokens": usage.prompt + usage.completion,
        "cacheReadInputTokens": read,
        "cacheWriteInputTokens": written,
    }
