"""Plays a scripted file: which turn answers a request, and whether what was answered before is what it expects.

Shared by the litellm provider `scripted/<name>` and the loopback server; knows neither. Nothing is remembered: the
turn to play is the number of replies that the request holds.
"""

import json
from dataclasses import dataclass

from agent_plugin.scripted_file import Conversation, ScriptedCall, ScriptedFile, ScriptedTurn


class OffScript(ValueError):
    """The script has nothing to say to this request, or reality differs from what it expects."""


@dataclass(frozen=True)
class Asked:
    """A request, as far as a script looks at it."""

    brief: str
    """Text of the first user message."""
    n_replies: int
    """Turns played so far."""
    answer: str
    """Text of the messages since the last reply."""
    n_images: int
    """Pictures in the messages since the last reply."""


def next_turn(script: ScriptedFile, asked: Asked) -> ScriptedTurn:
    """The turn to play. Raises OffScript when there is none, or when its expectations are not met."""
    turns = find_conversation(script, asked.brief).turns
    number = asked.n_replies + 1
    if number > len(turns):
        raise OffScript(f"the conversation has {len(turns)} turns; turn {number} was asked for")
    turn = turns[number - 1]
    for expected in turn.expect:
        if expected not in asked.answer:
            raise OffScript(f"turn {number} expected {expected!r} in the answer, which is:\n{asked.answer[:3000]}")
    if turn.expect_images is not None and turn.expect_images != asked.n_images:
        raise OffScript(
            f"turn {number} expected {turn.expect_images} pictures in the answer; there are {asked.n_images}"
        )
    return turn


def find_conversation(script: ScriptedFile, brief: str) -> Conversation:
    """The one conversation whose text stands in the brief. Raises OffScript for none or several."""
    fitting = [conversation for conversation in script.conversations if conversation.when in brief]
    if len(fitting) != 1:
        known = ", ".join(repr(conversation.when) for conversation in script.conversations)
        raise OffScript(f"{len(fitting)} conversations fit the task; each answers to a text in it: {known}")
    return fitting[0]


def arguments_of(call: ScriptedCall) -> str:
    """A call's arguments as the JSON text that a provider sends, malformed where the script says so."""
    return call.raw_arguments if call.raw_arguments is not None else json.dumps(call.arguments or {})


def about_tokens(text: str) -> int:
    """About four characters a token: near enough for a model that does not read."""
    return max(1, len(text) // 4)
