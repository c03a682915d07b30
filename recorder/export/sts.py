"""`sts`: one session file a sample for the trace viewer of the Hugging Face Hub (STS format). Text alone.

Its own folder, in no config of the card: `datasets` 5 takes such files for traces and wants another package for them.
"""

from datetime import datetime
from pathlib import Path
from typing import Any

from recorder.export.canonical import text_of
from recorder.export.conversation import Turn
from recorder.export.formats import JsonLines, Options, Outcome
from recorder.export.sample import Sample


class Sts:
    """`formats/sts/<sample>.jsonl`."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("sts")
        self._root = root

    def add(self, sample: Sample) -> None:
        """The whole conversation, also what follows the last reply."""
        file = JsonLines(self._root, f"formats/sts/{sample.name}.jsonl", self.outcome)
        file.write({"type": "session", "harness": "blendscribe", "id": sample.name, "name": sample.header.task_id})
        for turn in sample.turns:
            file.write({"type": "message", "message": _message(turn)})

    def close(self) -> None:
        """Nothing is open."""


def _message(turn: Turn) -> dict[str, Any]:
    message: dict[str, Any] = {"role": turn.role, "content": text_of(turn)}
    if turn.role == "tool":
        message["toolCallId"] = turn.call_id
    if turn.role != "assistant" or not turn.step:
        return message
    if turn.reasoning:
        message["reasoningContent"] = turn.reasoning
    if turn.calls:
        calls = [{"id": call.id, "function": {"name": call.name, "arguments": call.raw}} for call in turn.calls]
        message["toolCalls"] = calls
    if milliseconds := _milliseconds(turn.step.started_at):
        message["timestamp"] = milliseconds
    return message | {"model": turn.step.response_model or ""}


def _milliseconds(text: str) -> int | None:
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError:
        return None
