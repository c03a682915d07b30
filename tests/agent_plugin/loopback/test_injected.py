"""Each fault gives what it promises, in litellm's own classes, and is counted for each conversation."""

import http.client
import json
import logging
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import litellm
import pytest

from agent_plugin.faults import BadInput
from agent_plugin.loopback.injected import FaultPlan, InjectedFault, load_faults
from agent_plugin.loopback.server import LoopbackServer, loopback
from tests.agent_plugin.loopback.scripts import script
from tests.agent_plugin.loopback.talk import BRIEF, OVER_HTTP, ask

pytestmark = OVER_HTTP

CALL = {"tool": "bash", "arguments": {"command": "ls -la"}}
SCRIPT = script({"text": "one", "calls": [CALL]}, {"text": "two", "calls": [CALL]}, {"text": "three"})
ERRORS = litellm.exceptions


@pytest.fixture(scope="module")
def running() -> Iterator[LoopbackServer]:
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    with loopback(SCRIPT) as server:
        yield server


@pytest.fixture
def server(running: LoopbackServer) -> LoopbackServer:
    running.inject()
    return running


CLASSES: dict[str, dict[str, Any]] = {
    "invalid": {"*": ERRORS.BadRequestError},
    "unauthorized": {"*": ERRORS.AuthenticationError},
    "not_found": {"*": ERRORS.NotFoundError},
    "rate_limit": {"*": ERRORS.RateLimitError},
    "payment": {"*": ERRORS.APIError, "bedrock": ERRORS.PermissionDeniedError},
    "server_error": {"*": ERRORS.InternalServerError, "azure": ERRORS.APIError, "openrouter": ERRORS.APIError,
                     "bedrock": ERRORS.ServiceUnavailableError},
    "unavailable": {"*": ERRORS.ServiceUnavailableError},
    "overloaded": {"*": ERRORS.ServiceUnavailableError, "anthropic": ERRORS.InternalServerError,
                   "gemini": ERRORS.InternalServerError},
    "context_window": {"*": ERRORS.ContextWindowExceededError, "openrouter": ERRORS.BadRequestError,
                       "ollama": ERRORS.BadRequestError},
    "content_policy": {"*": ERRORS.ContentPolicyViolationError, "gemini": ERRORS.BadRequestError,
                       "bedrock": ERRORS.BadRequestError, "ollama": ERRORS.BadRequestError,
                       "cohere": ERRORS.BadRequestError, "openrouter": ERRORS.BadRequestError},
}  # fmt: skip
"""Fault -> litellm's class, on every route (`*`) but those named: what litellm 1.110 makes of it."""
FORMATS = ("openai", "openai-responses", "azure", "anthropic", "gemini", "bedrock", "ollama", "cohere", "openrouter")


@pytest.mark.parametrize("route", FORMATS)
@pytest.mark.parametrize("kind", CLASSES)
def test_errors_become_the_right_class(server: LoopbackServer, route: str, kind: Any) -> None:
    """Once, as asked; the next try is played."""
    server.inject(InjectedFault(kind=kind))
    expected = CLASSES[kind].get(route, CLASSES[kind]["*"])
    with pytest.raises(Exception) as caught:  # noqa: PT011 - the class is what is measured
        ask(server, route, BRIEF)
    if kind == "payment" and route in ("anthropic", "gemini", "ollama", "cohere"):
        expected = ERRORS.PaymentRequiredError
    assert type(caught.value) is expected
    assert server.exchanges[-1].fault == kind
    assert ask(server, route, BRIEF).choices[0].finish_reason == "tool_calls"


