"""A provider that complains gets fewer calls at once, from all together, and slowly more again when it answers."""

import threading
import time

import pytest

from agent_plugin.models.deadline import Stopped
from agent_plugin.models.failures import Failure
from agent_plugin.models.rate import ProviderGate, gate_for
from agent_plugin.models.retry import Retries, RetryPolicy, ask, is_complaint
from tests.agent_plugin.models.test_retry import Clock, Provider, http

TOO_MANY = Failure("rate_limit", "429")


def held(gate: ProviderGate, n: int) -> tuple[list[threading.Thread], threading.Event]:
    """`n` calls that are under way until the event is set."""
    inside, end = threading.Barrier(n + 1), threading.Event()

    def call() -> None:
        with gate.call():
            inside.wait(10)
            end.wait(10)

    threads = [threading.Thread(target=call) for _ in range(n)]
    for thread in threads:
        thread.start()
    inside.wait(10)
    return threads, end


def test_without_complaints_nobody_waits() -> None:
    """Unless the config says how many calls the provider gets."""
    gate = ProviderGate()
    threads, end = held(gate, 40)
    end.set()
    for thread in threads:
        thread.join()
    assert ProviderGate(3).limit == 3


def test_a_complaint_halves_what_was_under_way() -> None:
    """Complaints of calls that were made at the same time count once; a later one halves again; never below one."""
    clock = Clock()
    gate = ProviderGate(clock=clock)
    threads, end = held(gate, 16)
    for _ in range(5):
        gate.complained(TOO_MANY, began_at=-0.5)
    assert gate.limit == 8
    gate.complained(TOO_MANY, began_at=2.0)
    assert gate.limit == 4
    for began_at in (3.0, 4.0, 5.0, 6.0):
        gate.complained(TOO_MANY, began_at)
    assert gate.limit == 1
    end.set()
    for thread in threads:
        thread.join()


def test_it_grows_by_one_a_round_of_answers() -> None:
    """Up to what the config allows."""
    gate = ProviderGate(4, Clock())
    gate.complained(TOO_MANY, 0.0)
    assert gate.limit == 1
    limits = []
    for _ in range(12):
        gate.answered()
        limits.append(gate.limit)
    assert limits[0] == 2
    assert limits[2:5] == [2, 3, 3]
    assert limits[-1] == 4


def test_a_wait_that_is_asked_for_holds_everybody() -> None:
    """Not only the one whose call was refused: nobody enters before."""
    gate = ProviderGate()
    gate.complained(Failure("rate_limit", "429", retry_after=0.6), time.monotonic())
    started, said = time.monotonic(), list[str]()
    with gate.call(say=said.append):
        assert time.monotonic() - started >= 0.6
    assert said == ["the provider's rate limit", ""]


def test_waiting_ends_when_the_run_is_stopped() -> None:
    """And leaves no place taken."""
    gate = ProviderGate(1)
    gate.complained(Failure("rate_limit", "429", retry_after=60), time.monotonic())
    with pytest.raises(Stopped), gate.call(is_stopped=lambda: True):
        raise AssertionError("entered")
    assert gate._n_inside == len(gate._line) == 0


def test_who_came_first_enters_first() -> None:
    """Among those that wait."""
    gate, order = ProviderGate(1), list[int]()
    threads, end = held(gate, 1)

    def call(number: int) -> None:
        with gate.call():
            order.append(number)

    for number in range(6):
        threads.append(threading.Thread(target=call, args=(number,)))
        threads[-1].start()
        while len(gate._line) <= number:
            time.sleep(0.001)
    end.set()
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4, 5]


def test_a_provider_has_one_gate() -> None:
    """By its route and address."""
    assert gate_for("chat openai", "http://a", 3) is gate_for("chat openai", "http://a", 3)
    assert gate_for("chat openai", "http://a", 3) is not gate_for("chat openai", "http://b", 3)


def test_what_is_a_complaint() -> None:
    """429, and a server that says that it is overloaded; not one that merely fails."""
    assert is_complaint(TOO_MANY)
    assert is_complaint(Failure("server", "Overloaded (529)"))
    assert is_complaint(Failure("server", "503", retry_after=3))
    assert not is_complaint(Failure("server", "500 internal error"))
    assert not is_complaint(Failure("unreachable", "refused"))


class Answering(Provider):
    """Complains for ever here, while it answers others until `until`."""

    def __init__(self, gate: ProviderGate, clock: Clock, until: float) -> None:
        super().__init__(http(429))
        self.gate, self.clock, self.until = gate, clock, until

    def __call__(self) -> str:
        if self.clock.now <= self.until:
            self.gate.answered()
        self.clock.now += 1.0
        return super().__call__()


@pytest.mark.parametrize(("until", "least", "most"), [(0.0, 50, 105), (300.0, 345, 405), (1e9, 400, 505)])
def test_a_storm_exhausts_nobody_while_others_are_answered(until: float, least: float, most: float) -> None:
    """The time for trying begins anew with each answer to somebody else, up to four times as long in all."""
    clock = Clock()
    gate = ProviderGate(clock=clock)
    sleeping = clock.sleep

    def sleep_and_open(seconds: float) -> None:
        sleeping(seconds)
        gate._closed_until = 0.0  # the gate waits by the real clock

    policy = RetryPolicy(5, 100, clock, sleep_and_open, gate=gate)
    with pytest.raises(Exception, match="did not answer"):
        ask(Answering(gate, clock, until), policy, Retries())
    assert least <= clock.now <= most
