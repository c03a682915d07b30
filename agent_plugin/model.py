"""mini-swe-agent model class with `run_blender` beside `bash`: tools out, actions in, observations with frames.

Works with plain mini-swe-agent (`model_class: agent_plugin.model.BlenderLitellmModel`) and under the launcher.
Importing this module imports litellm (4.5 s): it is imported only when a model is about to be called.
"""

import hashlib
import json
import os
import time
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else litellm asks the network for prices at import

import litellm
from minisweagent.exceptions import FormatError
from minisweagent.models.litellm_model import LitellmModel, LitellmModelConfig
from minisweagent.models.utils.anthropic_utils import _reorder_anthropic_thinking_blocks
from pydantic import ConfigDict

from agent_plugin.observations import (
    ImagePlacement,
    content_of,
    count_images,
    place_images,
    placement_for,
)
from agent_plugin.scripted import register_scripted_provider
from agent_plugin.scripted_file import PROVIDER
from agent_plugin.submission import SUBMIT
from agent_plugin.tools import TaskKind, parse_call, tools_for
from recorder.redaction import Redactor, secrets_in

NO_CALL = {
    "video": "The reply holds no tool call, so nothing was done. Call bash or run_blender; to hand in, call bash with "
    f"`echo {SUBMIT}` alone.",
    "scene": "The reply holds no tool call, so nothing was done. Call run_blender; to hand in, call it with "
    f"`print('{SUBMIT}')` alone.",
}
_MAX_INVALID = 2_000
CUT_OFF = "The reply reached the output token limit before a tool call. Answer shorter, with one tool call."


