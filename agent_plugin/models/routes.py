"""What is known of each route, as data: which class calls it, where its pictures may go, how many, what to leave out.

A route is a family of model classes and the start of a model name. The first row that fits counts. Sources: `measured`
(on the wire, litellm 1.98 to 1.110), `public` (the provider's documentation or public reports of its refusals),
`memory` (not verified; the adaptation is the careful one).
"""

from dataclasses import dataclass
from typing import Literal

from agent_plugin.observations import ImagePlacement

Family = Literal["chat", "responses", "openrouter", "openrouter_responses", "portkey", "text"]
"""Which of our classes calls the model."""

FAMILY_CLASSES: dict[Family, str] = {
    "chat": "agent_plugin.models.chat.BlenderLitellmModel",
    "responses": "agent_plugin.models.responses.BlenderLitellmResponseModel",
    "openrouter": "agent_plugin.models.openrouter.BlenderOpenRouterModel",
    "openrouter_responses": "agent_plugin.models.openrouter.BlenderOpenRouterResponseModel",
    "portkey": "agent_plugin.models.portkey.BlenderPortkeyModel",
    "text": "agent_plugin.models.text.BlenderTextModel",
}

_FAMILY_OF_PREFIX: tuple[tuple[str, Family], ...] = (
    ("openai/responses/", "responses"),
    ("azure/responses/", "responses"),
    # OpenAI's reasoning models give their reasoning back in the Responses API only
    ("openai/gpt-5", "responses"),
    ("openai/o1", "responses"),
    ("openai/o3", "responses"),
    ("openai/o4", "responses"),
    ("openai/codex", "responses"),
    ("openrouter/", "openrouter"),
    ("portkey/", "portkey"),
    # these endpoints complete text and know no tools
    ("ollama/", "text"),
    ("text-completion-openai/", "text"),
)


@dataclass(frozen=True)
class Route:
    """One row."""

    family: Family | Literal["any"]
    prefix: str
    placement: ImagePlacement
    source: str
    words: tuple[str, ...] = ()
    """The model's name has to hold one of these. Empty: any name."""
    max_images: int | None = None
    """Pictures that a request may hold."""
    max_images_per_message: int | None = None
    keeps_reasoning: bool = True
    """False: the service refuses messages with fields that it does not know, so reasoning is left out."""


ROUTES = (
    # text only: litellm drops pictures on these two without a word
    Route("any", "deepseek/", "drop", "measured"),
    Route("any", "sambanova/", "drop", "measured"),
    # a tool result may hold pictures
    Route("chat", "anthropic/", "native", "measured; limit public (100 a request)", max_images=100),
    Route("chat", "vertex_ai/claude", "native", "measured; limit public", max_images=100),
    Route(
        "chat", "bedrock/", "native", "measured; limit public (AWS API reference: 20 a message)",
        words=("claude", "nova"), max_images=100, max_images_per_message=20,
    ),
    Route("chat", "bedrock/", "followup", "limit public (AWS API reference)", max_images_per_message=20),
    Route("responses", "openai/", "native", "measured; limit memory (500 a request)", max_images=500),
    Route("responses", "azure/", "native", "same shape as openai/; limit public (50 a request)", max_images=50),
    Route("responses", "", "native", "the Responses API's function_call_output takes input_image"),
    Route("openrouter_responses", "", "followup", "public: backends differ in what a tool result may hold"),
    # a user message after the results holds them
    Route("chat", "openai/", "followup", "measured; limit memory (500 a request)", max_images=500),
    Route("chat", "azure/", "followup", "measured; limit public (50 a request)", max_images=50),
    Route("chat", "groq/", "followup", "measured; limit public (5 a request)", max_images=5, keeps_reasoning=False),
    Route("chat", "mistral/", "followup", "measured; limit memory (8 a request)", max_images=8, keeps_reasoning=False),
    Route("chat", "cerebras/", "followup", "measured", keeps_reasoning=False),
    Route("chat", "fireworks_ai/", "followup", "measured; limit public (30 a request)", max_images=30),
    Route("chat", "cohere_chat/", "followup", "limit memory (20 a request)", max_images=20),
    Route("chat", "gemini/", "followup", "measured: captions inside a tool result are joined"),
    Route("chat", "vertex_ai/", "followup", "same shape as gemini/"),
    Route("chat", "ollama_chat/", "followup", "measured: a message's pictures are a list beside its text"),
    Route("openrouter", "", "followup", "public: most backends refuse pictures in a tool message"),
    Route("portkey", "", "followup", "public: a gateway to backends that differ"),
    Route("any", "", "followup", "measured for hosted_vllm/, litellm_proxy/, moonshot/, xai/, together_ai/"),
)  # fmt: skip


def family_for(model_name: str) -> Family:
    """The class that calls a model, by its name."""
    return next((family for prefix, family in _FAMILY_OF_PREFIX if model_name.startswith(prefix)), "chat")


def route_for(model_name: str, family: Family = "chat") -> Route:
    """The row of a model. There always is one."""
    return next(route for route in ROUTES if _fits(route, model_name, family))


def placement_for(model_name: str, wanted: ImagePlacement, family: Family = "chat") -> ImagePlacement:
    """Where pictures go on this route. Never 'auto'."""
    return route_for(model_name, family).placement if wanted == "auto" else wanted


def _fits(route: Route, model_name: str, family: Family) -> bool:
    is_family = route.family in ("any", family)
    has_word = not route.words or any(word in model_name for word in route.words)
    return is_family and has_word and model_name.startswith(route.prefix)
