"""OpenRouter, asked directly: its own fields (reasoning details, the cost of a call) stay where it puts them."""

import json
import os
from typing import Any, ClassVar

import requests
from minisweagent.models.openrouter_model import OpenRouterModel
from minisweagent.models.openrouter_response_model import OpenRouterResponseModel

from agent_plugin.models.cache_marks import CacheMarks
from agent_plugin.models.chat import chat_reply
from agent_plugin.models.mixin import BlenderModelConfig, BlenderModelMixin, Reply
from agent_plugin.models.request import Dialect
from agent_plugin.models.responses import STATELESS, responses_reply
from agent_plugin.models.routes import Family
from agent_plugin.models.wire import see_body

DEFAULT_BASE = "https://openrouter.ai/api/v1"
_PREFIX = "openrouter/"
_NOT_SENT = ("api_key", "api_base", "drop_params", "timeout", "max_retries", "num_retries", "extra_headers")
"""Parameters that are for litellm, or for us."""


class OpenRouterError(Exception):
    """OpenRouter answered with an error."""

    def __init__(self, status_code: int, text: str, headers: Any) -> None:
        self.status_code, self.headers = status_code, headers
        super().__init__(f"HTTP {status_code}: {text}")


class _OpenRouterMixin(BlenderModelMixin):
    cache_marks: ClassVar[CacheMarks] = "part"
    config: BlenderModelConfig

    def __init__(self, **kwargs: Any) -> None:
        config = BlenderModelConfig(**kwargs)  # mini-swe-agent's class takes no class of settings
        super().__init__(model_name=config.model_name)  # type: ignore[call-arg]  # the class behind us in line
        self.config = config
        self._set_up()

    @property
    def api_name(self) -> str:
        """The model as OpenRouter names it."""
        return self.config.model_name.removeprefix(_PREFIX)

    @property
    def price_name(self) -> str:
        return _PREFIX + self.api_name

    def _post(self, path: str, payload: dict[str, Any], kwargs: dict[str, Any]) -> dict[str, Any]:
        """One request. Raises OpenRouterError, or what requests raises."""
        settings = self.config.model_kwargs | kwargs
        base = settings.get("api_base") or os.environ.get("OPENROUTER_API_BASE") or DEFAULT_BASE
        key = settings.get("api_key") or os.environ.get("OPENROUTER_API_KEY", "")
        headers = {
            "Authorization": f"Bearer {key}",
            "Content-Type": "application/json",
            **(settings.get("extra_headers") or {}),
        }
        body = payload | {k: v for k, v in settings.items() if k not in _NOT_SENT}
        see_body(body)
        answer = requests.post(
            f"{base}/{path}", headers=headers, data=json.dumps(body), timeout=self.config.request_timeout
        )
        if answer.status_code >= 400:
            raise OpenRouterError(answer.status_code, answer.text, answer.headers)
        found: dict[str, Any] = answer.json()
        if error := found.get("error"):  # also with status 200, when a backend fails
            code = error.get("code") if isinstance(error, dict) else None
            raise OpenRouterError(code if isinstance(code, int) else 502, json.dumps(error), answer.headers)
        return found


class BlenderOpenRouterModel(_OpenRouterMixin, OpenRouterModel):  # type: ignore[misc]  # its settings are others
    """`run_blender` beside `bash` over OpenRouter's chat completions."""

    family: ClassVar[Family] = "openrouter"

    def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        payload = {"model": self.api_name, "messages": messages, **self._offered(), "usage": {"include": True}}
        return self._post("chat/completions", payload, kwargs)

    def read_reply(self, response: Any) -> Reply:
        return chat_reply(response)


class BlenderOpenRouterResponseModel(_OpenRouterMixin, OpenRouterResponseModel):  # type: ignore[misc]
    """`run_blender` beside `bash` over OpenRouter's Responses API."""

    family: ClassVar[Family] = "openrouter_responses"
    dialect: ClassVar[Dialect] = "responses"

    def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        payload = {"model": self.api_name, "input": messages, **self._offered(), **STATELESS}
        return self._post("responses", payload, kwargs)

    def read_reply(self, response: Any) -> Reply:
        return responses_reply(response)
