"""A key reaches the provider and nothing else: no record, no log, no error text, whichever family calls the model."""

import logging
from pathlib import Path

import pytest

from agent_plugin.loopback.injected import InjectedFault
from agent_plugin.loopback.server import loopback
from agent_plugin.models.routes import FAMILY_CLASSES, Family
from recorder.redaction import secrets_in
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.agent_plugin.models.episodes import launch, make_plan, script

pytestmark = CALLS_LITELLM

KEY = "canary-2718281828459045"
FAMILIES: list[tuple[str, Family | None]] = [
    ("openai", None),
    ("openai-responses", None),
    ("azure", None),
    ("anthropic", None),
    ("gemini", None),
    ("bedrock", None),
    ("ollama", None),
    ("openrouter", None),
    ("openrouter", "openrouter_responses"),
    ("vllm", "text"),
]


@pytest.mark.parametrize("by_environment", [False, True], ids=["config", "environment"])
@pytest.mark.parametrize(("name", "family"), FAMILIES)
def test_a_key_stays_between_us_and_the_provider(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    name: str,
    family: Family | None,
    by_environment: bool,
) -> None:
    """Not even where the provider itself repeats it in its complaint."""
    caplog.set_level(logging.DEBUG)
    with loopback(script(), key=KEY) as server:
        server.inject(InjectedFault(kind="unauthorized", turn=2, message=f"Incorrect API key provided: {KEY}."))
        route = server.route(name)
        specs = [f"model.model_class={FAMILY_CLASSES[family]}"] if family else []
        if by_environment:
            for variable, value in route.env.items():
                monkeypatch.setenv(variable, value)
        else:
            specs += [f"model.model_kwargs.{key}={value}" for key, value in route.kwargs.items()]
        plan = make_plan(tmp_path, [route.model], *specs)
        (outcome,) = launch(plan, tmp_path / "run")
        assert server.exchanges, outcome.error
    texts = {str(file): file.read_text(errors="replace") for file in (tmp_path / "run").rglob("*") if file.is_file()}
    printed = capfd.readouterr()
    told = {**texts, "error": outcome.error, "printed": printed.out + printed.err, "logged": caplog.text}
    assert [where for where, text in told.items() if KEY in text] == []
    assert any(file.endswith("trajectory.jsonl") for file in texts)


def test_a_token_of_a_header_is_a_secret_without_its_scheme() -> None:
    """A provider may repeat it alone."""
    found = secrets_in({"extra_headers": {"Authorization": "Bearer abcdefghijkl"}})
    assert set(found) == {"Bearer abcdefghijkl", "abcdefghijkl"}
