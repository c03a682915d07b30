"""The same episode through every route: real litellm, real Blender, a provider on 127.0.0.1. `make routes` runs it.

Each test prints a line for docs/routes.md, which `table.py` writes.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from agent_plugin.config import load_config
from agent_plugin.episode import EpisodeKey, run_episode
from agent_plugin.loopback.server import LoopbackServer, loopback
from agent_plugin.models.rebuild import rebuilt_requests
from agent_plugin.models.routes import FAMILY_CLASSES, family_for, placement_for
from agent_plugin.recorded_episode import read_episode
from agent_plugin.tasks import Task
from recorder.paths import EpisodePaths
from recorder.records import EpisodeSummary, Step
from tests.agent_plugin.conftest import CALLS_LITELLM
from tests.routes.episode_script import IN_CALLS, IN_WORDS, N_REPLIES_WITH_REASONING, script
from tests.routes.ways import WAYS, Way

pytestmark = [CALLS_LITELLM, pytest.mark.blender]

KEY = "sk-loopback-canary-0123456789abcdef"


@dataclass(frozen=True)
class Played:
    """An episode and what the provider saw of it."""

    paths: EpisodePaths
    summary: EpisodeSummary
    steps: tuple[Step, ...]

    @property
    def scene_hashes(self) -> list[str]:
        """Of the canonical scene state after each step that took effect."""
        records = [e.blender for step in self.steps for e in step.executions if e.blender]
        return [record["state_hash"] for record in records if record["outcome"] == "ok"]


def play(folder: Path, model: str, brief: str, *specs: str) -> Played:
    paths = EpisodePaths(folder / "episode")
    task = Task(id="route", kind="scene", start="empty", brief=brief, harness={"resolution": [96, 64]})
    config = load_config(["model.bash=true", *specs])
    summary = run_episode(EpisodeKey(task, model, 1), config, paths, lambda _number, _what: None)
    return Played(paths, summary, read_episode(paths.root).steps)


@pytest.fixture(scope="session")
def server() -> Iterator[LoopbackServer]:
    with loopback(script(), key=KEY) as server:
        yield server


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """The episode without any network: played by `scripted/`."""
    folder = tmp_path_factory.mktemp("reference")
    content = script().model_dump()
    (folder / "turns.yaml").write_text(yaml.safe_dump(content))
    return play(folder, f"scripted/{folder}/turns.yaml", IN_CALLS)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_same_episode(way: Way, server: LoopbackServer, reference: Played, tmp_path: Path) -> None:
    """It ends in the same scene; every frame arrives next to its caption, or the record says that it does not."""
    route = server.route(way.provider)
    family = way.family or family_for(route.model)
    is_text = family == "text"
    config = tmp_path / "model.yaml"
    chosen = {"model_class": FAMILY_CLASSES[way.family]} if way.family else {}
    config.write_text(yaml.safe_dump({"model": {"model_kwargs": dict(route.kwargs), "retry_seconds": 0, **chosen}}))
    server.forget()
    played = play(tmp_path, route.model, IN_WORDS if is_text else IN_CALLS, str(config))
    seen = [exchange for exchange in server.exchanges if exchange.turn]

    assert (played.summary.verdict, played.summary.exit_status) == ("pass", "Submitted"), played.summary.reason
    assert played.scene_hashes == reference.scene_hashes
    assert len(played.scene_hashes) == 3
    assert played.paths.final_script.read_text() == reference.paths.final_script.read_text()
    assert [exchange.turn for exchange in seen] == [1, 2, 3, 4, 5, 6], "one request a step"

    placement = placement_for(route.model, "auto", family)
    _check_pictures(played, [exchange.request for exchange in seen], placement)
    for number, request in rebuilt_requests(read_episode(played.paths.root)):
        assert request.is_the_recorded_one, number
    assert KEY not in "".join(f.read_text(errors="replace") for f in played.paths.root.rglob("*") if f.is_file())
    print("ROUTE", json.dumps(_row(way, route.model, family, placement, played, seen)))


def _check_pictures(played: Played, requests: list[Any], placement: str) -> None:
    """What the record says of each request is what the provider counted."""
    for step, request in zip(played.steps, requests, strict=True):
        assert step.request is not None
        n_arrived = len(request.images)
        assert step.request.n_images == n_arrived == (0 if placement == "drop" else step.request.n_images_in_history)
        assert step.request.n_images_on_wire == n_arrived
        assert step.request.image_placement == placement
    if placement == "drop":
        assert "cannot be shown" in requests[-1].messages[-1].text or "cannot be shown" in _all_text(requests[-1])


def _all_text(request: Any) -> str:
    return "".join(message.text for message in request.messages)


def _row(way: Way, model: str, family: str, placement: str, played: Played, seen: list[Any]) -> dict[str, Any]:
    last = seen[-1].request
    n_made = sum(len(message.images) for step in played.steps for message in step.observations)
    replies = [message for message in last.messages if message.role == "assistant"]
    return {
        "route": way.name,
        "model": model,
        "class": FAMILY_CLASSES[family].rpartition(".")[2],  # type: ignore[index]
        "placement": placement,
        "places": sorted({image.place for image in last.images}),
        "captions": sum(bool(image.caption) for image in last.images),
        "made": n_made,
        "arrived": len(last.images),
        "reasoning": sum(bool(message.reasoning) for message in replies),
        "replies": min(len(replies), N_REPLIES_WITH_REASONING),
        "cost": played.steps[-1].cost.source or "unknown",
        "marks": last.n_cache_marks,
        "scene": played.scene_hashes[-1],
    }
