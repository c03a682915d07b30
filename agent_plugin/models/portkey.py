"""Models behind a Portkey gateway. Its package (`portkey-ai`) is an extra; it is imported when such a model is made."""

from typing import Any, ClassVar

from agent_plugin.models.chat import chat_reply
from agent_plugin.models.mixin import BlenderModelConfig, BlenderModelMixin, Reply
from agent_plugin.models.routes import Family
from agent_plugin.models.wire import see_body

_PREFIX = "portkey/"
_NOT_SENT = ("api_key", "api_base", "drop_params", "timeout", "max_retries", "num_retries")
"""Parameters that are for litellm, or for us."""


class PortkeyMissing(Exception):
    """The package is not installed, or its key is not set."""


class PortkeyConfig(BlenderModelConfig):
    """Settings of a model behind Portkey."""

    provider: str = ""
    """Portkey's name of the provider, where no virtual key says it."""
    litellm_model_name_override: str = ""
    """The model's name in litellm's list of prices."""


def portkey_base() -> Any:
    """mini-swe-agent's class. Raises PortkeyMissing."""
    try:
        from minisweagent.models.portkey_model import PortkeyModel
    except ImportError as error:
        raise PortkeyMissing("Portkey needs its package: pip install portkey-ai (or blendscribe[portkey]).") from error
    return PortkeyModel


def portkey_class() -> type[BlenderModelMixin]:
    """The model class, made over mini-swe-agent's. Raises PortkeyMissing."""
    base = portkey_base()

    class BlenderPortkeyModel(BlenderModelMixin, base):  # type: ignore[misc, valid-type]
        """`run_blender` beside `bash` over Portkey's chat completions."""

        family: ClassVar[Family] = "portkey"
        config: PortkeyConfig
        client: Any

        def __init__(self, **kwargs: Any) -> None:
            try:
                super().__init__(config_class=PortkeyConfig, **kwargs)
            except ValueError as error:
                if "PORTKEY_API_KEY" in str(error):
                    raise PortkeyMissing("Set PORTKEY_API_KEY in the environment.") from error
                raise
            if base_url := self.config.model_kwargs.get("api_base"):
                self.client = self.client.copy(base_url=base_url)
            self._set_up()

        @property
        def price_name(self) -> str:
            return self.config.litellm_model_name_override or self.config.model_name.removeprefix(_PREFIX)

        def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
            settings = self.config.model_kwargs | kwargs
            sent = {k: v for k, v in settings.items() if k not in _NOT_SENT}
            body = {"model": self.config.model_name.removeprefix(_PREFIX), "messages": messages, **self._offered()}
            see_body(body | sent)
            client = self.client.with_options(max_retries=0, timeout=self.config.request_timeout)
            return client.chat.completions.create(**body, **sent)

        def read_reply(self, response: Any) -> Reply:
            return chat_reply(response.model_dump())

    return BlenderPortkeyModel


def BlenderPortkeyModel(**settings: Any) -> Any:  # noqa: N802 - mini-swe-agent looks for a class by this path
    """A model behind Portkey. Raises PortkeyMissing."""
    return portkey_class()(**settings)
