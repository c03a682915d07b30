"""OpenAI chat completions, as also spoken by vLLM, SGLang, LM Studio, OpenRouter, Groq, Mistral, DeepSeek and others.

Sources: OpenAI's API reference; error texts from public issues (OpenHands#7700, vllm#43203). `openai_chat_rules` says
what is refused.
"""

from typing import Any

from agent_plugin.loopback.answer import Answer, seal
from agent_plugin.loopback.images import image_of_url
from agent_plugin.loopback.openai_chat_rules import check_chat
from agent_plugin.loopback.openai_errors import word_openai
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import Refused, invalid
from agent_plugin.loopback.request import Call, Image, Message, Part, Reasoning, Request, Result, Text
from agent_plugin.loopback.wire import Json, Wording
from agent_plugin.scripted_file import ScriptedTurn

_ROLES = ("system", "developer", "user", "assistant", "tool")
_CONTENT_PARTS = ("text", "image_url", "refusal")


class OpenAIChat:
    """`POST …/chat/completions`."""

    def read(self, path: str, body: Json, provider: Provider) -> Request:
        """The request in neutral form."""
        del path, provider
        if not body["messages"]:
            raise invalid("Invalid 'messages': empty array.", code="empty_array", param="messages")
        return Request(
            model=body["model"],
            messages=tuple(_message(m, f"messages[{i}]") for i, m in enumerate(body["messages"])),
            tools=tuple(tool["function"]["name"] for tool in body.get("tools") or ()),
            n_cache_marks=_cache_marks(body["messages"]),
            parameters={k: v for k, v in body.items() if k not in ("messages", "model", "tools")},
        )

    def check(self, request: Request, body: Json, provider: Provider, played: tuple[ScriptedTurn | None, ...]) -> None:
        """Raises Refused for what the service refuses."""
        check_chat(request, body, provider, played)

    def write(self, answer: Answer, request: Request, provider: Provider) -> Json:
        """A `chat.completion`."""
        completion: Json = {
            "id": f"chatcmpl-{answer.key}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": request.model,
            "choices": [
                {"index": 0, "message": _reply(answer, provider), "logprobs": None, "finish_reason": answer.finish}
            ],
            "usage": _usage(answer, provider),
            "system_fingerprint": "fp_loopback",
        }
        if provider.service_tier:
            completion |= {"service_tier": provider.service_tier, "x_groq": {"id": f"req_{answer.key}"}}
        return completion

    def word(self, refused: Refused, provider: Provider) -> Wording:
        """The error."""
        return word_openai(refused, provider)


def _message(message: Json, param: str) -> Message:
    role = message["role"]
    if role not in _ROLES:
        raise invalid(
            f"Invalid value: '{role}'. Supported values are: {', '.join(map(repr, _ROLES))}.",
            code="invalid_value",
            param=f"{param}.role",
        )
    own = _parts(message.get("content"), f"{param}.content")
    if role == "tool":
        return Message("tool", (Result(message["tool_call_id"], own),))
    if role == "assistant":
        return Message("assistant", (*_reasoning(message), *own, *_calls(message)))
    return Message("user" if role == "user" else "system", own)


def _parts(content: Any, param: str) -> tuple[Text | Image, ...]:
    if content is None:
        return ()
    if isinstance(content, str):
        return (Text(content),)
    return tuple(_part(part, f"{param}[{i}]") for i, part in enumerate(content))


def _part(part: Json, param: str) -> Text | Image:
    kind = part["type"]
    if kind == "image_url":
        return image_of_url(part["image_url"]["url"], param=f"{param}.image_url.url")
    if kind in ("text", "refusal"):
        if not isinstance(part[kind], str):
            raise invalid(f"Invalid type for '{param}.{kind}': expected a string.", code="invalid_type", param=param)
        return Text(part[kind])
    raise invalid(
        f"Invalid value: '{kind}'. Supported values are: {', '.join(map(repr, _CONTENT_PARTS))}.",
        code="invalid_value",
        param=f"{param}.type",
    )


def _calls(message: Json) -> tuple[Call, ...]:
    return tuple(
        Call(call["id"], call["function"]["name"], _string(call["function"]["arguments"]))
        for call in message.get("tool_calls") or ()
    )


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise invalid(f"Invalid type for 'arguments': expected a string, but got {value!r:.80}.", code="invalid_type")
    return value


def _reasoning(message: Json) -> tuple[Part, ...]:
    """Reasoning where one of the dialects puts it; OpenRouter's details carry seals."""
    details = message.get("reasoning_details") or ()
    if details:
        return tuple(Reasoning(d.get("text") or d.get("summary") or "", d.get("signature") or "") for d in details)
    text = message.get("reasoning_content") or message.get("reasoning")
    return (Reasoning(text),) if text else ()


def _cache_marks(messages: list[Json]) -> int:
    marked = ["cache_control" in message for message in messages]
    return sum(marked) + sum(
        "cache_control" in part for m in messages if isinstance(m.get("content"), list) for part in m["content"]
    )


def _reply(answer: Answer, provider: Provider) -> Json:
    is_refusal = answer.finish == "content_filter"
    reply: Json = {
        "role": "assistant",
        "content": None if is_refusal else answer.text or None,
        "refusal": answer.text if is_refusal else None,
    }
    if answer.calls:
        reply["tool_calls"] = [
            {
                "id": answer.call_id(call, provider.call_id),
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in answer.calls
        ]
    if answer.reasoning and provider.reasoning_field == "reasoning_details":
        detail = {"type": "reasoning.text", "text": answer.reasoning, "signature": seal(answer.reasoning)}
        reply |= {
            "reasoning": answer.reasoning,
            "reasoning_details": [detail | {"format": "anthropic-claude-v1", "index": 0}],
        }
    elif answer.reasoning and provider.reasoning_field != "none":
        reply[provider.reasoning_field] = answer.reasoning
    return reply


def _usage(answer: Answer, provider: Provider) -> Json:
    usage = answer.usage
    counted: Json = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    }
    if provider.has_cost:
        counted["cost"] = usage.cost
    if provider.wants_reasoning_back:  # DeepSeek counts its cache in two fields of its own
        counted |= {
            "prompt_cache_hit_tokens": usage.cached,
            "prompt_cache_miss_tokens": usage.prompt - usage.cached,
        }
    return counted
