"""Sixty-four episodes at once in one process, over four providers: nothing of one gets into another."""

import re
from pathlib import Path

import pytest

from agent_plugin.loopback.server import loopback
from agent_plugin.models.rebuild import rebuilt_requests
from agent_plugin.recorded_episode import read_episode
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.agent_plugin.models.episodes import launch, make_plan, script, three_turns

pytestmark = CALLS_LITELLM

N_TASKS = 16
ROUTES = ("openai", "anthropic", "gemini", "openrouter")


def test_nothing_mixes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trajectory holds its own words alone, its own ids, and requests that can be made again from it."""
    words = [f"word-{number:03}-" for number in range(N_TASKS)]
    with loopback(script(*(three_turns(f"task {word}.", word) for word in words))) as server:
        routes = [server.route(name) for name in ROUTES]
        for route in routes:
            for variable, value in route.env.items():
                monkeypatch.setenv(variable, value)
        tasks = [{"id": word.strip("-"), "brief": f"This is task {word}."} for word in words]
        plan = make_plan(tmp_path, [route.model for route in routes], tasks=tasks)
        outcomes = launch(plan, tmp_path / "run", n_workers=64)
        assert len(server.exchanges) == 64 * 3

    assert len(outcomes) == 64
    for outcome in outcomes:
        assert outcome.summary is not None, outcome.error
        assert outcome.summary.exit_status == "Submitted"
        assert outcome.summary.n_steps == 3
    files = sorted((tmp_path / "run").glob("episodes/*/*/1/trajectory.jsonl"))
    assert len(files) == 64
    for file in files:
        own = file.parts[-4]
        assert {f"word-{n}" for n in re.findall(r"word-(\d{3})", file.read_text())} == {own}
        episode = read_episode(file.parent)
        assert all(request.is_the_recorded_one for _, request in rebuilt_requests(episode))
        for step in episode.steps:
            assert [o.tool_call_id for o in step.observations] == [a.tool_call_id for a in step.actions]
