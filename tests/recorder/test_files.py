"""Each file of a record has a model: it survives dump and load, a newer version is refused, its schema is shipped."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from recorder.decision_file import Decided, Decision, Override
from recorder.documents import read_document
from recorder.errors import CorruptEpisode
from recorder.files import (
    Finding,
    IntegrityFile,
    Manifest,
    ManifestEntry,
    PinnedTask,
    RunFile,
    SampleFile,
)
from recorder.json_schemas import DOCUMENTS, FOLDER, text
from recorder.records import SCHEMA_VERSION
from recorder.rows import (
    AssistantMessage,
    CodeArguments,
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
from recorder.verification import Render, RendersFile
from tests.recorder.verifications import checks_file, replay_file, result

RUN = RunFile(
    fingerprint="00", tasks={"t": "00"}, models=["m"], n_attempts=1, config={"a": None}, prompts={"scene": "00"},
    versions={"bpy": "4.5"}, isolation={"allowed": None},
)  # fmt: skip
TASK = PinnedTask.model_validate({"id": "t", "kind": "scene", "brief": "b", "sha256": "00", "wish": [{"type": "x"}]})
DECISION = Decision(decision="reject", reason="floats", by="a reviewer", decided_at="2026-01-01T00:00:00+00:00")
AGAIN = Decision(
    decision="accept", reason="fine", by="another", decided_at="2026-01-02T00:00:00+00:00", about={"scene.blend": "00"},
    override=Override(reason="the check is wrong", faults=["legs"]),
    history=[Decided.model_validate(DECISION.model_dump(exclude={"history", "schema_version"}))],
)  # fmt: skip
INTEGRITY = IntegrityFile(
    trajectory_sha256="00", findings=[Finding(code="hash", file="images/a.jpg", line=3, message="differs")]
)
SAMPLE = SampleFile(
    name="s", label="accepted", reason="passed", episode="t/m/1", task_id="t", model="m", attempt=1,
    trajectory_sha256="00", license="cc-by-4.0",
)  # fmt: skip
MANIFEST = Manifest(made_by="blendscribe 0", files=[ManifestEntry(path="a", sha256="00", n_bytes=1)])
FUNCTION = RowFunction(name="run_blender", arguments=CodeArguments(code="x = 1"))
ROW = TrajectoryRow(
    id="s",
    messages=[
        PromptMessage(role="user", content=[RowText(text="make")]),
        AssistantMessage(
            content=[RowText(text="")], reasoning_content="", tool_calls=[RowCall(id="c", function=FUNCTION)]
        ),
        ToolMessage(tool_call_id="c", name="run_blender", content=[RowText(text="OK"), RowImage(path="samples/a.jpg")]),
        AssistantMessage(content=[RowText(text="Done.")], reasoning_content="Fine."),
    ],
    tools=[{"type": "function"}],
    task_id="t", model_id="m", reward=1.0, success=True, label="accepted", n_steps=2, n_images=1, license="unknown",
    metadata="{}",
)  # fmt: skip
SCRIPT = ScriptRow(
    id="s", messages=[PlainMessage(role="user", content="make")], task_id="t", task_kind="scene", model_id="m",
    reward=0.0, success=False, label="failed", license="unknown",
)  # fmt: skip
VERIFICATION = [
    checks_file(Path("none"), result("a", "fail"), checks=[{"id": "a"}], error="odd"),
    replay_file(
        Path("none"),
        "differs",
        state={
            "recorded_hash": "a", "replayed_hash": "b", "tolerance": 1e-5, "n_changes": 1,
            "changes": [{"path": "p", "kind": "changed", "before": 1, "after": [2.5], "magnitude": None}],
            "worst": {"path": "p", "magnitude": 1.5},
        },
        film={
            "n_frames": [4, 5], "worst_block": {"frame": 1, "left": 0, "top": 8, "difference": 2.5},
            "worst_frame": 1, "worst_frame_difference": 0.5, "message": "it is longer",
        },
        first_different_step=2,
    ),
    RendersFile(
        scene_sha256="00", engine="workbench", notes=["no camera"],
        renders=[Render(file="a.png", kind="hero", label="a", width=8, height=8, sha256="00")],
    ),
]  # fmt: skip
ALL: list[BaseModel] = [RUN, TASK, DECISION, AGAIN, INTEGRITY, SAMPLE, MANIFEST, *VERIFICATION]
ROWS: list[TrajectoryRow | ScriptRow] = [ROW, SCRIPT]


def name_of(record: BaseModel) -> str:
    return type(record).__name__


@pytest.mark.parametrize("record", ALL, ids=name_of)
def test_a_file_survives_dump_and_load(record: BaseModel, tmp_path: Path) -> None:
    """Written as JSON and read by the reader of files: equal."""
    path = tmp_path / "file.json"
    path.write_text(record.model_dump_json(indent=2))
    assert read_document(path, type(record)) == record


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_a_row_survives_dump_and_load(row: TrajectoryRow | ScriptRow) -> None:
    """Without a null in it."""
    written = json.dumps(as_row(row))
    assert "null" not in written
    assert type(row).model_validate_json(written) == row


@pytest.mark.parametrize("record", [r for r in ALL if r is not TASK], ids=name_of)
def test_a_newer_version_is_refused(record: BaseModel, tmp_path: Path) -> None:
    """By name, and before what else is in the file, which may have another form by then."""
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"schema_version": SCHEMA_VERSION + 1, "of": "tomorrow"}))
    with pytest.raises(CorruptEpisode, match=r"file.json: schema version 2 is newer than 1, .*: update blendscribe"):
        read_document(path, type(record))


@pytest.mark.parametrize("record", [r for r in ALL if r is not TASK], ids=name_of)
def test_unknown_fields_are_refused(record: BaseModel) -> None:
    """A reader does not pretend to know them."""
    with pytest.raises(ValidationError, match="surprise"):
        type(record).model_validate(record.model_dump() | {"surprise": 1})


def test_a_pinned_task_keeps_what_later_tasks_have() -> None:
    """Its hash covers every key."""
    assert TASK.model_dump()["wish"] == [{"type": "x"}]


@pytest.mark.parametrize("content", ["", "[", "[1]", '{"id": 3}', "[" * 10_000])
def test_what_is_no_such_file_is_told(content: str, tmp_path: Path) -> None:
    """With the file, and what is wrong."""
    path = tmp_path / "task.json"
    path.write_text(content)
    with pytest.raises(CorruptEpisode, match=r"task\.json: "):
        read_document(path, PinnedTask)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_shipped_schemas_are_current(name: str) -> None:
    """`python -m recorder.json_schemas` writes them."""
    assert (FOLDER / f"{name}.json").read_text(encoding="utf-8") == text(name)


def test_no_schema_is_shipped_that_no_model_makes() -> None:
    """One file a model."""
    assert {path.stem for path in FOLDER.glob("*.json")} == set(DOCUMENTS)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_schemas_are_read_by_others_and_take_what_we_write(name: str) -> None:
    """The jsonschema package takes each schema, and our files under it."""
    import jsonschema

    schema: dict[str, Any] = json.loads(text(name))
    jsonschema.Draft202012Validator.check_schema(schema)
    _, model = DOCUMENTS[name]
    for record in [*ALL, *ROWS]:
        if model is type(record):
            dumped = as_row(record) if record in ROWS else record.model_dump(mode="json")
            jsonschema.Draft202012Validator(schema).validate(dumped)
            assert TypeAdapter(model).validate_python(dumped) == record
