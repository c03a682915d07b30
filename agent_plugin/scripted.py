"""`scripted/<name>`: a litellm provider that plays recorded turns, so that everything works without a key or a network.

It goes through litellm like any other provider: tools, pictures, usage, cost. It holds no state: the turn to play is
the number of assistant messages in the request. A turn says what it expects to have been answered
(`expect`, `expect_images`) and refuses to go on when that is not there: what it reads was really made.
"""

import hashlib
import json
from typing import Any

import litellm
from litellm.llms.custom_llm import CustomLLM

from agent_plugin.scripted_file import PROVIDER, ScriptedTurn, scripted_model
from agent_plugin.scripted_play import Asked, OffScript, about_tokens, arguments_of, next_turn


class ScriptedProvider(CustomLLM):
    """The litellm side: finds the turn, checks what it expects, answers with it."""

    def completion(self, model: str, messages: list[Any], *_args: Any, **_kwargs: Any) -> litellm.ModelResponse:
        name = f"{PROVIDER}/{model.removeprefix(PROVIDER + '/')}"
        number = sum(message["role"] == "assistant" for message in messages)
        try:
            turn = next_turn(scripted_model(name), _asked(messages, number))
        except OffScript as why:
            raise litellm.exceptions.BadRequestError(
                message=f"{name}: {why}", model=name, llm_provider=PROVIDER
            ) from why
        return _response(turn, number, messages, name)


def register_scripted_provider(model_name: str) -> None:
    """Make litellm know `scripted/…`; its price is nothing, and known to be nothing."""
    if not any(entry["provider"] == PROVIDER for entry in litellm.custom_provider_map):
        litellm.custom_provider_map.append({"provider": PROVIDER, "custom_handler": ScriptedProvider()})
        litellm.utils.custom_llm_setup()  # type: ignore[no-untyped-call]
    # the prices of a cache are given too: litellm warns where they are missing
    prices = (
        "input_cost_per_token",
        "output_cost_per_token",
        "cache_creation_input_token_cost",
        "cache_read_input_token_cost",
    )
    litellm.register_model({model_name: {**dict.fromkeys(prices, 0.0), "litellm_provider": PROVIDER, "mode": "chat"}})


def _asked(messages: list[dict[str, Any]], n_replies: int) -> Asked:
    last = max((i for i, m in enumerate(messages) if m["role"] == "assistant"), default=-1)
    answers = messages[last + 1 :]
    return Asked(
        brief=_text(next((m for m in messages if m["role"] == "user"), {})),
        n_replies=n_replies,
        answer="\n".join(_text(message) for message in answers),
        n_images=sum(
            part["type"] == "image_url" for m in answers if isinstance(m["content"], list) for part in m["content"]
        ),
    )


def _response(turn: ScriptedTurn, number: int, messages: list[dict[str, Any]], name: str) -> litellm.ModelResponse:
    calls = [
        {
            "id": f"call_{number + 1}_{position}",
            "type": "function",
            "function": {"name": call.tool, "arguments": arguments_of(call)},
        }
        for position, call in enumerate(turn.calls, start=1)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None, "tool_calls": calls or None}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    prompt, completion = about_tokens(json.dumps(_without_pictures(messages))), about_tokens(turn.model_dump_json())
    seed = json.dumps([name, number, turn.model_dump()], sort_keys=True)
    return litellm.ModelResponse(
        id=f"scripted-{hashlib.sha256(seed.encode()).hexdigest()[:16]}",
        model=name,
        choices=[
            {"index": 0, "message": message, "finish_reason": turn.finish_reason or ("tool_calls" if calls else "stop")}
        ],
        usage={"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
    )


def _text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(p["text"] for p in content if p["type"] == "text")


def _without_pictures(messages: list[dict[str, Any]]) -> list[str]:
    return [_text(message) for message in messages]
