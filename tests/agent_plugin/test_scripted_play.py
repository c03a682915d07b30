"""Which turn of a script answers a request: the same for the litellm provider and the loopback server."""

import pytest

from agent_plugin.scripted_file import ScriptedCall, ScriptedFile
from agent_plugin.scripted_play import Asked, OffScript, about_tokens, arguments_of, next_turn

SCRIPT = ScriptedFile.model_validate(
    {
        "model": "x",
        "conversations": [
            {"when": "ball", "turns": [{"text": "one"}, {"text": "two", "expect": ["OK"], "expect_images": 1}]},
            {"when": "cube", "turns": [{"text": "cube"}]},
        ],
    }
)


def asked(brief: str = "a ball", n_replies: int = 0, answer: str = "", n_images: int = 0) -> Asked:
    return Asked(brief, n_replies, answer, n_images)


def test_the_number_of_replies_is_the_turn() -> None:
    """And the brief chooses the conversation."""
    assert next_turn(SCRIPT, asked()).text == "one"
    assert next_turn(SCRIPT, asked(n_replies=1, answer="it is OK", n_images=1)).text == "two"
    assert next_turn(SCRIPT, asked("a cube")).text == "cube"


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (asked("a cone"), "0 conversations fit"),
        (asked("a ball on a cube"), "2 conversations fit"),
        (asked("a cube", 1), "has 1 turns; turn 2 was asked for"),
        (asked(n_replies=1, answer="no"), "turn 2 expected 'OK' in the answer"),
        (asked(n_replies=1, answer="OK"), "turn 2 expected 1 pictures in the answer; there are 0"),
    ],
)
def test_reality_that_differs_stops_the_play(request_: Asked, why: str) -> None:
    """With the reason."""
    with pytest.raises(OffScript, match=why):
        next_turn(SCRIPT, request_)


def test_arguments_are_json_unless_the_script_says_otherwise() -> None:
    """A malformed call can be played."""
    assert arguments_of(ScriptedCall(tool="bash", arguments={"command": "ls"})) == '{"command": "ls"}'
    assert arguments_of(ScriptedCall(tool="bash", raw_arguments="{")) == "{"
    assert arguments_of(ScriptedCall(tool="bash")) == "{}"


def test_tokens_are_never_none() -> None:
    """About four characters each."""
    assert [about_tokens(text) for text in ("", "abcd", "a" * 400)] == [1, 1, 100]
