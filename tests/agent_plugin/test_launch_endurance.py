"""What a launch makes of losses: it plays again, pauses, tries, gives up, and never takes one for a result."""

import json
import time
from pathlib import Path

import pytest

from agent_plugin.breaker import Pause
from agent_plugin.config import load_config
from agent_plugin.episode import EpisodeKey
from agent_plugin.launch_plan import RunPlan
from agent_plugin.launcher import EpisodeOutcome, Watcher, run_all
from agent_plugin.run_folder import lock_run, open_run
from agent_plugin.spending import Stop
from agent_plugin.task_list import load_tasks
from recorder.documents import read_document
from recorder.files import LossFile, RunFile
from recorder.paths import RunPaths
from tests.agent_plugin.conftest import CALLS_LITELLM, SUBMIT, ScriptModel, bash, write_tasks

pytestmark = CALLS_LITELLM

QUICK = (
    "harness.sandbox=off",
    "launch.retry_wait_seconds=0.1",
    "launch.probe_seconds=0.2",
    "launch.max_pause_seconds=1",
    "launch.breaker_losses=3",
)


class Log(Watcher):
    """Keeps what it is told; touches `flag` when it is told one of `at`."""

    def __init__(self, flag: Path | None = None, at: str = "") -> None:
        self.events: list[str] = []
        self.pauses: list[Pause] = []
        self._flag, self._at = flag, at

    def _add(self, kind: str, what: str) -> None:
        self.events.append(f"{kind} {what}")
        if self._flag and kind == self._at:
            self._flag.write_text("the flag is there")

    def started(self, key: EpisodeKey) -> None:
        self._add("started", key.task.id)

    def retry(self, lost: EpisodeOutcome, number: int, wait_seconds: float) -> None:
        self._add("retry", f"{lost.key.task.id} {lost.loss} {number} {wait_seconds}")

    def ended(self, outcome: EpisodeOutcome) -> None:
        self._add("ended", f"{outcome.key.task.id} {'done' if outcome.summary else outcome.ended_as}")

    def paused(self, pause: Pause) -> None:
        self.pauses.append(pause)
        self._add("paused", f"{pause.model} {pause.loss}")

    def resumed(self, pause: Pause) -> None:
        self._add("resumed", pause.model)


def make_plan(folder: Path, *models: str, n_tasks: int = 1, specs: tuple[str, ...] = (), brief: str = "x") -> RunPlan:
    listed = load_tasks(write_tasks(folder, *({"id": f"t{n}", "brief": brief} for n in range(1, n_tasks + 1))))
    return RunPlan(tuple(listed), models, 1, load_config((*QUICK, *specs)))


def launch(plan: RunPlan, root: Path, log: Log, *, stop: Stop | None = None, n: int = 1) -> list[EpisodeOutcome]:
    paths = open_run(plan, root)
    with lock_run(paths):
        return run_all(plan, paths, n_workers=n, watcher=log, stop=stop or Stop())


@pytest.fixture
def flag(tmp_path: Path) -> Path:
    return tmp_path / "flag"


@pytest.fixture
def needy(script_model: ScriptModel, flag: Path) -> str:
    """A provider that refuses until the flag is there."""
    return script_model(
        {"calls": [bash(f"cat {flag} || echo none")]}, {"expect": ["the flag is there"], "calls": [bash(SUBMIT)]}
    )


@pytest.fixture
def quick(script_model: ScriptModel) -> str:
    return script_model({"calls": [bash(SUBMIT)]})


# again


def test_a_lost_episode_is_played_again_in_the_same_launch(tmp_path: Path, needy: str, flag: Path) -> None:
    """After a wait that doubles; each lost try is kept, with its class in lost.json."""
    log = Log()
    plan = make_plan(tmp_path, needy, specs=("launch.retry.refused=2", "launch.breaker_losses=9"))
    (outcome,) = launch(plan, tmp_path / "run", log)
    assert outcome.loss == "refused"
    assert log.events == [
        *("started t1", "retry t1 refused 1 0.1", "started t1", "retry t1 refused 2 0.2"),
        *("started t1", "ended t1 RequestRejected"),
    ]
    folder = RunPaths(tmp_path / "run").episode("t1", needy, 1).root
    names = sorted(path.name for path in folder.parent.iterdir())
    assert names == [f"1.infrastructure-{n}" for n in (1, 2, 3)]
    lost = read_document(folder.parent / names[0] / "lost.json", LossFile)
    assert (lost.loss, lost.ended_as) == ("refused", "RequestRejected")
    assert "expected 'the flag is there'" in lost.error

    log = Log(flag, "retry")
    (outcome,) = launch(plan, tmp_path / "run", log)
    assert outcome.summary is not None
    assert log.events == ["started t1", "retry t1 refused 1 0.1", "started t1", "ended t1 done"]


