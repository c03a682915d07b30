"""One episode of a run, from its thread's start to an outcome: the one place where a failure of the machine or the
provider is caught."""

import threading
from functools import partial

from agent_plugin.config import RunConfig
from agent_plugin.disk_guard import DiskGuard
from agent_plugin.episode import EpisodeKey, run_episode
from agent_plugin.launch_plan import RunPlan
from agent_plugin.losses import LossClass, loss_class
from agent_plugin.models.deadline import Stopped
from agent_plugin.models.failure_text import one_line
from agent_plugin.run_folder import CHANGED, INFRASTRUCTURE, INTERRUPTED, move_aside, note_loss
from agent_plugin.spending import Stop
from agent_plugin.watcher import EpisodeOutcome, Watcher
from harness.errors import WaitStopped
from recorder.config_secrets import secrets_in
from recorder.errors import CorruptEpisode
from recorder.paths import EpisodePaths, RunPaths
from recorder.redaction import Redactor
from recorder.trajectory import read_summary

_MAX_ERROR = 600


class Played:
    """Plays episodes of one launch. Called from many threads."""

    def __init__(self, plan: RunPlan, paths: RunPaths, watcher: Watcher, stop: Stop, disk: DiskGuard) -> None:
        self._plan, self._paths, self._watcher, self._stop, self._disk = plan, paths, watcher, stop, disk
        self._here = threading.local()
        """Of each thread: the episode that it plays, and whether that is in its final execution."""

    def __call__(self, key: EpisodeKey) -> EpisodeOutcome:
        """Play it. Whatever fails is in the outcome."""
        episode = self._paths.episode(key.task.id, key.model, key.attempt)
        self._here.key, self._here.is_final = key, False
        self._watcher.started(key)
        on_step = partial(self._on_step, key)
        try:
            move_aside(episode, INTERRUPTED)  # left by a launcher that was killed
            config, allowed = self._plan.config, self._plan.allowed_isolation
            summary = run_episode(
                key, config, episode, on_step, allowed, self._stop.is_by_user, say_waiting=self.say_waiting
            )
        except (Stopped, WaitStopped):
            return self._lost(key, episode, self._stop.why, "Stopped", None)
        except Exception as error:  # noqa: BLE001 - the one place where a failure of machine or provider is caught
            return self._lost(key, episode, _told(error, config), type(error).__name__, loss_class(error))
        return EpisodeOutcome(key, summary, folder=episode.root)

    def say_waiting(self, what: str) -> None:
        """The episode of this thread waits for this machine or its provider; '' when it goes on."""
        if key := getattr(self._here, "key", None):
            self._watcher.waiting(key, what)

    def is_given_up(self) -> bool:
        """Whether the episode of this thread need not wait for a Blender any longer: its user stopped it.

        A final execution still gets its turn: the episode is paid for, and this is all that is left of it.
        """
        return self._stop.is_by_user() and not getattr(self._here, "is_final", False)

    def _on_step(self, key: EpisodeKey, number: int, what: str) -> None:
        if what == "model" and self._stop.is_due():
            raise Stopped
        if what in ("model", "final execution") and self._disk.shortage():
            self._disk.wait(self._stop.requested.is_set, self.say_waiting)
            self.say_waiting("")
        self._here.is_final = what == "final execution"
        self._watcher.step(key, number, what)

    def _lost(
        self, key: EpisodeKey, episode: EpisodePaths, error: str, ended_as: str, loss: LossClass | None
    ) -> EpisodeOutcome:
        """No result. What was recorded is moved aside, unless the disk that failed does not allow it."""
        try:
            folder = move_aside(episode, INFRASTRUCTURE if loss else INTERRUPTED)
        except OSError as failure:
            error += f" (what was recorded stays where it is: {failure.strerror})"
            folder = episode.root
        if folder and loss:
            note_loss(folder, loss, ended_as, error)
        return EpisodeOutcome(key, None, error=error, ended_as=ended_as, folder=folder, loss=loss)


def from_before(key: EpisodeKey, paths: RunPaths, task_sha256: str) -> EpisodeOutcome | None:
    """The outcome of an episode that an earlier launch finished; None where it is to be played.

    A damaged result is neither believed nor played over. One of another task of the same name (`--allow-changed`) is
    moved aside.
    """
    episode = paths.episode(key.task.id, key.model, key.attempt)
    if not episode.is_finished:
        return None
    try:
        summary = read_summary(episode.summary)
    except CorruptEpisode as error:
        told, damaged = str(error), type(error).__name__
        return EpisodeOutcome(key, None, told, damaged, is_from_before=True, folder=episode.root)
    if (summary.task_sha256, summary.model) != (task_sha256, key.model):
        move_aside(episode, CHANGED)
        return None
    return EpisodeOutcome(key, summary, is_from_before=True, folder=episode.root)


def _told(error: Exception, config: RunConfig) -> str:
    """In one line, without secrets."""
    redactor = Redactor.for_this_machine(secrets=secrets_in(config.model_dump()))
    text: str = redactor.clean(one_line(error))
    return text[:_MAX_ERROR]
