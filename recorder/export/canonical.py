"""The canonical train files: trajectories with pictures, their twin in text, and brief -> script.

Rows that hold the scene tool alone have `arguments` as objects; all others go to `*_tools*.jsonl`, with `arguments` and
`tools` as JSON strings (`rows.py` says why). Multimodal files hold only rows with a picture, so that every row of a
file has the same form; the text files hold every row.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recorder.export.conversation import Call, Turn, up_to_last_reply
from recorder.export.forging import RefusedRow, defused, found_in
from recorder.export.formats import JsonLines, Options, Outcome
from recorder.export.sample import Sample
from recorder.records import ImagePart, TextPart
from recorder.rows import (
    AssistantMessage,
    CodeArguments,
    Content,
    PlainMessage,
    PromptMessage,
    RowCall,
    RowFunction,
    RowImage,
    RowText,
    ScriptRow,
    ToolMessage,
    TrajectoryRow,
    as_row,
)

PICTURE_LEFT_OUT = "[picture]\n"
"""Stands in text rows where the model saw a picture."""
_PARAMETERS = {
    "type": None,
    "properties": {"code": {"type": None, "description": None}},
    "required": [None],
    "additionalProperties": None,
}
_SCENE_TOOL_KEYS = [{"type": None, "function": {"name": None, "description": None, "parameters": _PARAMETERS}}]
"""What `tools` of a scene looks like: rows of any other shape would put nulls into it, or fail to load beside it."""
SINGLE_TURN_SYSTEM = "You write Blender Python scripts. Answer with the whole script and nothing else."
"""Written for the single-turn file; no model of the record was told this."""


class Trajectories:
    """`train/agentic_trajectories*.jsonl`."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("canonical")
        stem = "train/agentic_trajectories"
        self._files = {
            (is_text, is_object): JsonLines(
                root, f"{stem}{'' if is_object else '_tools'}{'_text' if is_text else ''}.jsonl", self.outcome
            )
            for is_text in (False, True)
            for is_object in (False, True)
        }

    def add(self, sample: Sample) -> None:
        """One text row, and one with pictures where there are any. Raises RefusedRow."""
        turns = trained_turns(sample)
        safe = defused(turns, self.outcome.escaped)
        is_object = has_one_shape(sample, turns)
        self._files[True, is_object].write(trajectory_row(sample, safe, is_text=True, is_object=is_object))
        if any(turn.images for turn in turns):
            self._files[False, is_object].write(trajectory_row(sample, safe, is_text=False, is_object=is_object))

    def close(self) -> None:
        """Nothing is open."""