def post(server: LoopbackServer, messages: list[dict[str, Any]]) -> http.client.HTTPResponse:
    """Without litellm."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
    headers = {"Authorization": "Bearer x", "Content-Type": "application/json"}
    body = json.dumps({"model": "m", "messages": messages})
    connection.request("POST", "/openai/v1/chat/completions", body, headers)
    response = connection.getresponse()
    response.read()
    connection.close()
    return response


def test_retry_after_in_seconds_or_as_a_date(server: LoopbackServer) -> None:
    """Both forms that HTTP has."""
    server.inject(
        InjectedFault(kind="rate_limit", retry_after=1.5),
        InjectedFault(kind="unavailable", retry_after=60, retry_after_as_date=True),
    )
    first, second = post(server, BRIEF), post(server, BRIEF)
    assert (first.status, first.headers["Retry-After"]) == (429, "1.5")
    assert second.status == 503
    assert 55 < parsedate_to_datetime(second.headers["Retry-After"]).timestamp() - time.time() < 61


def test_litellm_hands_retry_after_on(server: LoopbackServer) -> None:
    """The exception holds the response with its header."""
    server.inject(InjectedFault(kind="rate_limit", retry_after=7))
    with pytest.raises(ERRORS.RateLimitError) as caught:
        ask(server, "openai", BRIEF)
    assert caught.value.response.headers["retry-after"] == "7"


@pytest.mark.parametrize("route", FORMATS)
def test_a_stall_ends_in_a_timeout(server: LoopbackServer, route: str) -> None:
    """No byte comes; the client's own timeout ends it."""
    server.inject(InjectedFault(kind="stall"))
    started = time.monotonic()
    with pytest.raises((ERRORS.Timeout, ERRORS.APIConnectionError)):
        ask(server, route, BRIEF, timeout=0.3)
    assert time.monotonic() - started < 3


def test_a_drip_defeats_the_clients_timeout(server: LoopbackServer) -> None:
    """litellm's timeout is between two bytes: the whole takes far longer, and arrives."""
    server.inject(InjectedFault(kind="drip", seconds=0.002))
    started = time.monotonic()
    assert ask(server, "openai", BRIEF, timeout=0.3).choices[0].message.content == "one"
    assert time.monotonic() - started > 0.6


@pytest.mark.parametrize("kind", ["cut", "malformed"])
@pytest.mark.parametrize("route", FORMATS)
def test_half_an_answer_is_none(server: LoopbackServer, route: str, kind: Any) -> None:
    """Closed in mid-body, or JSON that breaks off: an error, and the next try is played."""
    server.inject(InjectedFault(kind=kind))
    kinds = (ERRORS.APIError, ERRORS.APIConnectionError, ERRORS.InternalServerError, ERRORS.BadRequestError)
    with pytest.raises(kinds):
        ask(server, route, BRIEF)
    assert ask(server, route, BRIEF).choices[0].message.tool_calls


@pytest.mark.parametrize("route", FORMATS)
def test_a_refusal_holds_no_call(server: LoopbackServer, route: str) -> None:
    """The model declines, in the service's shape; Ollama and the Responses API have no finish reason for it."""
    server.inject(InjectedFault(kind="refusal"))
    choice = ask(server, route, BRIEF).choices[0]
    assert not choice.message.tool_calls
    says_so = route not in ("ollama", "openai-responses", "cohere")
    assert choice.finish_reason == ("content_filter" if says_so else "stop")


@pytest.mark.parametrize("route", FORMATS)
def test_an_empty_answer_is_empty(server: LoopbackServer, route: str) -> None:
    """Neither words nor calls, and no error."""
    server.inject(InjectedFault(kind="empty"))
    choice = ask(server, route, BRIEF).choices[0]
    assert (choice.message.content or "", choice.message.tool_calls or []) == ("", [])


@pytest.mark.parametrize("route", FORMATS)
def test_the_output_limit_cuts_the_last_call(server: LoopbackServer, route: str) -> None:
    """Its JSON breaks off; where the service parses calls itself, it is empty (Claude) or left out (Gemini, Ollama)."""
    server.inject(InjectedFault(kind="length"))
    choice = ask(server, route, BRIEF).choices[0]
    assert choice.finish_reason == "length"
    arguments = [call.function.arguments for call in choice.message.tool_calls or []]
    if route in ("gemini", "ollama"):
        assert arguments == []
    elif route in ("anthropic", "bedrock"):
        assert arguments == ["{}"]
    else:
        assert arguments == ['{"command"']


