"""final_script.py of an episode, whole, run again in a clean place, beside what was handed in: a file of the record.

Nothing of it is written here. What the machine does wrong is a HarnessError, what the script does is in the record.
"""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from agent_plugin.finals import DELIVERABLE
from agent_plugin.recorded_episode import RecordedEpisode
from agent_plugin.replay_workplace import restored
from harness.blender import level_in_force
from harness.checks.opened_file import Wanted
from harness.checks.run import examine
from harness.errors import HarnessError
from harness.execution import Problem
from harness.folders import private_folder
from harness.replay_diff import StateComparison, compare_states, film_verdict
from harness.script_scene import script_scene
from harness.state_diff import TOLERANCE, Change, state_hash
from harness.video import UnreadableVideo
from harness.video_compare import VideoComparison, compare_videos
from harness.video_verdict import VideoVerdict, difference_text, judge_video
from recorder.errors import CorruptEpisode
from recorder.integrity_files import good_steps
from recorder.plain_files import NotPlain, copy_plain, is_plain, read_plain
from recorder.redaction import Redactor
from recorder.verification import (
    MAX_CHANGES,
    About,
    FilmDiff,
    ReplayDiffFile,
    StateChange,
    StateDiff,
    WorstBlock,
    WorstNumber,
)

SCRIPT, FILM = "final_script.py", "output.mp4"
_MAX_VALUE = 300
_MAX_ERROR = 2000


@dataclass(frozen=True)
class Replayed:
    """What came of it."""

    file: ReplayDiffFile
    n_starts: int
    """Blenders that were started."""


def replay_scene(
    episode: RecordedEpisode, about: About, recorded: dict[str, Any] | None, why_none: str, redactor: Redactor
) -> Replayed:
    """`recorded`: the state of the saved scene, or None and why. Two starts; one more where the scenes differ."""
    settings = episode.environment.harness
    failed = _Failed("scene", about, level_in_force(settings).name, redactor)
    if recorded is None:
        return Replayed(failed.file(_whose(why_none, "the saved scene")), 0)
    try:
        script = read_plain(episode.paths.root, SCRIPT).decode("utf-8")
    except NotPlain as error:
        return Replayed(failed.file(str(error)), 0)
    except UnicodeDecodeError as error:
        return Replayed(failed.file(f"'{SCRIPT}' is not UTF-8 text ({error.reason})"), 0)
    n_steps = len(good_steps(episode.steps))
    with script_scene(script, episode.task.start_file, settings, n_steps) as made:
        if made.saved is None:
            return Replayed(failed.file(f"it fails when it is run by itself: {made.failure}"), made.n_starts)
        looked = examine(made.saved, Wanted(state=True), settings)
    n_starts = made.n_starts + looked.report.n_starts
    if looked.state is None:
        made_scene = "the scene that it makes"
        why = _whose(looked.why_no_state, made_scene)
        why = why if made_scene in why else f"{made_scene}: {why}"
        return Replayed(failed.file(why), n_starts)
    compared = compare_states(recorded, looked.state)
    step, note = first_different_step(episode) if compared.verdict == "differs" else (None, "")
    file = ReplayDiffFile(
        about=about,
        kind="scene",
        verdict=compared.verdict,
        state=_state_diff(compared, recorded, looked.state, redactor),
        first_different_step=step,
        note=note,
        isolation=failed.isolation,
    )
    return Replayed(file, n_starts + (compared.verdict == "differs"))


def _whose(why_no_state: str, scene: str) -> str:
    """With the scene in it whose state is meant. What is said of a file stays as it is."""
    return why_no_state.replace("its scene state", f"the state of {scene}", 1)


def first_different_step(episode: RecordedEpisode) -> tuple[int | None, str]:
    """The first step that does not come out as recorded, and what that tells; one Blender runs them all in order."""
    if not episode.steps:
        return None, "There is no recorded step."
    try:
        with restored(episode, len(episode.steps) + 1) as place:
            drift = place.drift
    except (CorruptEpisode, HarnessError) as error:
        return None, f"Which step is the first to differ cannot be told: {error}"
    if drift is None:
        return None, (
            "Run one by one, the recorded steps come out as recorded: the script or the saved scene is not what they "
            "make."
        )
    more = f" (and {len(drift.differences) - 1} more)" if len(drift.differences) > 1 else ""
    return (
        drift.step,
        f"Run one by one, step {drift.step} is the first to come out another: {drift.differences[0]}{more}",
    )


