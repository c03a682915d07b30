"""JSON Schemas of every file of a record, for other people's tools: `schemas/*.json`, generated, never read here.

`python -m recorder.json_schemas` writes them; a test says when they are no longer those of the models.
"""

import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, TypeAdapter

from recorder.decision_file import Decision
from recorder.events import Event
from recorder.files import IntegrityFile, LossFile, Manifest, PinnedTask, RunFile, SampleFile
from recorder.records import EpisodeSummary, Line
from recorder.rows import ScriptRow, TrajectoryRow
from recorder.rubric import Rubric
from recorder.rubric_review import RubricReviewFile
from recorder.verification import ChecksFile, RendersFile, ReplayDiffFile

DOCUMENTS: dict[str, tuple[str, Any]] = {
    "run": ("run.json", RunFile),
    "event": ("events.jsonl, each line", Event),
    "loss": ("lost.json, where an attempt was lost", LossFile),
    "task": ("task/task.json", PinnedTask),
    "rubric": ("task/rubric.json", Rubric),
    "trajectory_line": ("trajectory.jsonl, each line", Line),
    "episode": ("episode.json", EpisodeSummary),
    "renders": ("renders/renders.json", RendersFile),
    "checks": ("verification/checks.json", ChecksFile),
    "replay_diff": ("verification/replay_diff.json", ReplayDiffFile),
    "decision": ("verification/decision.json", Decision),
    "integrity": ("verification/integrity.json", IntegrityFile),
    "rubric_review": ("verification/rubric_review.json", RubricReviewFile),
    "sample": ("samples/<name>/sample.json", SampleFile),
    "manifest": ("manifest.json", Manifest),
    "trajectory_row": ("train/agentic_trajectories*.jsonl, each line", TrajectoryRow),
    "script_row": ("train/instruction_to_script.jsonl, each line", ScriptRow),
}
"""Name of the schema -> (the file it describes, its model)."""
FOLDER = Path(__file__).parent / "schemas"


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema of one kind of file."""
    file, model = DOCUMENTS[name]
    made = TypeAdapter(model).json_schema() if not _is_model(model) else model.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$comment": f"blendscribe: {file}", **made}


def text(name: str) -> str:
    """The content of `schemas/<name>.json`."""
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"


def write_all() -> None:
    """Write every schema."""
    FOLDER.mkdir(exist_ok=True)
    for name in DOCUMENTS:
        (FOLDER / f"{name}.json").write_text(text(name), encoding="utf-8")


def _is_model(model: Any) -> bool:
    return isinstance(model, type) and issubclass(model, BaseModel)


if __name__ == "__main__":
    write_all()
