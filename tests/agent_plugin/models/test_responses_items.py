"""Chat messages and items of the Responses API say the same."""

from typing import Any

import pytest

from agent_plugin.models.history import OUTPUT, bare
from agent_plugin.models.responses_items import finish_reason, reply_message, to_items, to_tools
from agent_plugin.tools import STEP_TOOL

REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
SAID = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hm", "annotations": []}]}
CALL = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "bash", "arguments": '{"command": "ls"}'}


def answer(*items: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "output": list(items), **more}


def test_an_answer_is_a_chat_message() -> None:
    """With its words and calls where every reader looks, and its items as they came, but for nulls."""
    message = reply_message(answer({**REASONING, "status": None}, SAID, CALL))
    assert message["content"] == "hm"
    assert message["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    ]
    assert message[OUTPUT] == [REASONING, SAID, CALL]


def test_it_goes_back_as_it_came() -> None:
    """Reasoning with its seal, in order, before what it led to."""
    picture = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AA=="}}
    history = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        reply_message(answer(REASONING, SAID, CALL)),
        {"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "Frame 1:\n"}, picture]},
    ]
    assert to_items(bare(history)) == [
        {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "s"}]},
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "u"}]},
        REASONING,
        SAID,
        CALL,
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [
                {"type": "input_text", "text": "Frame 1:\n"},
                {"type": "input_image", "image_url": "data:image/jpeg;base64,AA==", "detail": "auto"},
            ],
        },
    ]


def test_malformed_arguments_are_made_whole_in_both_places() -> None:
    """What the model wrote stays in the history."""
    message = reply_message(answer({**CALL, "arguments": '{"comm'}))
    (sent,) = to_items(bare([message]))
    assert sent["arguments"] == '{"invalid_arguments": "{\\"comm"}'
    assert message[OUTPUT][0]["arguments"] == message["tool_calls"][0]["function"]["arguments"] == '{"comm'


def test_a_reply_of_another_family_is_worded_anew() -> None:
    """An episode that began with chat completions can go on here."""
    chat = {
        "role": "assistant",
        "content": "hm",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}],
    }
    assert to_items([chat]) == [
        {**SAID},
        {"type": "function_call", "call_id": "c1", "name": "bash", "arguments": "{}"},
    ]


@pytest.mark.parametrize(
    ("response", "reason"),
    [
        (answer(), "completed"),
        (answer(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "length"),
        (answer(status="incomplete", incomplete_details={"reason": "content_filter"}), "content_filter"),
        (answer({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]}), "content_filter"),
        (answer(status="incomplete"), "incomplete"),
    ],
)
def test_why_it_ended(response: dict[str, Any], reason: str) -> None:
    """In the words of chat completions where something is wrong."""
    assert finish_reason(response) == reason


def test_tools_are_flat() -> None:
    """And not strict: a bad call is ours to answer."""
    (tool,) = to_tools([STEP_TOOL])
    assert (tool["type"], tool["name"], tool["strict"]) == ("function", "run_blender", False)
    assert tool["parameters"] == STEP_TOOL["function"]["parameters"]
