"""A run stops before the call that its limits do not allow; what was lost counts, and an unknown cost is no nothing."""

from pathlib import Path
from typing import Any

import pytest

from agent_plugin.config import load_config
from agent_plugin.launch_settings import LaunchSettings
from agent_plugin.launcher import EpisodeOutcome
from agent_plugin.loopback.injected import InjectedFault
from agent_plugin.loopback.server import LoopbackServer, loopback
from agent_plugin.preflight import cost_faults
from agent_plugin.spending import Spending, Stop
from agent_plugin.tally import TALLY, Spent, tokens_of
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.agent_plugin.models.episodes import launch, make_plan, script

pytestmark = CALLS_LITELLM


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (None, 0),
        ({}, 0),
        ({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}, 15),
        ({"prompt_tokens": 10, "completion_tokens": 5}, 15),
        ({"input_tokens": 7, "output_tokens": 2}, 9),
        ({"input_tokens": 7, "output_tokens": 2, "total_tokens": 12}, 12),
        ({"total_tokens": "many", "prompt_tokens": True}, 0),
    ],
)
def test_tokens_are_read_in_any_providers_words(usage: dict[str, Any] | None, tokens: int) -> None:
    """The larger of the total and its parts: reasoning may stand in one alone."""
    assert tokens_of(usage) == tokens


def test_without_limits_nothing_is_read_and_nothing_stops(tmp_path: Path) -> None:
    """Not even a folder has to be there."""
    assert Spending(LaunchSettings(), tmp_path / "none").reached() == ""


def test_the_time_of_a_launch(tmp_path: Path) -> None:
    """By the clock, from when it began."""
    now = [0.0]
    spending = Spending(LaunchSettings(wall_time_limit_seconds=60), tmp_path, clock=lambda: now[0])
    now[0] = 59.0
    assert spending.reached() == ""
    now[0] = 60.0
    assert spending.reached() == "the limit of 60 s for one launch is reached"


def test_calls_tokens_and_dollars_of_this_process_count(tmp_path: Path) -> None:
    """Each limit by itself, with what it is and how much there was."""
    limits = [
        (LaunchSettings(call_limit=2), "the run's limit of 2 model calls is reached"),
        (LaunchSettings(token_limit=1500), "the run's limit of 1,500 tokens is reached (2,000 so far)"),
        (LaunchSettings(cost_limit=0.5), "the run's cost limit of $0.5 is reached ($0.6000 so far)"),
    ]
    made = [Spending(settings, tmp_path) for settings, _ in limits]
    TALLY.add(0.3, {"total_tokens": 1000}, is_cost_known=True)
    assert [spending.reached() for spending in made] == ["", "", ""]
    TALLY.add(0.3, {"total_tokens": 1000}, is_cost_known=True)
    assert [spending.reached() for spending in made] == [told for _, told in limits]


def test_an_unknown_cost_stops_a_run_with_a_limit_in_dollars(tmp_path: Path) -> None:
    """It is said what to do; where the user allows it, such a call counts as nothing."""
    strict = Spending(LaunchSettings(cost_limit=5), tmp_path)
    allowed = Spending(LaunchSettings(cost_limit=5, allow_unknown_cost=True), tmp_path)
    without = Spending(LaunchSettings(call_limit=5), tmp_path)
    TALLY.add(0.0, None, is_cost_known=False)
    assert strict.reached().startswith("a model told no price: what its calls cost is not known")
    assert "model.litellm_model_registry" in strict.reached()
    assert "--allow-unknown-cost" in strict.reached()
    assert (allowed.reached(), without.reached()) == ("", "")


def test_models_without_a_price_are_found_before_anything_starts() -> None:
    """Only where a limit in dollars was set; not those that may tell the cost themselves, and no scripted ones."""
    limited = load_config(["launch.cost_limit=5"])
    models = ["hosted_vllm/mine", "openai/gpt-4o-mini", "openrouter/x/y", "scripted/demo"]
    (fault,) = cost_faults(models, limited)
    assert str(fault).startswith("-m hosted_vllm/mine: has no known price: what its calls cost is not known")
    assert cost_faults(models, load_config([])) == []
    assert cost_faults(models, load_config(["launch.cost_limit=5", "launch.allow_unknown_cost=true"])) == []


# over launches


@pytest.fixture(scope="module")
def server() -> Any:
    with loopback(script()) as server:
        yield server


def played(server: LoopbackServer, folder: Path, *specs: str) -> tuple[EpisodeOutcome, Spent]:
    """One launch of an episode of three calls, and what the run has spent then by its records alone."""
    route = server.route("openrouter")
    given = [f"model.model_kwargs.{key}={value}" for key, value in route.kwargs.items()]
    plan = make_plan(folder, [route.model], *given, "model.retry_seconds=0", *specs)
    root, settings = folder / "run", plan.config.launch
    (outcome,) = launch(plan, root, stop=Stop(spending=Spending(settings, root)))
    everything = LaunchSettings(token_limit=1, call_limit=1, cost_limit=1)
    return outcome, Spending(everything, root).spent


def test_what_was_lost_counts_in_the_next_launch(server: LoopbackServer, tmp_path: Path) -> None:
    """Two calls were paid for before the provider failed: a limit of two calls leaves nothing to do."""
    server.inject(InjectedFault(kind="server_error", turn=3, times=99))
    outcome, spent = played(server, tmp_path)
    assert outcome.loss == "provider_down"
    assert (spent.calls, spent.of_unknown_cost) == (2, 0)
    assert spent.usd > 0
    assert spent.tokens > 0
    server.inject()
    server.forget()
    outcome, _ = played(server, tmp_path, "launch.call_limit=2")
    assert outcome.error == "not begun: the run's limit of 2 model calls is reached"
    outcome, _ = played(server, tmp_path, f"launch.token_limit={spent.tokens}")
    assert "tokens is reached" in outcome.error
    assert server.exchanges == []
    outcome, after = played(server, tmp_path, "launch.call_limit=9")
    assert outcome.summary is not None
    assert after.calls == 5


def test_a_limit_of_tokens_ends_an_episode_as_a_result(server: LoopbackServer, tmp_path: Path) -> None:
    """`agent.token_limit`, asked before each call, like the other limits of an episode."""
    server.inject()
    outcome, _ = played(server, tmp_path, "agent.token_limit=1")
    assert outcome.summary is not None
    assert (outcome.summary.exit_status, outcome.summary.n_steps) == ("LimitsExceeded", 1)
