"""A conversation is the record's, turn by turn; nothing is made up."""

from typing import Any

import pytest

from recorder.export.conversation import conversation, up_to_last_reply
from recorder.records import Header, Message, Step, TextPart
from tests.recorder.test_trajectory import header, step


def reply(number: int = 1, **assistant: Any) -> Step:
    """A step with this reply and one answer."""
    observations = [Message(role="tool", content=[TextPart(text="ok")], tool_call_id="c")]
    return step(number, assistant=assistant, observations=observations)


def call(arguments: str, call_id: str = "c") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "run_blender", "arguments": arguments}}


HEADER: Header = header()


def test_turns_are_in_order_and_answers_know_their_tool() -> None:
    """Prompt, reply, answer."""
    turns = conversation(HEADER, [reply(content="I go.", tool_calls=[call('{"code": "x"}')])])
    assert [turn.role for turn in turns] == ["user", "assistant", "tool"]
    assert (turns[2].call_id, turns[2].tool) == ("c", "run_blender")
    assert turns[1].calls[0].arguments == {"code": "x"}


@pytest.mark.parametrize(
    ("assistant", "reasoning", "text"),
    [
        ({"content": "a", "reasoning_content": "r"}, "r", "a"),
        ({"content": "a", "thinking_blocks": [{"thinking": "r1"}, {"data": "x"}, {"thinking": "r2"}]}, "r1\nr2", "a"),
        ({"content": "<think>\nr\n</think>\n\na"}, "r", "a"),
        ({"content": "<think>x</think> a", "reasoning_content": "r"}, "r", "<think>x</think> a"),
        ({"content": "say <think>x</think>"}, "", "say <think>x</think>"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "", "ab"),
    ],
)
def test_reasoning_is_told_apart(assistant: dict[str, Any], reasoning: str, text: str) -> None:
    """From the provider's field, its blocks, or the tags at the beginning of the text."""
    turn = conversation(HEADER, [reply(**assistant)])[1]
    assert (turn.reasoning, turn.text) == (reasoning, text)


def test_a_reply_without_a_usable_call_is_its_text() -> None:
    """What it called is no call, since it was not answered as one; an empty reply is none."""
    broken = reply(content="I try.", tool_calls=[call("{")]).model_copy(update={"format_error": "no call"})
    assert conversation(HEADER, [broken])[1].calls == ()
    empty = reply(content=None).model_copy(update={"format_error": "no call"})
    assert [turn.role for turn in conversation(HEADER, [empty])] == ["user", "tool"]


@pytest.mark.parametrize("raw", ["{", "[1]", '"x"', ""])
def test_malformed_arguments_stay_as_they_were(raw: str) -> None:
    """They are no object."""
    found = conversation(HEADER, [reply(content="", tool_calls=[call(raw)])])[1].calls[0]
    assert (found.raw, found.arguments) == (raw, None)


def test_a_trained_conversation_ends_in_a_reply() -> None:
    """What follows the last one is left out."""
    turns = conversation(HEADER, [reply(content="a"), reply(2, content="b")])
    assert [turn.role for turn in up_to_last_reply(turns)] == ["user", "assistant", "tool", "assistant"]
    assert up_to_last_reply(turns[:1]) == ()