def test_a_class_without_retries_is_left_to_the_next_launch(tmp_path: Path, needy: str) -> None:
    """What a provider refuses is refused again at once."""
    log = Log()
    launch(make_plan(tmp_path, needy), tmp_path / "run", log)
    assert log.events == ["started t1", "ended t1 RequestRejected"]


def test_an_episode_that_was_lost_too_often_is_left_alone(tmp_path: Path, needy: str, flag: Path) -> None:
    """The count goes over all launches; a higher limit begins it again."""
    for _ in range(2):
        launch(make_plan(tmp_path, needy), tmp_path / "run", Log())
    log = Log()
    (outcome,) = launch(make_plan(tmp_path, needy, specs=("launch.max_losses=2",)), tmp_path / "run", log)
    assert log.events == ["ended t1 LostTooOften"]
    assert "lost 2 times over all launches (launch.max_losses is 2)" in outcome.error
    flag.write_text("the flag is there")
    (outcome,) = launch(make_plan(tmp_path, needy, specs=("launch.max_losses=3",)), tmp_path / "run", Log())
    assert outcome.summary is not None


# pauses


def test_an_outage_does_not_burn_the_task_list(tmp_path: Path, needy: str, quick: str) -> None:
    """Three losses pause the model; few episodes try; then it is given up, and the other model's are all done."""
    log = Log()
    plan = make_plan(tmp_path, needy, quick, n_tasks=30)
    outcomes = launch(plan, tmp_path / "run", log)
    lost = [outcome for outcome in outcomes if outcome.key.model == needy]
    assert sum(outcome.summary is not None for outcome in outcomes if outcome.key.model == quick) == 30
    assert len(outcomes) == 60
    n_played = sum(outcome.loss is not None for outcome in lost)
    assert 4 <= n_played <= 8
    assert {outcome.ended_as for outcome in lost} == {"RequestRejected", "NotBegun"}
    held = next(outcome for outcome in lost if outcome.ended_as == "NotBegun")
    assert held.error.startswith("not begun: given up after 1 s (launch.max_pause_seconds): RequestRejected: ")
    assert log.pauses[0].n_lost == 3
    assert f"Paused: episodes of {needy}" in str(log.pauses[0])


def test_a_pause_ends_by_itself(tmp_path: Path, needy: str, flag: Path) -> None:
    """The first episode that tries and succeeds lets all go on; those that were lost wait for the next launch."""
    log = Log(flag, "paused")
    outcomes = launch(make_plan(tmp_path, needy, n_tasks=8), tmp_path / "run", log)
    assert sum(outcome.summary is not None for outcome in outcomes) == 5
    at = log.events.index(f"paused {needy} refused")
    assert log.events[at + 1 : at + 4] == ["started t4", f"resumed {needy}", "ended t4 done"]
    assert all(outcome.summary for outcome in launch(make_plan(tmp_path, needy, n_tasks=8), tmp_path / "run", Log()))


def test_what_fails_on_the_machine_pauses_every_model(tmp_path: Path, quick: str, script_model: ScriptModel) -> None:
    """Nobody is judged for an interpreter that is gone, and nobody is asked to try it thirty times."""
    other, log = script_model({"calls": [bash(SUBMIT)]}), Log()
    plan = make_plan(
        tmp_path, quick, other, n_tasks=30, specs=("harness.bpy_python=/nonexistent", "launch.retry.all=0")
    )
    outcomes = launch(plan, tmp_path / "run", log)
    assert not any(outcome.summary for outcome in outcomes)
    assert sum(outcome.loss == "interpreter" for outcome in outcomes) <= 8
    assert sum(outcome.ended_as == "NotBegun" for outcome in outcomes) >= 52
    assert log.pauses[0].model == ""
    assert "blendscribe setup" in str(log.pauses[0])


