"""From history to request, as a pure function: what a model saw can be made again from what was recorded.

The order: bookkeeping out, calls made whole, window, placement, what the service does not know out, the dialect's own
shape, cache marks. Nothing here looks at a clock, an environment or a provider.
"""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from agent_plugin.models.cache_marks import CacheMarks, mark_for_cache
from agent_plugin.models.history import bare, without_items, without_reasoning
from agent_plugin.models.responses_items import to_items
from agent_plugin.models.text_blocks import to_plain_chat
from agent_plugin.models.window import ImageWindow, apply_window
from agent_plugin.observations import ImagePlacement, place_images
from recorder.records import Request

Dialect = Literal["chat", "responses", "text"]
"""The shape of a request: chat messages with tools, items of the Responses API, or chat without tools."""


@dataclass(frozen=True)
class RequestPolicy:
    """All that shapes a request beside the history."""

    dialect: Dialect = "chat"
    placement: ImagePlacement = "followup"
    """Never 'auto'."""
    window: ImageWindow = field(default_factory=ImageWindow)
    cache_marks: CacheMarks = "none"
    keeps_reasoning: bool = True
    tools: Sequence[dict[str, Any]] = ()
    """Told in words where the dialect has no tools."""


def request_messages(history: Sequence[dict[str, Any]], policy: RequestPolicy) -> list[dict[str, Any]]:
    """What is handed to the provider's client for a history of mini-swe-agent's messages, which is not edited."""
    messages = bare(history)
    if not policy.keeps_reasoning:
        messages = without_reasoning(messages)
    messages = place_images(apply_window(messages, policy.window), policy.placement)
    if policy.dialect == "responses":
        return to_items(messages)
    messages = without_items(messages)
    if policy.dialect == "text":
        messages = to_plain_chat(messages, policy.tools)
    return mark_for_cache(messages, policy.cache_marks)


def digest(messages: Sequence[dict[str, Any]]) -> str:
    """SHA-256 of the messages as canonical JSON."""
    return hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()


def recorded_policy(request: Request, tools: Sequence[dict[str, Any]]) -> RequestPolicy:
    """The policy of a recorded request; `tools` are those of the episode's header.

    Raises ValueError for one from before dialects were recorded.
    """
    if not request.dialect:
        raise ValueError("the record says too little of this request: it is from an older version")
    window = ImageWindow(request.image_window, request.image_slack, request.max_images, request.max_images_per_message)
    return RequestPolicy(
        dialect=request.dialect,
        placement=request.image_placement,
        window=window,
        cache_marks=request.cache_marks,
        keeps_reasoning=request.keeps_reasoning,
        tools=tools,
    )


def policy_facts(policy: RequestPolicy) -> dict[str, Any]:
    """The policy as fields of a recorded Request; `recorded_policy` reads them back."""
    window = policy.window
    return {
        "dialect": policy.dialect,
        "image_placement": policy.placement,
        "image_window": window.keep,
        "image_slack": window.slack,
        "max_images": window.max_images,
        "max_images_per_message": window.max_images_per_message,
        "cache_marks": policy.cache_marks,
        "keeps_reasoning": policy.keeps_reasoning,
    }
