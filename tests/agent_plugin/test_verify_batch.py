"""Which episodes are verified when a user names episodes, runs and data sets."""

from pathlib import Path

import pytest

from agent_plugin.faults import BadInput
from agent_plugin.verify_batch import choose
from recorder.export.dataset import Request, export
from tests.recorder.made_episodes import make_episode, make_run


def test_a_run_is_its_finished_episodes(tmp_path: Path) -> None:
    """Attempts that were stopped, and stand aside, are no results."""
    run = make_run(tmp_path / "run", ball={}, cone={"verdict": "fail"}, cube={"verdict": None})
    chosen = choose([run, run / "episodes/ball/maker--one/1"])
    assert [root.parent.parent.name for root in chosen.episodes] == ["ball", "cone"]
    assert (chosen.samples, chosen.datasets) == ((), ())


def test_a_data_set_is_its_samples(tmp_path: Path) -> None:
    """They are told from episodes: nothing is written there."""
    export(Request((make_episode(tmp_path / "e"),), tmp_path / "data"))
    chosen = choose([tmp_path / "data"])
    assert chosen.episodes == ()
    assert chosen.samples == (tmp_path / "data/samples/e",)
    assert chosen.datasets == (tmp_path / "data",)


def test_every_wrong_path_is_told(tmp_path: Path) -> None:
    """In one go, with what is wrong with it."""
    run = make_run(tmp_path / "run", cube={"verdict": None})
    unfinished = run / "episodes/cube/maker--one/1"
    with pytest.raises(BadInput) as error:
        choose([tmp_path / "none", run, unfinished])
    assert [fault.message.split(".")[0] for fault in error.value.faults] == [
        "neither an episode nor a run nor a data set",
        "holds no finished episode",
        "has no episode",
    ]


def test_links_are_not_followed(tmp_path: Path) -> None:
    """An attempt that is a link to an episode elsewhere is none of the run's."""
    run = make_run(tmp_path / "run", ball={})
    (run / "episodes/ball/maker--one/2").symlink_to(make_episode(tmp_path / "e"))
    assert len(choose([run]).episodes) == 1
