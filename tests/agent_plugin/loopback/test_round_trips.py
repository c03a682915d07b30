"""Each wire format through the real litellm: words, calls, reasoning and pictures arrive, and are seen in place."""

import json
import logging
from collections.abc import Iterator
from typing import Any

import litellm
import pytest

from agent_plugin.loopback.answer import seal
from agent_plugin.loopback.request import Reasoning
from agent_plugin.loopback.routes import ROUTES
from agent_plugin.loopback.server import LoopbackServer, loopback
from tests.agent_plugin.loopback.pictures import picture
from tests.agent_plugin.loopback.scripts import script
from tests.agent_plugin.loopback.talk import BRIEF, OVER_HTTP, TOOLS, TWO_CALLS, after, ask

pytestmark = OVER_HTTP

SCRIPT = script(
    {"text": "hello", "reasoning": "because", "calls": TWO_CALLS},
    {"expect": ["RUN OK", "STEP OK", "Frame 2"], "expect_images": 2, "text": "seen", "reasoning": "so"},
)
NO_REASONING = {"openai", "azure", "mistral"}
"""Services whose chat completions carry none."""
LOSES_REASONING = {"groq", "cohere"}
"""litellm drops what these send: `reasoning` beside the content, `tool_plan`."""
FORGETS_REASONING = {"bedrock-nova", "ollama"}
"""litellm shows it, and does not send it back."""
NATIVE = {"anthropic", "bedrock", "bedrock-nova", "gemini-3"}
"""Routes on which litellm leaves pictures in the tool result."""
PROVIDER_OF = {"openai-responses": "openai", "gemini-3": "gemini", "bedrock-nova": "bedrock"}
BLIND = {"deepseek"}


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    with loopback(SCRIPT) as running:
        yield running


@pytest.mark.parametrize("route", ROUTES)
def test_a_turn_arrives_whole(server: LoopbackServer, route: str) -> None:
    """Words, two parallel calls with different ids, finish reason, usage; reasoning where the route has it."""
    choice = ask(server, route, BRIEF).choices[0]
    message = choice.message
    assert choice.finish_reason == "tool_calls"
    assert message.content == (None if route == "cohere" else "hello")
    calls = [(call.function.name, json.loads(call.function.arguments)) for call in message.tool_calls]
    assert calls == [("bash", {"command": "ls"}), ("run_blender", {"code": "print('ü')"})]
    assert len({call.id for call in message.tool_calls}) == 2
    has_reasoning = route not in NO_REASONING | LOSES_REASONING
    assert getattr(message, "reasoning_content", None) == ("because" if has_reasoning else None)
    assert server.exchanges[-1].turn == 1
    assert server.exchanges[-1].request is not None
    assert server.exchanges[-1].request.tools == ("bash", "run_blender")


@pytest.mark.parametrize("route", sorted(set(ROUTES) - BLIND))
def test_pictures_after_the_results(server: LoopbackServer, route: str) -> None:
    """In a user message each stands behind its caption, on every route that takes pictures (Ollama's hold no order)."""
    reply = ask(server, route, after(ask(server, route, BRIEF), native=False))
    assert reply.choices[0].message.content == "seen"
    request = server.exchanges[-1].request
    assert request is not None
    assert [seen.place for seen in request.images] == ["user message"] * 2
    captions = ["Frame 1\nFrame 2\n", ""] if route == "ollama" else ["Frame 1\n", "Frame 2\n"]
    assert [seen.caption for seen in request.images] == captions
    assert len({seen.image.sha256 for seen in request.images}) == 2
    assert request.new_images == request.images


@pytest.mark.parametrize("route", sorted(NATIVE))
def test_pictures_inside_the_results(server: LoopbackServer, route: str) -> None:
    """Each is seen in the result of its own call, behind its caption."""
    first = ask(server, route, BRIEF)
    assert ask(server, route, after(first, native=True)).choices[0].message.content == "seen"
    request = server.exchanges[-1].request
    assert request is not None
    assert [seen.place for seen in request.images] == ["tool result"] * 2
    assert [seen.caption.rsplit("\n", 2)[-2] for seen in request.images] == ["Frame 1", "Frame 2"]
    assert len({seen.call_id for seen in request.images}) == 2


def test_a_route_that_drops_pictures_is_found_out(server: LoopbackServer) -> None:
    """litellm sends none to DeepSeek and says nothing; the script notices."""
    with pytest.raises(litellm.exceptions.BadRequestError, match="expected 2 pictures in the answer; there are 0"):
        ask(server, "deepseek", after(ask(server, "deepseek", BRIEF), native=False))


@pytest.mark.parametrize("route", sorted(set(ROUTES) - NO_REASONING - LOSES_REASONING - FORGETS_REASONING - BLIND))
def test_reasoning_comes_back(server: LoopbackServer, route: str) -> None:
    """What was thought in the first turn is in the second request, with its seal where the service seals it."""
    ask(server, route, after(ask(server, route, BRIEF), native=False))
    request = server.exchanges[-1].request
    assert request is not None
    (reply,) = (message for message in request.messages if message.role == "assistant")
    if route in ("gemini", "gemini-3"):
        assert [bool(call.signature) for call in reply.calls] == [True, False]
        return
    (thought,) = reply.reasoning
    assert thought.text == "because"
    if route in ("anthropic", "bedrock"):  # litellm sends OpenRouter its words back, without the seal
        assert thought.seal == seal("because")


