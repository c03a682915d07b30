"""A call whose arguments no client can read is the model's fault: a step, paid once, that the model is told of."""

from pathlib import Path

import pytest

from agent_plugin.loopback.server import loopback
from agent_plugin.models.failures import unreadable_arguments
from agent_plugin.scripted_file import ScriptedFile
from recorder.records import Step
from recorder.trajectory import read_trajectory
from tests.agent_plugin.conftest import CALLS_LITELLM, SUBMIT, bash
from tests.agent_plugin.models.episodes import launch, make_plan, script

pytestmark = CALLS_LITELLM

UNREADABLE = {
    "brackets": "[" * 50_000,
    "deep": '{"command": ' + "[" * 20_000 + "]" * 20_000 + "}",
    "number": '{"command": ' + "9" * 6_000 + "}",
}


def turns(raw: str) -> ScriptedFile:
    """The bad call beside a good one, then the end."""
    bad = {"tool": "bash", "raw_arguments": raw}
    told = {"expect": ["good", "not valid JSON"], "calls": [bash(SUBMIT)]}
    return script({"when": "", "turns": [{"calls": [bash("echo good"), bad]}, told]})


@pytest.mark.parametrize("raw", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("name", ["openai", "mistral", "vllm"])
def test_it_is_a_step_of_the_episode(tmp_path: Path, name: str, raw: str) -> None:
    """With its usage and cost, never tried again, and the good call beside it is run."""
    with loopback(turns(raw)) as server:
        route = server.route(name)
        specs = [f"model.model_kwargs.{key}={value}" for key, value in route.kwargs.items()]
        (outcome,) = launch(make_plan(tmp_path, [route.model], *specs, "model.request_timeout=20"), tmp_path / "run")
        n_requests = len(server.exchanges)
    assert outcome.error == ""
    assert outcome.summary is not None
    assert (outcome.summary.exit_status, n_requests) == ("Submitted", 2)
    (file,) = (tmp_path / "run").glob("episodes/*/*/1/trajectory.jsonl")
    first, second = [line for line in read_trajectory(file) if isinstance(line, Step)]
    assert first.usage is not None
    assert first.usage["total_tokens"] > 0
    assert first.cost.is_known == second.cost.is_known
    assert first.request is not None
    assert first.request.retries == []
    assert "good" in first.executions[0].output
    assert [action.error is None for action in first.actions] == [True, False]


def test_only_what_the_model_wrote_counts() -> None:
    """Another recursion, another value: the client's own failure."""
    assert not unreadable_arguments(RecursionError("maximum recursion depth exceeded"))
    assert not unreadable_arguments(ValueError("invalid literal"))
