"""Runs a script in a fresh Blender and measures everything about it: the one way a script is judged.

The agent's tool and the final verdict both call `execute`, so a script is judged the same way each time.
"""

from __future__ import annotations

import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from harness.blender import BlenderRun, level_in_force, run_in_blender
from harness.execution import ExecutionResult, Log, Outcome, Problem, ScriptError, parse_script_error
from harness.folders import private_folder
from harness.log import shorten_log
from harness.plain_text import plain
from harness.problems import (
    extra_files_problem,
    not_rendered_problem,
    not_taken_problem,
    unreadable_problem,
    video_problems,
)
from harness.run_problems import (
    animated_by_code_warning,
    early_exit_warning,
    end_problem,
    frame_range_changed_warning,
    other_scene_warning,
    scene_not_measured_warning,
    script_error_problem,
    script_missing_problem,
)
from harness.run_video import RunVideo
from harness.sandbox import Bind, Usage
from harness.sandbox.jail import Word
from harness.scene_facts import SceneFacts, parse_scene_facts
from harness.settings import HarnessSettings
from harness.video import UnreadableVideo, VideoReading
from harness.workspace import (
    PREVIEW_NAME,
    FileStamp,
    NotTaken,
    list_files,
    remove_entry,
    reopen,
    take_file,
    written_files,
)

_MAX_SCRIPT_BYTES = 4 << 20


def execute(
    script: str,
    workspace: Path,
    settings: HarnessSettings,
    *,
    keep_video: Path | None = None,
    keep_scene: Path | None = None,
) -> ExecutionResult:
    """Run `script` (a file name relative to `workspace`) and judge the video that it renders.

    A video and a contact sheet from an earlier run are deleted first. The contact sheet is written to
    `preview.png` in the workspace. With `keep_video`, the judged bytes of the video are kept under that path; with
    `keep_scene`, the scene that a good script left is, if Blender could save it.
    Whatever the script does is data in the result; raises HarnessError only for what is not its doing.
    """
    workspace = workspace.resolve(strict=True)
    if what := _cannot_run(workspace, script):
        have = sorted(plain(name) for name in list_files(workspace))
        return _not_run(script, script_missing_problem(script, what, have), settings)
    _remove_stale(workspace, settings)
    before = list_files(workspace)
    result, was_killed = _run(script, workspace, settings, before, keep_video, keep_scene)
    if was_killed:  # it may have been somebody outside; a script that kills itself does it again
        _remove_stale(workspace, settings)
        result, _ = _run(script, workspace, settings, before, keep_video, keep_scene)
    return result


def _remove_stale(workspace: Path, settings: HarnessSettings) -> None:
    """What an earlier run, or a first try of this one, rendered: it must never be judged."""
    for stale in (settings.output_video, PREVIEW_NAME):
        remove_entry(workspace / stale)


def _run(
    script: str,
    workspace: Path,
    settings: HarnessSettings,
    before: dict[str, FileStamp],
    keep_video: Path | None,
    keep_scene: Path | None,
) -> tuple[ExecutionResult, bool]:
    """What came of one run, and whether its Blender was killed (SIGKILL). `before`: the files that were there."""
    with RunVideo(workspace, settings) as video, private_folder("scene") as out:
        saved: list[Word] = [out / "scene.blend"] if keep_scene else []
        run = run_in_blender(
            "run_script.py",
            [script, str(settings.summary_samples), *saved],
            workspace=workspace,
            settings=settings,
            binds=[Bind(out, "/scene", is_writable=True)] if keep_scene else [],
            meanwhile=video.start,  # begun earlier, it would hold up Blender
            midway=("ended", video.begin),
            is_repeatable=False,
        )
        reopen(workspace)
        if keep_scene:
            _keep_scene(out, keep_scene, settings)
        result = _Judgement(script, workspace, settings, run, before, video).result(keep_video)
        return result, run.exit.was_killed


def _keep_scene(folder: Path, destination: Path, settings: HarnessSettings) -> None:
    reopen(folder)
    try:
        take_file(folder, "scene.blend", destination, max_bytes=settings.max_file_mb << 20)
    except (OSError, NotTaken):
        destination.unlink(missing_ok=True)


def _cannot_run(workspace: Path, script: str) -> str:
    """Why `script` is not a plain readable file of the workspace, or ''."""
    relative = Path(script)
    if relative.is_absolute() or ".." in relative.parts:
        return "is not inside the workspace"
    try:
        state = (workspace / relative).lstat()
    except OSError:
        return "does not exist"
    if not stat.S_ISREG(state.st_mode):
        return "is not a plain file"
    if not (workspace / relative).resolve().is_relative_to(workspace):
        return "leads out of the workspace"
    if state.st_size > _MAX_SCRIPT_BYTES:
        return f"is larger than {_MAX_SCRIPT_BYTES >> 20} MiB"
    return ""


def _not_run(script: str, problem: Problem, settings: HarnessSettings) -> ExecutionResult:
    return ExecutionResult(
        script=script,
        outcome="script_missing",
        seconds=0.0,
        problems=(problem,),
        error=None,
        log=Log((), 0),
        output_video=settings.output_video,
        video=None,
        scene=None,
        preview_frames=(),
        preview_name=None,
        sandbox_level=level_in_force(settings).name,
        blender="",
        peak=Usage(),
    )


