"""An episode's conversation as turns, from which every train format is made. Shortens and rewrites nothing.

A reply that held no usable call stays, as the text it was. An empty one is left out, as it was from the agent's own
history. Reasoning that a model wrote into its text, `<think>…</think>` at its beginning, is told apart from the text.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from recorder.records import Header, ImagePart, Message, Part, Step, TextPart

_THINK = re.compile(r"\s*<think>\n?(.*?)\n?</think>\s*(.*)", re.DOTALL)


@dataclass(frozen=True)
class Call:
    """A tool call as the model wrote it."""

    id: str
    name: str
    raw: str
    """The arguments, a JSON string (or what was meant to be one)."""

    @property
    def arguments(self) -> dict[str, Any] | None:
        """None where they are no JSON object."""
        try:
            value = json.loads(self.raw)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True)
class Turn:
    """One message."""

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[Part, ...]
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    """For a tool's answer: of which call."""
    tool: str = ""
    step: Step | None = None
    """None for the prompts."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def images(self) -> list[ImagePart]:
        return [part for part in self.parts if isinstance(part, ImagePart)]


def conversation(header: Header, steps: Sequence[Step]) -> tuple[Turn, ...]:
    """Prompts, then each reply and what it was answered."""
    turns = [Turn(_prompt_role(prompt), tuple(prompt.content)) for prompt in header.prompts]
    for step in steps:
        reply = _reply(step)
        if reply.parts or reply.calls or reply.reasoning:
            turns.append(reply)
        names = {call.id: call.name for call in reply.calls}
        for message in step.observations:
            call = message.tool_call_id or ""
            turns.append(Turn(message.role, tuple(message.content), call_id=call, tool=names.get(call, ""), step=step))
    return tuple(turns)


def up_to_last_reply(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Without what follows the last reply: trainers want a conversation to end in what is learned."""
    last = max((n for n, turn in enumerate(turns) if turn.role == "assistant"), default=-1)
    return tuple(turns[: last + 1])


def _prompt_role(message: Message) -> Literal["system", "user"]:
    return "system" if message.role == "system" else "user"


def _reply(step: Step) -> Turn:
    reasoning, text = spoken(step.assistant)
    calls = () if step.format_error is not None else tuple(_calls(step.assistant.get("tool_calls")))
    parts = (TextPart(text=text),) if text else ()
    return Turn("assistant", parts, reasoning, calls, step=step)


def spoken(assistant: dict[str, Any]) -> tuple[str, str]:
    """(reasoning, text) of a reply as its provider gave it."""
    reasoning, text = _reasoning(assistant), _content_text(assistant.get("content"))
    if not reasoning and (split := _THINK.fullmatch(text)):
        return split[1], split[2]
    return reasoning, text


def _content_text(content: Any) -> str:
    """A provider's content is a string, nothing, or a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _reasoning(assistant: dict[str, Any]) -> str:
    """The provider's reasoning as text: litellm's field, else its thinking blocks."""
    text = assistant.get("reasoning_content") or assistant.get("reasoning")
    if isinstance(text, str) and text:
        return text
    blocks = assistant.get("thinking_blocks")
    listed = blocks if isinstance(blocks, list) else []
    found = [str(block.get("thinking") or "") for block in listed if isinstance(block, dict)]
    return "\n".join(part for part in found if part)


def _calls(raw: Any) -> list[Call]:
    found = []
    for call in raw if isinstance(raw, list) else []:
        if not isinstance(call, dict):
            continue
        function = call.get("function")
        function = function if isinstance(function, dict) else {}
        found.append(Call(str(call.get("id") or ""), str(function.get("name") or ""), _as_text(function)))
    return found


def _as_text(function: dict[str, Any]) -> str:
    arguments = function.get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
