"""Runs episodes over a task list: plan, resume, workers, outcomes. Knows how an episode ends, not how it is played.

An episode is finished when its `episode.json` has been renamed into place. A failure of the machine or the
provider is never a result: its folder is moved aside and the next launch of the same command plays it again.
"""

import fcntl
import hashlib
import json
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agent_plugin.config import RunConfig
from agent_plugin.episode import EpisodeKey, run_episode
from agent_plugin.faults import bad_input
from agent_plugin.keys import hide_keys
from agent_plugin.models.deadline import Stopped
from agent_plugin.models.failure_text import one_line
from agent_plugin.places import read_prompt
from agent_plugin.spending import Stop
from agent_plugin.tasks import Task
from agent_plugin.versions import versions
from harness.isolation import Isolation
from harness.sandbox.level import LevelName
from harness.sandbox.watchdog import process_tree
from recorder.config_secrets import secrets_in, without_secrets
from recorder.errors import CorruptEpisode
from recorder.paths import EpisodePaths, RunPaths
from recorder.records import EpisodeSummary
from recorder.redaction import Redactor
from recorder.trajectory import read_summary, write_atomically

STOPPING = (
    "Stopping after the running commands and renders (harness.exec_timeout, environment.timeout at most); "
    "model calls are given up. Ctrl-C again stops at once."
)
_MAX_SHOWN = 5
_MAX_VALUE = 60
_MAX_ERROR = 600


@dataclass(frozen=True)
class RunPlan:
    """What a run consists of. Two plans with the same fingerprint are the same run."""

    tasks: tuple[Task, ...]
    models: tuple[str, ...]
    n_attempts: int
    config: RunConfig
    allowed_isolation: LevelName | None = None
    measured_isolation: tuple[Isolation, ...] = ()
    """When the run was started; each episode measures anew."""

    @property
    def keys(self) -> list[EpisodeKey]:
        """Episodes in the order in which they start: every task once before any is tried again."""
        attempts = range(1, self.n_attempts + 1)
        return [EpisodeKey(task, model, k) for k in attempts for task in self.tasks for model in self.models]

    def describe(self) -> dict[str, Any]:
        """The content of run.json, without secrets."""
        settings = self.config.environment.harness
        config = self.config.model_dump(mode="json")
        facts: dict[str, Any] = {
            "schema_version": 1,
            "tasks": {task.id: task.sha256 for task in self.tasks},
            "models": list(self.models),
            "n_attempts": self.n_attempts,
            "config": without_secrets(config),
            "prompts": {kind: _hash(read_prompt(kind)) for kind in sorted({task.kind for task in self.tasks})},
            "versions": versions(settings),
            "isolation": {
                "allowed": self.allowed_isolation,
                "measured": {isolation.level: dict(isolation.could) for isolation in self.measured_isolation},
            },
        }
        cleaned: dict[str, Any] = Redactor.for_this_machine(secrets=secrets_in(config)).clean(facts)
        return {"fingerprint": fingerprint(cleaned), **cleaned}  # another key for a provider makes no other run


@dataclass(frozen=True)
class EpisodeOutcome:
    """How one planned episode ended in this launch."""

    key: EpisodeKey
    summary: EpisodeSummary | None
    error: str = ""
    """Set when the machine or the provider failed, or the run was stopped: the episode has no result."""
    ended_as: str = ""
    """The same in a word."""
    folder: Path | None = None
    """Where its record is; None where nothing was recorded."""
    is_from_before: bool = False


class Watcher(Protocol):
    """Told what happens, for progress."""

    def started(self, key: EpisodeKey) -> None: ...
    def step(self, key: EpisodeKey, number: int, what: str) -> None: ...
    def ended(self, outcome: EpisodeOutcome) -> None: ...


