"""Models that litellm reaches by the Responses API, where OpenAI's reasoning models keep their reasoning."""

from typing import Any, ClassVar

import litellm
from minisweagent.models.litellm_response_model import LitellmResponseModel

from agent_plugin.models.mixin import BlenderModelConfig, BlenderModelMixin, Reply
from agent_plugin.models.request import Dialect
from agent_plugin.models.responses_items import finish_reason, reply_message
from agent_plugin.models.routes import Family

STATELESS: dict[str, Any] = {"store": False, "include": ["reasoning.encrypted_content"]}
"""Nothing is kept by the provider: the reasoning comes back encrypted, and is sent again."""


class BlenderLitellmResponseModel(BlenderModelMixin, LitellmResponseModel):
    """`run_blender` beside `bash` over the Responses API. The history holds chat messages, as for every family."""

    family: ClassVar[Family] = "responses"
    dialect: ClassVar[Dialect] = "responses"
    config: BlenderModelConfig

    def __init__(self, *, config_class: type = BlenderModelConfig, **kwargs: Any) -> None:
        super().__init__(config_class=config_class, **kwargs)
        self._set_up()

    def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        parameters = STATELESS | self._parameters(**kwargs)
        # `openai/responses/x` is how litellm names this API within chat completions
        name = self.config.model_name.replace("/responses/", "/", 1)
        return litellm.responses(model=name, input=messages, **self._offered(), **parameters)

    def read_reply(self, response: Any) -> Reply:
        return responses_reply(response.model_dump())


def responses_reply(response: dict[str, Any]) -> Reply:
    """An answer of the Responses API, read."""
    message = reply_message(response)
    calls = [
        (call["function"]["name"], call["function"]["arguments"], call["id"]) for call in message["tool_calls"] or []
    ]
    finish = finish_reason(response)
    return Reply(
        message=message,
        calls=calls,
        finish_reason=finish,
        model=response.get("model"),
        usage=response.get("usage"),
        response=response,
        is_cut_off=finish == "length",
    )
