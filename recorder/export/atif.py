"""`atif`: one ATIF v1.8 trajectory a sample, as harbor, Inspect Scout and Phoenix read it (harbor's RFC 0001).

Whole: also what follows the last reply, and replies that held no usable call. Nothing is escaped, it is no template's.
"""

import json
from pathlib import Path
from typing import Any

from recorder.export.conversation import Turn
from recorder.export.forging import RefusedRow
from recorder.export.formats import Options, Outcome
from recorder.export.sample import Sample
from recorder.records import ImagePart, Step

VERSION = "ATIF-v1.8"
_AGENT = "mini-swe-agent"


class Atif:
    """`formats/atif/<sample>.json`; pictures are named as they lie in `samples/`, relative to the file."""

    def __init__(self, root: Path, _options: Options) -> None:
        self.outcome = Outcome("atif")
        self._root = root

    def add(self, sample: Sample) -> None:
        """Raises RefusedRow for an episode without a step."""
        if not sample.steps:
            raise RefusedRow("it has no step")
        path = self._root / f"formats/atif/{sample.name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(trajectory(sample), ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        self.outcome.files[str(path.relative_to(self._root))] = 1

    def close(self) -> None:
        """Nothing is open."""


def trajectory(sample: Sample) -> dict[str, Any]:
    """The sample as an ATIF trajectory."""
    header = sample.header
    steps = [_numbered(number, step) for number, step in enumerate(_steps(sample), start=1)]
    return {
        "schema_version": VERSION,
        "session_id": sample.name,
        "trajectory_id": sample.name,
        "agent": {
            "name": _AGENT,
            "version": header.versions.get("mini-swe-agent") or "unknown",
            "model_name": header.model,
            "tool_definitions": header.tools,
            "extra": {"versions": header.versions, "sandbox_level": header.sandbox_level},
        },
        "steps": steps,
        "final_metrics": _final_metrics(sample, len(steps)),
        "extra": {
            "task_id": header.task_id,
            "task_sha256": header.task_sha256,
            "label": sample.label,
            "reason": sample.reason,
            "exit_status": sample.end.exit_status if sample.end else "",
            "license": sample.license,
        },
    }


def _steps(sample: Sample) -> list[dict[str, Any]]:
    """Prompts and answers that belong to no call become steps of their own; answers to calls join their reply."""
    steps: list[dict[str, Any]] = []
    replies: dict[int, dict[str, Any]] = {}
    for turn in sample.turns:
        if turn.role == "assistant" and turn.step:
            replies[turn.step.step] = _agent_step(turn, turn.step, sample.header.model)
            steps.append(replies[turn.step.step])
        elif turn.step and turn.call_id and turn.step.step in replies:
            _answer(sample, replies[turn.step.step], turn, turn.step)
        else:
            source = "system" if turn.role == "system" else "user"
            steps.append({"source": source, "message": _content(sample, turn)})
    return steps


def _numbered(number: int, step: dict[str, Any]) -> dict[str, Any]:
    return {"step_id": number, **step}


def _agent_step(turn: Turn, step: Step, model: str) -> dict[str, Any]:
    made: dict[str, Any] = {
        "timestamp": step.started_at,
        "source": "agent",
        "model_name": step.response_model or model,
        "message": turn.text,
        "llm_call_count": 1,
        "metrics": _metrics(step),
    }
    if turn.reasoning:
        made["reasoning_content"] = turn.reasoning
    if turn.calls:
        made["tool_calls"] = [
            {
                "tool_call_id": call.id,
                "function_name": call.name,
                "arguments": call.arguments if call.arguments is not None else {"unparsed": call.raw},
            }
            for call in turn.calls
        ]
    if step.format_error is not None:
        made["extra"] = {"format_error": step.format_error}
    return made


def _answer(sample: Sample, reply: dict[str, Any], turn: Turn, step: Step) -> None:
    position = next((n for n, action in enumerate(step.actions) if action.tool_call_id == turn.call_id), None)
    extra: dict[str, Any] = {}
    if position is not None and position < len(step.executions):
        execution = step.executions[position]
        extra = {"returncode": execution.returncode, "seconds": execution.seconds}
    result = {"source_call_id": turn.call_id, "content": _content(sample, turn), "extra": extra}
    reply.setdefault("observation", {"results": []})["results"].append(result)


def _content(sample: Sample, turn: Turn) -> str | list[dict[str, Any]]:
    if not turn.images:
        return turn.text
    return [
        {"type": "image", "source": {"media_type": part.media_type, "path": f"../../{sample.image_path(part.path)}"}}
        if isinstance(part, ImagePart)
        else {"type": "text", "text": part.text}
        for part in turn.parts
    ]


def _metrics(step: Step) -> dict[str, Any]:
    usage = step.usage or {}
    details = usage.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") if isinstance(details, dict) else None
    metrics = {
        "prompt_tokens": usage.get("prompt_tokens"),
        "completion_tokens": usage.get("completion_tokens"),
        "cached_tokens": cached,
        "cost_usd": step.cost.usd if step.cost.is_known else None,
    }
    known = {name: value for name, value in metrics.items() if value is not None}
    return known | {"extra": {"model_seconds": step.model_seconds, "finish_reason": step.finish_reason}}


def _final_metrics(sample: Sample, n_steps: int) -> dict[str, Any]:
    def total(name: str) -> int:
        counts = [(step.usage or {}).get(name) for step in sample.steps]
        return sum(count for count in counts if isinstance(count, int))

    metrics: dict[str, Any] = {
        "total_prompt_tokens": total("prompt_tokens"),
        "total_completion_tokens": total("completion_tokens"),
        "total_steps": n_steps,
    }
    if all(step.cost.is_known for step in sample.steps):
        metrics["total_cost_usd"] = sum(step.cost.usd for step in sample.steps)
    return metrics