def open_run(plan: RunPlan, root: Path) -> RunPaths:
    """Make the run's folder, or check that the one that is there is the same run. Raises BadInput otherwise."""
    paths, described = RunPaths(root), plan.describe()
    if root.exists() and not root.is_dir():
        raise bad_input("is not a folder", file=str(root))
    if paths.run_file.is_file():
        _check_same_run(paths.run_file, described)
        return paths
    if root.is_dir() and not all(paths.is_begun_with(entry.name) for entry in root.iterdir()):
        raise bad_input("is not empty and holds no run.json; give a new folder for the run", file=str(root))
    try:
        root.mkdir(parents=True, exist_ok=True)
        write_atomically(paths.run_file, (json.dumps(described, indent=2) + "\n").encode())
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror})", file=str(root)) from error
    return paths


@contextmanager
def lock_run(paths: RunPaths) -> Iterator[None]:
    """One launcher at a time in a run's folder."""
    try:
        file = paths.lock_file.open("w")
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror})", file=str(paths.root)) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise bad_input("another launcher is working in this run", file=str(paths.root)) from None
        yield


def run_all(plan: RunPlan, paths: RunPaths, *, n_workers: int, watcher: Watcher, stop: Stop) -> list[EpisodeOutcome]:
    """Play every episode that is not finished; returns an outcome for each episode of the plan."""
    hide_keys()
    outcomes = []
    waiting = []
    for key in plan.keys:
        episode = paths.episode(key.task.id, key.model, key.attempt)
        if episode.is_finished:
            outcome = _from_before(key, episode)
            watcher.ended(outcome)
            outcomes.append(outcome)
        else:
            waiting.append(key)
    if waiting:
        _import_model_class(plan.config)
    with ThreadPoolExecutor(max_workers=n_workers, thread_name_prefix="episode") as pool:
        running: set[Future[EpisodeOutcome]] = set()
        while (waiting and not stop.requested.is_set()) or running:
            while waiting and len(running) < n_workers and not stop.is_due():
                running.add(pool.submit(_play, waiting.pop(0), plan, paths, watcher, stop))
            # a short wait, so that the main thread can take Ctrl-C
            ended, running = wait(running, timeout=0.2, return_when=FIRST_COMPLETED)
            outcomes += [future.result() for future in ended]
    return outcomes + [
        EpisodeOutcome(key, None, error=f"not begun: {stop.why}", ended_as="NotBegun") for key in waiting
    ]


@contextmanager
def interruptible(stop: Stop, say: Callable[[str], None]) -> Iterator[None]:
    """Ctrl-C (or SIGTERM) once: finish what runs in Blender and bash, leave model calls, stop. Twice: kill it all."""

    def on_signal(_number: int, _frame: Any) -> None:
        if stop.requested.is_set():
            _kill_descendants()
            os._exit(130)
        stop.requested.set()
        say(STOPPING)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint(facts: dict[str, Any]) -> str:
    """Hash of what makes a run this run; neither the revision of a dirty checkout nor the machine is part of it."""
    relevant = {name: value for name, value in facts.items() if name not in ("versions", "isolation")}
    relevant["versions"] = {k: v for k, v in facts["versions"].items() if k != "blendscribe-revision"}
    return hashlib.sha256(json.dumps(relevant, sort_keys=True).encode()).hexdigest()


def _play(key: EpisodeKey, plan: RunPlan, paths: RunPaths, watcher: Watcher, stop: Stop) -> EpisodeOutcome:
    episode = paths.episode(key.task.id, key.model, key.attempt)
    watcher.started(key)

    def on_step(number: int, what: str) -> None:
        if what == "model" and stop.is_due():
            raise Stopped
        watcher.step(key, number, what)

    try:
        _move_aside(episode, "interrupted")  # left by a launcher that was killed
        summary = run_episode(key, plan.config, episode, on_step, plan.allowed_isolation, stop.is_by_user)
        outcome = EpisodeOutcome(key, summary, folder=episode.root)
    except Stopped:
        outcome = _lost(key, episode, stop.why, "Stopped", "interrupted")
    except Exception as error:  # noqa: BLE001 - the one place where a failure of machine or provider is caught
        outcome = _lost(key, episode, _one_line(error, plan.config), type(error).__name__, "infrastructure")
    watcher.ended(outcome)
    return outcome


