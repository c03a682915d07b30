"""Episodes begin in the plan's order; a model that is held back keeps nobody waiting; what was lost waits its time."""

import time

from agent_plugin.episode import EpisodeKey
from agent_plugin.episode_queue import EpisodeQueue, Waiting
from agent_plugin.tasks import Task

TASKS = [Task(id=f"t{n}", brief="x") for n in range(3)]


def queue() -> EpisodeQueue:
    return EpisodeQueue(EpisodeKey(task, model, 1) for task in TASKS for model in ("a", "b"))


def names(taken: list[Waiting]) -> list[str]:
    return [f"{waiting.key.task.id}{waiting.key.model}" for waiting in taken]


def take_all(made: EpisodeQueue, allowed: str = "ab", now: float = 0.0) -> list[Waiting]:
    taken = []
    while one := made.take(now, lambda model: model in allowed):
        taken.append(one)
    return taken


def test_the_order_is_that_of_the_plan() -> None:
    """Models alternate as they do there."""
    made = queue()
    assert len(made) == 6
    assert names(take_all(made)) == ["t0a", "t0b", "t1a", "t1b", "t2a", "t2b"]
    assert not made


def test_a_model_that_is_held_back_keeps_nobody_waiting() -> None:
    """The other one's episodes go on; its own stay in order."""
    made = queue()
    assert names(take_all(made, "b")) == ["t0b", "t1b", "t2b"]
    assert names(take_all(made)) == ["t0a", "t1a", "t2a"]


def test_a_retry_waits_its_time_and_comes_last() -> None:
    """Behind what waited before it was due."""
    made = queue()
    first = made.take(0.0, lambda _model: True)
    assert first is not None
    made.put_back(first, due_at=10.0)
    assert len(made) == 6
    second = made.take(10.0, lambda _model: True)
    assert second is not None
    assert names([second, *take_all(made, now=10.0)]) == ["t0b", "t1a", "t1b", "t2a", "t2b", "t0a"]


def test_what_is_dropped() -> None:
    """A model's episodes, retries included; then all that is left."""
    made = queue()
    first = made.take(0.0, lambda _model: True)
    assert first is not None
    made.put_back(first, due_at=10.0)
    assert names(made.drop("a")) == ["t1a", "t2a", "t0a"]
    assert names(made.drop_all()) == ["t0b", "t1b", "t2b"]
    assert not made


def test_a_hundred_thousand_episodes_are_no_work() -> None:
    """Taking one costs the same, however many wait: seconds would be quadratic."""
    task = TASKS[0]
    made = EpisodeQueue(EpisodeKey(task, model, k) for k in range(40_000) for model in ("a", "b", "c"))
    started = time.process_time()
    assert len(take_all(made, "abc")) == 120_000
    assert time.process_time() - started < 5.0
