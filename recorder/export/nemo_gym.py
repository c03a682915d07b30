"""`nemo-gym`: Responses API items, one row a sample. NeMo Gym's `gym dataset collate` adds the agent's reference.

Pictures follow the answers of a reply in a user message, as data URLs: releases up to 0.4 take text alone as a call's
output. Reasoning becomes a reasoning item with its text as summary.
"""

import base64
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from recorder.export.canonical import trained_turns
from recorder.export.conversation import Turn
from recorder.export.formats import JsonLines, Options, Outcome
from recorder.export.sample import Sample
from recorder.plain_files import read_plain
from recorder.records import ImagePart, Part


class NemoGym:
    """`formats/nemo-gym/train.jsonl`."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("nemo-gym")
        self._file = JsonLines(root, "formats/nemo-gym/train.jsonl", self.outcome)

    def add(self, sample: Sample) -> None:
        """Raises RefusedRow where the model never answered."""
        turns = trained_turns(sample)
        row = {
            "responses_create_params": {
                "input": list(_items(sample, turns)),
                "tools": [_tool(tool) for tool in sample.tools],
            },
            "id": sample.name,
            "task_id": sample.header.task_id,
            "model_id": sample.header.model,
            "reward": sample.reward,
            "label": sample.label,
            "license": sample.license,
        }
        self._file.write(row)

    def close(self) -> None:
        """Nothing is open."""


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    return {
        "type": "function",
        "name": function["name"],
        "description": function.get("description", ""),
        "parameters": function["parameters"],
        "strict": True,
    }


def _items(sample: Sample, turns: Sequence[Turn]) -> Iterator[dict[str, Any]]:
    waiting: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        if turn.role == "tool":
            yield {"type": "function_call_output", "call_id": turn.call_id, "output": turn.text}
            waiting += _pictures(sample, turn)
            continue
        if waiting:
            yield {"type": "message", "role": "user", "content": waiting}
            waiting = []
        if turn.role == "assistant":
            yield from _reply(number, turn)
        else:
            yield {"type": "message", "role": turn.role, "content": _content(sample, turn)}


def _pictures(sample: Sample, turn: Turn) -> list[dict[str, Any]]:
    """Each picture behind its caption."""
    parts: list[dict[str, Any]] = []
    caption: Part | None = None
    for part in turn.parts:
        if isinstance(part, ImagePart):
            parts += [_part(sample, caption)] if caption else []
            parts.append(_part(sample, part))
        caption = None if isinstance(part, ImagePart) else part
    return parts


def _reply(number: int, turn: Turn) -> Iterator[dict[str, Any]]:
    if turn.reasoning:
        summary = [{"type": "summary_text", "text": turn.reasoning}]
        yield {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
    if turn.text:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        yield {"type": "message", "role": "assistant", "id": f"msg_{number}", "status": "completed", "content": content}
    for call in turn.calls:
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.raw}


def _content(sample: Sample, turn: Turn) -> str | list[dict[str, Any]]:
    if not turn.images:
        return turn.text
    return [_part(sample, part) for part in turn.parts]


def _part(sample: Sample, part: Part) -> dict[str, Any]:
    if not isinstance(part, ImagePart):
        return {"type": "input_text", "text": part.text}
    data = base64.b64encode(read_plain(sample.root, part.path)).decode()
    return {"type": "input_image", "image_url": f"data:{part.media_type};base64,{data}", "detail": "auto"}
