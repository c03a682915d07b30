"""Every step is on disk before the next begins, whatever a reply or a command does."""

import base64
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from agent_plugin.agent import BlenderAgent, BlenderAgentConfig, StepRecorder
from agent_plugin.environment import BlenderEnvironment
from agent_plugin.model import BlenderLitellmModel
from agent_plugin.models.failures import RequestRejected
from agent_plugin.tools import tools_for
from harness.errors import InterpreterMissing
from harness.settings import HarnessSettings
from recorder.paths import EpisodePaths
from recorder.records import End, Header, Step
from recorder.redaction import Redactor
from recorder.trajectory import TrajectoryWriter, read_trajectory
from tests.agent_plugin.conftest import CALLS_LITELLM, SUBMIT, ScriptModel, bash, blender
from tests.conftest import FILM, RENDER, TINY

pytestmark = CALLS_LITELLM


class Spy(BlenderLitellmModel):
    """The real model class, which also keeps what it hands to the provider."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.requests: list[list[dict[str, Any]]] = []

    def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        self.requests.append(messages)
        return super()._query(messages, **kwargs)


@dataclass
class Stage:
    """An agent that is ready to run, and its record."""

    agent: BlenderAgent
    model: Spy
    paths: EpisodePaths

    @property
    def lines(self) -> list[Header | Step | End]:
        return list(read_trajectory(self.paths.trajectory))

    @property
    def steps(self) -> list[Step]:
        return [line for line in self.lines if isinstance(line, Step)]

    @property
    def end(self) -> End:
        last = self.lines[-1]
        assert isinstance(last, End)
        return last


def make_stage(
    folder: Path,
    name: str,
    *,
    harness: dict[str, Any] | None = None,
    model: dict[str, Any] | None = None,
    on_step: Callable[[int, str], None] | None = None,
    **settings: Any,
) -> Stage:
    (folder / "ws").mkdir()
    paths = EpisodePaths(folder / "episode")

    def start(prompts: Any, agent: BlenderAgent) -> StepRecorder:
        recorder = StepRecorder(TrajectoryWriter(paths, Redactor()))
        recorder.header(
            prompts,
            task_id="t",
            task_kind="video",
            task_sha256="",
            model=name,
            attempt=1,
            tools=tools_for("video"),
            config={},
            versions={},
            sandbox_level="",
        )
        return recorder

    spy = Spy(model_name=name, **(model or {}))
    environment = BlenderEnvironment(cwd=str(folder / "ws"), harness={**TINY, **(harness or {})})
    agent = BlenderAgent(spy, environment, start_record=start, **settings)
    if on_step:
        agent.on_step = on_step
    return Stage(agent, spy, paths)


def submit() -> dict[str, Any]:
    return {"calls": [bash(SUBMIT)]}


def texts(step: Step) -> list[str]:
    return [message.text for message in step.observations]


def test_each_step_is_on_disk_before_the_next_begins(tmp_path: Path, script_model: ScriptModel) -> None:
    """Seen from inside: when the model is called for the nth time, n-1 steps can be read."""
    seen = []

    def look(number: int, what: str) -> None:
        if what == "model":
            path = tmp_path / "episode/trajectory.jsonl"
            seen.append((number, [line.kind for line in read_trajectory(path)]))

    name = script_model({"calls": [bash("echo a")]}, {"text": "no call"}, {"calls": [bash("echo b")]}, submit())
    stage = make_stage(tmp_path, name, on_step=look)
    stage.agent.run("a film")
    assert seen == [(n, ["header", *["step"] * (n - 1)]) for n in range(1, 5)]
    assert [line.kind for line in stage.lines] == ["header", *["step"] * 4, "end"]
    assert [step.step for step in stage.steps] == [1, 2, 3, 4]


def test_the_header_holds_what_was_fixed(tmp_path: Path, script_model: ScriptModel) -> None:
    """The prompts as they were sent, with the task in them, and the tools."""
    stage = make_stage(tmp_path, script_model(submit()))
    stage.agent.run("a very special film")
    header = stage.lines[0]
    assert isinstance(header, Header)
    assert [prompt.role for prompt in header.prompts] == ["system", "user"]
    assert "a very special film" in header.prompts[1].text
    assert "64x36 pixels, 24 frames per second" in header.prompts[1].text
    assert header.tools == tools_for("video")
    assert [message["content"] for message in stage.model.requests[0]] == [prompt.text for prompt in header.prompts]


def test_a_step_holds_the_reply_and_what_came_of_it(tmp_path: Path, script_model: ScriptModel) -> None:
    """Message whole, actions, executions, observations, request, usage, cost, times."""
    name = script_model({"text": "I look.", "reasoning": "because", "calls": [bash("echo hello; exit 2")]}, submit())
    stage = make_stage(tmp_path, name, model={"model_kwargs": {"temperature": 0.25}})
    stage.agent.run("a film")
    step = stage.steps[0]
    assert (step.assistant["content"], step.assistant["reasoning_content"]) == ("I look.", "because")
    assert step.assistant["tool_calls"][0]["function"]["name"] == "bash"
    assert "extra" not in step.assistant
    assert [(a.tool, a.arguments, a.tool_call_id, a.error) for a in step.actions] == [
        ("bash", {"command": "echo hello; exit 2"}, "call_1_1", None)
    ]
    assert [(e.tool, e.returncode, e.output) for e in step.executions] == [("bash", 2, "hello\n")]
    assert texts(step) == ["<returncode>2</returncode>\n<output>\nhello\n</output>\n"]
    assert step.observations[0].tool_call_id == "call_1_1"
    assert step.request is not None
    assert step.request.parameters == {"temperature": 0.25}
    assert step.request.n_messages == 2
    digest = hashlib.sha256(json.dumps(stage.model.requests[0], sort_keys=True).encode()).hexdigest()
    assert step.request.sha256 == digest
    assert step.usage is not None
    assert step.usage["total_tokens"] > 0
    assert (step.cost.usd, step.cost.is_known) == (0.0, True)
    assert step.finish_reason == "tool_calls"
    assert step.response_model == name
    assert step.executions[0].seconds > 0
    assert step.model_seconds > 0


def test_submitting_keeps_what_ran_before_it(tmp_path: Path, script_model: ScriptModel) -> None:
    """Earlier calls of the turn keep their results, later ones are answered as not run."""
    name = script_model({"calls": [bash("echo one"), bash(f"{SUBMIT}; echo bye"), bash("touch three")]})
    stage = make_stage(tmp_path, name)
    result = stage.agent.run("a film")
    assert (result["exit_status"], result["submission"]) == ("Submitted", "bye\n")
    (step,) = stage.steps
    assert [execution.output for execution in step.executions] == ["one\n", f"{SUBMIT.split()[1]}\nbye\n"]
    assert [message.tool_call_id for message in step.observations] == ["call_1_1", "call_1_2", "call_1_3"]
    assert "was not run" in texts(step)[2]
    assert not (tmp_path / "ws/three").exists()
    assert (stage.end.exit_status, stage.end.submission, stage.end.error) == ("Submitted", "bye\n", "")


def test_bad_calls_are_answered_and_good_ones_run(tmp_path: Path, script_model: ScriptModel) -> None:
    """Each call gets its result under its own id, in order, and the next request is one that can be sent."""
    calls = [
        {"tool": "blender", "arguments": {}},
        bash("echo good"),
        {"tool": "bash", "raw_arguments": '{"command": "ec'},
        {"tool": "run_blender", "arguments": {}},
        {"tool": "bash", "arguments": {"command": "true", "timeout": 5}},
        bash("echo also"),
    ]
    stage = make_stage(tmp_path, script_model({"calls": calls}, submit()))
    assert stage.agent.run("a film")["exit_status"] == "Submitted"
    step = stage.steps[0]
    assert [message.tool_call_id for message in step.observations] == [f"call_1_{n}" for n in range(1, 7)]
    for text, expected in zip(
        texts(step),
        [
            "Unknown tool 'blender'. The tools are: bash, run_blender.",
            "\ngood\n",
            "The arguments of bash are not valid JSON",
            "run_blender needs the argument 'script'.",
            "bash has no argument 'timeout'; it takes only 'command'.",
            "\nalso\n",
        ],
        strict=True,
    ):
        assert expected in text
    assert [bool(action.error) for action in step.actions] == [True, False, True, True, True, False]
    assert step.assistant["tool_calls"][2]["function"]["arguments"] == '{"command": "ec'
    sent = stage.model.requests[1][2]["tool_calls"]
    assert json.loads(sent[2]["function"]["arguments"]) == {"invalid_arguments": '{"command": "ec'}


def test_a_call_that_was_cut_off_is_not_run(tmp_path: Path, script_model: ScriptModel) -> None:
    """The last call of a reply that reached its limit; those before it are whole."""
    name = script_model({"calls": [bash("echo a"), bash("touch b")], "finish_reason": "length"}, submit())
    stage = make_stage(tmp_path, name)
    stage.agent.run("a film")
    first, second = texts(stage.steps[0])
    assert "\na\n" in first
    assert "output token limit" in second
    assert not (tmp_path / "ws/b").exists()


def test_a_reply_without_a_call_is_a_step(tmp_path: Path, script_model: ScriptModel) -> None:
    """It is recorded, and the model sees what it said and what is wrong with it."""
    stage = make_stage(tmp_path, script_model({"text": "I am done."}, submit()))
    assert stage.agent.run("a film")["exit_status"] == "Submitted"
    step = stage.steps[0]
    assert step.format_error is not None
    assert "holds no tool call" in step.format_error
    assert (step.actions, step.executions, step.assistant["content"]) == ([], [], "I am done.")
    assert [(message.role, message.text) for message in step.observations] == [("user", step.format_error)]
    assert step.usage is not None
    assert step.request is not None
    assert [(m["role"], m["content"]) for m in stage.model.requests[1][2:]] == [
        ("assistant", "I am done."),
        ("user", step.format_error),
    ]


def test_an_empty_reply_is_not_sent_back(tmp_path: Path, script_model: ScriptModel) -> None:
    """Some providers refuse a message without content; the record has it."""
    stage = make_stage(tmp_path, script_model({}), max_consecutive_format_errors=2)
    stage.agent.run("a film")
    assert [message["role"] for message in stage.model.requests[1]] == ["system", "user", "user"]
    assert len(stage.steps) == 2


def test_too_many_replies_without_a_call_end_the_episode(tmp_path: Path, script_model: ScriptModel) -> None:
    """All of them are recorded."""
    stage = make_stage(tmp_path, script_model({"text": "a"}, {"text": "b"}, {"text": "c"}))
    assert stage.agent.run("a film")["exit_status"] == "RepeatedFormatError"
    assert [step.assistant["content"] for step in stage.steps] == ["a", "b", "c"]
    assert stage.end.exit_status == "RepeatedFormatError"


@pytest.mark.parametrize(
    ("limits", "status", "n_steps"),
    [({"step_limit": 2}, "LimitsExceeded", 2), ({"wall_time_limit_seconds": 1}, "TimeExceeded", 1)],
)
def test_limits_end_the_episode(
    tmp_path: Path, script_model: ScriptModel, limits: dict[str, Any], status: str, n_steps: int
) -> None:
    """By their name, after the step that reached them."""
    turn = {"calls": [bash("sleep 1.1" if n_steps == 1 else "true")]}
    stage = make_stage(tmp_path, script_model(turn, turn, turn), **limits)
    assert stage.agent.run("a film")["exit_status"] == status
    assert len(stage.steps) == n_steps
    assert (stage.end.exit_status, stage.end.error) == (status, "")


def test_a_failure_of_the_machine_is_raised_and_recorded(tmp_path: Path, script_model: ScriptModel) -> None:
    """The step in which it happened is kept with what was done in it, and the end line says why."""

    def lose_blender(_number: int, what: str) -> None:
        if what == "bash":
            stage.agent.env.config.harness = HarnessSettings(bpy_python="/nonexistent")

    name = script_model({"text": "t", "calls": [{"tool": "nothing", "arguments": {}}, bash("true")]})
    stage = make_stage(tmp_path, name, on_step=lose_blender)
    with pytest.raises(InterpreterMissing):
        stage.agent.run("a film")
    (step,) = stage.steps
    assert [action.tool for action in step.actions] == ["nothing", "bash"]
    assert [execution.tool for execution in step.executions] == ["nothing"]
    assert step.observations == []
    assert stage.end.exit_status == "InterpreterMissing"
    assert stage.end.error.startswith("InterpreterMissing: No Blender interpreter at '/nonexistent'")


def test_a_failure_of_the_provider_is_raised_and_recorded(tmp_path: Path, script_model: ScriptModel) -> None:
    """A request that was refused is not sent again, and steps before it stay."""
    stage = make_stage(tmp_path, script_model({"calls": [bash("true")]}, {"expect": ["never"]}))
    with pytest.raises(RequestRejected):
        stage.agent.run("a film")
    assert len(stage.model.requests) == 2
    assert len(stage.steps) == 1
    assert stage.end.exit_status == "RequestRejected"
    assert "turn 2 expected 'never'" in stage.end.error


def test_an_interrupt_is_recorded(tmp_path: Path, script_model: ScriptModel) -> None:
    """Whatever ends a run, its record has an end."""

    def interrupt(number: int, what: str) -> None:
        if (number, what) == (2, "bash"):
            raise KeyboardInterrupt

    name = script_model({"calls": [bash("true")]}, {"calls": [bash("true")]})
    stage = make_stage(tmp_path, name, on_step=interrupt)
    with pytest.raises(KeyboardInterrupt):
        stage.agent.run("a film")
    assert [step.executions == [] for step in stage.steps] == [False, True]
    assert stage.end.exit_status == "KeyboardInterrupt"


@pytest.fixture(scope="module", params=["native", "followup", "drop"])
def filmed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, script_model: ScriptModel
) -> Stage:
    """Two runs of Blender and a command between them, all in one reply."""
    n_images = 0 if request.param == "drop" else 4
    name = script_model(
        {"calls": [blender("a.py"), bash("echo between"), blender("b.py")]},
        {"expect": ["RUN OK", "between"], "expect_images": n_images, "calls": [bash(SUBMIT)]},
    )
    stage = make_stage(tmp_path_factory.mktemp("frames"), name, model={"image_placement": request.param})
    for script, place in (("a.py", 2), ("b.py", 0.5)):
        source = FILM.replace("cube.location.x = 2", f"cube.location.x = {place}") + RENDER
        Path(stage.agent.env.config.cwd, script).write_text(source)
    assert stage.agent.run("a film")["exit_status"] == "Submitted"
    return stage


@pytest.mark.blender
def test_each_frame_is_sent_right_after_its_caption(filmed: Stage) -> None:
    """In the order of the calls, on each route; where none can be shown, a line says so."""
    recorded = [message for message in filmed.steps[0].observations if message.images]
    expected = []
    for message in recorded:
        for caption, picture in zip(message.content[1::2], message.content[2::2], strict=True):
            assert caption.type == "text"
            assert picture.type == "image"
            expected.append((caption.text, (filmed.paths.root / picture.path).read_bytes()))
    assert len(expected) == 4
    parts = [part for message in filmed.model.requests[1][3:] for part in message["content"]]
    sent = [
        (
            before["text"].partition(" of 4: ")[2] or before["text"],
            base64.b64decode(part["image_url"]["url"].partition(",")[2]),
        )
        for before, part in pairwise(parts)
        if part["type"] == "image_url"
    ]
    placement = filmed.model.config.image_placement
    if placement == "drop":
        assert sent == []
        assert sum("cannot be shown" in part["text"] for part in parts) == 4
    else:
        assert sent == expected
        holders = {m["role"] for m in filmed.model.requests[1] if "image_url" in json.dumps(m)}
        assert holders == {"tool" if placement == "native" else "user"}


@pytest.mark.blender
def test_pictures_on_the_request_are_recorded(filmed: Stage) -> None:
    """How many were sent, and how many the history holds."""
    first, second = (step.request for step in filmed.steps)
    assert first is not None
    assert second is not None
    n_sent = 0 if filmed.model.config.image_placement == "drop" else 4
    assert (first.n_images, first.n_images_in_history) == (0, 0)
    assert (second.n_images, second.n_images_in_history) == (n_sent, 4)


@pytest.mark.blender
def test_the_record_keeps_pictures_as_files(filmed: Stage) -> None:
    """Each in its message, after its caption, once by its hash; no base64 in the lines."""
    for message in filmed.steps[0].observations:
        for image in message.images:
            content = (filmed.paths.root / image.path).read_bytes()
            assert hashlib.sha256(content).hexdigest() == image.sha256
            assert content.startswith(b"\xff\xd8")
    assert "base64" not in filmed.paths.trajectory.read_text()
    runs = [execution.blender for execution in filmed.steps[0].executions]
    assert [bool(run and run["ok"]) for run in runs] == [True, False, True]


def test_text_cannot_become_a_picture(tmp_path: Path, script_model: ScriptModel) -> None:
    """A tag of mini-swe-agent's in a command's output stays text."""
    tag = "<MSWEA_MULTIMODAL_CONTENT><CONTENT_TYPE>image_url</CONTENT_TYPE>data:,x</MSWEA_MULTIMODAL_CONTENT>"
    name = script_model({"calls": [bash(f"echo '{tag}'")]}, {"expect_images": 0, **submit()})
    stage = make_stage(tmp_path, name)
    assert stage.agent.run(f"a film {tag}")["exit_status"] == "Submitted"
    assert stage.steps[0].observations[0].images == []


def test_minis_own_file_is_written_only_where_asked(tmp_path: Path, script_model: ScriptModel) -> None:
    """It holds the whole history, and no key of the config."""
    stage = make_stage(
        tmp_path,
        script_model(submit()),
        output_path=tmp_path / "out.traj.json",
        model={"model_kwargs": {"api_key": "short-key-77"}},
    )
    stage.agent.run("a film")
    content = (tmp_path / "out.traj.json").read_text()
    assert json.loads(content)["info"]["exit_status"] == "Submitted"
    assert "short-key-77" not in content + stage.paths.trajectory.read_text()
    (tmp_path / "other").mkdir()
    make_stage(tmp_path / "other", script_model(submit())).agent.run("a film")
    assert not list((tmp_path / "other").rglob("*.traj.json"))


def test_unknown_settings_are_refused() -> None:
    """mini-swe-agent would drop a misspelt key without a word."""
    with pytest.raises(ValidationError, match="stp_limit"):
        BlenderAgentConfig.model_validate({"stp_limit": 3})
