"""Runs continue, never mix, and lose nothing: interrupted, killed, in parallel, twice at once."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from agent_plugin.config import load_config
from agent_plugin.episode import EpisodeKey
from agent_plugin.faults import BadInput
from agent_plugin.launch_plan import RunPlan, fingerprint
from agent_plugin.launcher import EpisodeOutcome, Watcher, run_all
from agent_plugin.run_folder import lock_run, open_run
from agent_plugin.spending import Stop
from agent_plugin.task_list import load_tasks
from recorder.paths import EpisodePaths, RunPaths
from recorder.records import End, Step
from recorder.trajectory import read_summary, read_trajectory
from tests.agent_plugin.conftest import CALLS_LITELLM, SUBMIT, ScriptModel, bash, write_tasks
from tests.conftest import processes_naming

pytestmark = CALLS_LITELLM

NO_RETRY = "launch.retry.all=0"
BLENDSCRIBE = Path(sys.executable).with_name("blendscribe")


class Log(Watcher):
    """A watcher that keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[str] = []
        self.on_step: Callable[[EpisodeKey, int, str], None] = lambda _key, _number, _what: None

    def started(self, key: EpisodeKey) -> None:
        self.events.append(f"started {key.task.id}")

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        self.on_step(key, number, what)

    def ended(self, outcome: EpisodeOutcome) -> None:
        self.events.append(f"ended {outcome.key.task.id}")


def make_plan(
    folder: Path, *models: str, n_tasks: int = 1, n_attempts: int = 1, specs: tuple[str, ...] = ()
) -> RunPlan:
    folder.mkdir(exist_ok=True)
    tasks = load_tasks(write_tasks(folder, *({"id": f"t{number}"} for number in range(1, n_tasks + 1))))
    return RunPlan(tuple(tasks), models, n_attempts, load_config((NO_RETRY, *specs)))


def launch(
    plan: RunPlan, root: Path, *, n_workers: int = 1, log: Log | None = None, stop: Stop | None = None
) -> list[EpisodeOutcome]:
    paths = open_run(plan, root)
    with lock_run(paths):
        return run_all(plan, paths, n_workers=n_workers, watcher=log or Log(), stop=stop or Stop())


def fault(plan: RunPlan, root: Path) -> str:
    with pytest.raises(BadInput) as caught:
        open_run(plan, root)
    (only,) = caught.value.faults
    return str(only)


@pytest.fixture
def quick(script_model: ScriptModel) -> str:
    """A model that hands in at once; the verdict is a fail, and no Blender is started."""
    return script_model({"calls": [bash(SUBMIT)]})


# the folder


def test_every_task_is_tried_once_before_any_is_tried_again(tmp_path: Path) -> None:
    """Attempts are the outer loop."""
    keys = make_plan(tmp_path, "m/a", "m/b", n_tasks=2, n_attempts=2).keys
    assert [(key.task.id, key.model, key.attempt) for key in keys[:5]] == [
        ("t1", "m/a", 1),
        ("t1", "m/b", 1),
        ("t2", "m/a", 1),
        ("t2", "m/b", 1),
        ("t1", "m/a", 2),
    ]
    assert len(keys) == 8


def test_a_run_is_written_down(tmp_path: Path) -> None:
    """Tasks, models, config and versions; no secrets."""
    plan = make_plan(tmp_path, "m/a", specs=("model.model_kwargs.api_key=short-key-77",))
    open_run(plan, tmp_path / "run")
    content = (tmp_path / "run/run.json").read_text()
    described = json.loads(content)
    assert described["tasks"] == {"t1": plan.tasks[0].sha256}
    assert described["models"] == ["m/a"]
    assert described["config"]["environment"]["harness"]["output_video"] == "output.mp4"
    assert described["versions"]["bpy"]
    assert "short-key-77" not in content


def test_the_same_run_is_opened_again(tmp_path: Path) -> None:
    """Also with another key for the provider, which is no part of what a run is."""
    open_run(make_plan(tmp_path, "m/a", specs=("model.model_kwargs.api_key=one",)), tmp_path / "run")
    before = (tmp_path / "run/run.json").read_bytes()
    open_run(make_plan(tmp_path, "m/a", specs=("model.model_kwargs.api_key=two",)), tmp_path / "run")
    assert (tmp_path / "run/run.json").read_bytes() == before


