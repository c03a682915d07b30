"""How litellm reaches each provider of the server: model name, arguments, and the same as environment variables."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Route:
    """One way to the server."""

    model: str
    """litellm's name."""
    kwargs: dict[str, str]
    """For litellm.completion, or `model_kwargs` of a model class."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables that do the same, where litellm has them."""


RouteMaker = Callable[[str, str], Route]
"""(base URL of the server, key) -> route."""


def _plain(provider: str, model: str, path: str, base: str = "", key_variable: str = "") -> RouteMaker:
    """A route that takes `api_base` and `api_key`."""

    def make(url: str, key: str) -> Route:
        api_base = f"{url}/{provider}{path}"
        env = {base: api_base} if base else {}
        return Route(model, {"api_base": api_base, "api_key": key}, env | ({key_variable: key} if key_variable else {}))

    return make


ROUTES: dict[str, RouteMaker] = {
    "openai": _plain("openai", "openai/gpt-4.1", "/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "anthropic": _plain("anthropic", "anthropic/claude-sonnet-4-5", "", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "gemini": _plain("gemini", "gemini/gemini-2.5-flash", "/v1beta", "GEMINI_API_BASE", "GEMINI_API_KEY"),
    "gemini-3": _plain("gemini", "gemini/gemini-3-pro-preview", "/v1beta", "GEMINI_API_BASE", "GEMINI_API_KEY"),
    "openrouter": _plain(
        "openrouter", "openrouter/qwen/qwen3-vl-32b-instruct", "/api/v1", "OPENROUTER_API_BASE", "OPENROUTER_API_KEY"
    ),
    "vllm": _plain("vllm", "hosted_vllm/qwen3-vl", "/v1", "HOSTED_VLLM_API_BASE"),
}
