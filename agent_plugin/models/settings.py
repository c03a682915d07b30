"""What a config may set under `model:` for every family. Imports no litellm: configs are checked without it."""

from pydantic import BaseModel, ConfigDict, Field

from agent_plugin.observations import ImagePlacement


class CallSettings(BaseModel):
    """How a model is called. Unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    image_placement: ImagePlacement = "auto"
    """Where frames go in a request: `native` (inside the tool result), `followup` (a user message after it), `drop`
    (nowhere, and the model is told), `auto` (what the route can take)."""
    image_window: int = Field(default=2, ge=0)
    """Results whose frames stay in a request; of older ones text and captions remain. 0: all."""
    image_slack: int = Field(default=4, ge=1)
    """Frames are taken out of that many results at once, so that a prompt cache breaks seldom."""
    max_images: int | None = Field(default=None, gt=0)
    """Pictures in one request. Null: the provider's limit, where one is known."""
    request_timeout: float = Field(default=600.0, gt=0)
    """Seconds by the clock that one request may take, whatever trickles in meanwhile."""
    retry_seconds: float = Field(default=900.0, ge=0)
    """Seconds after which a model call that failed is not tried again."""
    max_concurrency: int | None = Field(default=None, gt=0)
    """Calls that its provider gets at once, from all episodes together. Null: as many as there are workers. When the
    provider complains (429, overloaded) it is halved, and grows again slowly."""
    bash: bool | None = None
    """Give the model a shell, or none. Null: video tasks have one, scene tasks do not."""
