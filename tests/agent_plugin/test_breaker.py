"""A breaker trips on a row of equal losses, lets one episode at a time try, and gives up after a limit."""

from agent_plugin.breaker import LONGEST_PROBE_SECONDS, Breaker, Pause

FIRST = 15.0


class Clock:
    """Time that is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def breaker(clock: Clock, *, n: int = 3, max_pause: float = 1000.0) -> Breaker:
    return Breaker("m/a", n, max_pause, FIRST, clock=clock, now=lambda: "2026-01-01T00:00:00+00:00")


def tripped(clock: Clock, *, max_pause: float = 1000.0) -> tuple[Breaker, Pause]:
    made = breaker(clock, max_pause=max_pause)
    pauses = [made.lost("provider_down", "refused", is_probe=False) for _ in range(3)]
    assert pauses[:2] == [None, None]
    assert pauses[2] is not None
    return made, pauses[2]


def test_a_row_of_equal_losses_trips_it() -> None:
    """The pause names whose episodes, the class, the last error, how many and since when."""
    made, pause = tripped(Clock())
    assert not made.may_start()
    assert pause == Pause("m/a", "provider_down", "refused", 3, "2026-01-01T00:00:00+00:00", probe_in_seconds=FIRST)
    for part in (
        "Paused: episodes of m/a",
        "does not answer",
        "3 lost since 2026",
        "refused",
        "What to do: see",
        "15 s",
    ):
        assert part in str(pause)


def test_a_success_or_another_class_breaks_the_row() -> None:
    """Single losses are nothing to stop for."""
    made = breaker(Clock())
    for _ in range(4):
        assert made.lost("provider_down", "x", is_probe=False) is None
        assert made.lost("provider_down", "x", is_probe=False) is None
        assert made.succeeded() is None
    for loss in ("provider_down", "rate_limit", "provider_down", "rate_limit"):
        assert made.lost(loss, "x", is_probe=False) is None


def test_most_of_the_last_twenty_trip_it_too() -> None:
    """A success now and then does not keep a run going that loses four of five."""
    made = breaker(Clock(), n=6)
    pauses = []
    for _ in range(4):
        pauses += [made.lost("sandbox", "x", is_probe=False) for _ in range(5)]
        if made.pause is None:
            made.succeeded()
    assert pauses[:15] == [None] * 15
    assert any(pauses)


def test_one_episode_at_a_time_tries() -> None:
    """When it is due, and none beside it; each failure doubles the time to the next, up to five minutes."""
    clock = Clock()
    made, _ = tripped(clock, max_pause=1e6)
    waited = []
    for _ in range(7):
        assert not made.may_start()
        assert made.pause is not None
        waited.append(made.pause.probe_in_seconds)
        clock.now += made.pause.probe_in_seconds
        assert made.may_start()
        made.started()
        assert not made.may_start()
        assert made.lost("provider_down", "still", is_probe=True) is not None
    assert waited == [15, 30, 60, 120, 240, LONGEST_PROBE_SECONDS, LONGEST_PROBE_SECONDS]


def test_a_success_closes_it() -> None:
    """Also that of an episode that began before it tripped."""
    clock = Clock()
    made, _ = tripped(clock)
    pause = made.succeeded()
    assert pause is not None
    assert pause.n_lost == 3
    assert made.may_start()
    assert made.pause is None


def test_losses_that_began_before_put_nothing_off() -> None:
    """They are counted; the time of the next try stays."""
    clock = Clock()
    made, _ = tripped(clock)
    assert made.lost("provider_down", "late", is_probe=False) is None
    assert made.pause is not None
    assert made.pause.n_lost == 4
    clock.now += FIRST
    assert made.may_start()


def test_a_try_that_says_nothing_lets_another_one_try() -> None:
    """An episode that was stopped is neither a success nor a loss."""
    clock = Clock()
    made, _ = tripped(clock)
    clock.now += FIRST
    made.started()
    made.unresolved()
    assert made.may_start()


def test_it_gives_up_after_the_limit() -> None:
    """Not while an episode is out to try; the last try comes before the end. Nothing begins afterwards."""
    clock = Clock()
    made, _ = tripped(clock, max_pause=20)
    assert not made.give_up_if_due()
    clock.now += 15
    made.started()
    pause = made.lost("provider_down", "still", is_probe=True)
    assert pause is not None
    assert pause.probe_in_seconds == 5
    clock.now += 5
    made.started()
    assert not made.give_up_if_due()
    made.lost("provider_down", "still", is_probe=True)
    assert made.give_up_if_due()
    assert made.has_given_up
    assert not made.may_start()
    made.succeeded()  # of an episode that began before
    assert made.may_start()


def test_what_is_known_without_an_episode() -> None:
    """A full disk holds at once, is told once, and needs no episode to try when it is over."""
    made = breaker(Clock())
    assert made.hold("disk", "3 MiB are free") is not None
    assert made.hold("disk", "3 MiB are free") is None
    assert not made.may_start()
    assert made.release("sandbox") is None
    assert made.release("disk") is not None
    assert made.may_start()
