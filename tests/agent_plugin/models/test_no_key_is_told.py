"""A key reaches the provider and nothing else: no record, no log, no error text, whichever family calls the model."""

import logging
from pathlib import Path

import pytest

from agent_plugin.loopback.injected import InjectedFault
from agent_plugin.loopback.server import loopback
from agent_plugin.models.routes import FAMILY_CLASSES, Family
from recorder.config_secrets import secrets_in
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


def test_what_a_gateway_wants_is_a_secret_as_well(tmp_path: Path) -> None:
    """Headers and query parameters of any name, an address with a signature: in no record, and in no complaint."""
    extra = {
        "extra_headers.X-Auth": "gate-31415926",
        "extra_headers.Cookie": "sid=cookie-2653589",
        "extra_headers.Ocp-Apim-Subscription-Key": "k7932384626433832",
        "extra_headers.Authorization": "Bearer b1b2b3",
        "extra_query.subscription": "sub-795028841",
    }
    hidden = ["gate-31415926", "cookie-2653589", "k7932384626433832", "b1b2b3", "sub-795028841", "sig-971693993"]
    with loopback(script()) as server:
        server.inject(InjectedFault(kind="invalid", turn=2, message=f"Not with {' or '.join(hidden[:-1])}."))
        route = server.route("openai")
        base = f"{route.kwargs['api_base']}?sig=sig-971693993"
        specs = [*_kwargs(extra), "model.retry_seconds=0", "model.request_timeout=20"]
        (ok,) = launch(make_plan(tmp_path, [route.model], *specs, *_kwargs(route.kwargs)), tmp_path / "run")
        specs += _kwargs(route.kwargs | {"api_base": base})
        (wrong,) = launch(make_plan(tmp_path, [route.model], *specs), tmp_path / "wrong")
    told = {str(f): f.read_text(errors="replace") for f in tmp_path.rglob("*") if f.is_file()}
    told |= {"error": ok.error, "error of the address": wrong.error}
    assert "RequestRejected" in ok.error
    assert [(where, secret) for where, text in told.items() for secret in hidden if secret in text] == []
    assert any(file.endswith("trajectory.jsonl") for file in told)


def _kwargs(kwargs: dict[str, str]) -> list[str]:
    return [f"model.model_kwargs.{key}={value}" for key, value in kwargs.items()]
