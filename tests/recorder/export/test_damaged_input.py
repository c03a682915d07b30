"""Whatever stands in an episode, an export says what is wrong with it, and never fails as a whole."""

import copy
import hashlib
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recorder.export.dataset import Request, export
from recorder.export.listing import FORMATS
from recorder.integrity import check_dataset
from tests.recorder.made_episodes import make_episode

VALUES: list[Any] = [
    None,
    0,
    -1,
    1.5,
    True,
    "",
    "x",
    "<image>",
    "\udc80",
    [],
    [1],
    {},
    {"a": 1},
    "\n\x00",
    10**30,
    float("nan"),
]


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) below a value."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(members):
        yield value, key
        yield from places(inner)


def rehash(episode: Path) -> None:
    """episode.json over what is there now, so that a hash does not hide what is behind it."""
    summary = json.loads((episode / "episode.json").read_text())
    summary["files"] = {name: hashlib.sha256((episode / name).read_bytes()).hexdigest() for name in summary["files"]}
    (episode / "episode.json").write_text(json.dumps(summary))


@pytest.mark.parametrize("seed", range(8))
def test_any_value_anywhere(tmp_path: Path, seed: int) -> None:
    """Forty episodes, in each of which one value of the trajectory is another: exported or listed, and sound."""
    chance = random.Random(seed)
    whole = [json.loads(line) for line in (make_episode(tmp_path / "e") / "trajectory.jsonl").read_text().splitlines()]
    episodes = []
    for number in range(40):
        lines = copy.deepcopy(whole)
        container, key = chance.choice(list(places(lines)))
        container[key] = chance.choice(VALUES)
        episodes.append(make_episode(tmp_path / f"e{number}"))
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (episodes[-1] / "trajectory.jsonl").write_text(text)
        rehash(episodes[-1])
    history = export(Request(tuple(episodes), tmp_path / "data", formats=tuple(FORMATS)))
    assert len(history.seen) == 40
    assert {one.fate for one in history.seen} <= {"exported", "corrupt"}
    assert check_dataset(tmp_path / "data") == []


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "name", ["episode.json", "task/task.json", "task/brief.md", "final_script.py", "scene.blend", "trajectory.jsonl"]
)
def test_a_pipe_in_the_place_of_a_file_does_not_block(tmp_path: Path, name: str) -> None:
    """It is damage."""
    episode = make_episode(tmp_path / "run/episodes/t/m/1")
    (tmp_path / "run/run.json").write_text("{}")
    (episode / name).unlink()
    os.mkfifo(episode / name)
    history = export(Request((tmp_path / "run",), tmp_path / "data"))
    assert [one.fate for one in history.seen] == ["corrupt"]


def test_a_pipe_in_the_place_of_a_decision_does_not_block(tmp_path: Path) -> None:
    """It is no decision."""
    episode = make_episode(tmp_path / "e")
    (episode / "verification").mkdir()
    os.mkfifo(episode / "verification/decision.json")
    (one,) = export(Request((episode,), tmp_path / "data")).seen
    assert (one.fate, one.reason) == ("corrupt", "e/verification/decision.json: is not a plain file")
