"""mini-swe-agent agent that has every step on disk before the next one begins."""

import base64
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from minisweagent.agents.default import AgentConfig, DefaultAgent
from minisweagent.exceptions import FormatError, InterruptAgentFlow, LimitsExceeded, Submitted
from pydantic import ConfigDict

from agent_plugin.models.failures import ModelCallFailed
from agent_plugin.places import data_dir, read_prompt
from agent_plugin.tally import tokens_of
from harness.execution import ExecutionResult
from harness.step_result import StepResult
from recorder.records import (
    Action,
    Cost,
    End,
    Execution,
    Header,
    ImagePart,
    Message,
    Part,
    Request,
    Step,
    TextPart,
)
from recorder.trajectory import TrajectoryWriter

if TYPE_CHECKING:
    from agent_plugin.plain_mini import PlainRecord


class StartRecord(Protocol):
    """Opens an episode's record once its first messages are known."""

    def __call__(self, prompts: Sequence[dict[str, Any]], agent: "BlenderAgent") -> "StepRecorder": ...


class BlenderAgentConfig(AgentConfig):
    """mini-swe-agent's agent settings; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid")

    system_template: str = read_prompt("system")
    instance_template: str = ""
    """Empty: the prompt for the environment's kind of task."""
    record_dir: Path | None = data_dir() / "episodes"
    """Under plain `mini`: each run is recorded in a new folder below this one, which must lie outside of the
    workspace (the agent could change its own record). Null: no record."""
    token_limit: int = 0
    """Tokens, in and out, after which no other model call is made. 0: no limit."""
    mode: str = "yolo"
    """Accepted because `mini` passes it; this agent never asks."""
    confirm_exit: bool = False
    """Accepted because `mini` passes it."""


class BlenderAgent(DefaultAgent):
    """The default agent, recorded. Earlier calls of a turn keep their observations when a later one submits."""

    def __init__(self, model: Any, env: Any, *, start_record: StartRecord | None = None, **kwargs: Any) -> None:
        super().__init__(model, env, config_class=BlenderAgentConfig, **kwargs)
        self.config.instance_template = self.config.instance_template or read_prompt(env.config.task_kind)
        self.n_tokens = 0
        """In and out, as far as the provider says."""
        self._start_record = start_record
        self._recorder: StepRecorder | None = None
        self._plain: PlainRecord | None = None
        self.on_step: Callable[[int, str], None] = lambda _number, _what: None
        """Called with the step's number and what it is doing, for progress."""

    def run(self, task: str = "", **kwargs: Any) -> dict[str, Any]:
        """Run until the agent submits or a limit is reached; the record's end line is written in any case."""
        try:
            result: dict[str, Any] = super().run(task, **kwargs)
        except BaseException as error:
            self._end(type(error).__name__, "", f"{type(error).__name__}: {error}")
            if self._plain and isinstance(error, ModelCallFailed):  # nobody around us would say it without a traceback
                self._plain.lose(error)
                return {"exit_status": type(error).__name__, "submission": "", "error": str(error)}
            raise
        cause = str(result.get("error", ""))  # of a conversation that the provider refused to go on with
        self._end(str(result.get("exit_status", "")), str(result.get("submission", "")), cause)
        if self._plain:
            self._plain.finish(str(result.get("exit_status", "")))
        return result

    def query(self) -> dict[str, Any]:
        """One model call, if the limits allow it."""
        if 0 < self.config.token_limit <= self.n_tokens:
            extra = {"exit_status": "LimitsExceeded", "submission": ""}
            raise LimitsExceeded({"role": "exit", "content": "LimitsExceeded", "extra": extra})
        try:
            message: dict[str, Any] = super().query()
        except FormatError as error:  # the call was paid for
            self.n_tokens += tokens_of(error.messages[0].get("extra", {}).get("usage"))
            raise
        self.n_tokens += tokens_of(message.get("extra", {}).get("usage"))
        return message

    def step(self) -> list[dict[str, Any]]:
        """One model call and its actions, recorded whatever comes of them, also where the machine fails in one."""
        recorder = self._open_record()
        step = recorder.begin(self.n_calls + 1) if recorder else None
        self.on_step(self.n_calls + 1, "model")
        try:
            message = self.query()
        except FormatError as error:
            if (reply := _reply(error.messages)).get("content"):
                self.add_messages(reply)  # mini-swe-agent drops it: the model would not see what it is told about
            if recorder and step:
                recorder.unusable(step, error.messages)
            raise
        except InterruptAgentFlow as ending:
            if recorder and step and _reply(ending.messages):  # an answer, but one that ends the episode
                self.cost += ending.messages[0]["extra"].get("cost", 0.0)
                recorder.unusable(step, ending.messages)
            raise
        outputs: list[dict[str, Any]] = []
        submitted = None
        try:
            self._run_actions(message, outputs)
        except Submitted as error:
            submitted = error
        except BaseException:
            if recorder and step:
                recorder.step(step, message, outputs, [])
            raise
        observations = self.model.format_observation_messages(message, outputs, self.get_template_vars())
        self.add_messages(*observations)
        if recorder and step:
            recorder.step(step, message, outputs, observations)
        if submitted:
            raise submitted
        return observations

    def _run_actions(self, message: dict[str, Any], outputs: list[dict[str, Any]]) -> None:
        """Run a turn's actions; `outputs` grows one by one, so that what was done is known if a later one raises."""
        for action in message["extra"].get("actions", []):
            self.on_step(self.n_calls, action.get("tool", "bash"))
            try:
                outputs.append(self.env.execute(action))
            except Submitted as submitted:
                outputs.append(submitted.messages[0]["extra"].pop("output"))
                raise

    def _open_record(self) -> "StepRecorder | None":
        if self._start_record is None and self.config.record_dir:
            from agent_plugin.plain_mini import PlainRecord

            self._plain = PlainRecord(self.config.record_dir)
            self._start_record, self.on_step = self._plain.start, self._plain.say
        if self._recorder is None and self._start_record is not None:
            self._recorder = self._start_record(self.messages, self)
        return self._recorder

    def _end(self, exit_status: str, submission: str, error: str) -> None:
        if self._recorder:
            self._recorder.end(exit_status, submission, error)

    def save(self, path: Path | None, *extra_dicts: dict[str, Any]) -> dict[str, Any]:
        """mini-swe-agent's own file, only where asked for: it holds the whole history and is rewritten each step."""
        return super().save(path, *extra_dicts) if path else {}


