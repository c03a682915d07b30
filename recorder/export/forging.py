"""Text that chat templates and loaders take for structure: `<image>` counts as a picture, `<|im_end|>` ends a turn.

What a model would *read* (prompts, tools' answers) is escaped by one space after the `<` or `[`, and counted. What it
would *learn to write* (its text, reasoning and calls) is never altered: a row that holds such text there is refused.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from recorder.export.conversation import Turn
from recorder.records import Part, TextPart

MARKS = (
    "image", "video", "audio", "think", "/think", "tool_call", "/tool_call", "tool_response", "/tool_response",
    "tools", "/tools", "function_call", "/function_call", "start_of_turn", "end_of_turn", "start_of_image",
    "start_function_response", "end_function_response", "s", "/s", "bos", "eos", "pad", "unk",
)  # fmt: skip
"""Marks in angle brackets of the chat formats of Qwen, Hermes, Gemma, Llama 2, LLaMA-Factory, verl and NeMo-RL."""
_BAR = r"[|\uff5c]"
"""Also the wide one of DeepSeek's marks."""
_FORGED = re.compile(
    rf"<(?:{'|'.join(map(re.escape, MARKS))})>|<{_BAR}[A-Za-z0-9_.\u2581-]{{1,40}}{_BAR}>|\[/?(?:INST|IMG|TOOL_CALLS)\]"
)


class RefusedRow(Exception):
    """A sample cannot be told in a format without changing what is learned; the text says why."""


@dataclass
class Escaped:
    """What was escaped, by mark."""

    counts: Counter[str] = field(default_factory=Counter)

    def text(self, text: str) -> str:
        """Text that is read, made harmless."""

        def harmless(match: re.Match[str]) -> str:
            self.counts[match[0]] += 1
            return f"{match[0][0]} {match[0][1:]}"

        return _FORGED.sub(harmless, text)

    def part(self, part: Part) -> Part:
        return TextPart(text=self.text(part.text)) if isinstance(part, TextPart) else part


def defused(turns: Sequence[Turn], escaped: Escaped) -> list[Turn]:
    """The turns with what is read escaped. Raises RefusedRow where a reply holds structure."""
    safe = []
    for turn in turns:
        if turn.role == "assistant":
            refuse_written(turn)
            safe.append(turn)
        else:
            parts = tuple(escaped.part(part) for part in turn.parts)
            safe.append(Turn(turn.role, parts, call_id=turn.call_id, tool=turn.tool, step=turn.step))
    return safe


def refuse_written(turn: Turn) -> None:
    """Raises RefusedRow if a reply holds a mark in its text, reasoning or calls."""
    places = {"text": turn.text, "reasoning": turn.reasoning, "call": "\n".join(call.raw for call in turn.calls)}
    for place, text in places.items():
        if found := _FORGED.search(text):
            step = turn.step.step if turn.step else 0
            raise RefusedRow(
                f"the {place} of step {step} holds '{found[0]}', which a chat template takes for structure"
            )


def found_in(text: str) -> str:
    """The first mark in a text, else ''."""
    found = _FORGED.search(text)
    return found[0] if found else ""
