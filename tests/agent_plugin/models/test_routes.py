"""Which class calls a model and where its pictures go, from the table."""

import importlib
from typing import get_args

import pytest

from agent_plugin.models.routes import FAMILY_CLASSES, ROUTES, Family, family_for, placement_for, route_for


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("anthropic/claude-sonnet-4-5", "chat"),
        ("openai/gpt-4o", "chat"),
        ("openai/gpt-5", "responses"),
        ("openai/o3-mini", "responses"),
        ("openai/responses/gpt-4o", "responses"),
        ("azure/my-deployment", "chat"),
        ("azure/responses/my-deployment", "responses"),
        ("openrouter/openai/gpt-5", "openrouter"),
        ("portkey/gpt-5", "portkey"),
        ("ollama_chat/qwen3", "chat"),
        ("ollama/qwen3", "text"),
        ("scripted/demo", "chat"),
    ],
)
def test_the_name_chooses_the_class(model: str, family: Family) -> None:
    """By its beginning."""
    assert family_for(model) == family


def test_every_family_has_a_class() -> None:
    """Under the path that the table names."""
    assert set(FAMILY_CLASSES) == set(get_args(Family))
    for path in FAMILY_CLASSES.values():
        module, _, name = path.rpartition(".")
        assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize(
    ("model", "family", "placement"),
    [
        ("anthropic/claude-x", "chat", "native"),
        ("bedrock/us.amazon.nova-pro", "chat", "native"),
        ("bedrock/us.anthropic.claude-x", "chat", "native"),
        ("bedrock/meta.llama-x", "chat", "followup"),
        ("vertex_ai/claude-x", "chat", "native"),
        ("vertex_ai/gemini-x", "chat", "followup"),
        ("openai/gpt-x", "chat", "followup"),
        ("openai/gpt-5", "responses", "native"),
        ("openrouter/anthropic/claude-x", "openrouter", "followup"),
        ("anthropic/claude-x", "openrouter", "followup"),
        ("anthropic/claude-x", "portkey", "followup"),
        ("scripted/demo", "chat", "followup"),
        ("deepseek/deepseek-chat", "chat", "drop"),
        ("deepseek/deepseek-chat", "text", "drop"),
    ],
)
def test_the_route_decides(model: str, family: Family, placement: str) -> None:
    """`auto` follows the route, which is the class as well as the name; anything else is taken at its word."""
    assert placement_for(model, "auto", family) == placement
    assert placement_for(model, "native", family) == "native"


@pytest.mark.parametrize("family", get_args(Family))
def test_there_is_always_a_row(family: Family) -> None:
    """Whatever the model; no row is hidden by one before it, and each names its source."""
    assert route_for("nobody/knows", family).placement != "auto"
    for number, route in enumerate(ROUTES):
        hiding = [r for r in ROUTES[:number] if r.family in ("any", route.family) and not r.words]
        assert not any(route.prefix.startswith(r.prefix) for r in hiding), route
        assert route.source.split(":")[0].split(";")[0].split(" ")[0] in ("measured", "public", "memory", "limit",
            "same", "the"), route.source  # fmt: skip