def test_another_run_is_refused(tmp_path: Path) -> None:
    """It is said what differs, with both values, and nothing is changed."""
    open_run(make_plan(tmp_path, "m/a"), tmp_path / "run")
    before = (tmp_path / "run/run.json").read_bytes()
    text = fault(make_plan(tmp_path, "m/a", n_attempts=3, specs=("harness.fps=12",)), tmp_path / "run")
    assert text.startswith(f"{tmp_path}/run: is another run. There, then here: ")
    assert "n_attempts: 1, 3; config.environment.harness.fps: 24.0, 12.0." in text
    assert "Give another folder with -o" in text
    assert "tasks.t2: null, " in fault(make_plan(tmp_path, "m/a", n_tasks=2), tmp_path / "run")
    assert 'models: ["m/a"], ["m/b"].' in fault(make_plan(tmp_path, "m/b"), tmp_path / "run")
    assert (tmp_path / "run/run.json").read_bytes() == before


def test_the_revision_of_a_checkout_is_no_part_of_a_run(tmp_path: Path) -> None:
    """A commit between two launches does not make another run; another version of a library does."""
    facts = make_plan(tmp_path, "m/a").describe()
    facts.pop("fingerprint")
    assert fingerprint(facts) == fingerprint({**facts, "versions": facts["versions"] | {"blendscribe-revision": "x"}})
    assert fingerprint(facts) != fingerprint({**facts, "versions": facts["versions"] | {"litellm": "x"}})


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    """Nothing is written into somebody's folder; an empty one will do."""
    plan = make_plan(tmp_path, "m/a")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("x")
    assert "is not empty and holds no run.json" in fault(plan, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]
    (tmp_path / "empty").mkdir()
    assert open_run(plan, tmp_path / "empty").run_file.is_file()


@pytest.mark.parametrize("left", [".lock", ".run.json.123.tmp"])
def test_a_launcher_that_was_killed_at_once_left_no_other_run(tmp_path: Path, left: str) -> None:
    """Its lock, or the beginning of its run.json, are no reason to refuse the same command."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / left).write_text("{")
    assert open_run(make_plan(tmp_path, "m"), tmp_path / "run").run_file.is_file()


@pytest.mark.parametrize("place", ["/proc/blendscribe-run", "tasks.yaml/run", "/sys/blendscribe-run"])
def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path, place: str) -> None:
    """With the system's reason."""
    plan = make_plan(tmp_path, "m/a")
    assert f"{tmp_path / place}: cannot be written (" in fault(plan, tmp_path / place)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    """It stays."""
    assert "is not a folder" in fault(make_plan(tmp_path, "m/a"), tmp_path / "tasks.yaml")


