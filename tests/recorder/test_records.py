"""Records are facts, refuse what they do not know, and survive being written and read."""

import json
from typing import Any

import pytest
from pydantic import ValidationError

from recorder.records import (
    LINE,
    SCHEMA_VERSION,
    Action,
    Cost,
    End,
    EpisodeSummary,
    Execution,
    FileReference,
    Header,
    ImagePart,
    Message,
    Request,
    Step,
    TextPart,
)

IMAGE = ImagePart(path="images/ab.jpg", sha256="ab", media_type="image/jpeg", n_bytes=3)
OBSERVATION = Message(role="tool", content=[TextPart(text="a"), IMAGE, TextPart(text="b\n")], tool_call_id="call_1")

HEADER = Header(
    seq=0,
    task_id="t",
    task_kind="video",
    task_sha256="00",
    model="m/x",
    attempt=1,
    prompts=[Message(role="system", content=[TextPart(text="s")]), Message(role="user", content=[TextPart(text="u")])],
    tools=[{"type": "function"}],
    config={"a": {"b": None}},
    versions={"bpy": "4.5"},
    sandbox_level="bwrap",
    started_at="2026-01-01T00:00:00+00:00",
)
STEP = Step(
    seq=1,
    step=1,
    assistant={
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1"}],
        "thinking": [{"signature": "x"}],
    },
    response_model="m/x-1",
    finish_reason="tool_calls",
    actions=[Action(tool="bash", arguments={"command": "true"}, tool_call_id="call_1")],
    executions=[Execution(tool="bash", returncode=None, output="", exception="timed out", seconds=0.5)],
    observations=[OBSERVATION],
    request=Request(
        model="m/x", n_messages=2, n_images=0, n_images_in_history=0, image_placement="native", sha256="00"
    ),
    usage={"prompt_tokens": 3},
    cost=Cost(usd=0.25, is_known=True),
    started_at="2026-01-01T00:00:01+00:00",
    model_seconds=1.5,
)
END = End(seq=2, exit_status="Submitted", submission="", redactions={"key": 1}, ended_at="2026-01-01T00:00:02+00:00")


@pytest.mark.parametrize("record", [HEADER, STEP, END], ids=["header", "step", "end"])
def test_a_line_survives_dump_and_load(record: Header | Step | End) -> None:
    """Dump, JSON, load: equal, and of the same kind."""
    assert LINE.validate_python(json.loads(json.dumps(record.model_dump(mode="json")))) == record


@pytest.mark.parametrize("record", [HEADER, STEP, END], ids=["header", "step", "end"])
def test_unknown_fields_are_refused(record: Header | Step | End) -> None:
    """A reader that does not know a field does not pretend to."""
    with pytest.raises(ValidationError, match="surprise"):
        LINE.validate_python(record.model_dump() | {"surprise": 1})


@pytest.mark.parametrize("kind", ["headers", None, 1])
def test_unknown_kinds_are_refused(kind: Any) -> None:
    """The kind decides what a line is."""
    with pytest.raises(ValidationError, match="kind"):
        LINE.validate_python(HEADER.model_dump() | {"kind": kind})


def test_records_cannot_be_changed() -> None:
    """A fact that was recorded stays."""
    with pytest.raises(ValidationError, match="frozen"):
        STEP.step = 2


def test_text_and_images_of_a_message_are_derived() -> None:
    """The parts are stored; text and pictures are views of them."""
    assert OBSERVATION.text == "ab\n"
    assert OBSERVATION.images == [IMAGE]


def test_time_in_tools_is_derived() -> None:
    """It is the sum over the executions."""
    assert STEP.tool_seconds == 0.5
    assert "tool_seconds" not in STEP.model_dump()


def test_a_header_names_its_schema() -> None:
    """The version is written even if nobody gives it."""
    assert HEADER.model_dump()["schema_version"] == SCHEMA_VERSION


def test_a_step_of_a_scene_refers_to_its_patch() -> None:
    """The reference survives dump and load; a line from before there were patches has none."""
    reference = FileReference(path="states/ab.json.gz", sha256="ab", n_bytes=3)
    execution = STEP.executions[0].model_copy(update={"state_patch": reference})
    step = STEP.model_copy(update={"executions": [execution]})
    assert LINE.validate_python(json.loads(json.dumps(step.model_dump(mode="json")))) == step
    old = STEP.model_dump(mode="json")
    del old["executions"][0]["state_patch"]
    assert LINE.validate_python(old) == STEP


def test_a_summary_survives_dump_and_load() -> None:
    """`episode.json` reads back as it was written."""
    summary = EpisodeSummary(
        task_id="t",
        task_sha256="00",
        model="m",
        attempt=2,
        exit_status="LimitsExceeded",
        verdict="fail",
        reason="not submitted",
        problems=[],
        final_execution=None,
        n_steps=3,
        cost=Cost(usd=0.0, is_known=False),
        seconds=1.5,
        files={"trajectory.jsonl": "00"},
        finished_at="2026-01-01T00:00:02+00:00",
    )
    assert EpisodeSummary.model_validate_json(summary.model_dump_json()) == summary


def test_a_verdict_is_one_of_three() -> None:
    """There is no fourth way for an episode to end."""
    with pytest.raises(ValidationError, match="'pass', 'fail' or 'infrastructure'"):
        EpisodeSummary.model_validate({"verdict": "maybe"})
