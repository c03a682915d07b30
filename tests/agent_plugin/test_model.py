"""What is sent to a provider, and what is made of its replies."""

import json
from typing import Any

import pytest
from minisweagent.exceptions import FormatError
from minisweagent.models import get_model
from pydantic import ValidationError

from agent_plugin.model import CUT_OFF, NO_CALL, BlenderLitellmModel
from tests.agent_plugin.conftest import CALLS_LITELLM, ScriptModel, bash

pytestmark = CALLS_LITELLM

CLASS = "agent_plugin.model.BlenderLitellmModel"
TEXT = {"type": "text", "text": "caption\n"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AA=="}}
MARK = {"cache_control": {"type": "ephemeral"}}


def history(arguments: str = "{}") -> list[dict[str, Any]]:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    return [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u", "extra": {"x": 1}},
        {"role": "assistant", "content": None, "tool_calls": [call], "extra": {}},
        {"role": "tool", "tool_call_id": "c", "content": [TEXT, IMAGE, TEXT, IMAGE], "extra": {}},
    ]


def prepared(name: str, messages: list[dict[str, Any]], **settings: Any) -> list[dict[str, Any]]:
    """What a model of this name would send, got from mini-swe-agent as its own command does."""
    model = get_model(name, {"model_class": CLASS, **settings})
    assert isinstance(model, BlenderLitellmModel)
    return model._prepare_messages_for_api(messages)


def test_a_cache_mark_does_not_mind_several_parts() -> None:
    """mini-swe-agent sets the mark for every Claude, and its own way of doing so fails on caption and picture."""
    sent = prepared("anthropic/claude-x", history())
    assert sent[-1] == {"role": "tool", "tool_call_id": "c", "content": [TEXT, IMAGE, TEXT, IMAGE], **MARK}
    assert [n for n, message in enumerate(sent) if "cache_control" in json.dumps(message)] == [1, 3]


def test_a_cache_mark_on_a_followup_message() -> None:
    """Where pictures go into a user message, its last part is marked."""
    sent = prepared("openrouter/anthropic/claude-x", history())
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool", "user"]
    assert sent[-1]["content"][-1] == IMAGE | MARK
    assert "cache_control" not in json.dumps(sent[-1]["content"][:-1])


def test_a_cache_mark_can_be_switched_off() -> None:
    """By null."""
    assert "cache_control" not in json.dumps(prepared("anthropic/claude-x", history(), set_cache_control=None))


def test_other_models_get_no_mark() -> None:
    """And nothing of what is only for us is sent."""
    sent = prepared("openai/gpt-x", history())
    assert "cache_control" not in json.dumps(sent)
    assert not any("extra" in message for message in sent)


@pytest.mark.parametrize(
    ("raw", "sent"),
    [
        ('{"command": "ls"}', {"command": "ls"}),
        ("", {}),
        ('{"command": "l', {"invalid_arguments": '{"command": "l'}),
        ("[1]", {"invalid_arguments": "[1]"}),
        ("x" * 9000, {"invalid_arguments": "x" * 2000}),
    ],
)
def test_arguments_are_sent_as_an_object(raw: str, sent: dict[str, str]) -> None:
    """Several routes fail on any other, for good, since the history is sent again; the history itself stays."""
    messages = history(raw)
    arguments = prepared("openai/gpt-x", messages)[2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == sent
    assert messages[2]["tool_calls"][0]["function"]["arguments"] == raw


def test_an_exit_message_is_not_sent() -> None:
    """It is mini-swe-agent's own."""
    messages = [*history(), {"role": "exit", "content": "x"}]
    assert [m["role"] for m in prepared("anthropic/x", messages)] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("name", "placement", "n_messages", "n_images"),
    [("anthropic/x", "native", 4, 2), ("openai/x", "followup", 5, 2), ("deepseek/x", "drop", 4, 0)],
)
def test_what_was_sent_is_counted(name: str, placement: str, n_messages: int, n_images: int) -> None:
    """On the request as it is, beside what the history holds."""
    model = get_model(name, {"model_class": CLASS})
    assert isinstance(model, BlenderLitellmModel)
    model._prepare_messages_for_api(history())
    request = model.last_request
    assert (request["image_placement"], request["n_messages"], request["n_images"]) == (placement, n_messages, n_images)
    assert request["n_images_in_history"] == 2


def test_a_key_in_the_config_is_not_told() -> None:
    """Neither in the record of a request, nor in mini-swe-agent's own file, nor to a prompt."""
    kwargs = {"api_key": "short-key-77", "extra_headers": {"Authorization": "short-key-77"}, "temperature": 0.5}
    model = get_model("openai/gpt-x", {"model_class": CLASS, "model_kwargs": kwargs})
    assert isinstance(model, BlenderLitellmModel)
    model._prepare_messages_for_api(history())
    told = json.dumps([model.last_request, model.serialize(), model.get_template_vars()], default=str)
    assert "short-key-77" not in told
    assert model.last_request["parameters"]["temperature"] == 0.5
    assert model.config.model_kwargs == kwargs


def test_a_reply_becomes_actions(script_model: ScriptModel) -> None:
    """With the request and its cost beside it."""
    model = BlenderLitellmModel(model_name=script_model({"text": "t", "calls": [bash("ls")]}))
    message = model.query([{"role": "user", "content": "u"}])
    extra = message["extra"]
    assert [(a["tool"], a["command"], a["tool_call_id"]) for a in extra["actions"]] == [("bash", "ls", "call_1_1")]
    assert (extra["cost"], extra["cost_is_known"], extra["cost_source"]) == (0.0, True, "prices")
    assert extra["request"]["n_messages"] == 1
    assert extra["seconds"] > 0


@pytest.mark.parametrize(("finish", "text"), [("stop", NO_CALL["video"]), ("length", CUT_OFF)])
def test_a_reply_without_a_call(script_model: ScriptModel, finish: str, text: str) -> None:
    """It is a format error that says what to send, and carries the reply, its cost and the request."""
    model = BlenderLitellmModel(model_name=script_model({"text": "just words", "finish_reason": finish}))
    with pytest.raises(FormatError) as caught:
        model.query([{"role": "user", "content": "u"}])
    (message,) = caught.value.messages
    assert (message["role"], message["content"]) == ("user", text)
    assert message["extra"]["response"]["choices"][0]["message"]["content"] == "just words"
    assert message["extra"]["cost_is_known"] is True
    assert message["extra"]["request"]["n_messages"] == 1


def test_a_price_that_is_not_known_is_not_nothing() -> None:
    """The episode goes on, and the record says that the cost is unknown."""
    model = BlenderLitellmModel(model_name="openai/nobody-knows", model_kwargs={"mock_response": "words"})
    with pytest.raises(FormatError) as caught:
        model.query([{"role": "user", "content": "u"}])
    extra = caught.value.messages[0]["extra"]
    assert (extra["cost"], extra["cost_is_known"]) == (0.0, False)


def test_unknown_settings_are_refused() -> None:
    """mini-swe-agent would drop a misspelt key without a word."""
    with pytest.raises(ValidationError, match="image_placment"):
        BlenderLitellmModel(model_name="openai/x", image_placment="drop")
