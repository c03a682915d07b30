"""One loop asks again: how often and how long depends on the class of the failure, and nothing can hold it for ever."""

import threading
import time
from typing import Any

import pytest

from agent_plugin.models.deadline import RequestTookTooLong, Stopped, call_within, sleep_unless
from agent_plugin.models.failures import (
    AuthenticationFailed,
    ModelCallTimeout,
    ProviderFailed,
    ProviderUnreachable,
    RateLimited,
    RequestRejected,
    UnusableAnswer,
)
from agent_plugin.models.openrouter import OpenRouterError
from agent_plugin.models.retry import CallRefused, Retries, RetryPolicy, ask


class Clock:
    """Time that passes only by waiting."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


class Provider:
    """Raises these errors, one a call, then the last one for ever; None is an answer."""

    def __init__(self, *outcomes: Exception | None) -> None:
        self.outcomes, self.n_calls = outcomes, 0

    def __call__(self) -> str:
        outcome = self.outcomes[min(self.n_calls, len(self.outcomes) - 1)]
        self.n_calls += 1
        if outcome is not None:
            raise outcome
        return "answer"


def asked(provider: Provider, *, retry_seconds: float = 900) -> tuple[Any, Clock, Retries]:
    clock, retries = Clock(), Retries()
    try:
        result: Any = ask(provider, RetryPolicy(5, retry_seconds, clock, clock.sleep), retries)
    except Exception as error:  # noqa: BLE001 - the tests look at it
        result = error
    return result, clock, retries


def http(status: int, text: str = "x", **headers: str) -> OpenRouterError:
    return OpenRouterError(status, text, {name.replace("_", "-"): value for name, value in headers.items()})


def test_an_answer_is_not_asked_for_twice() -> None:
    """Nor is anything recorded."""
    provider = Provider(None)
    assert asked(provider)[0] == "answer"
    assert provider.n_calls == 1


def test_a_wait_that_is_asked_for_is_kept() -> None:
    """To the second, and recorded with the class."""
    result, clock, retries = asked(Provider(http(429, retry_after="7"), http(503), None))
    assert result == "answer"
    assert clock.waits[0] == 7
    assert 1.5 <= clock.waits[1] <= 2
    assert [(r["kind"], r["wait_seconds"]) for r in retries.records] == [
        ("rate_limit", 7.0),
        ("server", round(clock.waits[1], 3)),
    ]


def test_a_wait_that_is_too_long_ends_it_at_once() -> None:
    """With the number in the text."""
    result, clock, _ = asked(Provider(http(429, retry_after="3600")))
    assert isinstance(result, RateLimited)
    assert clock.waits == []
    assert "asks to wait 3600 s" in str(result)


def test_a_wait_of_nothing_is_no_invitation() -> None:
    """`Retry-After: 0` for ever is answered like no header at all: with growing waits."""
    provider = Provider(http(429, retry_after="0"))
    result, clock, _ = asked(provider, retry_seconds=300)
    assert isinstance(result, RateLimited)
    assert provider.n_calls < 15
    assert min(clock.waits) > 0.5


@pytest.mark.parametrize(
    ("error", "kind"),
    [(http(500), ProviderFailed), (http(429), RateLimited), (RequestTookTooLong("x"), ModelCallTimeout)],
)
def test_others_are_tried_until_the_time_is_up(error: Exception, kind: type[Exception]) -> None:
    """Waits grow to a minute; no attempt begins after `retry_seconds`."""
    provider = Provider(error)
    result, clock, _ = asked(provider, retry_seconds=300)
    assert isinstance(result, kind)
    assert 200 <= clock.now <= 300
    assert max(clock.waits) <= 60
    assert f"{provider.n_calls} attempts in" in str(result)


def test_a_server_that_is_not_there_is_given_up_early() -> None:
    """Within fifteen seconds, and it is said what to look at."""
    result, clock, _ = asked(Provider(ConnectionRefusedError("refused")))
    assert isinstance(result, ProviderUnreachable)
    assert 10 <= clock.now <= 15
    assert "Is it running, and is api_base right?" in str(result)


@pytest.mark.parametrize(
    ("error", "kind"), [(http(400), RequestRejected), (http(404), RequestRejected), (http(401), AuthenticationFailed)]
)
def test_a_refusal_is_not_asked_again(error: Exception, kind: type[Exception]) -> None:
    """It would be refused again."""
    provider = Provider(error)
    assert isinstance(asked(provider)[0], kind)
    assert provider.n_calls == 1


def test_an_answer_that_cannot_be_read_is_asked_for_three_times() -> None:
    """It may have been an accident."""
    provider = Provider(KeyError("choices"))
    assert isinstance(asked(provider)[0], UnusableAnswer)
    assert provider.n_calls == 3


@pytest.mark.parametrize(
    "text", ["maximum context length is 8192 tokens", "flagged by our content policy", "too many images: 9 > 8"]
)
def test_what_the_conversation_is_at_fault_for_is_the_callers(text: str) -> None:
    """It is told what it was, after one attempt."""
    provider = Provider(http(400, text))
    assert isinstance(asked(provider)[0], CallRefused)
    assert provider.n_calls == 1


def test_a_call_that_does_not_end_is_left() -> None:
    """At its time, by the clock; its thread keeps nobody from leaving, and its late answer is nobody's."""
    released = threading.Event()
    before = threading.active_count()
    started = time.monotonic()
    with pytest.raises(RequestTookTooLong, match=r"within 0\.3 s"):
        call_within(0.3, released.wait)
    assert time.monotonic() - started < 1
    left = [thread for thread in threading.enumerate() if thread.name == "model-call"]
    assert all(thread.daemon for thread in left)
    released.set()
    for thread in left:
        thread.join(5)
    assert threading.active_count() <= before


def test_what_a_call_raises_is_raised() -> None:
    """As it is, also what is no Exception."""
    with pytest.raises(KeyboardInterrupt):
        call_within(5, lambda: (_ for _ in ()).throw(KeyboardInterrupt))


def test_a_run_that_is_stopped_waits_neither_for_an_answer_nor_in_a_pause() -> None:
    """The call is left to itself, and nothing else is tried."""
    began = time.monotonic()
    with pytest.raises(Stopped):
        call_within(60, lambda: time.sleep(2), lambda: True)
    with pytest.raises(Stopped):
        sleep_unless(lambda: True, 60)
    assert time.monotonic() - began < 1.5
    retries = Retries()
    with pytest.raises(Stopped):
        ask(lambda: time.sleep(2), RetryPolicy(60, 60, is_stopped=lambda: True), retries)
    assert retries.records == []
