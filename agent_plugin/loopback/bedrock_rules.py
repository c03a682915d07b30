"""What Bedrock's Converse refuses, in its own words as far as public issues quote them."""

from itertools import pairwise

from agent_plugin.loopback.answer import seal
from agent_plugin.loopback.anthropic_rules import check_thinking_kept
from agent_plugin.loopback.pairing import mismatch
from agent_plugin.loopback.refused import invalid
from agent_plugin.loopback.request import Message, Reasoning, Request, Text
from agent_plugin.loopback.wire import Json
from agent_plugin.scripted_file import ScriptedTurn


def check_converse(request: Request, body: Json, played: tuple[ScriptedTurn | None, ...]) -> None:
    """Raises Refused for the first rule that is broken."""
    shift = len(request.messages) - len(body["messages"])
    messages = request.messages[shift:]
    _check_turns(messages)
    for number, message in enumerate(messages):
        _check_blocks(message, number)
    uses_tools = any(message.calls or message.results for message in messages)
    if uses_tools and not body.get("toolConfig"):
        raise invalid("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
    fault = mismatch(request)
    if fault and fault.kind == "unexpected":
        raise invalid(
            f"The number of toolResult blocks at messages.{fault.message - shift}.content exceeds the number of "
            "toolUse blocks of previous turn."
        )
    if fault:
        raise invalid(
            f"Expected toolResult blocks at messages.{fault.message - shift + 1}.content for the following Ids: "
            f"{', '.join(fault.call_ids)}"
        )
    if "claude" in request.model:
        check_thinking_kept(request, played)


def _check_turns(messages: tuple[Message, ...]) -> None:
    if not messages or messages[0].role != "user":
        raise invalid("A conversation must start with a user message.")
    for number, (before, message) in enumerate(pairwise(messages), start=1):
        if before.role == message.role:
            raise invalid(f"A conversation must alternate between user and assistant roles: messages.{number}.")


def _check_blocks(message: Message, number: int) -> None:
    if not message.parts:
        raise invalid(f"The content field in the Message object at messages.{number} is empty.")
    for container in message.containers():
        for position, part in enumerate(container):
            where = f"messages.{number}.content.{position}"
            if isinstance(part, Text) and not part.text.strip():
                raise invalid(
                    f"The text field in the ContentBlock object at {where} is blank. Add text to the text field, and "
                    "try again."
                )
            if isinstance(part, Reasoning) and part.seal != seal(part.text):
                raise invalid(
                    f"The model returned the following errors: {where}: Invalid `signature` in `thinking` block"
                )
