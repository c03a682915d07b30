"""What is run in place of a recorded step: the recorded reply, one with edited code, or a model's new answer."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps
from pathlib import Path
from typing import Any

from minisweagent.exceptions import FormatError
from pydantic import ValidationError

from agent_plugin.agent import action_record
from agent_plugin.faults import bad_input
from agent_plugin.finals import DELIVERABLE
from agent_plugin.input_file import read_input
from agent_plugin.recorded_episode import RecordedEpisode, argument_of
from agent_plugin.tools import parse_call, tools_for
from harness.errors import HarnessError
from recorder.errors import CorruptEpisode
from recorder.records import Action, Step

_MODEL_CLASS = "agent_plugin.model.auto_model"
_OUR_CLASSES = "agent_plugin.models."
_KEPT = (
    *("set_cache_control", "image_placement", "image_window", "image_slack", "max_images"),
    *("request_timeout", "retry_seconds"),
)
"""Settings of the recorded model that another one is asked with too."""
_FREE = {"cost": 0.0, "cost_is_known": True}
"""No model was asked."""


@dataclass(frozen=True)
class Reply:
    """An assistant message with its actions, in mini-swe-agent's form."""

    message: dict[str, Any]
    format_error: Sequence[dict[str, Any]] = ()
    """The messages that answer a reply without a usable call."""
    note: str = ""

    @property
    def actions(self) -> list[Action]:
        return [action_record(action) for action in self.message.get("extra", {}).get("actions", [])]

    @property
    def text(self) -> str:
        return str(self.message.get("content") or "")


def recorded_reply(step: Step, kind: str) -> Reply:
    """What was run: without the calls of which the record does not say what they came to."""
    actions = [
        action.model_dump(exclude_none=True) | {"command": argument_of(action, kind) or ""}
        for action in step.actions[: len(step.executions)]
    ]
    return Reply(dict(step.assistant) | {"extra": {"actions": actions, **_FREE}})


def edited_reply(episode: RecordedEpisode, step: Step, file: Path) -> Reply:
    """The code of `file` instead: as the step of a scene; as the script of a video, which is then run.

    Raises BadInput for a file that cannot be that.
    """
    try:
        code = read_input(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise bad_input(f"cannot be read ({reason})", file=str(file)) from error
    calls = [("run_blender", {"code": code})]
    if not episode.is_scene:
        scripts = [argument_of(action, "video") for action in step.actions if action.tool == "run_blender"]
        script = next((script for script in scripts if script), DELIVERABLE)
        calls = [("bash", {"command": _write_command(script, code)}), ("run_blender", {"script": script})]
    tools = tools_for("scene" if episode.is_scene else "video", bash=True)
    actions, tool_calls = [], []
    for number, (name, arguments) in enumerate(calls, start=1):
        raw, call_id = dumps(arguments), f"edited_{number}"
        action = parse_call(name, raw, call_id, is_cut_off=False, tools=tools)
        if action.get("error"):
            raise bad_input(action["error"], file=str(file))
        actions.append(action)
        tool_calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": raw}})
    message = {"role": "assistant", "content": "", "tool_calls": tool_calls}
    return Reply(message | {"extra": {"actions": actions, **_FREE}})


def asked_reply(episode: RecordedEpisode, step: Step, model_name: str) -> Reply:
    """A model's answer to the conversation as it was before `step`. Imports litellm.

    Raises HarnessError when the model cannot be asked.
    """
    conversation = episode.conversation_before(step.step)
    from minisweagent.models import get_model

    try:
        model: Any = get_model(model_name, _model_settings(episode, model_name))
    except ValidationError as error:
        why = f"config.model is not valid ({error.errors()[0]['msg']})"
        raise CorruptEpisode(episode.paths.trajectory, 1, why) from error
    model.tools = list(episode.header.tools)  # as it was offered them then
    try:
        message = model.query(conversation)
    except FormatError as error:
        reply = dict(error.messages[0].get("extra", {}).get("assistant") or {})
        return Reply(reply | {"extra": {"actions": []}}, error.messages)
    except Exception as error:  # every provider raises its own; nothing of it is the episode's doing
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise HarnessError(f"The model '{model_name}' could not be asked: {text[:600]}") from error
    return Reply(message, note=_digest_note(step, model))


def _digest_note(step: Step, model: Any) -> str:
    """Whether the same model was sent the same bytes as then."""
    then, now = step.request, model.last_request
    if then is None or then.model != now["model"] or then.image_placement != now["image_placement"]:
        return ""
    if then.sha256 == now["sha256"]:
        return "The model was sent exactly the recorded request."
    return "The request is not byte for byte the recorded one: texts were cleaned of paths, or the version is another."


def _model_settings(episode: RecordedEpisode, model_name: str) -> dict[str, Any]:
    """The recorded ones, as far as they are there: secrets were removed and come from this environment."""
    recorded = episode.header.config.get("model")
    recorded = recorded if isinstance(recorded, dict) else {}
    kept = {key: recorded[key] for key in _KEPT if recorded.get(key) is not None}
    registry = recorded.get("litellm_model_registry")
    if isinstance(registry, str) and Path(registry).is_file():
        kept["litellm_model_registry"] = registry
    parameters = _without_removed(recorded.get("model_kwargs") or {})
    chosen = str(recorded.get("model_class", ""))
    is_ours = chosen.startswith(_OUR_CLASSES) and episode.header.model == model_name
    return {
        "model_class": chosen if is_ours else _MODEL_CLASS,
        "task_kind": episode.header.task_kind,
        "model_kwargs": parameters,
        **kept,
    }


def _without_removed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_removed(inner) for key, inner in value.items() if not _is_removed(inner)}
    return value


def _is_removed(value: Any) -> bool:
    return isinstance(value, str) and "[removed: " in value  # an address may hold one too


def _write_command(script: str, code: str) -> str:
    end = "END"
    while end in code:
        end += "_"
    newline = "" if code.endswith("\n") or not code else "\n"
    return f"cat > {shlex.quote(script)} <<'{end}'\n{code}{newline}{end}"
