"""A fault at any point of an episode ends it in its class, in time, and the same command completes it."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_plugin.launch_plan import RunPlan
from agent_plugin.launch_settings import LaunchSettings
from agent_plugin.loopback.injected import FaultKind, InjectedFault
from agent_plugin.loopback.server import LoopbackServer, loopback
from agent_plugin.spending import Spending, Stop
from recorder.paths import RunPaths
from recorder.records import End, Step
from recorder.trajectory import read_trajectory
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.agent_plugin.models.episodes import launch, make_plan, script

pytestmark = CALLS_LITELLM

KEY = "canary-of-the-provider-31415926"
REQUEST_TIMEOUT, RETRY_SECONDS = 1.5, 2.0

INFRASTRUCTURE: list[tuple[FaultKind, str, float]] = [
    ("unauthorized", "AuthenticationFailed", 1.0),
    ("invalid", "RequestRejected", 1.0),
    ("not_found", "RequestRejected", 1.0),
    ("rate_limit", "RateLimited", RETRY_SECONDS),
    ("server_error", "ProviderFailed", RETRY_SECONDS),
    ("overloaded", "ProviderFailed", RETRY_SECONDS),
    ("cut", "ConnectionLost", RETRY_SECONDS),
    ("malformed", "UnusableAnswer", RETRY_SECONDS),
    ("drip", "ModelCallTimeout", REQUEST_TIMEOUT + RETRY_SECONDS),
    ("stall", "ModelCallTimeout", REQUEST_TIMEOUT + RETRY_SECONDS),
]
"""Fault, how the episode ends without a result, seconds until then (beside the episode's own)."""
RESULTS: list[tuple[FaultKind, str]] = [
    ("context_window", "ContextWindowExceeded"),
    ("content_policy", "ContentPolicyViolation"),
    ("refusal", "ContentPolicyViolation"),
]
OWN_SECONDS = 6.0
"""What three turns of bash may take on a busy machine."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackServer]:
    with loopback(script(), key=KEY) as server:
        folder = tmp_path_factory.mktemp("first")  # litellm is imported and the isolation measured: times are true now
        launch(plan_for(server, folder, "openai"), folder / "run")
        yield server


def plan_for(server: LoopbackServer, folder: Path, name: str, *specs: str) -> RunPlan:
    route = server.route(name)
    given = [f"model.model_kwargs.{key}={value}" for key, value in route.kwargs.items()]
    limits = [f"model.request_timeout={REQUEST_TIMEOUT}", f"model.retry_seconds={RETRY_SECONDS}"]
    return make_plan(folder, [route.model], *given, *limits, *specs)


def last_line(root: Path) -> End:
    (file,) = root.glob("episodes/*/*/*/trajectory.jsonl")
    last = list(read_trajectory(file))[-1]
    assert isinstance(last, End)
    return last


@pytest.mark.parametrize("turn", [1, 2, 3])
@pytest.mark.parametrize(("kind", "error", "seconds"), INFRASTRUCTURE, ids=lambda v: v if isinstance(v, str) else "")
def test_a_fault_of_the_provider_is_no_result(
    server: LoopbackServer, tmp_path: Path, kind: FaultKind, error: str, seconds: float, turn: int
) -> None:
    """It ends in its class and in time, with the steps before it on disk; when it is over, the run is completed."""
    plan = plan_for(server, tmp_path, "openai")
    server.inject(InjectedFault(kind=kind, turn=turn, times=99, seconds=0.3))
    started = time.monotonic()
    (outcome,) = launch(plan, tmp_path / "run")
    assert time.monotonic() - started < seconds + OWN_SECONDS
    assert outcome.summary is None
    assert outcome.error.startswith(f"{error}: ")
    assert KEY not in outcome.error
    assert last_line(tmp_path / "run").exit_status == error
    (aside,) = (tmp_path / "run").glob("episodes/*/*/1.infrastructure-1/trajectory.jsonl")
    assert sum(isinstance(line, Step) for line in read_trajectory(aside)) == turn - 1

    server.inject()
    (outcome,) = launch(plan, tmp_path / "run")
    assert outcome.summary is not None
    assert (outcome.summary.exit_status, outcome.summary.n_steps) == ("Submitted", 3)


@pytest.mark.parametrize("turn", [1, 3])
@pytest.mark.parametrize(("kind", "status"), RESULTS)
@pytest.mark.parametrize("route", ["openai", "anthropic", "openai-responses", "openrouter"])
def test_what_the_conversation_is_at_fault_for_is_a_result(
    server: LoopbackServer, tmp_path: Path, route: str, kind: FaultKind, status: str, turn: int
) -> None:
    """The episode ends as what it is, and is not played again."""
    plan = plan_for(server, tmp_path, route)
    server.inject(InjectedFault(kind=kind, turn=turn, times=99))
    (outcome,) = launch(plan, tmp_path / "run")
    assert outcome.summary is not None
    assert (outcome.summary.exit_status, outcome.summary.verdict) == (status, "fail")
    end = last_line(tmp_path / "run")
    assert (end.exit_status, bool(end.error)) == (status, True)
    server.inject()
    assert launch(plan, tmp_path / "run")[0].is_from_before


@pytest.mark.parametrize("as_date", [False, True])
def test_a_wait_that_the_provider_asks_for(server: LoopbackServer, tmp_path: Path, as_date: bool) -> None:
    """Is kept, and recorded with its class; there is one request for each attempt, none by the client itself."""
    plan = plan_for(server, tmp_path, "anthropic", "model.retry_seconds=9")
    server.inject(InjectedFault(kind="rate_limit", turn=2, retry_after=2, retry_after_as_date=as_date))
    server.forget()
    (outcome,) = launch(plan, tmp_path / "run")
    assert outcome.summary is not None
    (file,) = (tmp_path / "run").glob("episodes/*/*/*/trajectory.jsonl")
    steps = [line for line in read_trajectory(file) if isinstance(line, Step)]
    retries = [step.request.retries for step in steps if step.request]
    assert [len(of_step) for of_step in retries] == [0, 1, 0]
    assert retries[1][0].kind == "rate_limit"
    assert 0.5 <= retries[1][0].wait_seconds <= 2
    assert len(server.exchanges) == 4


@pytest.mark.parametrize("kind", ["empty", "length"])
def test_a_fault_of_the_model_goes_on(server: LoopbackServer, tmp_path: Path, kind: FaultKind) -> None:
    """An empty answer, or a call that was cut off, is told to the model."""
    server.inject(InjectedFault(kind=kind, turn=1))
    (outcome,) = launch(plan_for(server, tmp_path, "openai"), tmp_path / "run")
    assert outcome.summary is not None
    assert (outcome.summary.exit_status, outcome.summary.n_steps) == ("Submitted", 4)


def test_a_limit_of_an_episode_holds_before_the_next_call(server: LoopbackServer, tmp_path: Path) -> None:
    """OpenRouter tells the cost of each call; the one beyond the limit is not made."""
    server.inject()
    server.forget()
    (outcome,) = launch(plan_for(server, tmp_path, "openrouter", "agent.cost_limit=1e-9"), tmp_path / "run")
    assert outcome.summary is not None
    assert (outcome.summary.exit_status, outcome.summary.n_steps) == ("LimitsExceeded", 1)
    assert outcome.summary.cost.is_known
    assert outcome.summary.cost.usd > 0
    assert len(server.exchanges) == 1


def test_a_limit_of_the_run_holds_over_all_its_launches(server: LoopbackServer, tmp_path: Path) -> None:
    """What was broken off counts too; with a higher limit the run is completed."""
    server.inject()
    server.forget()
    plan, root = plan_for(server, tmp_path, "openrouter"), tmp_path / "run"
    (outcome,) = launch(plan, root, stop=Stop(spending=Spending(LaunchSettings(cost_limit=1e-9), root)))
    assert outcome.summary is None
    assert "the run's cost limit of $1e-09 is reached" in outcome.error
    assert len(server.exchanges) == 1
    (outcome,) = launch(plan, root, stop=Stop(spending=Spending(LaunchSettings(cost_limit=1e-9), root)))
    assert outcome.ended_as == "NotBegun"
    assert len(server.exchanges) == 1
    assert Spending(LaunchSettings(cost_limit=1.0), root).usd > 0
    assert launch(plan, root, stop=Stop(spending=Spending(LaunchSettings(cost_limit=1.0), root)))[0].summary is not None
    assert RunPaths(root).episodes()[0].is_finished


def test_a_server_that_is_gone(tmp_path: Path) -> None:
    """It is given up within fifteen seconds, and told what to look at; when it is back, the run goes on."""
    server = LoopbackServer(script())
    port = int(server.url.rpartition(":")[2])
    plan = plan_for(server, tmp_path, "vllm", "model.retry_seconds=900")
    server.close()
    started = time.monotonic()
    (outcome,) = launch(plan, tmp_path / "run")
    assert time.monotonic() - started < 15 + OWN_SECONDS
    assert outcome.error.startswith("ProviderUnreachable: The model's server cannot be reached (")
    with loopback(script(), port=port):
        (outcome,) = launch(plan, tmp_path / "run")
    assert outcome.summary is not None
    assert outcome.summary.exit_status == "Submitted"


@pytest.mark.parametrize("kind", ["stall", "overloaded"])
def test_a_run_that_is_stopped_waits_for_no_model(server: LoopbackServer, tmp_path: Path, kind: FaultKind) -> None:
    """Neither for an answer nor until a provider is asked again; the record says so, and its steps are whole."""
    server.inject(InjectedFault(kind=kind, turn=2, times=99, retry_after=60 if kind == "overloaded" else None))
    plan, stop = plan_for(server, tmp_path, "openai", "model.request_timeout=60", "model.retry_seconds=90"), Stop()
    threading.Timer(3.0, stop.requested.set).start()
    started = time.monotonic()
    (outcome,) = launch(plan, tmp_path / "run", stop=stop)
    assert time.monotonic() - started < 3.0 + OWN_SECONDS
    assert (outcome.ended_as, outcome.error) == ("Stopped", "stopped by the user")
    assert last_line(tmp_path / "run").exit_status == "Stopped"