class BlenderModelConfig(LitellmModelConfig):
    """mini-swe-agent's model settings; unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    image_placement: ImagePlacement = "auto"
    """Where frames go in a request: `native` (inside the tool result), `followup` (a user message after it), `drop`."""
    task_kind: TaskKind = "video"
    """Which tools the model gets."""
    bash: bool | None = None
    """Give it a shell, or none. Null: video tasks have one, scene tasks do not."""


class BlenderLitellmModel(LitellmModel):
    """Any model that litellm reaches and that can call tools."""

    # a refused request does not get better by asking ten times
    abort_exceptions = [*LitellmModel.abort_exceptions, litellm.exceptions.BadRequestError]  # noqa: RUF012

    def __init__(self, *, config_class: type = BlenderModelConfig, **kwargs: Any) -> None:
        super().__init__(config_class=config_class, **kwargs)
        litellm.suppress_debug_info = True
        if self.config.model_name.startswith(f"{PROVIDER}/"):
            register_scripted_provider(self.config.model_name)
        self.tools = tools_for(self.config.task_kind, bash=self.config.bash)
        self.last_request: dict[str, Any] = {}
        self._redactor = Redactor.for_this_machine(secrets=secrets_in(self.config.model_kwargs))

    def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        parameters = self.config.model_kwargs | kwargs
        return litellm.completion(model=self.config.model_name, messages=messages, tools=self.tools, **parameters)

    def query(self, messages: list[dict[str, Any]], **kwargs: Any) -> dict[str, Any]:
        """One model call; the message's `extra` tells what was sent."""
        started = time.monotonic()
        try:
            message: dict[str, Any] = super().query(messages, **kwargs)
        except FormatError as error:  # its extra holds the response, so that the reply is not lost
            error.messages[0]["extra"] |= {"request": self.last_request, "seconds": time.monotonic() - started}
            raise
        message["extra"] |= {"request": self.last_request, "seconds": time.monotonic() - started}
        return message

    def _prepare_messages_for_api(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        placement = placement_for(self.config.model_name, self.config.image_placement)
        bare = [{k: v for k, v in message.items() if k != "extra"} for message in messages if message["role"] != "exit"]
        prepared = place_images([_with_whole_calls(m) for m in _reorder_anthropic_thinking_blocks(bare)], placement)
        if self.config.set_cache_control:
            prepared = _mark_last_for_cache(prepared)
        self.last_request = {
            "model": self.config.model_name,
            "n_messages": len(prepared),
            "n_images": count_images(prepared),
            "n_images_in_history": count_images(messages),
            "image_placement": placement,
            "sha256": hashlib.sha256(json.dumps(prepared, sort_keys=True).encode()).hexdigest(),
            "parameters": self._redactor.clean(self.config.model_kwargs),
        }
        return prepared

    def _parse_actions(self, response: Any) -> list[dict[str, Any]]:
        choice = response.choices[0]
        calls = choice.message.tool_calls or []
        is_cut_off = choice.finish_reason == "length"
        if not calls:
            content = CUT_OFF if is_cut_off else NO_CALL[self.config.task_kind]
            raise FormatError({"role": "user", "content": content, "extra": {"interrupt_type": "FormatError"}})
        return [
            parse_call(
                call.function.name or "",
                call.function.arguments,
                call.id,
                # only the last call can have been cut, even where its arguments look whole
                is_cut_off=is_cut_off and number == len(calls),
                tools=self.tools,
            )
            for number, call in enumerate(calls, start=1)
        ]

    def _calculate_cost(self, response: Any) -> dict[str, Any]:
        """A price that is not known is recorded as not known, never as nothing, and does not end the episode."""
        try:
            cost = float(litellm.cost_calculator.completion_cost(response, model=self.config.model_name))
        except Exception:  # noqa: BLE001 - litellm raises bare Exception for a model without a price
            return {"cost": 0.0, "cost_is_known": False}
        return {"cost": cost, "cost_is_known": True}

    def format_observation_messages(
        self, message: dict[str, Any], outputs: list[dict[str, Any]], template_vars: dict[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """One message for each action of `message`, in order, also for those that were not run."""
        del template_vars
        actions = message.get("extra", {}).get("actions", [])
        missing = {"error": "This call was not run, because an earlier one in the same reply ended the episode."}
        padded = [*outputs, *([missing] * (len(actions) - len(outputs)))]
        return [self._observation(action, output) for action, output in zip(actions, padded, strict=True)]

    def _observation(self, action: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
        extra = {k: v for k, v in output.items() if k in ("returncode", "exception_info")}
        content = content_of(output)
        observation: dict[str, Any] = {"role": "user", "content": content, "extra": extra | {"timestamp": time.time()}}
        if action.get("tool_call_id"):
            observation |= {"role": "tool", "tool_call_id": action["tool_call_id"]}
        return observation

    def get_template_vars(self, **kwargs: Any) -> dict[str, Any]:
        """What prompts may name: not the parameters, they can hold a key."""
        return {"model_name": self.config.model_name, **kwargs}

    def serialize(self) -> dict[str, Any]:
        """mini-swe-agent's own record, without what a config may hold of secrets."""
        cleaned: dict[str, Any] = self._redactor.clean(super().serialize())
        return cleaned


def _with_whole_calls(message: dict[str, Any]) -> dict[str, Any]:
    """The message with arguments that every route can send: litellm fails on those that are not a JSON object.

    What the model wrote stays in the history.
    """
    if not message.get("tool_calls"):
        return message
    return message | {"tool_calls": [_with_object(call) for call in message["tool_calls"]]}


def _with_object(call: dict[str, Any]) -> dict[str, Any]:
    raw = call["function"].get("arguments") or "{}"
    try:
        is_object = isinstance(json.loads(raw), dict)
    except (ValueError, RecursionError):
        is_object = False
    whole = raw if is_object else json.dumps({"invalid_arguments": raw[:_MAX_INVALID]})
    return call | {"function": call["function"] | {"arguments": whole}}


def _mark_last_for_cache(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A prompt-cache mark on the last message; mini-swe-agent's own asserts that a message has one part."""
    last = dict(messages[-1])
    if last["role"] == "tool" or not isinstance(last["content"], list):
        last["cache_control"] = {"type": "ephemeral"}
    else:
        last["content"] = [*last["content"][:-1], last["content"][-1] | {"cache_control": {"type": "ephemeral"}}]
    return [*messages[:-1], last]
