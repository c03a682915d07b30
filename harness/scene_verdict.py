"""Judges a scene task's outcome: the saved file and the final script have to give the scene that the agent built.

Neither is taken on trust: the script is run whole in a clean workspace and its scene saved, and both files are opened,
scripts off, each in a Blender in which nothing of the agent's has run; the canonical states of these are compared. What
the live session says of its scene is a claim, which can only fail the verdict.
"""

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from harness.blender_slots import BLENDER_MB, blender_slots
from harness.errors import HarnessError
from harness.execution import Problem
from harness.final_script import StepStart
from harness.folders import private_folder
from harness.script_scene import script_scene
from harness.settings import HarnessSettings
from harness.state_diff import Change, diff, state_hash, summarise
from harness.step_session import SCENE_NAME, StepSession

_MAX_LINES = 20


@dataclass(frozen=True)
class SceneVerdict:
    """What the deliverables of a scene task came to."""

    n_good_steps: int
    state_hash: str
    """Of the live scene that was submitted."""
    replay_hash: str | None
    """Of the file that the scene of the final script is saved to; None if it fails."""
    saved_hash: str | None
    """Of the scene in the saved file; None if Blender cannot open it."""
    replay_changes: tuple[str, ...]
    """Where the replayed scene differs, for a person to read."""
    saved_changes: tuple[str, ...]
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        return not any(problem.severity == "error" for problem in self.problems)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values."""
        return {"ok": self.ok, **asdict(self)}


def judge_scene(session: StepSession, start_file: Path | None, *, keep_scene: Path, keep_script: Path) -> SceneVerdict:
    """Save the live scene to `keep_scene` and the script to `keep_script`, and see whether both give this scene.

    Raises HarnessError when the machine fails; what the steps did wrong is in the verdict.
    """
    keep_script.write_text(session.final_script(), encoding="utf-8")
    with blender_slots().working(BLENDER_MB):
        shutil.copyfile(session.save(), keep_scene)
        saved = _reopen(session.settings, keep_scene)
        replayed, replay_problems = _replay(session, start_file, keep_script)
    replay_changes = diff(saved, replayed) if saved is not None and replayed is not None else []
    saved_changes = diff(session.state, saved) if saved is not None else []
    problems = [
        *([_nothing_done()] if not session.good_steps else []),
        *([_unreadable(SCENE_NAME)] if saved is None else []),
        *replay_problems,
        *([_does_not_replay(replay_changes)] if replay_changes else []),
        *([_saved_differs(saved_changes)] if saved_changes else []),
    ]
    return SceneVerdict(
        n_good_steps=len(session.good_steps),
        state_hash=state_hash(session.state),
        replay_hash=state_hash(replayed) if replayed is not None else None,
        saved_hash=state_hash(saved) if saved is not None else None,
        replay_changes=tuple(summarise(replay_changes, max_lines=_MAX_LINES)),
        saved_changes=tuple(summarise(saved_changes, max_lines=_MAX_LINES)),
        problems=tuple(problems),
    )


def _replay(session: StepSession, start_file: Path | None, script: Path) -> tuple[dict[str, Any] | None, list[Problem]]:
    """The state of the file that the whole script's scene is saved to. The workspace holds the start file alone."""
    text, n_steps = script.read_text(encoding="utf-8"), len(session.good_steps)
    with script_scene(text, start_file, session.settings, n_steps) as made:
        if made.saved is None:
            told = f"The final script fails when it is run by itself:\n{made.failure}"
            return None, [Problem("final_script_fails", "error", told, where="final_script.py")]
        state = _reopen(session.settings, made.saved)
    return state, [_unreadable("the scene of final_script.py")] if state is None else []


def _reopen(settings: HarnessSettings, scene: Path) -> dict[str, Any] | None:
    """The state of a saved file, opened with its scripts off in a Blender that has run nothing else.

    None where Blender does not open it, although it starts here.
    """
    with private_folder("reopen") as folder:
        shutil.copyfile(scene, folder / SCENE_NAME)
        try:
            with StepSession(folder, settings, StepStart(kind="file", file=SCENE_NAME)) as opened:
                return opened.state
        except HarnessError:
            with StepSession(folder, settings, StepStart()):
                return None


def _unreadable(what: str) -> Problem:
    return Problem(
        "saved_scene_unreadable",
        "error",
        f"Blender cannot open or measure {what} once it is saved.",
        where=SCENE_NAME,
        fix="Look for what breaks files: huge data, damaged meshes (mesh.validate()), thousands of nested objects.",
    )


def _nothing_done() -> Problem:
    return Problem("nothing_done", "error", "No step took effect: the scene is the one that was there at the start.")


def _does_not_replay(changes: list[Change]) -> Problem:
    return Problem(
        "does_not_replay",
        "error",
        f"The final script, run by itself, gives another scene ({len(changes)} differences):\n"
        + "\n".join(summarise(changes, max_lines=8)),
        where="final_script.py",
        fix="Give random generators a seed; use nothing that differs from run to run (time, random, set order).",
    )


def _saved_differs(changes: list[Change]) -> Problem:
    return Problem(
        "saved_scene_differs",
        "error",
        f"The saved file holds another scene than the live one ({len(changes)} differences):\n"
        + "\n".join(summarise(changes, max_lines=8)),
        where=SCENE_NAME,
        fix="The file has to stand alone: append instead of linking, no files that cannot be packed (Alembic, VDB).",
    )
