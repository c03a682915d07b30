"""`openai`: chat fine-tuning rows: arguments as strings, pictures as data URLs in user messages, at most ten of them.

The format takes pictures in user messages alone: the frames of a tool's answer follow it in one. Also for Azure,
Together and Fireworks. A conversation with more pictures keeps its last ten; where one is left out, the text says so.
"""

import base64
from pathlib import Path
from typing import Any

from recorder.export.canonical import trained_turns
from recorder.export.conversation import Call, Turn
from recorder.export.formats import JsonLines, Options, Outcome
from recorder.export.sample import Sample
from recorder.plain_files import read_plain
from recorder.records import ImagePart, TextPart

MAX_IMAGES = 10
LEFT_OUT = "[picture left out: a row takes 10]\n"
_FRAMES = "The pictures of the answer above:\n"


class OpenAi:
    """`formats/openai/train.jsonl`."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("openai")
        self._file = JsonLines(root, "formats/openai/train.jsonl", self.outcome)

    def add(self, sample: Sample) -> None:
        """Raises RefusedRow where the model never answered."""
        turns = trained_turns(sample)
        n_images = sum(len(turn.images) for turn in turns)
        rows = _Messages(sample, n_to_leave_out=max(0, n_images - MAX_IMAGES))
        for turn in turns:
            rows.add(turn)
        self._file.write({"messages": rows.finish(), "tools": sample.tools, "parallel_tool_calls": True})

    def close(self) -> None:
        """Nothing is open."""


class _Messages:
    """Messages so far; pictures of tools' answers wait until the last of a reply's answers is there."""

    def __init__(self, sample: Sample, n_to_leave_out: int) -> None:
        self._sample, self._n_to_leave_out = sample, n_to_leave_out
        self._messages: list[dict[str, Any]] = []
        self._waiting: list[dict[str, Any]] = []

    def add(self, turn: Turn) -> None:
        if turn.role != "tool":
            self._flush()
        if turn.role == "assistant":
            self._messages.append(_reply(turn))
        elif turn.role == "tool":
            self._messages.append({"role": "tool", "tool_call_id": turn.call_id, "content": self._text(turn)})
        else:
            self._messages.append({"role": turn.role, "content": self._text(turn)})

    def finish(self) -> list[dict[str, Any]]:
        self._flush()
        return self._messages

    def _text(self, turn: Turn) -> str:
        """The text; each picture goes, behind its caption, into the message that follows."""
        said, caption = [], ""
        for part in turn.parts:
            if isinstance(part, TextPart):
                caption = part.text
                said.append(part.text)
            elif self._n_to_leave_out:
                self._n_to_leave_out -= 1
                said.append(LEFT_OUT)
            else:
                self._waiting += [{"type": "text", "text": caption}, self._picture(part)]
        return "".join(said)

    def _picture(self, part: ImagePart) -> dict[str, Any]:
        data = base64.b64encode(read_plain(self._sample.root, part.path)).decode()
        return {"type": "image_url", "image_url": {"url": f"data:{part.media_type};base64,{data}"}}

    def _flush(self) -> None:
        if self._waiting:
            self._messages.append({"role": "user", "content": [{"type": "text", "text": _FRAMES}, *self._waiting]})
            self._waiting = []


def _reply(turn: Turn) -> dict[str, Any]:
    """Reasoning has no place in the format: it is left out."""
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    return message | ({"tool_calls": [call_object(call) for call in turn.calls]} if turn.calls else {})


def call_object(call: Call) -> dict[str, Any]:
    """A call as the chat API has it."""
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.raw}}