@pytest.mark.parametrize("route", sorted(set(ROUTES) - {"together"}))
def test_environment_variables_do_the_same(server: LoopbackServer, route: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the command prints is enough, without a word in the config."""
    way = server.route(route)
    for name, value in way.env.items():
        monkeypatch.setenv(name, value)
    reply = litellm.completion(model=way.model, messages=BRIEF, tools=TOOLS, timeout=5.0, max_retries=0)
    assert reply.choices[0].finish_reason == "tool_calls"
    assert server.exchanges[-1].path.startswith(f"/{PROVIDER_OF.get(route, route)}/")


def test_responses_with_encrypted_reasoning(server: LoopbackServer) -> None:
    """litellm.responses, as mini-swe-agent uses it: every item of a reply goes back as it came."""
    way = server.route("openai-responses")
    tools = [{"type": "function", **tool["function"]} for tool in TOOLS]
    parameters: dict[str, Any] = {
        "model": "openai/gpt-5",
        "tools": tools,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        **way.kwargs,
    }
    brief = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "make a film"}]}]
    first: Any = litellm.responses(input=brief, **parameters)
    items = [item.model_dump(exclude_none=True) if hasattr(item, "model_dump") else item for item in first.output]
    assert [item["type"] for item in items] == ["reasoning", "message", "function_call", "function_call"]
    frames = [
        part
        for number, color in ((1, "red"), (2, "blue"))
        for part in (
            {"type": "input_text", "text": f"Frame {number}\n"},
            {"type": "input_image", "image_url": picture(color)},
        )
    ]
    outputs = [
        {"type": "function_call_output", "call_id": items[2]["call_id"], "output": "RUN OK\n"},
        {
            "type": "function_call_output",
            "call_id": items[3]["call_id"],
            "output": [{"type": "input_text", "text": "STEP OK\n"}, *frames],
        },
    ]
    second: Any = litellm.responses(input=[*brief, *items, *outputs], **parameters)
    assert second.output[-1].content[0].text == "seen"
    request = server.exchanges[-1].request
    assert request is not None
    assert request.messages[1].parts[0] == Reasoning("because", seal("because"), items[0]["id"])
    assert [(seen.place, seen.caption, seen.call_id) for seen in request.images] == [
        ("tool result", "Frame 1\n", items[3]["call_id"]),
        ("tool result", "Frame 2\n", items[3]["call_id"]),
    ]


def test_mini_swe_agent_keeps_reasoning_items() -> None:
    """Its own class for the Responses API sends every item of a reply back; the second turn is played."""
    from minisweagent.models.litellm_response_model import LitellmResponseModel

    turns = script({"reasoning": "because", "calls": TWO_CALLS[:1]}, {"expect": ["a file"], "calls": TWO_CALLS[:1]})
    with loopback(turns) as server:
        kwargs = {"store": False, "include": ["reasoning.encrypted_content"], **server.route("openai-responses").kwargs}
        model: Any = LitellmResponseModel(model_name="openai/gpt-5", model_kwargs=kwargs, cost_tracking="ignore_errors")
        history = [model.format_message(role="user", content="make a film")]
        history.append(model.query(history))
        output = {"output": "a file", "returncode": 0, "exception_info": ""}
        history += model.format_observation_messages(history[-1], [output])
        model.query(history)
        request = server.exchanges[-1].request
    assert request is not None
    assert [part.seal for part in request.messages[1].reasoning] == [seal("because")]


def test_openrouter_without_litellm(server: LoopbackServer) -> None:
    """mini-swe-agent's own class posts to a fixed URL; its `_api_url` can be pointed here, and the cost is read."""
    from minisweagent.models.openrouter_model import OpenRouterModel

    model: Any = OpenRouterModel(model_name="qwen/qwen3-vl", model_kwargs={"tools": TOOLS})  # type: ignore[no-untyped-call]
    model._api_url, model._api_key = f"{server.url}/openrouter/api/v1/chat/completions", "loopback"
    raw = model._query(BRIEF)
    assert raw["choices"][0]["message"]["reasoning_details"][0]["signature"] == seal("because")
    assert model._calculate_cost(raw)["cost"] > 0


def test_the_same_request_gets_the_same_answer(server: LoopbackServer) -> None:
    """To the id, so that replays can be compared; another brief gets other ids."""
    first, second = (ask(server, "openai", BRIEF) for _ in range(2))
    assert first.id == second.id
    other = ask(server, "openai", [{"role": "user", "content": "another film"}])
    assert other.choices[0].message.tool_calls[0].id != first.choices[0].message.tool_calls[0].id


def test_what_was_sent_before_counts_as_cached(server: LoopbackServer) -> None:
    """From the second turn on, where the provider says so; Anthropic's only with cache marks."""
    first = ask(server, "openai", BRIEF)
    second = ask(server, "openai", after(first, native=False))
    assert first.usage.prompt_tokens_details.cached_tokens == 0
    assert second.usage.prompt_tokens_details.cached_tokens == first.usage.prompt_tokens
    marked: list[dict[str, Any]] = [
        BRIEF[0],
        {"role": "user", "content": [{"type": "text", "text": "make a film", "cache_control": {"type": "ephemeral"}}]},
    ]
    claude = ask(server, "anthropic", after(ask(server, "anthropic", marked), native=True, history=marked))
    assert claude.usage.cache_read_input_tokens > 0
    assert ask(server, "anthropic", BRIEF).usage.cache_read_input_tokens == 0