def test_a_disk_without_room_begins_nothing(tmp_path: Path, quick: str) -> None:
    """It is told what is free and what to do, once; when there is room, the same command goes on."""
    log = Log()
    full = make_plan(tmp_path, quick, n_tasks=3, specs=("launch.min_free_disk_mb=1000000000",))
    outcomes = launch(full, tmp_path / "run", log)
    assert [outcome.ended_as for outcome in outcomes] == ["NotBegun"] * 3
    assert log.events[0] == "paused  disk"
    assert log.events.count("paused  disk") == 1
    assert "MiB are free where the run is, 1000000000 MiB are to stay free" in str(log.pauses[0])
    outcomes = launch(make_plan(tmp_path, quick, n_tasks=3), tmp_path / "run", Log())
    assert all(outcome.summary for outcome in outcomes)


def test_a_stop_waits_for_no_pause_and_no_retry(tmp_path: Path, needy: str) -> None:
    """Neither for an episode that is to be played again in a minute, nor for one that may try in an hour."""
    stop = Stop()

    class Stopping(Log):
        def paused(self, pause: Pause) -> None:
            stop.requested.set()

    specs = ("launch.retry.refused=3", "launch.retry_wait_seconds=60", "launch.probe_seconds=3600")
    started = time.monotonic()
    plan = make_plan(tmp_path, needy, n_tasks=8, specs=(*specs, "launch.max_pause_seconds=7200"))
    outcomes = launch(plan, tmp_path / "run", Stopping(), stop=stop)
    assert time.monotonic() - started < 30
    assert len(outcomes) == 8
    assert {outcome.error for outcome in outcomes if outcome.ended_as == "NotBegun"} == {
        "not begun: stopped by the user",
        "not played again: stopped by the user",
    }


# another plan


def test_a_changed_run_goes_on_where_it_is_allowed(tmp_path: Path, quick: str) -> None:
    """run.json then holds the new plan and what it was before; finished episodes of an unchanged task stay."""
    root = tmp_path / "run"
    launch(make_plan(tmp_path, quick), root, Log())
    before = read_document(root / "run.json", RunFile)
    changed = make_plan(tmp_path, quick, n_tasks=2, specs=("harness.fps=12",))
    paths = open_run(changed, root, allow_changed=True)
    now = read_document(root / "run.json", RunFile)
    assert now.fingerprint == changed.describe()["fingerprint"] != before.fingerprint
    (change,) = now.history
    assert change.fingerprint_before == before.fingerprint
    assert "config.environment.harness.fps: 24.0, 12.0" in change.differences
    log = Log()
    with lock_run(paths):
        run_all(changed, paths, n_workers=1, watcher=log, stop=Stop())
    assert log.events == ["ended t1 done", "started t2", "ended t2 done"]
    open_run(changed, root)  # it is the same run now
    assert json.loads((root / "run.json").read_text())["history"] == [change.model_dump()]


def test_a_result_of_another_task_of_the_same_name_is_none(tmp_path: Path, quick: str) -> None:
    """It is kept aside, and the task that there is now is played."""
    root = tmp_path / "run"
    launch(make_plan(tmp_path, quick), root, Log())
    changed, log = make_plan(tmp_path, quick, brief="another"), Log()
    paths = open_run(changed, root, allow_changed=True)
    with lock_run(paths):
        (outcome,) = run_all(changed, paths, n_workers=1, watcher=log, stop=Stop())
    assert outcome.summary is not None
    assert outcome.summary.task_sha256 == changed.tasks[0].sha256
    assert log.events == ["started t1", "ended t1 done"]
    assert sorted(path.name for path in paths.episode("t1", quick, 1).root.parent.iterdir()) == ["1", "1.changed-1"]


def test_how_a_run_is_launched_makes_no_other_run(tmp_path: Path, quick: str) -> None:
    """Limits and retries may change from launch to launch."""
    open_run(make_plan(tmp_path, quick, specs=("launch.cost_limit=1",)), tmp_path / "run")
    open_run(make_plan(tmp_path, quick, specs=("launch.cost_limit=2", "launch.retry.all=9")), tmp_path / "run")
