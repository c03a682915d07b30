"""The wire formats, and which path speaks which."""

import re

from agent_plugin.loopback.anthropic import AnthropicMessages
from agent_plugin.loopback.bedrock import BedrockConverse
from agent_plugin.loopback.cohere import CohereChat
from agent_plugin.loopback.gemini import GeminiGenerate
from agent_plugin.loopback.ollama import OllamaChat
from agent_plugin.loopback.openai_chat import OpenAIChat
from agent_plugin.loopback.providers import PROVIDERS, FormatName, Provider
from agent_plugin.loopback.responses import OpenAIResponses
from agent_plugin.loopback.wire import WireFormat

WIRE_FORMATS: dict[FormatName, WireFormat] = {
    "openai_chat": OpenAIChat(),
    "responses": OpenAIResponses(),
    "anthropic": AnthropicMessages(),
    "gemini": GeminiGenerate(),
    "bedrock": BedrockConverse(),
    "ollama": OllamaChat(),
    "cohere": CohereChat(),
}
_PATHS: tuple[tuple[FormatName, re.Pattern[str]], ...] = (
    ("openai_chat", re.compile(r".*/chat/completions")),
    ("responses", re.compile(r".*/responses")),
    ("anthropic", re.compile(r".*/v1/messages")),
    ("gemini", re.compile(r".*/models/[^/]+:generateContent")),
    ("bedrock", re.compile(r".*/model/[^/]+/converse")),
    ("ollama", re.compile(r".*/api/chat")),
    ("cohere", re.compile(r".*/v2/chat")),
)


def provider_of(path: str) -> Provider | None:
    """The provider that a path belongs to: its first part."""
    return PROVIDERS.get(path.lstrip("/").split("/", 1)[0])


def format_of(path: str, provider: Provider) -> FormatName | None:
    """The format that is spoken at a path, None where this provider speaks none there."""
    name = next((name for name, pattern in _PATHS if pattern.fullmatch(path)), None)
    return name if name in provider.formats else None
