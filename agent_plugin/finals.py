"""The harness's own last word on an episode: what was submitted, made again in a clean place, and judged."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agent_plugin.final_checks import grade
from agent_plugin.tasks import Task
from harness.execution import Problem
from harness.folders import private_folder
from harness.report import report_text
from harness.scene_verdict import judge_scene
from harness.settings import HarnessSettings
from harness.step_result import StepView
from harness.step_session import StepSession
from harness.video import Frame, UnreadableVideo
from harness.video_reader import VideoReader
from harness.video_verdict import judge_video
from harness.workspace import NotTaken, take_file
from recorder.paths import EpisodePaths
from recorder.records import CheckScore

if TYPE_CHECKING:
    from harness.checks.declared import DeclaredCheck

DELIVERABLE = "main.py"
"""The file that a video task hands in."""


class SceneWorkplace(Protocol):
    """Where a scene was built: the environment of its agent."""

    session: StepSession | None
    views: tuple[StepView, ...]
    """Of the last step that took effect."""


@dataclass(frozen=True)
class Final:
    """The outcome that counts."""

    ok: bool
    problems: tuple[Problem, ...]
    record: dict[str, Any]
    """All that was measured, as JSON-able values."""
    score: CheckScore | None = None
    """Of the declared checks; None where there was no scene to judge them on, or they are none."""

    def with_checks(self, scene: Path, checks: "Sequence[DeclaredCheck]", settings: HarnessSettings) -> "Final":
        """The same with the declared checks judged on the file `scene`, if that is there."""
        if not checks or not scene.is_file():
            return self
        graded = grade(scene, checks, settings)
        problems, record = (*self.problems, *graded.problems), self.record | {"checks": graded.report}
        return Final(self.ok and not graded.problems, problems, record, graded.score)


def final_video(
    agents: Path, paths: EpisodePaths, task: Task, settings: HarnessSettings, checks: "Sequence[DeclaredCheck]"
) -> Final:
    """Run the script that the agent left in its workspace `agents` again, alone, in a clean one; keep script, video
    and contact sheet.

    Files that earlier steps left behind are not there: a script that needs them fails. The scene that it left is what
    `checks` are judged on.
    """
    with private_folder("final") as workspace, private_folder("graded") as graded:
        scene = graded / "scene.blend"
        if task.start_file:
            shutil.copy(task.start_file, workspace / task.start_file.name)
        if _take_script(agents, paths.final_script):
            shutil.copy(paths.final_script, workspace / DELIVERABLE)
        verdict = judge_video(DELIVERABLE, workspace, settings, keep_video=paths.output_video, keep_scene=scene)
        result = verdict.result
        if result.preview_name:
            shutil.copy(workspace / result.preview_name, paths.preview)
        final = Final(result.ok, result.problems, verdict.to_json() | {"report": report_text(result)})
        return final.with_checks(scene, checks, settings)


def final_scene(workplace: SceneWorkplace, paths: EpisodePaths, task: Task, checks: "Sequence[DeclaredCheck]") -> Final:
    """Save the live scene and its script, and see whether each gives it again; keep both, and a contact sheet.

    `checks` are judged on the saved file.
    """
    session = workplace.session
    if session is None:  # handed in without a single step
        missing = Problem("nothing_done", "error", "No step was run: there is no scene.")
        return Final(False, (missing,), {"ok": False, "problems": [missing.message]})
    verdict = judge_scene(session, task.start_file, keep_scene=paths.scene, keep_script=paths.final_script)
    if workplace.views:
        _write_sheet(workplace.views, paths.preview, session.settings)
    return Final(verdict.ok, verdict.problems, verdict.to_json()).with_checks(paths.scene, checks, session.settings)


def _write_sheet(views: Sequence[StepView], path: Path, settings: HarnessSettings) -> None:
    """The views on one picture. They came through a pipe that a step's code could reach: no picture, no sheet."""
    frames = [Frame(view.frame - 1, 0.0, view.jpeg, view.width, view.height) for view in views]
    labels = [f"{view.label}, frame {view.frame}" for view in views]
    with VideoReader(settings) as reader:
        reader.start()
        try:
            path.write_bytes(reader.contact_sheet(frames, labels))
        except UnreadableVideo:
            pass


def _take_script(workspace: Path, destination: Path) -> bool:
    """Whether there is a plain file to run; where there is none, `execute` says so."""
    try:
        take_file(workspace, DELIVERABLE, destination, max_bytes=4 << 20)
    except (FileNotFoundError, NotTaken):
        destination.unlink(missing_ok=True)
        return False
    return True