@pytest.mark.parametrize("content", ["", "[]", "{}", "{"])
def test_a_damaged_run_file_is_named(tmp_path: Path, content: str) -> None:
    """It is not written over."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run/run.json").write_text(content)
    assert f"{tmp_path}/run/run.json: cannot be read as a run" in fault(make_plan(tmp_path, "m/a"), tmp_path / "run")


def test_one_launcher_at_a_time(tmp_path: Path) -> None:
    """A second one is refused while the first works, and let in after it."""
    paths = open_run(make_plan(tmp_path, "m/a"), tmp_path / "run")
    with lock_run(paths), pytest.raises(BadInput, match="another launcher is working"), lock_run(paths):
        raise AssertionError("two launchers in one run")
    with lock_run(paths):
        pass


# episodes


def test_finished_episodes_are_not_played_again(tmp_path: Path, quick: str) -> None:
    """The same launch again returns their results."""
    plan, log = make_plan(tmp_path, quick, n_tasks=2), Log()
    first = launch(plan, tmp_path / "run")
    again = launch(plan, tmp_path / "run", log=log)
    assert [outcome.summary for outcome in again] == [outcome.summary for outcome in first]
    assert [outcome.summary.exit_status for outcome in first if outcome.summary] == ["Submitted"] * 2
    assert [outcome.is_from_before for outcome in first + again] == [False, False, True, True]
    assert log.events == ["ended t1", "ended t2"]


def test_a_damaged_result_is_named_and_kept(tmp_path: Path, quick: str) -> None:
    """It is neither believed nor played over, and the others go on."""
    plan = make_plan(tmp_path, quick, n_tasks=2)
    episode = RunPaths(tmp_path / "run").episode("t1", quick, 1)
    open_run(plan, tmp_path / "run")
    episode.root.mkdir(parents=True)
    episode.summary.write_text("{")
    outcomes = launch(plan, tmp_path / "run")
    assert [bool(outcome.summary) for outcome in outcomes] == [False, True]
    assert outcomes[0].error.startswith(f"{episode.summary}: not valid JSON")
    assert episode.summary.read_text() == "{"


def test_a_failure_of_the_provider_is_no_result(tmp_path: Path, script_model: ScriptModel) -> None:
    """What it recorded is moved aside; the other episodes go on, and the next launch plays it again."""
    flag = tmp_path / "flag"
    name = script_model(
        {"calls": [bash(f"cat {flag} || echo none")]}, {"expect": ["the flag is there"], "calls": [bash(SUBMIT)]}
    )
    other = script_model({"calls": [bash(SUBMIT)]})
    plan, root = make_plan(tmp_path, name, other, specs=("harness.sandbox=off",)), tmp_path / "run"
    failed, good = launch(plan, root)
    assert failed.summary is None
    assert failed.error.startswith("RequestRejected: ")
    assert "expected 'the flag is there'" in failed.error
    assert "\n" not in failed.error
    assert good.summary is not None
    folder = RunPaths(root).episode("t1", name, 1).root
    assert [path.name for path in folder.parent.iterdir()] == ["1.infrastructure-1"]
    last = list(read_trajectory(folder.with_name("1.infrastructure-1") / "trajectory.jsonl"))[-1]
    assert isinstance(last, End)
    assert last.exit_status == "RequestRejected"

    flag.write_text("the flag is there")
    outcomes = launch(plan, root)
    assert [(outcome.summary is not None, outcome.key.model) for outcome in outcomes] == [(True, other), (True, name)]
    assert sorted(path.name for path in folder.parent.iterdir()) == ["1", "1.infrastructure-1"]


def test_a_failure_of_the_machine_is_no_result(tmp_path: Path, quick: str) -> None:
    """Nobody is judged for an interpreter that is gone."""
    plan = make_plan(tmp_path, quick, specs=("harness.bpy_python=/nonexistent",))
    (outcome,) = launch(plan, tmp_path / "run")
    assert outcome.summary is None
    assert "blendscribe setup" in outcome.error


def test_a_key_in_an_error_is_not_told(tmp_path: Path, script_model: ScriptModel) -> None:
    """A provider may repeat a key in its complaint."""
    name = script_model({"calls": [bash("echo secret-key-12345")]}, {"expect": ["never"]})
    plan = make_plan(tmp_path, name, specs=("model.model_kwargs.api_key=secret-key-12345",))
    (outcome,) = launch(plan, tmp_path / "run")
    assert "secret-key-12345" not in outcome.error


def test_a_model_class_that_is_not_there_is_the_users_fault(tmp_path: Path) -> None:
    """It is found before an episode begins."""
    plan = make_plan(tmp_path, "m/a", specs=("model.model_class=agent_plugin.model.Nothing",))
    with pytest.raises(BadInput, match=r"model\.model_class: cannot be imported .it is 'agent_plugin\.model\.Nothing'"):
        launch(plan, tmp_path / "run")
    assert not (tmp_path / "run/episodes").exists()


def test_workers_play_at_the_same_time(tmp_path: Path, script_model: ScriptModel) -> None:
    """Two models, two workers: both episodes meet in their first command, and do not mix."""
    models = [script_model({"calls": [bash(f"echo I am {name}")]}, {"calls": [bash(SUBMIT)]}) for name in "ab"]
    plan, log, meeting = make_plan(tmp_path, *models), Log(), threading.Barrier(2)

    def meet(_key: EpisodeKey, number: int, what: str) -> None:
        if (number, what) == (1, "bash"):
            meeting.wait(timeout=60)

    log.on_step = meet
    outcomes = launch(plan, tmp_path / "run", n_workers=2, log=log)
    assert sorted(outcome.key.model for outcome in outcomes if outcome.summary) == sorted(models)
    for model, name in zip(models, "ab", strict=True):
        path = RunPaths(tmp_path / "run").episode("t1", model, 1).trajectory
        step = next(line for line in read_trajectory(path) if isinstance(line, Step))
        assert step.executions[0].output == f"I am {name}\n"


def test_stopping_lets_the_step_end_and_starts_nothing_new(tmp_path: Path, script_model: ScriptModel) -> None:
    """The episode that was running is moved aside with its whole steps, to be played again."""
    name = script_model({"calls": [bash("echo one")]}, {"calls": [bash(SUBMIT)]})
    plan, log, stop = make_plan(tmp_path, name, n_tasks=2), Log(), Stop()
    log.on_step = lambda _key, _number, what: stop.requested.set() if what == "bash" else None
    outcome, other = launch(plan, tmp_path / "run", log=log, stop=stop)
    assert (outcome.summary, outcome.error) == (None, "stopped by the user")
    assert (other.ended_as, other.error) == ("NotBegun", "not begun: stopped by the user")
    assert log.events == ["started t1", "ended t1"]
    aside = RunPaths(tmp_path / "run").episode("t1", name, 1).root.with_name("1.interrupted-1")
    assert (outcome.folder, other.folder) == (aside, None)
    assert [line.kind for line in read_trajectory(aside / "trajectory.jsonl")] == ["header", "step", "end"]
    assert len(launch(plan, tmp_path / "run")) == 2


# the process


class Launched:
    """`blendscribe run` in a process group of its own, in the middle of a command."""

    def __init__(self, folder: Path, model: str) -> None:
        self.root, self.model = folder / "run", model
        tasks = write_tasks(folder, {"id": "t1"}, {"id": "t2"})
        self.command = [str(BLENDSCRIBE), "run", str(tasks), "-m", model, "-o", str(self.root)]
        (folder / "tmp").mkdir()
        self.process = subprocess.Popen(
            self.command,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder / "tmp")},  # what is killed leaves its temporary files
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        )
        self.tree: list[psutil.Process] = []
        self._wait_for(self.episode.workspace / "started")
        self.tree = psutil.Process(self.process.pid).children(recursive=True)

    @property
    def episode(self) -> EpisodePaths:
        return RunPaths(self.root).episode("t1", self.model, 1)

    def _wait_for(self, file: Path) -> None:
        deadline = time.monotonic() + 90
        while not file.exists():
            assert self.process.poll() is None, self.process.communicate()[0]
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def interrupt(self) -> None:
        """As a terminal does for Ctrl-C: the whole foreground group."""
        os.killpg(self.process.pid, signal.SIGINT)

    def end(self, seconds: float) -> tuple[int, str]:
        text, _ = self.process.communicate(timeout=seconds)
        return self.process.returncode, text

    def survivors(self) -> list[psutil.Process]:
        """Of the processes that the launcher had under it; a killed one may take a moment to go."""
        _, alive = psutil.wait_procs(self.tree, timeout=5)
        return [process for process in alive if process.status() != psutil.STATUS_ZOMBIE]


def slow(script_model: ScriptModel, seconds: str) -> str:
    return script_model({"calls": [bash(f"touch started; sleep {seconds}; echo slept")]}, {"calls": [bash(SUBMIT)]})


def test_ctrl_c_once_ends_after_the_running_step(tmp_path: Path, script_model: ScriptModel) -> None:
    """Exit 130; the step is whole in the record, the second task was not begun, no process is left."""
    run = Launched(tmp_path, slow(script_model, "2.5"))
    run.interrupt()
    status, text = run.end(60)
    assert status == 130, text
    assert "Stopping after the running commands" in text
    assert run.survivors() == []
    aside = run.episode.root.with_name("1.interrupted-1")
    _, step, end = read_trajectory(aside / "trajectory.jsonl")
    assert isinstance(step, Step)
    assert step.executions[0].output == "slept\n"
    assert isinstance(end, End)
    assert end.exit_status == "Stopped"
    assert not (run.root / "episodes/t2").exists()


def test_ctrl_c_twice_leaves_at_once(tmp_path: Path, script_model: ScriptModel) -> None:
    """Exit 130 in the middle of a command, and no process is left."""
    seconds = f"60.{os.getpid()}"
    run = Launched(tmp_path, slow(script_model, seconds))
    assert processes_naming(f"sleep {seconds}")
    run.interrupt()
    time.sleep(0.5)
    assert run.process.poll() is None
    started = time.monotonic()
    run.interrupt()
    status, _ = run.end(20)
    assert status == 130
    assert time.monotonic() - started < 10
    assert run.survivors() == []
    assert [line for line in processes_naming(f"sleep {seconds}") if "blendscribe" not in line] == []


def test_a_killed_launcher_is_taken_up_again(tmp_path: Path, script_model: ScriptModel) -> None:
    """What it left is moved aside, and `--resume` plays all; a third time it plays nothing, without litellm."""
    run = Launched(tmp_path, slow(script_model, "2.5"))
    os.kill(run.process.pid, signal.SIGKILL)
    assert run.end(30)[0] == -signal.SIGKILL
    assert run.survivors() == []
    left = run.episode.root
    assert not run.episode.is_finished

    again = subprocess.run([*run.command, "--resume"], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert again.returncode == 1, again.stderr  # nothing was handed in
    assert sorted(path.name for path in left.parent.iterdir()) == ["1", "1.interrupted-1"]
    assert read_summary(run.episode.summary).n_steps == 2

    code = (
        "import sys\n"
        "sys.argv = sys.argv[1:]\n"
        "from agent_plugin.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print('litellm' in sys.modules)\n"
    )
    third = subprocess.run(
        [sys.executable, "-c", code, *run.command], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert third.returncode == 1
    assert third.stdout.splitlines()[-1] == "False"
    assert "2 of 2 episodes are from before." in third.stdout
