"""What each service takes and refuses, as data. Sources: public issues, named beside a line as repository#number."""

from dataclasses import dataclass
from typing import Literal

FormatName = Literal["openai_chat", "responses", "anthropic", "gemini", "bedrock", "ollama", "cohere"]
ErrorShape = Literal["openai", "azure", "vllm", "openrouter", "mistral"]
ReasoningField = Literal["reasoning_content", "reasoning_details", "reasoning", "none"]


@dataclass(frozen=True)
class ImageLimits:
    """None: no limit is known."""

    per_request: int | None = None
    per_message: int | None = None
    max_bytes: int | None = None
    """Of one picture, before base64."""
    many: int | None = None
    """With more pictures than this, none may be larger than `many_side` pixels either way."""
    many_side: int = 2000
    in_tool_results: bool = True
    """False: a picture in a tool result is refused."""
    at_all: bool = True
    """False: any picture is refused."""


@dataclass(frozen=True)
class Provider:
    """One service. Its name is the first part of the URL's path."""

    name: str
    formats: tuple[FormatName, ...] = ("openai_chat",)
    images: ImageLimits = ImageLimits(in_tool_results=False)
    call_id: str = "call_{key}_{turn}_{position}"
    max_call_id: int | None = None
    """The longest id that is taken back."""
    error_shape: ErrorShape = "openai"
    reasoning_field: ReasoningField = "reasoning_content"
    """Where a chat completion carries reasoning. OpenAI's own carries none."""
    wants_reasoning_back: bool = False
    """Refuses a reply with calls that comes back without the reasoning that it had."""
    refuses_unknown_fields: bool = False
    """Refuses a message with a field that is not OpenAI's."""
    refuses_malformed_arguments: bool = False
    """Refuses a history with tool-call arguments that are not JSON."""
    service_tier: str | None = None
    """Sent with each completion; litellm cannot read Groq's without."""
    has_cost: bool = False
    """The usage tells a price (OpenRouter)."""
    needs_key: bool = True
    is_signed: bool = False
    """The key is an AWS signature (version 4) or a bearer token."""


_CHAT_AND_RESPONSES: tuple[FormatName, ...] = ("openai_chat", "responses")
_NONE_IN_TOOLS = ImageLimits(in_tool_results=False)
_CLAUDE = ImageLimits(per_request=100, max_bytes=5 * 2**20, many=20)
"""100 on models with a context of 200k (claude-code#24541); 2000 px from the 21st on (charmbracelet/crush#3810)."""

PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        Provider(
            "openai",
            formats=_CHAT_AND_RESPONSES,
            images=ImageLimits(per_request=500, in_tool_results=False),
            max_call_id=40,
            reasoning_field="none",
        ),
        Provider(
            "azure",
            formats=_CHAT_AND_RESPONSES,
            images=ImageLimits(per_request=50, in_tool_results=False),
            max_call_id=40,
            error_shape="azure",
            reasoning_field="none",
        ),
        Provider("anthropic", formats=("anthropic",), images=_CLAUDE, call_id="toolu_{key}_{turn}_{position}"),
        Provider("gemini", formats=("gemini",), images=ImageLimits(per_request=3000)),
        Provider(
            "bedrock",
            formats=("bedrock",),
            # 20 pictures a message, 3.75 MB each (AWS API reference, Converse, ContentBlock)
            images=ImageLimits(per_request=100, per_message=20, max_bytes=3_932_160),
            call_id="tooluse_{key}_{turn}_{position}",
            is_signed=True,
        ),
        Provider("ollama", formats=("ollama", "openai_chat"), images=ImageLimits(), needs_key=False),
        Provider("cohere", formats=("cohere",), images=ImageLimits(per_request=20, in_tool_results=False)),
        Provider(
            "openrouter",
            formats=_CHAT_AND_RESPONSES,
            images=_NONE_IN_TOOLS,
            error_shape="openrouter",
            reasoning_field="reasoning_details",
            has_cost=True,
        ),
        Provider("portkey", formats=_CHAT_AND_RESPONSES, reasoning_field="none"),
        Provider(
            "vllm", error_shape="vllm", refuses_malformed_arguments=True, needs_key=False
        ),  # role=tool: vllm#43203
        Provider("sglang", error_shape="vllm", needs_key=False),
        Provider("lmstudio", needs_key=False),
        Provider("litellm-proxy", formats=_CHAT_AND_RESPONSES),
        Provider("deepseek", images=ImageLimits(at_all=False), wants_reasoning_back=True),  # dify-official-plugins#2306
        Provider(
            "mistral",
            images=ImageLimits(per_request=8, in_tool_results=False),
            # nine letters or digits, or it is refused
            call_id="{key}{turn:02d}{position}",
            error_shape="mistral",
            reasoning_field="none",
            refuses_unknown_fields=True,
        ),
        Provider(
            "groq",
            images=ImageLimits(per_request=5, in_tool_results=False),  # earendil-works/pi#401
            reasoning_field="reasoning",
            refuses_unknown_fields=True,
            service_tier="on_demand",
        ),
        Provider("xai"),
        Provider("together"),
        Provider("fireworks", images=ImageLimits(per_request=30, in_tool_results=False)),
    )
}
"""By the first part of the path."""
