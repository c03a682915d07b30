"""A launch leaves its events behind, in order, also where it is stopped or fails."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from agent_plugin.config import load_config
from agent_plugin.episode import EpisodeKey
from agent_plugin.launcher import EpisodeOutcome, RunPlan
from agent_plugin.run_watch import watching
from agent_plugin.spending import Stop
from agent_plugin.tasks import Task
from recorder.events import EpisodeEnded, EpisodeLost, RunEnded, RunStarted, StepEvent, read_events
from recorder.last_launch import read_last_launch
from recorder.paths import RunPaths
from recorder.records import TokenCount
from tests.agent_plugin.test_progress import Pause
from tests.recorder.made_runs import summary, write_result

PLAN = RunPlan((Task(id="a", brief="x"), Task(id="b", brief="y")), ("m/1",), 1, load_config([]))
A, B = PLAN.keys


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def test_a_launch_leaves_its_events(tmp_path: Path) -> None:
    """While it goes on its launcher is seen alive; what became of each episode follows; the end says how many."""
    paths, stop = RunPaths(tmp_path), Stop()
    with watching(console(), PLAN, paths, 2, stop) as watcher:
        watcher.started(A)
        watcher.step(A, 1, "model")
        launch = read_last_launch(paths.events_file, [("a", "m/1", 1)])
        assert launch
        assert launch.state == "running"
        assert isinstance(launch.newest["a", "m/1", 1], StepEvent)
        result = summary("a", "m/1", 1, tokens=TokenCount(prompt=5, completion=1))
        watcher.ended(EpisodeOutcome(A, result, folder=tmp_path / "episodes/a/m--1/1"))
        watcher.started(B)
        aside = tmp_path / "episodes/b/m--1/1.infrastructure-1"
        watcher.ended(EpisodeOutcome(B, None, error="no answer", ended_as="Timeout", folder=aside))
    events = list(read_events(paths.events_file))
    kinds = ["run_started", "episode_started", "step", "episode_ended", "episode_started", "lost", "run_ended"]
    assert [event.kind for event in events] == kinds
    begun, ended, lost, over = events[0], events[3], events[5], events[6]
    assert isinstance(begun, RunStarted)
    assert (begun.n_episodes, begun.n_finished_before, begun.n_workers) == (2, 0, 2)
    assert isinstance(ended, EpisodeEnded)
    assert ended.tokens == TokenCount(prompt=5, completion=1)
    assert isinstance(lost, EpisodeLost)
    assert (lost.ended_as, lost.folder) == ("Timeout", "episodes/b/m--1/1.infrastructure-1")
    assert isinstance(over, RunEnded)
    assert (over.why, over.n_passed, over.n_failed, over.n_lost, over.n_not_begun) == ("", 1, 0, 1, 0)


def test_every_watcher_is_told_of_what_is_held_back_and_played_again(tmp_path: Path) -> None:
    """As events, and on the screen without what could steer a terminal."""
    target, paths = console(), RunPaths(tmp_path)
    lost = EpisodeOutcome(B, None, error="\x1b[31mno answer", ended_as="Timeout", folder=None)
    with watching(target, PLAN, paths, 1, Stop()) as watcher:
        watcher.started(B)
        watcher.waiting(B, "a slot")
        watcher.retry(lost, 1, 5.0)
        watcher.paused(Pause())
        watcher.resumed(Pause())
    kinds = [event.kind for event in read_events(paths.events_file)]
    assert kinds == ["run_started", "episode_started", "lost", "retried", "paused", "resumed", "run_ended"]
    assert isinstance(target.file, io.StringIO)
    assert "         no answer\n" in target.file.getvalue()


def test_the_end_says_why_it_stopped(tmp_path: Path) -> None:
    """By the user, or by an error of our own, which goes on."""
    stop = Stop()
    with watching(console(), PLAN, RunPaths(tmp_path), 1, stop):
        stop.requested.set()
    with pytest.raises(KeyError), watching(console(), PLAN, RunPaths(tmp_path), 1, Stop()):
        raise KeyError("x")
    whys = [event.why for event in read_events(tmp_path / "events.jsonl") if isinstance(event, RunEnded)]
    assert whys == ["stopped by the user", "KeyError: 'x'"]


def test_a_finished_run_is_left_as_it_is(tmp_path: Path) -> None:
    """The same command again only shows it: no event is written."""
    for key in (A, B):
        write_result(tmp_path, summary(key.task.id, key.model, 1))
    with watching(console(), PLAN, RunPaths(tmp_path), 1, Stop()) as watcher:
        watcher.ended(EpisodeOutcome(A, summary("a", "m/1", 1), is_from_before=True))
    assert not (tmp_path / "events.jsonl").exists()
    with watching(console(), PLAN, RunPaths(tmp_path), 1, Stop()) as watcher:
        watcher.started(B)  # a result of another task of that name, which was moved aside
    kinds = [event.kind for event in read_events(tmp_path / "events.jsonl")]
    assert kinds == ["run_started", "episode_started", "run_ended"]


def test_a_disk_that_takes_no_events_stops_nothing(tmp_path: Path) -> None:
    """It is said at the end."""
    (tmp_path / "events.jsonl").symlink_to("/dev/full")
    target = console()
    with watching(target, PLAN, RunPaths(tmp_path), 1, Stop()) as watcher:
        watcher.started(EpisodeKey(A.task, A.model, 1))
    assert isinstance(target.file, io.StringIO)
    assert f"3 events are not in {tmp_path}/events.jsonl ([Errno 28] No space left" in target.file.getvalue()
