"""Rows of the train files, as models. A row has always the same keys and no null; what is absent is left out.

Two forms of tool calls, never in one file: `object` where each row holds the scene tool alone (`run_blender(code)`),
else `json`, where `arguments` and `tools` are JSON strings, because a loader that makes one struct of all calls
(`datasets` before 4.7) would put a null for each argument of the other tool into the calls.
"""

from typing import Any, Literal

from recorder.records import SCHEMA_VERSION, Record


class CodeArguments(Record):
    """The one argument of the scene tool."""

    code: str


class RowFunction(Record):
    """A call's name and arguments."""

    name: str
    arguments: CodeArguments | str


class RowCall(Record):
    """A tool call."""

    id: str
    type: Literal["function"] = "function"
    function: RowFunction


class RowText(Record):
    """Text of a multimodal row."""

    type: Literal["text"] = "text"
    text: str


class RowImage(Record):
    """A picture of a multimodal row."""

    type: Literal["image"] = "image"
    path: str
    """Relative to the data set: `samples/<name>/images/<sha256>.jpg`."""


Content = str | list[RowText | RowImage]


class PromptMessage(Record):
    """What the model was told."""

    role: Literal["system", "user"]
    content: Content


class ToolMessage(Record):
    """The answer to a call."""

    role: Literal["tool"] = "tool"
    tool_call_id: str
    name: str
    content: Content


class AssistantMessage(Record):
    """What the model said; `tool_calls` is left out where there is none."""

    role: Literal["assistant"] = "assistant"
    content: Content
    reasoning_content: str
    """'' where there was none."""
    tool_calls: list[RowCall] | None = None


class TrajectoryRow(Record):
    """`train/agentic_trajectories*.jsonl`: one sample, turn by turn. The last message is the assistant's."""

    schema_version: int = SCHEMA_VERSION
    id: str
    messages: list[PromptMessage | AssistantMessage | ToolMessage]
    tools: list[dict[str, Any]] | str
    task_id: str
    model_id: str
    reward: float
    success: bool
    label: str
    n_steps: int
    n_images: int
    license: str
    metadata: str
    """A JSON object: task kind and hash, trajectory hash, score of the declared checks, versions, parameters, cost."""


class PlainMessage(Record):
    """A message of a single-turn row."""

    role: Literal["system", "user", "assistant"]
    content: str


class ScriptRow(Record):
    """`train/instruction_to_script.jsonl`: brief -> final script. Not what the model did: it worked in many turns."""

    schema_version: int = SCHEMA_VERSION
    id: str
    form: Literal["single-turn"] = "single-turn"
    messages: list[PlainMessage]
    task_id: str
    task_kind: str
    model_id: str
    reward: float
    success: bool
    label: str
    license: str


def as_row(record: Record) -> dict[str, Any]:
    """The record as it is written: what is None is left out."""
    return record.model_dump(mode="json", exclude_none=True)
