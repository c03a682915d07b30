"""Models that litellm reaches by chat completions with tool calls: most of them."""

from dataclasses import replace
from typing import Any, ClassVar

import litellm
from minisweagent.models.litellm_model import LitellmModel

from agent_plugin.models.mixin import BlenderModelConfig, BlenderModelMixin, Reply
from agent_plugin.models.routes import Family

_OF_A_MESSAGE = ("role", "content", "tool_calls", "reasoning_content")
"""What a body that the client could not read holds for the history."""


class NoChoices(Exception):
    """An answer with nothing in it."""


class BlenderLitellmModel(BlenderModelMixin, LitellmModel):
    """`run_blender` beside `bash` for any model that litellm reaches and that can call tools."""

    family: ClassVar[Family] = "chat"
    config: BlenderModelConfig

    def __init__(self, *, config_class: type = BlenderModelConfig, **kwargs: Any) -> None:
        super().__init__(config_class=config_class, **kwargs)
        self._set_up()
        register_scripted(self.config.model_name)

    def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        parameters = self._parameters(**kwargs)
        return litellm.completion(model=self.config.model_name, messages=messages, **self._offered(), **parameters)

    def read_reply(self, response: Any) -> Reply:
        return chat_reply(response.model_dump())

    def read_body(self, body: dict[str, Any]) -> Reply:
        reply = chat_reply(body)
        return replace(reply, message={k: v for k, v in reply.message.items() if k in _OF_A_MESSAGE})


def chat_reply(response: dict[str, Any]) -> Reply:
    """A chat completion, read. Raises NoChoices for one that holds no message."""
    choices = response.get("choices") or []
    message = choices[0].get("message") if choices else None
    if not isinstance(message, dict):
        raise NoChoices("the provider's answer holds no message")
    calls = [
        (call["function"].get("name") or "", call["function"].get("arguments"), call.get("id"))
        for call in message.get("tool_calls") or []
    ]
    return Reply(
        message={"role": "assistant", **message},
        calls=calls,
        finish_reason=choices[0].get("finish_reason"),
        model=response.get("model"),
        usage=response.get("usage"),
        response=response,
        is_cut_off=choices[0].get("finish_reason") == "length",
    )


def register_scripted(model_name: str) -> None:
    """Make litellm know `scripted/…`."""
    from agent_plugin.scripted_file import PROVIDER

    if model_name.startswith(f"{PROVIDER}/"):
        from agent_plugin.scripted import register_scripted_provider

        register_scripted_provider(model_name)
