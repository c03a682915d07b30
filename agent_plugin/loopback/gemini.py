"""Gemini's generateContent. Sources: Google's API reference; fields are taken in camelCase and snake_case, as there."""

import json
from typing import Any

from agent_plugin.loopback.answer import Answer, seal
from agent_plugin.loopback.gemini_rules import call_seal, check_contents
from agent_plugin.loopback.images import image_of
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import STATUS, RefusalKind, Refused, invalid
from agent_plugin.loopback.request import Call, Image, Message, Part, Reasoning, Request, Result, Role, Text
from agent_plugin.loopback.wire import Json, Wording
from agent_plugin.scripted_file import ScriptedTurn

_FINISHES = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
_ERRORS: dict[RefusalKind, tuple[str, str]] = {
    "invalid": ("INVALID_ARGUMENT", "Request contains an invalid argument."),
    "unauthorized": ("UNAUTHENTICATED", "API key not valid. Please pass a valid API key."),
    "payment": ("FAILED_PRECONDITION", "Billing is not enabled for this project."),
    "forbidden": ("PERMISSION_DENIED", "Permission denied."),
    "not_found": ("NOT_FOUND", "models/x is not found for API version v1beta."),
    "too_large": ("INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."),
    "rate_limit": ("RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry later."),
    "context_window": (
        "INVALID_ARGUMENT",
        "The input token count (1048600) exceeds the maximum number of tokens allowed (1048576).",
    ),
    "content_policy": ("INVALID_ARGUMENT", "The request was blocked by the content policy: content_policy_violation"),
    "server_error": ("INTERNAL", "An internal error has occurred. Please retry."),
    "unavailable": ("UNAVAILABLE", "The service is currently unavailable."),
    "overloaded": ("UNAVAILABLE", "The model is overloaded. Please try again later."),
}
"""Kind -> (status word, text)."""


class GeminiGenerate:
    """`POST …/models/{model}:generateContent`."""

    def read(self, path: str, body: Json, provider: Provider) -> Request:
        """The request in neutral form; the system instruction becomes its first message."""
        del provider
        messages = [_content(content, i) for i, content in enumerate(body["contents"])]
        system = _either(body, "systemInstruction", "system_instruction")
        if system:
            messages.insert(0, Message("system", tuple(_part(part, "system") for part in system["parts"])))
        return Request(
            model=path.rsplit("/", 1)[-1].split(":")[0],
            messages=tuple(messages),
            tools=tuple(
                declared["name"]
                for tool in body.get("tools") or ()
                for declared in _either(tool, "functionDeclarations", "function_declarations") or ()
            ),
            parameters={k: v for k, v in body.items() if k not in ("contents", "tools")},
        )

    def check(self, request: Request, body: Json, provider: Provider, played: tuple[ScriptedTurn | None, ...]) -> None:
        """Raises Refused for what the service refuses."""
        del body, provider, played
        check_contents(request)

    def write(self, answer: Answer, request: Request, provider: Provider) -> Json:
        """A `GenerateContentResponse`. A cut call is left out, malformed arguments are empty."""
        del provider
        body: Json = {"modelVersion": request.model, "responseId": answer.key, "usageMetadata": _usage(answer)}
        candidate: Json = {"index": 0, "finishReason": _FINISHES[answer.finish]}
        if answer.finish != "content_filter":
            candidate["content"] = {"role": "model", "parts": _reply_parts(answer)}
        else:
            rating = {"category": "HARM_CATEGORY_DANGEROUS_CONTENT", "probability": "HIGH", "blocked": True}
            candidate["safetyRatings"] = [rating]
        return body | {"candidates": [candidate]}

    def word(self, refused: Refused, provider: Provider) -> Wording:
        """The error."""
        del provider
        word, text = _ERRORS[refused.kind]
        status = STATUS[refused.kind]
        return Wording(status, {"error": {"code": status, "message": refused.message or text, "status": word}})


def _content(content: Json, number: int) -> Message:
    roles: dict[str | None, Role] = {"user": "user", "model": "assistant", "function": "user", None: "user"}
    if content.get("role") not in roles:
        raise invalid("Please use a valid role: user, model.")
    if not content.get("parts"):
        raise invalid(f"* GenerateContentRequest.contents[{number}].parts: contents.parts must not be empty.")
    where = f"contents[{number}].parts"
    return Message(roles[content.get("role")], tuple(_part(p, f"{where}[{i}]") for i, p in enumerate(content["parts"])))


def _part(part: Json, where: str) -> Part:
    call, answer = (
        _either(part, "functionCall", "function_call"),
        _either(part, "functionResponse", "function_response"),
    )
    data = _either(part, "inlineData", "inline_data")
    signature = _either(part, "thoughtSignature", "thought_signature") or ""
    if call is not None:
        return Call(call.get("id") or call["name"], call["name"], json.dumps(call.get("args") or {}), signature)
    if answer is not None:
        return _result(answer, where)
    if data is not None:
        return _image(data, where)
    if "text" in part:
        return Reasoning(part["text"], signature) if part.get("thought") else Text(part["text"])
    raise invalid(f"* GenerateContentRequest.{where}: must have one initialized field: 'data'.")


def _result(answer: Json, where: str) -> Result:
    """Words of the response object in the order of its keys, then Gemini 3's pictures."""
    response = answer["response"]
    if not isinstance(response, dict):
        raise invalid(
            f"Invalid value at '{where}.function_response.response' (type.googleapis.com/google.protobuf.Struct)"
        )
    words = [Text(value if isinstance(value, str) else json.dumps(value)) for value in response.values()]
    pictures: list[Text | Image] = [
        _image(data, where)
        for part in answer.get("parts") or ()
        if (data := _either(part, "inlineData", "inline_data")) is not None
    ]
    return Result(answer.get("id") or answer["name"], (*words, *pictures))


def _image(data: Json, where: str) -> Image:
    return image_of(data["data"], _either(data, "mimeType", "mime_type") or "", where)


def _either(found: Json, camel: str, snake: str) -> Any:
    value: Any = found.get(camel, found.get(snake))
    return value


def _reply_parts(answer: Answer) -> list[Json]:
    parts: list[Json] = []
    if answer.reasoning:
        parts.append({"text": answer.reasoning, "thought": True})
    if answer.text:
        said = {"text": answer.text}
        # a reply without calls carries the seal of its thoughts on its words
        parts.append(
            said if answer.calls or not answer.reasoning else said | {"thoughtSignature": seal(answer.reasoning)}
        )
    for call in answer.whole_calls:
        arguments = call.arguments_object()
        part: Json = {"functionCall": {"name": call.name, "args": arguments}}
        if call.position == 1:  # of parallel calls only the first is sealed
            part["thoughtSignature"] = call_seal(call.name, arguments)
        parts.append(part)
    return parts or [{"text": ""}]


def _usage(answer: Answer) -> Json:
    usage = answer.usage
    counts = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.completion - usage.reasoning,
        "thoughtsTokenCount": usage.reasoning,
        "cachedContentTokenCount": usage.cached,
        "totalTokenCount": usage.prompt + usage.completion,
    }
    return counts | {"promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.prompt}]}
