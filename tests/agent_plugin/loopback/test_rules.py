"""What the true services refuse is refused, in their words and shapes. No network: bodies go straight to the player."""

# ruff: noqa: E501 - the table reads better with one rule a line

import base64
import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from agent_plugin.loopback.answer import seal
from agent_plugin.loopback.injected import FaultPlan
from agent_plugin.loopback.player import Player
from agent_plugin.loopback.record import Exchanges
from tests.agent_plugin.loopback.bodies import BODIES, DATA, FRAME, Json, text
from tests.agent_plugin.loopback.pictures import picture
from tests.agent_plugin.loopback.scripts import script

Change = Callable[[Json], object]

SCRIPT = script(
    {"reasoning": "because", "calls": [{"tool": "bash", "arguments": {"command": "ls"}}]},
    {"text": "done"},
)
KEY = {"Authorization": "Bearer x", "x-api-key": "x", "x-goog-api-key": "x"}


def answer(route: str, change: Change = lambda body: None, headers: Json = KEY) -> tuple[int, Json]:
    """(status, JSON) for the route's good second turn, after a change to it."""
    path, make = BODIES[route]
    body = copy.deepcopy(make())
    if route == "deepseek":
        body["messages"].pop()
    if route in ("groq", "mistral"):
        body["messages"][1].pop("reasoning_content")
    change(body)
    reply = Player(SCRIPT, FaultPlan(), Exchanges(keep=10)).reply(path, headers, json.dumps(body).encode())
    return reply.status, json.loads(reply.body)


@pytest.mark.parametrize("route", BODIES)
def test_a_good_request_is_played(route: str) -> None:
    """The bodies that the rules below are broken on are themselves accepted."""
    status, body = answer(route)
    assert status == 200, body
    assert "done" in json.dumps(body)


def without(*path: str | int) -> Change:
    """Take out what is at the path."""

    def change(body: Any) -> None:
        for key in path[:-1]:
            body = body[key]
        del body[path[-1]]

    return change


def put(value: Any, *path: str | int) -> Change:
    """Put a value at the path."""

    def change(body: Any) -> None:
        for key in path[:-1]:
            body = body[key]
        body[path[-1]] = value

    return change


def add(value: Any, *path: str | int) -> Change:
    """Append a value to the list at the path."""

    def change(body: Any) -> None:
        for key in path:
            body = body[key]
        body.append(value)

    return change


def long_id(body: Any) -> None:
    """An id that another service made."""
    body["messages"][1]["tool_calls"][0]["id"] = body["messages"][2]["tool_call_id"] = "x" * 41


