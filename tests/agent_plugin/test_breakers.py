"""The failing provider of one model holds back that model alone; what fails on the machine holds back every one."""

from agent_plugin.breakers import Breakers
from agent_plugin.launch_settings import LaunchSettings
from agent_plugin.losses import LossClass


def lose(breakers: Breakers, model: str, loss: LossClass, n: int) -> None:
    for _ in range(n):
        breakers.lost(model, loss, "x", is_probe=False)


def made(max_pause: float = 100.0) -> tuple[Breakers, list[float]]:
    now = [0.0]
    settings = LaunchSettings(breaker_losses=3, max_pause_seconds=max_pause)
    return Breakers(["a", "b"], settings, clock=lambda: now[0]), now


def test_a_provider_stops_its_own_model_alone() -> None:
    """The other one goes on."""
    breakers, _ = made()
    lose(breakers, "a", "provider_down", 3)
    assert (breakers.may_start("a"), breakers.may_start("b")) == (False, True)
    assert breakers.is_paused


def test_the_machine_stops_all() -> None:
    """Losses of different models count together."""
    breakers, _ = made()
    lose(breakers, "a", "interpreter", 2)
    lose(breakers, "b", "interpreter", 1)
    assert (breakers.may_start("a"), breakers.may_start("b")) == (False, False)
    assert breakers.succeeded("b").resumed[0].model == ""
    assert breakers.may_start("a")


def test_a_try_for_the_machine_that_ends_at_the_provider_is_over() -> None:
    """Else no other episode would ever try."""
    breakers, now = made()
    lose(breakers, "a", "disk", 3)
    now[0] = 15.0
    assert breakers.may_start("b")
    assert breakers.started("b")
    assert not breakers.may_start("b")
    breakers.lost("b", "rate_limit", "x", is_probe=True)
    assert breakers.may_start("b")


def test_giving_up_names_the_models() -> None:
    """One model's provider gives up that model; the machine gives up all."""
    breakers, now = made(10.0)
    lose(breakers, "a", "provider_down", 3)
    now[0] = 10.0
    assert list(breakers.given_up()) == ["a"]
    lose(breakers, "b", "sandbox", 3)
    now[0] = 20.0
    assert sorted(breakers.given_up()) == ["a", "b"]
