"""A second turn in each wire format: a brief, a reply with a call, its result, a picture. None of it is refused."""

from collections.abc import Callable
from typing import Any

from agent_plugin.loopback.answer import seal
from agent_plugin.loopback.gemini_rules import call_seal
from tests.agent_plugin.loopback.pictures import picture

Json = dict[str, Any]

FRAME = picture("red")
DATA = FRAME.split(",")[1]


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def chat() -> Json:
    call = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
    return {
        "model": "m",
        "messages": [
            {"role": "user", "content": "brief"},
            {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_content": "because"},
            {"role": "tool", "tool_call_id": "call_1", "content": [text("a file")]},
            {"role": "user", "content": [text("Frame 1"), {"type": "image_url", "image_url": {"url": FRAME}}]},
        ],
    }


def claude() -> Json:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": DATA}}
    return {
        "model": "claude",
        "max_tokens": 10,
        "messages": [
            {"role": "user", "content": [text("brief")]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "because", "signature": seal("because")},
                    {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "ls"}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [image]}]},
        ],
    }


def gemini() -> Json:
    arguments = {"command": "ls"}
    call = {"functionCall": {"name": "bash", "args": arguments}, "thoughtSignature": call_seal("bash", arguments)}
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "brief"}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [{"functionResponse": {"name": "bash", "response": {"output": "a file"}}}]},
        ]
    }


def bedrock() -> Json:
    thought = {"reasoningText": {"text": "because", "signature": seal("because")}}
    result = {"toolUseId": "tooluse_1", "content": [{"text": "a file"}]}
    return {
        "messages": [
            {"role": "user", "content": [{"text": "brief"}]},
            {
                "role": "assistant",
                "content": [
                    {"reasoningContent": thought},
                    {"toolUse": {"toolUseId": "tooluse_1", "name": "bash", "input": {"command": "ls"}}},
                ],
            },
            {"role": "user", "content": [{"toolResult": result}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "bash"}}]},
    }


MARK = "0123456789abcdefr"


def responses() -> Json:
    thought = {
        "id": f"rs_{MARK}",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": "because"}],
        "encrypted_content": seal("because"),
    }
    call = {"id": f"fc_{MARK}_1", "type": "function_call", "call_id": "call_1", "name": "bash", "arguments": "{}"}
    return {
        "model": "m",
        "store": False,
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "brief"}]},
            thought,
            call,
            {"type": "function_call_output", "call_id": "call_1", "output": "a file"},
        ],
    }


def ollama() -> Json:
    call = {"function": {"name": "bash", "arguments": {"command": "ls"}}}
    return {
        "model": "m",
        "stream": False,
        "messages": [
            {"role": "user", "content": "brief"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "content": "a file", "images": [DATA]},
        ],
    }


BODIES: dict[str, tuple[str, Callable[[], Json]]] = {
    "openai": ("/openai/v1/chat/completions", chat),
    "azure": ("/azure/openai/deployments/m/chat/completions?api-version=1", chat),
    "vllm": ("/vllm/v1/chat/completions", chat),
    "groq": ("/groq/openai/v1/chat/completions", chat),
    "mistral": ("/mistral/v1/chat/completions", chat),
    "deepseek": ("/deepseek/chat/completions", chat),
    "cohere": ("/cohere/v2/chat", chat),
    "anthropic": ("/anthropic/v1/messages", claude),
    "gemini": ("/gemini/v1beta/models/gemini-3-pro:generateContent", gemini),
    "bedrock": ("/bedrock/model/anthropic.claude-x/converse", bedrock),
    "responses": ("/openai/v1/responses", responses),
    "ollama": ("/ollama/api/chat", ollama),
}
