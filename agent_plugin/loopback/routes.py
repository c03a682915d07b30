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
    """Environment variables that do the same; empty where litellm has none for the address."""


RouteMaker = Callable[[str, str], Route]
"""(base URL of the server, key) -> route."""


def _plain(provider: str, model: str, path: str, base: str = "", key_variable: str = "") -> RouteMaker:
    """A route that takes `api_base` and `api_key`."""

    def make(url: str, key: str) -> Route:
        api_base = f"{url}/{provider}{path}"
        kwargs = {"api_base": api_base, "api_key": key}
        if not base:
            return Route(model, kwargs)
        return Route(model, kwargs, {base: api_base} | ({key_variable: key} if key_variable else {}))

    return make


def _bedrock(model: str) -> RouteMaker:
    """Signed with credentials that are nobody's."""

    def make(url: str, key: str) -> Route:
        credentials = {"aws_access_key_id": key, "aws_secret_access_key": key, "aws_region_name": "us-east-1"}
        endpoint = {"aws_bedrock_runtime_endpoint": f"{url}/bedrock"}
        given = credentials | endpoint
        return Route(model, given, {name.upper(): value for name, value in given.items()})

    return make


def _azure(model: str) -> RouteMaker:
    """A deployment; the API's version is part of the URL."""

    def make(url: str, key: str) -> Route:
        api_base, version = f"{url}/azure", "2024-10-21"
        return Route(
            model,
            {"api_base": api_base, "api_key": key, "api_version": version},
            {"AZURE_API_BASE": api_base, "AZURE_API_KEY": key, "AZURE_API_VERSION": version},
        )

    return make


ROUTES: dict[str, RouteMaker] = {
    "openai": _plain("openai", "openai/gpt-4.1", "/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "openai-responses": _plain("openai", "openai/responses/gpt-5", "/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "azure": _azure("azure/gpt-4.1"),
    "anthropic": _plain("anthropic", "anthropic/claude-sonnet-4-5", "", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"),
    "gemini": _plain("gemini", "gemini/gemini-2.5-flash", "/v1beta", "GEMINI_API_BASE", "GEMINI_API_KEY"),
    "gemini-3": _plain("gemini", "gemini/gemini-3-pro-preview", "/v1beta", "GEMINI_API_BASE", "GEMINI_API_KEY"),
    "bedrock": _bedrock("bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0"),
    "bedrock-nova": _bedrock("bedrock/us.amazon.nova-pro-v1:0"),
    "ollama": _plain("ollama", "ollama_chat/qwen3-vl", "", "OLLAMA_API_BASE"),
    "cohere": _plain("cohere", "cohere_chat/command-a-03-2025", "/v2/chat", "COHERE_API_BASE", "COHERE_API_KEY"),
    "openrouter": _plain(
        "openrouter", "openrouter/qwen/qwen3-vl-32b-instruct", "/api/v1", "OPENROUTER_API_BASE", "OPENROUTER_API_KEY"
    ),
    "vllm": _plain("vllm", "hosted_vllm/qwen3-vl", "/v1", "HOSTED_VLLM_API_BASE", "HOSTED_VLLM_API_KEY"),
    "sglang": _plain("sglang", "openai/qwen3-vl", "/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
    "lmstudio": _plain("lmstudio", "lm_studio/qwen3-vl", "/v1", "LM_STUDIO_API_BASE", "LM_STUDIO_API_KEY"),
    "litellm-proxy": _plain(
        "litellm-proxy", "litellm_proxy/gpt-4.1", "", "LITELLM_PROXY_API_BASE", "LITELLM_PROXY_API_KEY"
    ),
    "deepseek": _plain("deepseek", "deepseek/deepseek-reasoner", "", "DEEPSEEK_API_BASE", "DEEPSEEK_API_KEY"),
    "mistral": _plain("mistral", "mistral/mistral-medium-latest", "/v1", "MISTRAL_AZURE_API_BASE", "MISTRAL_API_KEY"),
    "groq": _plain(
        "groq", "groq/meta-llama/llama-4-scout-17b-16e-instruct", "/openai/v1", "GROQ_API_BASE", "GROQ_API_KEY"
    ),
    "xai": _plain("xai", "xai/grok-4", "/v1", "XAI_API_BASE", "XAI_API_KEY"),
    "together": _plain("together", "together_ai/Qwen/Qwen3-VL-32B-Instruct", "/v1"),
    "fireworks": _plain(
        "fireworks",
        "fireworks_ai/accounts/fireworks/models/qwen2p5-vl-32b-instruct",
        "/inference/v1",
        "FIREWORKS_API_BASE",
        "FIREWORKS_API_KEY",
    ),
}
"""By the name that `LoopbackServer.route` takes."""