@dataclass(frozen=True)
class _Judgement:
    """One finished process, and what follows from it."""

    script: str
    workspace: Path
    settings: HarnessSettings
    run: BlenderRun
    before: dict[str, FileStamp]
    video: RunVideo

    def result(self, keep_video: Path | None) -> ExecutionResult:
        outcome, error = self._outcome()
        scene = parse_scene_facts(self.run.message("scene"))
        written = written_files(self.before, list_files(self.workspace))
        reading, video_findings = self._video(outcome, scene, written, keep_video)
        started = self.run.message("started") or {}
        problems = [
            *self._end_problems(outcome, error),
            *video_findings,
            *extra_files_problem([n for n in written if n != self.settings.output_video], self.settings.output_video),
        ]
        return ExecutionResult(
            script=self.script,
            outcome=outcome,
            seconds=self.run.exit.seconds,
            problems=tuple(problems),
            error=error,
            log=shorten_log(self.run.exit.output.text()),
            output_video=self.settings.output_video,
            video=reading.facts if reading else None,
            scene=scene,
            preview_frames=reading.preview_frames if reading else (),
            preview_name=self._write_preview(reading.contact_sheet) if reading else None,
            sandbox_level=self.run.level,
            blender=f"{started.get('blender', '')} ({started.get('build', '')})"[:80] if started else "",
            peak=self.run.exit.peak,
            is_whole=self._is_whole(),
        )

    def _is_whole(self) -> bool:
        """A script can write into the runner's pipe; then the runner's own words follow, or its end gives it away."""
        kinds = [message["kind"] for message in self.run.messages]
        once = all(kinds.count(kind) == 1 for kind in ("started", "ended", "scene", "finished"))
        return once and self.run.exit.returncode == 0 and self.run.exit.stopped_by is None

    def _outcome(self) -> tuple[Outcome, ScriptError | None]:
        ended, exit = self.run.message("ended"), self.run.exit
        if exit.stopped_by in ("output", "disk", "files", "processes"):
            return "limit", None
        if exit.stopped_by == "memory":
            return "out_of_memory", None
        if ended is not None:  # what comes after the script's end (measuring) does not change how it ended
            error = parse_script_error(ended.get("error"))
            if error is not None:
                is_memory = error.type == "MemoryError"
                return ("out_of_memory" if is_memory else "script_error"), error
            if ended.get("ok") is True:
                return "ok", None
        if exit.stopped_by == "timeout":
            return "timeout", None
        if exit.signal_name is not None:
            return "crash", None
        return "no_result", None

    def _end_problems(self, outcome: Outcome, error: ScriptError | None) -> list[Problem]:
        if outcome not in ("ok", "script_error") and not (outcome == "out_of_memory" and error):
            return [end_problem(outcome, self.run.exit, self.settings)]
        if error is not None:
            return [script_error_problem(error, self.script)]
        ended = self.run.message("ended") or {}
        warnings = [animated_by_code_warning(code)] if (code := _animating_code(ended)) else []
        warnings += _changed_since_render(ended.get("since_render"))
        if ended.get("exit_code") == 0:
            warnings.append(early_exit_warning(self.script, _line(ended)))
        if self.run.message("scene") is None:
            failed = self.run.message("scene_not_measured") or {}
            reason = str(failed.get("error", "the process ended or took too long while it was measured"))
            warnings.append(scene_not_measured_warning(reason[:200]))
        return warnings

    def _video(
        self, outcome: Outcome, scene: SceneFacts | None, written: list[str], keep: Path | None
    ) -> tuple[VideoReading | None, list[Problem]]:
        """The video's facts, and what is wrong with it; after an error a missing or broken video is no news."""
        if outcome not in ("ok", "script_error"):
            return None, []
        name, is_finished = self.settings.output_video, outcome == "ok"
        try:
            reading = self.video.reading(keep=keep)
        except FileNotFoundError:
            line = _line(self.run.message("ended") or {}) if self._left_early() else None
            return None, [not_rendered_problem(name, written, exit_line=line)] if is_finished else []
        except NotTaken as error:
            return None, [not_taken_problem(str(error), name)]
        except UnreadableVideo as error:
            return None, [unreadable_problem(error, name)] if is_finished else []
        return reading, video_problems(reading.facts, scene, self.settings) if is_finished else []

    def _left_early(self) -> bool:
        return (self.run.message("ended") or {}).get("exit_code") == 0

    def _write_preview(self, sheet: bytes) -> str | None:
        """The contact sheet's name, or None where the disk does not take it.

        Under a name of its own first: a link planted at `preview.png` is replaced, not followed.
        """
        temporary = None
        try:
            descriptor, temporary = tempfile.mkstemp(prefix=".preview-", dir=self.workspace)
            with os.fdopen(descriptor, "wb") as file:
                file.write(sheet)
            Path(temporary).chmod(0o644)
            remove_entry(self.workspace / PREVIEW_NAME)
            Path(temporary).replace(self.workspace / PREVIEW_NAME)
        except OSError:
            if temporary:
                Path(temporary).unlink(missing_ok=True)
            return None
        return PREVIEW_NAME


def _animating_code(ended: dict[str, object]) -> list[str]:
    code = ended.get("animating_code")
    return [str(name)[:120] for name in code[:20]] if isinstance(code, list) else []


def _changed_since_render(changed: object) -> list[Problem]:
    """What `run_script.LastRender` says, checked again."""
    if not isinstance(changed, dict):
        return []
    names = [changed.get(name) for name in ("rendered_scene", "active_scene")]
    if all(isinstance(name, str) for name in names):
        return [other_scene_warning(*(plain(str(name))[:64] for name in names))]
    rendered, now = changed.get("rendered_frames"), changed.get("frames")
    return [frame_range_changed_warning(rendered, now)] if _is_range(rendered) and _is_range(now) else []


def _is_range(numbers: object) -> TypeGuard[list[int]]:
    return isinstance(numbers, list) and len(numbers) == 3 and all(type(n) is int for n in numbers)


def _line(ended: dict[str, object]) -> int | None:
    line = ended.get("exit_line")
    return line if isinstance(line, int) else None