class _Begun:
    """A step that is under way."""

    def __init__(self, number: int) -> None:
        self.number, self.started_at = number, now()


class StepRecorder:
    """Turns mini-swe-agent's messages into the records of a trajectory."""

    def __init__(self, writer: TrajectoryWriter) -> None:
        self.writer, self._ended = writer, False

    def header(self, prompts: Sequence[dict[str, Any]], **facts: Any) -> None:
        """Write the first line; `facts` are the Header's other fields."""
        messages = [self.message(prompt) for prompt in prompts]
        self.writer.append(Header(seq=0, prompts=messages, started_at=now(), **facts))

    def begin(self, number: int) -> _Begun:
        return _Begun(number)

    def step(
        self, begun: _Begun, message: dict[str, Any], outputs: list[dict[str, Any]], observations: list[dict[str, Any]]
    ) -> None:
        """Write a finished step."""
        extra = message["extra"]
        actions = [action_record(action) for action in extra.get("actions", [])]
        self.writer.append(
            Step(
                **self._common(begun, extra),
                assistant={k: v for k, v in message.items() if k != "extra"},
                actions=actions,
                executions=[self._execution(a, o) for a, o in zip(actions, outputs, strict=False)],
                observations=[self.message(observation) for observation in observations],
            )
        )

    def unusable(self, begun: _Begun, messages: Sequence[dict[str, Any]]) -> None:
        """Write a step whose reply held no usable call, and what the model was told of it."""
        extra = messages[0].get("extra", {})
        self.writer.append(
            Step(
                **self._common(begun, extra),
                assistant=_reply(messages),
                actions=[],
                executions=[],
                observations=[self.message(message) for message in messages if message["role"] != "exit"],
                format_error=str(messages[0].get("content", "")),
            )
        )

    def end(self, exit_status: str, submission: str, error: str) -> None:
        """Write the last line and close the file."""
        if self._ended:
            return
        self._ended = True
        self.writer.append(
            End(
                seq=self.writer.n_lines,
                exit_status=exit_status,
                submission=submission,
                error=error,
                redactions={kind: n for kind, n in self.writer.redactor.counts.items() if n},
                ended_at=now(),
            )
        )
        self.writer.close()

    def message(self, message: dict[str, Any]) -> Message:
        """A message as it is recorded: pictures become files."""
        content = message.get("content") or ""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        return Message(
            role=message["role"],
            content=[self._part(part) for part in parts],
            tool_call_id=message.get("tool_call_id"),
        )

    def _execution(self, action: Action, output: dict[str, Any]) -> Execution:
        """With what it changed in the scene, which becomes a file."""
        record = execution_record(action, output)
        step: StepResult | None = output.get("step")
        if step is None or step.state_patch is None:
            return record
        return record.model_copy(update={"state_patch": self.writer.store_state_patch(step.state_patch)})

    def _part(self, part: dict[str, Any]) -> Part:
        if part["type"] == "text":
            return TextPart(text=part["text"])
        head, _, data = part["image_url"]["url"].partition(",")
        media_type = head.removeprefix("data:").removesuffix(";base64")
        stored: ImagePart = self.writer.store_image(base64.b64decode(data), media_type)
        return stored

    def _common(self, begun: _Begun, extra: dict[str, Any]) -> dict[str, Any]:
        request = extra.get("request")
        return {
            "seq": self.writer.n_lines,
            "step": begun.number,
            "response_model": extra.get("response_model"),
            "finish_reason": extra.get("finish_reason"),
            "request": Request(**request) if request else None,
            "usage": extra.get("usage"),
            "cost": _cost(extra),
            "started_at": begun.started_at,
            "model_seconds": round(extra.get("seconds", 0.0), 3),
        }


def _reply(messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The assistant message that led to these messages, {} where there was none."""
    return dict(messages[0].get("extra", {}).get("assistant") or {})


def _cost(extra: dict[str, Any]) -> Cost:
    known, source = extra.get("cost_is_known", False), extra.get("cost_source", "")
    return Cost(usd=extra.get("cost", 0.0), is_known=known, source=source)


def action_record(action: dict[str, Any]) -> Action:
    """An action of mini-swe-agent's, as it is recorded."""
    arguments = action.get("arguments") or {"command": action.get("command", "")}
    return Action(
        tool=action.get("tool", "bash"),
        arguments=arguments,
        tool_call_id=action.get("tool_call_id"),
        error=action.get("error"),
    )


def execution_record(action: Action, output: dict[str, Any]) -> Execution:
    """What the environment answered, as it is recorded."""
    blender: ExecutionResult | StepResult | None = output.get("blender") or output.get("step")
    return Execution(
        tool=action.tool,
        returncode=output.get("returncode"),
        output=output.get("output", ""),
        exception=output.get("exception_info", ""),
        seconds=round(output.get("seconds", 0.0), 3),
        blender=blender.to_json() if blender else None,
    )


def now() -> str:
    """The time in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def stamp() -> str:
    """The time as part of a folder name."""
    return time.strftime("%Y%m%d-%H%M%S")
