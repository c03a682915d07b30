"""Writes a replayed step as an episode of its own: a branch that keeps the steps before it as they were recorded.

So it is whole: its conversation, its pictures and its script are there, and it can be replayed in turn. Its header
names the parent and the step; the costs of the parent's steps are in it, as part of what it took. It is not judged.
"""

import hashlib
import shutil
from pathlib import Path

from agent_plugin.agent import StepRecorder, now
from agent_plugin.episode import EpisodeKey, isolation_record, summarise
from agent_plugin.faults import bad_input
from agent_plugin.finals import DELIVERABLE
from agent_plugin.recorded_episode import RecordedEpisode
from agent_plugin.replay import StepReplay
from agent_plugin.replay_reply import Reply
from agent_plugin.replay_workplace import Workplace, observations
from agent_plugin.versions import versions
from harness.workspace import NotTaken, take_file
from recorder.paths import EpisodePaths
from recorder.records import Header, Parent, Step
from recorder.redaction import Redactor
from recorder.trajectory import TrajectoryWriter, write_atomically

EXIT_STATUS = "Replayed"


def check_new(root: Path, episode: RecordedEpisode) -> None:
    """Raises BadInput if a branch cannot be written there."""
    if root.resolve().is_relative_to(episode.paths.root.resolve()):
        raise bad_input("lies inside the episode, in which nothing is written", file=str(root))
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise bad_input("is there already; give a new folder for the replay", file=str(root))
    try:
        root.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror})", file=str(root)) from error


def write_branch(
    root: Path, episode: RecordedEpisode, place: Workplace, step: Step, reply: Reply, replayed: StepReplay, model: str
) -> None:
    """Write the episode into `root`, which `check_new` has made."""
    paths = EpisodePaths(root)
    _copy_task(episode, paths)
    redactor = Redactor.for_this_machine(folders={str(place.folder): "<workspace>", str(root.resolve()): "<episode>"})
    writer = TrajectoryWriter(paths, redactor)
    recorder = StepRecorder(writer)
    writer.append(_header(episode, step.step, model))
    for earlier in episode.steps[: step.step - 1]:
        _copy_files(episode, earlier, writer)
        writer.append(earlier)
    begun = recorder.begin(step.step)
    if reply.format_error:
        recorder.unusable(begun, reply.format_error)
    else:
        outputs = [one.output for one in replayed.ran]
        recorder.step(begun, reply.message, outputs, observations(reply.message, replayed.ran))
    recorder.end(EXIT_STATUS, "", "")
    _keep_script(place, paths)
    key = EpisodeKey(episode.task, model, episode.header.attempt)
    summary = summarise(key, paths, EXIT_STATUS, None, replayed.seconds, redactor)
    summary = summary.model_copy(update={"task_sha256": episode.header.task_sha256})
    write_atomically(paths.summary, (summary.model_dump_json(indent=2) + "\n").encode())


def _header(episode: RecordedEpisode, number: int, model: str) -> Header:
    settings = episode.environment.harness
    digest = hashlib.sha256(episode.paths.trajectory.read_bytes()).hexdigest()
    parts = episode.paths.root.resolve().parts
    name = "/".join(parts[-3:] if parts[-4:-3] == ("episodes",) else parts[-1:])  # no path of this machine
    parent = Parent(episode=name, trajectory_sha256=digest, step=number)
    isolation = isolation_record(settings, allowed=None)
    changed = {
        "parent": parent,
        "model": model,
        "versions": versions(settings),
        "sandbox_level": isolation.measured,
        "isolation": isolation,
        "started_at": now(),
    }
    return episode.header.model_copy(update=changed)


def _copy_task(episode: RecordedEpisode, paths: EpisodePaths) -> None:
    paths.task.mkdir()
    start = [episode.task.start_file.name] if episode.task.start_file else []
    hidden = [f"{key}.json" for key in episode.task.hidden_files]
    for name in ("brief.md", "task.json", *start, *hidden):
        shutil.copyfile(episode.paths.task / name, paths.task / name)


def _copy_files(episode: RecordedEpisode, step: Step, writer: TrajectoryWriter) -> None:
    for observation in step.observations:
        for part in observation.images:
            writer.store_image(episode.picture(part, step.seq + 1), part.media_type)
    for execution in step.executions:
        if execution.state_patch:
            writer.store_packed_patch(episode.packed_patch(execution.state_patch, step.seq + 1))


def _keep_script(place: Workplace, paths: EpisodePaths) -> None:
    session = place.environment.session
    if session is not None:
        paths.final_script.write_text(session.final_script(), encoding="utf-8")
        return
    try:
        take_file(place.folder, DELIVERABLE, paths.final_script, max_bytes=4 << 20)
    except (FileNotFoundError, NotTaken):
        paths.final_script.unlink(missing_ok=True)