IMAGE = {"type": "image_url", "image_url": {"url": FRAME}}
CLAUDE_IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": DATA}}
LARGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": picture("red", (2001, 1), "PNG").split(",")[1]},
}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_9", "content": "x"}
BEDROCK_IMAGE = {"image": {"format": "jpeg", "source": {"bytes": DATA}}}
MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
CALL_2 = {"id": "call_2", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
CUT = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"comm'}}

# fmt: off
RULES: list[tuple[str, str, Change, str]] = [
    ("openai", "picture in a tool message", add(IMAGE, "messages", 2, "content"), "only allowed for messages with role 'user'"),
    ("vllm", "picture in a tool message", add(IMAGE, "messages", 2, "content"), "only allowed for messages with role 'user'"),
    ("cohere", "picture in a tool message", add(IMAGE, "messages", 2, "content"), "only allowed for messages with role 'user'"),
    ("openai", "call without result", without("messages", 2), "did not have response messages: call_1"),
    ("openai", "one of two calls answered", add(CALL_2, "messages", 1, "tool_calls"), "did not have response messages: call_2"),
    ("openai", "result without call", put("call_9", "messages", 2, "tool_call_id"), "must be a response to a preceeding"),
    ("openai", "long id", long_id, "maximum length 40, but got a string with length 41"),
    ("openai", "nothing said", put({"role": "assistant", "content": None}, "messages", 1), "expected a string, got null"),
    ("openai", "no tools", put([], "tools"), "empty array"),
    ("openai", "unknown role", put("robot", "messages", 0, "role"), "Invalid value: 'robot'"),
    ("openai", "Responses' parts", put([{"type": "input_text", "text": "x"}], "messages", 0, "content"), "Invalid value: 'input_text'"),
    ("openai", "arguments as an object", put({}, "messages", 1, "tool_calls", 0, "function", "arguments"), "expected a string"),
    ("openai", "a picture elsewhere", put("http://127.0.0.1/x.png", "messages", 3, "content", 1, "image_url", "url"), "Failed to download"),
    ("openai", "no picture", put("data:image/png;base64,AA==", "messages", 3, "content", 1, "image_url", "url"), "Could not process image"),
    ("openai", "bad base64", put("data:image/png;base64,A", "messages", 3, "content", 1, "image_url", "url"), "Invalid base64"),
    ("openai", "no messages", without("messages"), "has not the form of this API: KeyError"),
    ("openai", "streaming", put(True, "stream"), "does not stream"),
    ("azure", "too many pictures", lambda body: body["messages"][3]["content"].extend([IMAGE] * 50), "too many images: 51 > 50"),
    ("vllm", "malformed arguments", put([CUT], "messages", 1, "tool_calls"), "not a JSON object"),
    ("groq", "field of another service", put("x", "messages", 1, "reasoning_content"), "property 'reasoning_content' is unsupported"),
    ("mistral", "field of another service", put({}, "messages", 1, "provider_specific_fields"), "is unsupported"),
    ("deepseek", "reasoning lost", without("messages", 1, "reasoning_content"), "Missing `reasoning_content` field"),
    ("deepseek", "picture", add({"role": "user", "content": [IMAGE]}, "messages"), "unknown variant `image_url`"),
    ("cohere", "call without result", without("messages", 2), "no tool results for tool call ids: call_1"),
    ("cohere", "result without call", put("call_9", "messages", 2, "tool_call_id"), "call_9 not found"),
    ("anthropic", "call without result", put([text("x")], "messages", 2, "content"), "`tool_use` ids were found without"),
    ("anthropic", "result behind text", lambda body: body["messages"][2]["content"].insert(0, text("x")), "`tool_use` ids were found without"),
    ("anthropic", "result without call", add(RESULT, "messages", 2, "content"), "unexpected `tool_use_id`"),
    ("anthropic", "the same id twice", add({"type": "tool_use", "id": "toolu_1", "name": "b", "input": {}}, "messages", 1, "content"), "ids must be unique"),
    ("anthropic", "bad id", put("call.1", "messages", 1, "content", 1, "id"), "should match pattern|String should match"),
    ("anthropic", "arguments as text", put("{}", "messages", 1, "content", 1, "input"), "Input should be a valid dictionary"),
    ("anthropic", "empty text", add(text(""), "messages", 2, "content"), "must be non-empty"),
    ("anthropic", "blank text", add(text(" \n"), "messages", 2, "content"), "must contain non-whitespace text"),
    ("anthropic", "empty message", put([], "messages", 0, "content"), "must have non-empty content"),
    ("anthropic", "first the assistant", without("messages", 0), "first message must use"),
    ("anthropic", "changed thinking", put("why not", "messages", 1, "content", 0, "thinking"), "Invalid `signature`"),
    ("anthropic", "lost thinking", without("messages", 1, "content", 0), "Expected `thinking` or `redacted_thinking`, but found `tool_use`"),
    ("anthropic", "other thinking", put({"type": "thinking", "thinking": "x", "signature": seal("x")}, "messages", 1, "content", 0), "cannot be modified"),
    ("anthropic", "five cache marks", lambda body: body["messages"][0]["content"].extend([MARKED] * 5), "maximum of 4 blocks"),
    ("anthropic", "101 pictures", lambda body: body["messages"][2]["content"].extend([CLAUDE_IMAGE] * 100), "too many images: 101 > 100"),
    ("anthropic", "large among many", lambda body: body["messages"][2]["content"].extend([CLAUDE_IMAGE] * 20 + [LARGE]), "max allowed size for many-image"),
    ("anthropic", "wrong media type", put("image/png", "messages", 2, "content", 0, "content", 0, "source", "media_type"), "appears to be a image/jpeg"),
    ("anthropic", "no max_tokens", without("max_tokens"), "max_tokens: Field required"),
    ("anthropic", "unknown block", add({"type": "input_text"}, "messages", 2, "content"), "Input tag 'input_text'"),
    ("gemini", "signature lost", without("contents", 1, "parts", 0, "thoughtSignature"), "missing a thought_signature"),
    ("gemini", "signature changed", put("AAAA", "contents", 1, "parts", 0, "thoughtSignature"), "Thought signature is not valid"),
    ("gemini", "call without response", without("contents", 2), "followed by a function response turn"),
    ("gemini", "too few responses", add({"functionCall": {"name": "x", "args": {}}}, "contents", 1, "parts"), "number of function response parts"),
    ("gemini", "response without call", without("contents", 1), "immediately after a function call turn"),
    ("gemini", "another name", put("x", "contents", 2, "parts", 0, "functionResponse", "name"), "names of function responses"),
    ("gemini", "call first", without("contents", 0), "immediately after a user turn"),
    ("gemini", "no parts", put([], "contents", 0, "parts"), "parts must not be empty"),
    ("gemini", "response is no object", put("x", "contents", 2, "parts", 0, "functionResponse", "response"), "Invalid value at"),
    ("bedrock", "call without result", put([{"text": "x"}], "messages", 2, "content"), "Expected toolResult blocks at messages.2.content"),
    ("bedrock", "result without call", put("tooluse_9", "messages", 2, "content", 0, "toolResult", "toolUseId"), "exceeds the number of toolUse"),
    ("bedrock", "blank text", put(" ", "messages", 0, "content", 0, "text"), "is blank"),
    ("bedrock", "no tools", without("toolConfig"), "toolConfig field must be defined"),
    ("bedrock", "the same role twice", add({"role": "user", "content": [{"text": "x"}]}, "messages"), "must alternate"),
    ("bedrock", "21 pictures in a message", lambda body: body["messages"][2]["content"].extend([BEDROCK_IMAGE] * 21), "too many images and documents: 21"),
    ("bedrock", "changed thinking", put("x", "messages", 1, "content", 0, "reasoningContent", "reasoningText", "text"), "Invalid `signature`"),
    ("bedrock", "lost thinking", without("messages", 1, "content", 0), "Expected `thinking`"),
    ("bedrock", "arguments as text", put("{}", "messages", 1, "content", 1, "toolUse", "input"), "Provide a json object"),
    ("responses", "call without output", without("input", 3), "No tool output found for function call call_1"),
    ("responses", "output without call", put("call_9", "input", 3, "call_id"), "No tool call found for function call output"),
    ("responses", "reasoning lost", without("input", 1), "without its required 'reasoning' item"),
    ("responses", "reasoning alone", lambda body: body.update(input=body["input"][:2]), "without its required following item"),
    ("responses", "reasoning changed", put("x", "input", 1, "summary", 0, "text"), "could not be verified"),
    ("responses", "reasoning not kept", without("input", 1, "encrypted_content"), "Items are not persisted"),
    ("responses", "chat's parts", put("text", "input", 0, "content", 0, "type"), "Invalid value: 'text'"),
    ("responses", "chat's picture", add({"type": "input_image", "image_url": {"url": FRAME}}, "input", 0, "content"), "expected an image URL"),
    ("responses", "chat's tools", put([{"type": "function", "function": {"name": "bash"}}], "tools"), "Missing required parameter: 'tools\\[0\\].name'"),
    ("responses", "memory", put("resp_1", "previous_response_id"), "Previous response with id 'resp_1' not found"),
    ("ollama", "parts", put([text("x")], "messages", 2, "content"), "cannot unmarshal array into Go struct field"),
    ("ollama", "arguments as text", put("{}", "messages", 1, "tool_calls", 0, "function", "arguments"), "cannot unmarshal string"),
    ("ollama", "streaming", without("stream"), "does not stream"),
]
# fmt: on


@pytest.mark.parametrize(("route", "what", "change", "words"), RULES, ids=[f"{r[0]}: {r[1]}" for r in RULES])
def test_refused(route: str, what: str, change: Change, words: str) -> None:
    """With a status of 400 (Mistral's unknown fields 422) and the service's words."""
    status, body = answer(route, change)
    assert status == (422 if route == "mistral" else 400), body
    assert re.search(words, json.dumps(body).encode().decode("unicode_escape")), body


def test_gemini_accepts_what_google_lets_clients_send() -> None:
    """A lost signature may be replaced by a constant, and Gemini 2.5 needs none."""
    skip = base64.b64encode(b"skip_thought_signature_validator").decode()
    assert answer("gemini", put(skip, "contents", 1, "parts", 0, "thoughtSignature"))[0] == 200


@pytest.mark.parametrize(
    ("route", "status", "shape"),
    [
        ("openai", 401, {"error": {"type": "invalid_request_error", "code": "invalid_api_key"}}),
        ("vllm", 200, {}),
        ("mistral", 401, {"object": "error"}),
        ("anthropic", 401, {"type": "error", "error": {"type": "authentication_error"}}),
        ("gemini", 401, {"error": {"code": 401, "status": "UNAUTHENTICATED"}}),
        ("bedrock", 403, {"message": "Missing Authentication Token"}),
        ("ollama", 200, {}),
        ("cohere", 401, {"message": "invalid api token"}),
    ],
)
def test_without_a_key(route: str, status: int, shape: Json) -> None:
    """Refused in the service's shape; servers of one's own ask for none."""
    got, body = answer(route, headers={})
    assert got == status
    for key, value in shape.items():
        assert {**body[key], **value} == body[key] if isinstance(value, dict) else body[key] == value
