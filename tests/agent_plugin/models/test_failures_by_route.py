"""What litellm and the other clients make of a fault is told apart on every route, by one request an attempt."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from minisweagent.exceptions import InterruptAgentFlow

from agent_plugin.loopback.injected import FaultKind, InjectedFault
from agent_plugin.loopback.routes import ROUTES
from agent_plugin.loopback.server import LoopbackServer, loopback
from agent_plugin.model import auto_model
from agent_plugin.models.failures import (
    AuthenticationFailed,
    ConnectionLost,
    ModelCallFailed,
    ModelCallTimeout,
    ProviderFailed,
    RateLimited,
    RequestRejected,
    UnusableAnswer,
)
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.agent_plugin.models.episodes import script

pytestmark = CALLS_LITELLM

FAULTS: list[tuple[FaultKind, type[ModelCallFailed] | str]] = [
    ("invalid", RequestRejected),
    ("payment", ModelCallFailed),
    ("unauthorized", AuthenticationFailed),
    ("forbidden", AuthenticationFailed),
    ("not_found", RequestRejected),
    ("too_large", RequestRejected),
    ("rate_limit", RateLimited),
    ("server_error", ProviderFailed),
    ("unavailable", ProviderFailed),
    ("overloaded", ProviderFailed),
    ("cut", ConnectionLost),
    ("malformed", UnusableAnswer),
    ("drip", ModelCallTimeout),
    ("context_window", "ContextWindowExceeded"),
    ("content_policy", "ContentPolicyViolation"),
]


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with loopback(script()) as server:
        yield server


def model_for(server: LoopbackServer, name: str, **settings: Any) -> Any:
    route = server.route(name)
    return auto_model(model_name=route.model, model_kwargs=dict(route.kwargs), **settings)


def asked(server: LoopbackServer, name: str, kind: str, model: Any) -> Any:
    """What came of one question, in a conversation of its own."""
    try:
        return model.query([{"role": "system", "content": "s"}, {"role": "user", "content": f"{name} {kind}"}])
    except (ModelCallFailed, InterruptAgentFlow) as error:
        return error


@pytest.mark.parametrize(("kind", "expected"), FAULTS, ids=lambda v: v if isinstance(v, str) else "")
def test_each_fault_has_its_class(
    server: LoopbackServer, kind: FaultKind, expected: type[ModelCallFailed] | str
) -> None:
    """On all routes; one request was made, and the time was kept."""
    found, n_requests = {}, {}
    for name in ROUTES:
        server.forget()
        server.inject(InjectedFault(kind=kind, times=99, seconds=0.2))
        model = model_for(server, name, retry_seconds=0, request_timeout=0.6 if kind == "drip" else 20)
        started = time.monotonic()
        result = asked(server, name, kind, model)
        assert time.monotonic() - started < 10
        is_result = isinstance(result, InterruptAgentFlow)
        found[name] = result.messages[0]["extra"]["exit_status"] if is_result else type(result)
        n_requests[name] = sum(exchange.fault == kind for exchange in server.exchanges)
    if isinstance(expected, str):
        assert set(found.values()) == {expected}, found
    else:
        assert all(issubclass(kind_found, expected) for kind_found in found.values()), found
    assert set(n_requests.values()) == {1}, n_requests


@pytest.mark.parametrize("name", ROUTES)
def test_the_loop_is_ours_alone(server: LoopbackServer, name: str) -> None:
    """A fault, a wait, an answer: two requests, one retry in the record."""
    server.forget()
    server.inject(InjectedFault(kind="overloaded", times=1))
    message = asked(server, name, "overloaded", model_for(server, name))
    assert [retry["kind"] for retry in message["extra"]["request"]["retries"]] == ["server"]
    assert len([exchange for exchange in server.exchanges if exchange.request]) == 2