def reply_with(server: LoopbackServer, history: list[dict[str, Any]]) -> Any:
    return ask(server, "openai", history).choices[0]


def answered(history: list[dict[str, Any]], choice: Any) -> list[dict[str, Any]]:
    message = choice.message.model_dump()
    results = [
        {"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in message.get("tool_calls") or ()
    ]
    return [*history, message, *(results or [{"role": "user", "content": "call a tool"}])]


def test_a_spoiled_reply_is_no_turn(server: LoopbackServer) -> None:
    """The script goes on with the turn that was spoiled, whether the reply stays in the history or not."""
    server.inject(InjectedFault(kind="length", turn=2), InjectedFault(kind="refusal", turn=3))
    history = answered(BRIEF, reply_with(server, BRIEF))
    cut = reply_with(server, history)
    assert (cut.finish_reason, server.exchanges[-1].turn) == ("length", 2)
    kept = answered(history, cut)
    second = reply_with(server, kept)
    assert (second.message.content, server.exchanges[-1].turn) == ("two", 2)
    kept = answered(kept, second)
    assert reply_with(server, kept).finish_reason == "content_filter"
    assert reply_with(server, kept).message.content == "three"  # dropped and asked again


def test_faults_choose_their_place() -> None:
    """Turn, request, conversation, route and number of times; each conversation counts for itself."""
    plan = FaultPlan(
        [
            InjectedFault(kind="server_error", turn=2, times=2),
            InjectedFault(kind="rate_limit", request=2, conversation="ball"),
            InjectedFault(kind="payment", route="gemini", times=9),
        ]
    )

    def kinds(key: str, brief: str, route: str, *turns: int) -> list[str]:
        taken = [plan.take(key, brief, route, turn - 1, turn) for turn in turns]
        return [fault.kind if fault else "" for fault in taken]

    assert kinds("a", "a cube", "openai", 1, 2, 2, 2) == ["", "server_error", "server_error", ""]
    assert kinds("b", "a ball", "openai", 1, 1, 1) == ["", "rate_limit", ""]
    assert kinds("c", "a cube", "gemini", 1, 3) == ["payment", "payment"]
    assert kinds("a", "a cube", "openai", 2) == [""]


def test_conversations_with_the_same_brief_are_told_apart_by_a_header(server: LoopbackServer) -> None:
    """Else they share their counts."""
    server.inject(InjectedFault(kind="server_error"))
    for name in ("e1", "e2"):
        headers = {"x-loopback-conversation": name}
        with pytest.raises(ERRORS.InternalServerError):
            ask(server, "openai", BRIEF, extra_headers=headers)
        assert ask(server, "openai", BRIEF, extra_headers=headers).choices[0].message.content == "one"
        assert server.exchanges[-1].conversation == name


def test_faults_from_a_file(tmp_path: Path) -> None:
    """As they are written; every mistake is told with its place."""
    path = tmp_path / "faults.yaml"
    path.write_text("faults:\n  - {kind: rate_limit, turn: 2, times: 3, retry_after: 1}\n  - {kind: drip}\n")
    assert load_faults(path) == [
        InjectedFault(kind="rate_limit", turn=2, times=3, retry_after=1),
        InjectedFault(kind="drip"),
    ]
    path.write_text("faults:\n  - {kind: flood}\n  - {kind: drip, turn: 0, secs: 1}\n")
    with pytest.raises(BadInput) as caught:
        load_faults(path)
    assert len(caught.value.faults) == 3
    path.write_text("- drip")
    with pytest.raises(BadInput, match="a mapping with the key 'faults'"):
        load_faults(path)
