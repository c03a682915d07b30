"""`traj`: mini-swe-agent's own `.traj.json` (form 1.1), which `mini-extra inspector` opens. Pictures by path.

Its own saving drops replies without a usable call, and keeps each response twice; here they are messages, once.
"""

import json
from pathlib import Path
from typing import Any

from recorder.export.conversation import Turn
from recorder.export.formats import Options, Outcome
from recorder.export.openai import call_object
from recorder.export.sample import Sample
from recorder.records import ImagePart

FORM = "mini-swe-agent-1.1"


class Traj:
    """`formats/traj/<sample>.traj.json`."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("traj")
        self._root = root

    def add(self, sample: Sample) -> None:
        """The whole conversation."""
        path = self._root / f"formats/traj/{sample.name}.traj.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(trajectory(sample), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        self.outcome.files[str(path.relative_to(self._root))] = 1

    def close(self) -> None:
        """Nothing is open."""


def trajectory(sample: Sample) -> dict[str, Any]:
    """The content of the file."""
    end = sample.end
    exit_status, submission = (end.exit_status, end.submission) if end else ("", "")
    last = {"role": "exit", "content": submission, "extra": {"exit_status": exit_status, "submission": submission}}
    return {
        "info": {
            "model_stats": {
                "instance_cost": sum(step.cost.usd for step in sample.steps),
                "api_calls": len(sample.steps),
            },
            "config": {"agent": sample.header.config.get("agent", {}), "model": {"model_name": sample.header.model}},
            "mini_version": sample.header.versions.get("mini-swe-agent", ""),
            "exit_status": exit_status,
            "submission": submission,
        },
        "messages": [*(_message(sample, turn) for turn in sample.turns), last],
        "trajectory_format": FORM,
    }


def _message(sample: Sample, turn: Turn) -> dict[str, Any]:
    if turn.role != "assistant" or not turn.step:
        answer = {"tool_call_id": turn.call_id} if turn.call_id else {}
        return {"role": turn.role, **answer, "content": _content(sample, turn)}
    step = turn.step
    message: dict[str, Any] = {"role": "assistant", "content": turn.text}
    if turn.reasoning:
        message["reasoning_content"] = turn.reasoning
    if turn.calls:
        message["tool_calls"] = [call_object(call) for call in turn.calls]
    actions = [
        {"command": str(next(iter(action.arguments.values()), "")), "tool_call_id": action.tool_call_id}
        for action in step.actions
    ]
    return message | {"extra": {"actions": actions, "cost": step.cost.usd, "timestamp": step.started_at}}


def _content(sample: Sample, turn: Turn) -> str | list[dict[str, Any]]:
    if not turn.images:
        return turn.text
    return [
        {"type": "image", "path": f"../../{sample.image_path(part.path)}"}
        if isinstance(part, ImagePart)
        else {"type": "text", "text": part.text}
        for part in turn.parts
    ]
