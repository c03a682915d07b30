"""`vlm-flat`: calls, reasoning and tools as text, pictures in user turns: for collators that know role and content.

TRL's and Unsloth's vision collators hand no tools to the chat template, axolotl's drops every key but role and content.
"""

import json
from pathlib import Path
from typing import Any

from recorder.export.canonical import trained_turns
from recorder.export.conversation import Call, Turn
from recorder.export.forging import RefusedRow, defused
from recorder.export.formats import JsonLines, Options, Outcome
from recorder.export.sample import Sample
from recorder.records import ImagePart

_TOOLS = """

# Tools

You may call functions. Their signatures:
<tools>
{signatures}
</tools>

For each call give a JSON object with the function's name and arguments within tags:
<tool_call>
{{"name": "…", "arguments": {{…}}}}
</tool_call>"""


class VlmFlat:
    """`formats/vlm-flat/train.jsonl`: rows with pictures; `images` as a column, or their paths in the messages."""

    def __init__(self, root: Path, options: Options) -> None:
        self.outcome = Outcome("vlm-flat")
        self._has_column = options.images_column
        self._file = JsonLines(root, "formats/vlm-flat/train.jsonl", self.outcome)

    def add(self, sample: Sample) -> None:
        """Raises RefusedRow for a conversation without pictures, and for one that holds structure."""
        turns = trained_turns(sample)
        images = [sample.image_path(image.path) for turn in turns for image in turn.images]
        if not images:
            raise RefusedRow("it has no picture: the text files hold it")
        messages = [self._message(sample, turn) for turn in defused(turns, self.outcome.escaped)]
        row: dict[str, Any] = {"id": sample.name, "messages": _joined(messages)}
        if self._has_column:
            row["images"] = images
        row |= {"task_id": sample.header.task_id, "model_id": sample.header.model, "reward": sample.reward}
        self._file.write(row | {"label": sample.label, "license": sample.license})

    def close(self) -> None:
        """Nothing is open."""

    def _message(self, sample: Sample, turn: Turn) -> dict[str, Any]:
        if turn.role == "assistant":
            return {"role": "assistant", "content": [{"type": "text", "text": reply_text(turn)}]}
        content = [self._part(sample, part) for part in turn.parts]
        if turn.role == "tool":
            content = [{"type": "text", "text": "<tool_response>\n"}, *content]
            return {"role": "user", "content": [*content, {"type": "text", "text": "\n</tool_response>"}]}
        if turn.role == "system":
            content = [*content, {"type": "text", "text": tools_text(sample.tools)}]
        return {"role": turn.role, "content": content}

    def _part(self, sample: Sample, part: Any) -> dict[str, Any]:
        if not isinstance(part, ImagePart):
            return {"type": "text", "text": part.text}
        return {"type": "image"} | ({} if self._has_column else {"path": sample.image_path(part.path)})


def tools_text(tools: list[dict[str, Any]]) -> str:
    """The tools as Qwen's and Hermes' templates write them into the system text."""
    return _TOOLS.format(signatures="\n".join(json.dumps(tool, ensure_ascii=False) for tool in tools))


def reply_text(turn: Turn) -> str:
    """Reasoning, text and calls of a reply as one text. Raises RefusedRow for a call that is no JSON object."""
    parts = [f"<think>\n{turn.reasoning}\n</think>\n"] if turn.reasoning else []
    parts += [turn.text] if turn.text else []
    return "\n".join([*parts, *(f"<tool_call>\n{call_json(call)}\n</tool_call>" for call in turn.calls)])


def call_json(call: Call) -> str:
    """`{"name": …, "arguments": {…}}`."""
    arguments = call.arguments
    if arguments is None:
        raise RefusedRow(f"the arguments of the call '{call.id}' are no JSON object")
    return json.dumps({"name": call.name, "arguments": arguments}, ensure_ascii=False)


def _joined(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Neighbours of one role as one message (the answers to parallel calls), and neighbouring texts as one part."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        if joined and joined[-1]["role"] == message["role"] == "user":
            joined[-1]["content"] += [{"type": "text", "text": "\n"}, *message["content"]]
        else:
            joined.append({"role": message["role"], "content": list(message["content"])})
    return [message | {"content": _merged(message["content"])} for message in joined]


def _merged(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    merged: list[dict[str, Any]] = []
    for part in parts:
        if merged and part["type"] == merged[-1]["type"] == "text":
            merged[-1] = {"type": "text", "text": merged[-1]["text"] + part["text"]}
        else:
            merged.append(part)
    return merged
