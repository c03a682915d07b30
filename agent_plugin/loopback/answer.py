"""A reply before it is worded in a wire format: text, sealed reasoning, calls, usage. One request, one answer."""

import base64
import hashlib
import hmac
import json
from dataclasses import dataclass, replace
from typing import Literal

from agent_plugin.loopback.request import Call, Image, Reasoning, Request, Text
from agent_plugin.scripted_file import ScriptedTurn
from agent_plugin.scripted_play import about_tokens, arguments_of

Finish = Literal["stop", "tool_calls", "length", "content_filter"]

_TOKENS_AN_IMAGE = 258
REFUSAL = "I cannot help with that."


@dataclass(frozen=True)
class Usage:
    """Tokens, about four characters each."""

    prompt: int
    """All that was sent, cached ones included."""
    cached: int
    """Of these: what the request before this one held as well."""
    completion: int
    """All that was replied, reasoning included."""
    reasoning: int

    @property
    def cost(self) -> float:
        """Made-up US dollars: one a million tokens sent, four a million replied."""
        return round(1e-6 * self.prompt + 4e-6 * self.completion, 9)


@dataclass(frozen=True)
class AnswerCall:
    """A tool call of a reply."""

    turn: int
    position: int
    """Both counted from 1."""
    name: str
    arguments: str
    """JSON text; may be malformed, where the script or a fault says so."""

    def arguments_object(self) -> dict[str, object]:
        """For formats that cannot carry malformed arguments: what is left of them is an empty object."""
        try:
            parsed = json.loads(self.arguments)
        except (ValueError, RecursionError):
            return {}
        return parsed if isinstance(parsed, dict) else {}


@dataclass(frozen=True)
class Answer:
    """One reply."""

    key: str
    """16 hex digits, the same for the same conversation and turn; ids are made from it."""
    text: str
    reasoning: str
    calls: tuple[AnswerCall, ...]
    finish: Finish
    usage: Usage

    def call_id(self, call: AnswerCall, pattern: str) -> str:
        """An id for a call; `pattern` names `{key}` (6 hex digits), `{turn}` and `{position}`."""
        return pattern.format(key=self.key[:6], turn=call.turn, position=call.position)

    @property
    def whole_calls(self) -> tuple[AnswerCall, ...]:
        """For services that parse calls themselves and drop one that the output limit cut (Gemini, Ollama)."""
        return self.calls[:-1] if self.finish == "length" else self.calls

    def cut_short(self) -> "Answer":
        """As if the output limit had come in the middle of the last call (or of the text)."""
        if not self.calls:
            return replace(self, text=self.text[: len(self.text) // 2], finish="length")
        last = self.calls[-1]
        cut = replace(last, arguments=last.arguments[: max(1, len(last.arguments) // 2)])
        return replace(self, calls=(*self.calls[:-1], cut), finish="length")

    def emptied(self) -> "Answer":
        """Nothing at all, as providers sometimes answer."""
        return replace(self, text="", reasoning="", calls=(), finish="stop")

    def declined(self) -> "Answer":
        """The model declines; each format has its own way to say so."""
        return replace(self, text=REFUSAL, reasoning="", calls=(), finish="content_filter")


def answer_for(turn: ScriptedTurn, number: int, request: Request, conversation: str) -> Answer:
    """The reply that plays `turn`, the `number`-th (from 1) of the conversation."""
    calls = tuple(
        AnswerCall(number, position, call.tool, arguments_of(call)) for position, call in enumerate(turn.calls, start=1)
    )
    finish = turn.finish_reason or ("tool_calls" if calls else "stop")
    reasoning = about_tokens(turn.reasoning) if turn.reasoning else 0
    said = about_tokens(turn.text + "".join(call.arguments for call in calls))
    return Answer(
        key=hashlib.sha256(f"{conversation}\0{number}".encode()).hexdigest()[:16],
        text=turn.text,
        reasoning=turn.reasoning,
        calls=calls,
        finish=finish,  # type: ignore[arg-type]  # the script's own words; a format refuses those it does not know
        usage=_usage(request, said + reasoning, reasoning),
    )


def seal(*parts: str) -> str:
    """A signature over what was said, as providers put on thoughts: whoever changes a letter breaks it."""
    digest = hmac.new(b"loopback", "\0".join(parts).encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def _usage(request: Request, completion: int, reasoning: int) -> Usage:
    tokens = [_tokens_of(request, number) for number in range(len(request.messages))]
    # the request before this one held everything up to the last reply
    n_before = len(request.messages) - len(request.answers) - 1
    return Usage(sum(tokens), sum(tokens[: max(0, n_before)]), completion, reasoning)


def _tokens_of(request: Request, number: int) -> int:
    total = 1
    for container in request.messages[number].containers():
        for part in container:
            if isinstance(part, Text | Reasoning):
                total += len(part.text) // 4
            elif isinstance(part, Call):
                total += len(part.arguments) // 4
            elif isinstance(part, Image):
                total += _TOKENS_AN_IMAGE
    return total
