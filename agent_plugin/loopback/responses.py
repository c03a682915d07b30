"""OpenAI Responses without its memory: each request holds the whole conversation, as mini-swe-agent sends it.

Sources: OpenAI's API reference; `responses_rules` says what is refused.
"""

from typing import Any

from agent_plugin.loopback.answer import Answer, AnswerCall, seal
from agent_plugin.loopback.images import image_of_url
from agent_plugin.loopback.openai_errors import word_openai
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import Refused, invalid
from agent_plugin.loopback.request import Call, Image, Message, Part, Reasoning, Request, Result, Text
from agent_plugin.loopback.responses_rules import check_items
from agent_plugin.loopback.wire import Json, Wording
from agent_plugin.scripted_file import ScriptedTurn

_INPUT_PARTS = ("input_text", "input_image")
_OUTPUT_PARTS = ("output_text", "refusal")
_ENCRYPTED = "reasoning.encrypted_content"


class OpenAIResponses:
    """`POST …/responses`."""

    def read(self, path: str, body: Json, provider: Provider) -> Request:
        """The request in neutral form: items that follow one another and are the model's become one message."""
        del path, provider
        if body.get("previous_response_id"):
            raise invalid(
                f"Previous response with id '{body['previous_response_id']}' not found.",
                code="previous_response_not_found",
                param="previous_response_id",
            )
        given = body["input"]
        items = [{"role": "user", "content": given}] if isinstance(given, str) else given
        messages = [_item(item, f"input[{i}]") for i, item in enumerate(items)]
        if body.get("instructions"):
            messages.insert(0, Message("system", (Text(body["instructions"]),)))
        return Request(
            model=body["model"],
            messages=_joined(messages),
            tools=tuple(_tool_name(tool, i) for i, tool in enumerate(body.get("tools") or ())),
            parameters={k: v for k, v in body.items() if k not in ("input", "model", "tools", "instructions")},
        )

    def check(self, request: Request, body: Json, provider: Provider, played: tuple[ScriptedTurn | None, ...]) -> None:
        """Raises Refused for what the service refuses."""
        del provider, played
        check_items(request, body)

    def write(self, answer: Answer, request: Request, provider: Provider) -> Json:
        """A `response`."""
        is_cut = answer.finish == "length"
        return {
            "id": f"resp_{answer.key}",
            "object": "response",
            "created_at": 1_700_000_000,
            "status": "incomplete" if is_cut else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "error": None,
            "instructions": None,
            "metadata": {},
            "model": request.model,
            "output": _output(answer, provider, _ENCRYPTED in (request.parameters.get("include") or ())),
            "parallel_tool_calls": True,
            "temperature": 1.0,
            "top_p": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "usage": _usage(answer, provider),
        }

    def word(self, refused: Refused, provider: Provider) -> Wording:
        """The error."""
        return word_openai(refused, provider)


def _item(item: Json, where: str) -> Message:
    kind = item.get("type") or "message"
    if kind == "message":
        return _message(item, where)
    if kind == "function_call":
        if not isinstance(item["arguments"], str):
            raise invalid(f"Invalid type for '{where}.arguments': expected a string.", code="invalid_type", param=where)
        return Message("assistant", (Call(item["call_id"], item["name"], item["arguments"], "", item.get("id") or ""),))
    if kind == "function_call_output":
        return Message("tool", (Result(item["call_id"], _parts(item["output"], f"{where}.output", _INPUT_PARTS)),))
    if kind == "reasoning":
        words = "".join(part["text"] for part in item["summary"])
        return Message("assistant", (Reasoning(words, item.get("encrypted_content") or "", item.get("id") or ""),))
    raise invalid(f"Invalid value: '{kind}'.", code="invalid_value", param=f"{where}.type")


def _message(item: Json, where: str) -> Message:
    role = item["role"]
    if role not in ("user", "assistant", "system", "developer"):
        raise invalid(
            f"Invalid value: '{role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.",
            code="invalid_value",
            param=f"{where}.role",
        )
    allowed = _OUTPUT_PARTS if role == "assistant" else _INPUT_PARTS
    own: tuple[Part, ...] = _parts(item["content"], f"{where}.content", allowed)
    return Message("system" if role == "developer" else role, own)


def _parts(content: Any, where: str, allowed: tuple[str, ...]) -> tuple[Text | Image, ...]:
    if isinstance(content, str):
        return (Text(content),)
    return tuple(_part(part, f"{where}[{i}]", allowed) for i, part in enumerate(content))


def _part(part: Json, where: str, allowed: tuple[str, ...]) -> Text | Image:
    kind = part["type"]
    if kind not in allowed:
        raise invalid(
            f"Invalid value: '{kind}'. Supported values are: {', '.join(map(repr, allowed))}.",
            code="invalid_value",
            param=f"{where}.type",
        )
    if kind == "input_image":
        if not isinstance(part["image_url"], str):
            raise invalid(
                f"Invalid type for '{where}.image_url': expected an image URL, but got an object instead.",
                code="invalid_type",
                param=f"{where}.image_url",
            )
        return image_of_url(part["image_url"], f"{where}.image_url")
    return Text(part["refusal"] if kind == "refusal" else part["text"])


def _tool_name(tool: Json, position: int) -> str:
    if "name" not in tool:
        raise invalid(
            f"Missing required parameter: 'tools[{position}].name'.",
            code="missing_required_parameter",
            param=f"tools[{position}].name",
        )
    name: str = tool["name"]
    return name


def _joined(messages: list[Message]) -> tuple[Message, ...]:
    """The items of one reply as one message, so that replies can be counted."""
    joined: list[Message] = []
    for message in messages:
        if joined and message.role == joined[-1].role == "assistant":
            joined[-1] = Message("assistant", (*joined[-1].parts, *message.parts))
        else:
            joined.append(message)
    return tuple(joined)


def _output(answer: Answer, provider: Provider, is_encrypted_wanted: bool) -> list[Json]:
    output: list[Json] = []
    mark = f"{answer.key}{'r' if answer.reasoning else ''}"  # 'r': this item needs its reasoning item beside it
    if answer.reasoning:
        reasoning: Json = {
            "id": f"rs_{mark}",
            "type": "reasoning",
            "summary": [{"type": "summary_text", "text": answer.reasoning}],
        }
        if is_encrypted_wanted:
            reasoning["encrypted_content"] = seal(answer.reasoning)
        output.append(reasoning)
    if answer.text or not answer.calls:
        said: Json = {"type": "output_text", "text": answer.text, "annotations": []}
        if answer.finish == "content_filter":
            said = {"type": "refusal", "refusal": answer.text}
        message = {"id": f"msg_{mark}", "type": "message", "role": "assistant", "status": "completed"}
        output.append(message | {"content": [said]})
    return output + [_call(call, mark, answer, provider) for call in answer.calls]


def _call(call: AnswerCall, mark: str, answer: Answer, provider: Provider) -> Json:
    is_cut = answer.finish == "length" and call is answer.calls[-1]
    return {
        "id": f"fc_{mark}_{call.position}",
        "type": "function_call",
        "status": "incomplete" if is_cut else "completed",
        "call_id": answer.call_id(call, provider.call_id),
        "name": call.name,
        "arguments": call.arguments,
    }


def _usage(answer: Answer, provider: Provider) -> Json:
    usage = answer.usage
    counted: Json = {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.prompt + usage.completion,
    }
    return counted | ({"cost": usage.cost} if provider.has_cost else {})