def replay_video(episode: RecordedEpisode, about: About, keep_scene: Path, redactor: Redactor) -> Replayed:
    """The scene that the script leaves is kept, if it ends well. Two starts."""
    root, settings = episode.paths.root, episode.environment.harness
    failed = _Failed("video", about, level_in_force(settings).name, redactor)
    with private_folder("final") as workspace, private_folder("films") as films:
        if episode.task.start_file:
            shutil.copyfile(episode.task.start_file, workspace / episode.task.start_file.name)
        try:
            copy_plain(root, SCRIPT, workspace / DELIVERABLE)
        except NotPlain as error:
            return Replayed(failed.file(str(error)), 0)
        again, recorded = films / "again.mp4", films / "recorded.mp4"
        judged = judge_video(DELIVERABLE, workspace, settings, keep_video=again, keep_scene=keep_scene)
        n_starts = 1 + (judged.render is not None)
        errors = [problem for problem in judged.result.problems if problem.severity == "error"]
        if judged.result.video is None or not again.is_file():
            return Replayed(failed.file(f"it gives no film: {_told(errors)}", errors), n_starts)
        if not is_plain(root, FILM):
            return Replayed(failed.file(f"there is no '{FILM}' to compare with", errors), n_starts)
        copy_plain(root, FILM, recorded)
        try:
            comparison = compare_videos(recorded, again, settings)
        except UnreadableVideo as error:
            return Replayed(failed.file(f"'{FILM}' cannot be decoded: {error}", errors), n_starts)
    return Replayed(_film_file(about, comparison, judged, errors, failed.isolation), n_starts)


@dataclass(frozen=True)
class _Failed:
    """Makes the record of a replay with which there was nothing to compare."""

    kind: Literal["scene", "video"]
    about: About
    isolation: str
    redactor: Redactor

    def file(self, why: str, errors: Sequence[Problem] = ()) -> ReplayDiffFile:
        return ReplayDiffFile(
            about=self.about,
            kind=self.kind,
            verdict="failed",
            error=str(self.redactor.clean(why))[:_MAX_ERROR],
            problems=[problem.code for problem in errors],
            isolation=self.isolation,
        )


def _state_diff(
    compared: StateComparison, recorded: dict[str, Any], replayed: dict[str, Any], redactor: Redactor
) -> StateDiff:
    changes = [_state_change(change) for change in compared.changes[:MAX_CHANGES]]
    worst = compared.worst
    made = StateDiff(
        recorded_hash=state_hash(recorded),
        replayed_hash=state_hash(replayed),
        tolerance=TOLERANCE,
        n_changes=len(compared.changes),
        changes=changes,
        worst=WorstNumber(path=worst.path, magnitude=worst.magnitude) if worst else None,
    )
    return StateDiff.model_validate(redactor.clean_texts(made.model_dump()))


def _state_change(change: Change) -> StateChange:
    values = _bounded(change.before), _bounded(change.after)
    return StateChange(
        path=change.path, kind=change.kind, before=values[0], after=values[1], magnitude=change.magnitude
    )


def _bounded(value: Any) -> Any:
    text = str(value)
    return value if len(text) <= _MAX_VALUE else f"{text[:_MAX_VALUE]}..."


def _told(errors: Sequence[Problem]) -> str:
    return "; ".join(problem.message for problem in errors) or "it renders none"


def _film_file(
    about: About, comparison: VideoComparison, judged: VideoVerdict, errors: Sequence[Problem], isolation: str
) -> ReplayDiffFile:
    worst, whole = comparison.worst, comparison.whole_frames
    film = FilmDiff(
        n_frames=comparison.n_frames,
        worst_block=WorstBlock(**vars(worst)) if worst else None,
        worst_frame=comparison.worst_frame,
        worst_frame_difference=max(whole, default=None),
        message="" if comparison.is_same else difference_text(comparison),
    )
    return ReplayDiffFile(
        about=about,
        kind="video",
        verdict=film_verdict(comparison),
        problems=[problem.code for problem in errors],
        film=film,
        isolation=isolation or judged.result.sandbox_level,
    )
