"""Talks to a loopback server through the real litellm."""

import os
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # else litellm asks the network for prices at import

import litellm
import pytest

from agent_plugin.loopback.server import LoopbackServer
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.agent_plugin.loopback.pictures import picture

litellm.suppress_debug_info = True

Message = dict[str, Any]

OVER_HTTP = [CALLS_LITELLM, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]
"""For modules that call litellm over HTTP: of clients made by several threads at once it drops all but one unclosed."""

TOOLS: list[Message] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": f"Runs {argument}.",
            "parameters": {"type": "object", "properties": {argument: {"type": "string"}}, "required": [argument]},
        },
    }
    for name, argument in (("bash", "command"), ("run_blender", "code"))
]
TWO_CALLS = [
    {"tool": "bash", "arguments": {"command": "ls"}},
    {"tool": "run_blender", "arguments": {"code": "print('ü')"}},
]
BRIEF = [{"role": "system", "content": "You are a test."}, {"role": "user", "content": "make a film"}]


def captioned(*captions: str) -> list[Message]:
    """Content parts: each caption, then a picture of its own colour."""
    colors = ("red", "blue", "green", "white")
    return [
        part
        for caption, color in zip(captions, colors, strict=False)
        for part in (
            {"type": "text", "text": f"{caption}\n"},
            {"type": "image_url", "image_url": {"url": picture(color)}},
        )
    ]


def ask(server: LoopbackServer, route: str, messages: list[Message], **kwargs: Any) -> Any:
    """One completion, tried once."""
    way = server.route(route)
    parameters = {"timeout": 5.0, "max_retries": 0, "tools": TOOLS} | way.kwargs | kwargs
    return litellm.completion(model=way.model, messages=messages, **parameters)


def after(reply: Any, *, native: bool, history: list[Message] | None = None) -> list[Message]:
    """The history with the reply and an answer to both its calls: two frames with captions, here or there."""
    message = reply.choices[0].message.model_dump()
    first, second = message["tool_calls"]
    texts = [[{"type": "text", "text": "RUN OK\n"}], [{"type": "text", "text": "STEP OK\n"}]]
    answers = [
        {
            "role": "tool",
            "tool_call_id": first["id"],
            "content": [*texts[0], *(captioned("Frame 1") if native else [])],
        },
        {
            "role": "tool",
            "tool_call_id": second["id"],
            "content": [*texts[1], *(captioned("Frame 2") if native else [])],
        },
    ]
    followup = [] if native else [{"role": "user", "content": captioned("Frame 1", "Frame 2")}]
    return [*(history or BRIEF), message, *answers, *followup]