class Scripts:
    """`train/instruction_to_script.jsonl`."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("instruction_to_script")
        self._file = JsonLines(root, "train/instruction_to_script.jsonl", self.outcome)

    def add(self, sample: Sample) -> None:
        """Raises RefusedRow for an episode without a script."""
        if not sample.script:
            raise RefusedRow("it has no final script")
        if mark := found_in(sample.script):
            raise RefusedRow(f"the script holds '{mark}', which a chat template takes for structure")
        brief = self.outcome.escaped.text(sample.task.brief)
        row = ScriptRow(
            id=sample.name,
            messages=[
                PlainMessage(role="system", content=SINGLE_TURN_SYSTEM),
                PlainMessage(role="user", content=brief),
                PlainMessage(role="assistant", content=sample.script),
            ],
            task_id=sample.header.task_id,
            task_kind=sample.header.task_kind,
            model_id=sample.header.model,
            reward=sample.reward,
            success=sample.is_success,
            label=sample.label,
            license=sample.license,
        )
        self._file.write(as_row(row))

    def close(self) -> None:
        """Nothing is open."""


def trained_turns(sample: Sample) -> tuple[Turn, ...]:
    """The conversation up to its last reply. Raises RefusedRow where there is no reply."""
    turns = up_to_last_reply(sample.turns)
    if not turns:
        raise RefusedRow("the model never answered")
    return turns


def has_one_shape(sample: Sample, turns: Sequence[Turn]) -> bool:
    """Whether the row holds the scene tool alone, in its one form, and every call gives exactly its one argument."""
    calls = [call for turn in turns for call in turn.calls]
    return _keys(sample.tools) == _SCENE_TOOL_KEYS and all(_code(call) is not None for call in calls)


def _keys(value: Any) -> Any:
    """The keys of nested objects: what a loader makes one struct of."""
    if isinstance(value, dict):
        return {key: _keys(inner) for key, inner in value.items()}
    return [_keys(item) for item in value] if isinstance(value, list) else None


def trajectory_row(sample: Sample, turns: Sequence[Turn], *, is_text: bool, is_object: bool) -> dict[str, object]:
    """The row as it is written."""
    row = TrajectoryRow(
        id=sample.name,
        messages=[_message(sample, turn, is_text=is_text, is_object=is_object) for turn in turns],
        tools=sample.tools if is_object else json.dumps(sample.tools, ensure_ascii=False),
        task_id=sample.header.task_id,
        model_id=sample.header.model,
        reward=sample.reward,
        success=sample.is_success,
        label=sample.label,
        n_steps=len(sample.steps),
        n_images=0 if is_text else sum(len(turn.images) for turn in turns),
        license=sample.license,
        metadata=metadata(sample),
    )
    return as_row(row)


def metadata(sample: Sample) -> str:
    """What differs too much between rows to be columns, as one JSON object."""
    requests = [step.request.parameters for step in sample.steps if step.request]
    facts = {
        "episode": sample.episode,
        "task_kind": sample.header.task_kind,
        "task_sha256": sample.header.task_sha256,
        "trajectory_sha256": sample.trajectory_sha256,
        "exit_status": sample.end.exit_status if sample.end else "",
        "reason": sample.reason,
        **({"score": sample.score.model_dump(mode="json", exclude_none=True)} if sample.score else {}),
        "started_at": sample.header.started_at,
        "sandbox_level": sample.header.sandbox_level,
        "versions": sample.header.versions,
        "parameters": requests[0] if requests else {},
        "cost_usd": sum(step.cost.usd for step in sample.steps),
        "cost_is_known": all(step.cost.is_known for step in sample.steps),
        "n_messages_after_last_reply": len(sample.turns) - len(up_to_last_reply(sample.turns)),
    }
    return json.dumps(facts, ensure_ascii=False, sort_keys=True)


def _message(
    sample: Sample, turn: Turn, *, is_text: bool, is_object: bool
) -> PromptMessage | AssistantMessage | ToolMessage:
    content = _content(sample, turn, is_text=is_text)
    if turn.role == "assistant":
        calls = [_call(call, is_object=is_object) for call in turn.calls]
        return AssistantMessage(content=content, reasoning_content=turn.reasoning, tool_calls=calls or None)
    if turn.role == "tool":
        return ToolMessage(tool_call_id=turn.call_id, name=turn.tool, content=content)
    return PromptMessage(role=turn.role, content=content)


def _content(sample: Sample, turn: Turn, *, is_text: bool) -> Content:
    if is_text:
        return text_of(turn)
    parts: list[RowText | RowImage] = []
    for part in turn.parts:
        if isinstance(part, ImagePart):
            parts.append(RowImage(path=sample.image_path(part.path)))
        else:
            parts.append(RowText(text=part.text))
    return parts or [RowText(text="")]


def text_of(turn: Turn) -> str:
    """The turn without its pictures, which are told as left out."""
    return "".join(part.text if isinstance(part, TextPart) else PICTURE_LEFT_OUT for part in turn.parts)


def _call(call: Call, *, is_object: bool) -> RowCall:
    code = _code(call)
    arguments = CodeArguments(code=code) if is_object and code is not None else call.raw
    return RowCall(id=call.id, function=RowFunction(name=call.name, arguments=arguments))


def _code(call: Call) -> str | None:
    arguments = call.arguments
    if arguments is None or list(arguments) != ["code"]:
        return None
    code = arguments["code"]
    return code if isinstance(code, str) else None
