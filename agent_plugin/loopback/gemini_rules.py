"""What Gemini refuses. Gemini 3 wants its thought signatures back (5ire#405); and one response a call."""

import base64
import json
from collections import Counter
from collections.abc import Mapping

from agent_plugin.loopback.answer import seal
from agent_plugin.loopback.refused import invalid
from agent_plugin.loopback.request import Message, Request

_SKIP = base64.b64encode(b"skip_thought_signature_validator").decode()
"""What Google lets a client send for a call that no Gemini made; litellm does so where a signature is lost."""


def call_seal(name: str, arguments: Mapping[str, object]) -> str:
    """The thoughtSignature on a function call."""
    return seal(name, json.dumps(arguments, sort_keys=True))


def check_contents(request: Request) -> None:
    """Raises Refused for the first rule that is broken."""
    messages = [message for message in request.messages if message.role != "system"]
    if not messages:
        raise invalid("* GenerateContentRequest.contents: contents is not specified")
    if messages[-1].role == "assistant" and messages[-1].calls:
        raise invalid("Please ensure that function call turn is followed by a function response turn.")
    for number, message in enumerate(messages):
        before = messages[number - 1] if number else None
        _check_responses(message, before)
        if message.calls:
            if before is None or before.role == "assistant":
                raise invalid(
                    "Please ensure that function call turn comes immediately after a user turn or after a function "
                    "response turn."
                )
            _check_signature(message, number, is_wanted="gemini-3" in request.model)


def _check_responses(message: Message, before: Message | None) -> None:
    asked = Counter(call.name for call in before.calls) if before else Counter[str]()
    answered = Counter(result.call_id for result in message.results)
    if asked.total() != answered.total():
        if not asked:
            raise invalid("Please ensure that function response turn comes immediately after a function call turn.")
        raise invalid(
            "Please ensure that the number of function response parts is equal to the number of function call parts of "
            "the function call turn."
        )
    names = asked if before is None else Counter(call.id for call in before.calls)
    if answered not in (asked, names):
        raise invalid("Please ensure that the names of function responses match those of the function calls.")


def _check_signature(message: Message, number: int, *, is_wanted: bool) -> None:
    first = message.calls[0]
    if not first.signature and is_wanted:
        raise invalid(
            "Function call is missing a thought_signature in functionCall parts. This is required for tools to work "
            "correctly, and missing thought_signature may lead to degraded model performance. Additional data, "
            f"function call `default_api:{first.name}` , position {number + 1}."
        )
    for call in message.calls:
        if call.signature and call.signature not in (_SKIP, call_seal(call.name, json.loads(call.arguments))):
            raise invalid("Thought signature is not valid.")