def _lost(key: EpisodeKey, episode: EpisodePaths, error: str, ended_as: str, why: str) -> EpisodeOutcome:
    """No result. What was recorded is moved aside, unless the disk that failed does not allow it."""
    try:
        folder = _move_aside(episode, why)
    except OSError as failure:
        error += f" (what was recorded stays where it is: {failure.strerror})"
        folder = episode.root
    return EpisodeOutcome(key, None, error=error, ended_as=ended_as, folder=folder)


def _move_aside(episode: EpisodePaths, why: str) -> Path | None:
    """Keep what an unfinished attempt recorded, under a name of its own: that folder, None where there is nothing."""
    if not episode.root.exists():
        return None
    number = 1
    while (aside := episode.root.with_name(f"{episode.root.name}.{why}-{number}")).exists():
        number += 1
    episode.root.rename(aside)
    return aside


def _check_same_run(run_file: Path, described: dict[str, Any]) -> None:
    try:
        there = json.loads(run_file.read_text(encoding="utf-8"))
        theirs = there["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise bad_input(f"cannot be read as a run ({error!r})", file=str(run_file)) from error
    if theirs != described["fingerprint"]:
        found = list(_differences(there, described))
        shown = "; ".join(found[:_MAX_SHOWN]) + (f"; and {n} more" if (n := len(found) - _MAX_SHOWN) > 0 else "")
        raise bad_input(
            f"is another run. There, then here: {shown or 'its fingerprint'}. Give another folder with -o, "
            "or repeat the command that made it",
            file=str(run_file.parent),
        )


def _differences(there: Any, here: Any, place: str = "") -> Iterator[str]:
    """`place: old, new` for each value that is not the same and is part of the fingerprint."""
    if there == here or place in ("fingerprint", "isolation", "versions.blendscribe-revision"):
        return
    if isinstance(there, dict) and isinstance(here, dict):
        for name in dict.fromkeys([*there, *here]):
            yield from _differences(there.get(name), here.get(name), f"{place}.{name}".lstrip("."))
    else:
        yield f"{place}: {_short(there)}, {_short(here)}"


def _short(value: Any) -> str:
    """A value of run.json, as it stands there."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 3]}..."


def _from_before(key: EpisodeKey, episode: EpisodePaths) -> EpisodeOutcome:
    """A damaged result is neither believed nor played over."""
    try:
        return EpisodeOutcome(key, read_summary(episode.summary), is_from_before=True, folder=episode.root)
    except CorruptEpisode as error:
        told, damaged = str(error), type(error).__name__
        return EpisodeOutcome(key, None, told, damaged, is_from_before=True, folder=episode.root)


def _import_model_class(config: RunConfig) -> None:
    """litellm takes seconds to import, and must not be imported by two threads at once."""
    from minisweagent.models import get_model_class

    try:
        get_model_class("", config.model.model_class)
    except ValueError as error:
        raise bad_input(
            f"cannot be imported (it is '{config.model.model_class}')", place="model.model_class"
        ) from error


def _one_line(error: Exception, config: RunConfig) -> str:
    redactor = Redactor.for_this_machine(secrets=secrets_in(config.model_dump()))
    text: str = redactor.clean(one_line(error))
    return text[:_MAX_ERROR]


def _kill_descendants() -> None:
    """Stop everything before killing anything, so that nothing can fork away from it."""
    stopped: set[int] = set()
    while new := set(process_tree(os.getpid())[1:]) - stopped:
        for pid in new:
            _send(pid, signal.SIGSTOP)
        stopped |= new
    for pid in stopped:
        _send(pid, signal.SIGKILL)


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass
