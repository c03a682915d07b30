"""A live Blender for a scene task: send code step by step; a step that fails leaves no mark.

Owns the sandboxed process (`in_blender/session.py`), the list of good steps, the workspace's copy, and the way
back when the process is lost: the good steps are run again, and the state hash tells whether they gave the same.
Use it in one thread.
"""

import base64
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, model_validator

from harness.blender import blender_command, blender_jail, level_in_force, parse_messages, private_shader_cache
from harness.errors import HarnessError, SandboxFailed
from harness.execution import ScriptError, parse_script_error
from harness.interpreter import find_environment, libs_dir, shader_cache_dir
from harness.log import shorten_log
from harness.sandbox import REQUEST_FD, RESULT_FD, SandboxedProcess
from harness.sandbox.output import BoundedOutput
from harness.scene_facts import parse_scene_facts
from harness.settings import HarnessSettings
from harness.state_diff import diff, state_hash, summarise
from harness.step_result import StepOutcome, StepResult, StepView
from harness.workspace_backup import WorkspaceBackup

SCENE_NAME = "scene.blend"
_START_SECONDS = 60.0
_MEASURE_SECONDS = 75.0
"""More than the session itself allows for measuring and drawing."""
_GRACE_SECONDS = 10.0
_LIFETIME_SECONDS = 7 * 86_400.0
_MAX_CHANGE_LINES = 12


class StepStart(BaseModel):
    """What the first step finds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["factory", "empty", "file"] = "factory"
    """Blender's default scene, an empty scene, or a .blend file of the workspace."""
    file: str = ""
    """Its name in the workspace, for `file`."""

    @model_validator(mode="after")
    def _file_goes_with_its_kind(self) -> Self:
        if (self.kind == "file") != bool(self.file):
            raise ValueError("kind 'file' needs a file, the others take none")
        return self

    def script(self) -> str:
        """The lines that bring a fresh Blender to this start."""
        if self.kind == "empty":
            return "import bpy\nbpy.ops.wm.read_factory_settings(use_empty=True)\n"
        if self.kind == "file":
            return f"import bpy\nbpy.ops.wm.open_mainfile(filepath={self.file!r}, use_scripts=False)\n"
        return ""


@dataclass(frozen=True)
class GoodStep:
    """A step that took effect."""

    number: int
    code: str
    state_hash: str | None


@dataclass(frozen=True)
class _Answer:
    """What came back for one step, before it is judged."""

    messages: Sequence[dict[str, Any]]
    end: str
    """`until` when the session answered, else the limit that was passed, or `ended`."""
    output: BoundedOutput

    def message(self, kind: str) -> dict[str, Any] | None:
        return next((m for m in self.messages if m["kind"] == kind), None)


class StepSession:
    """One live Blender. `start` it, `step` it, `save` it, `close` it; also a context manager."""

    def __init__(self, workspace: Path, settings: HarnessSettings, start: StepStart | None = None) -> None:
        self.workspace, self.settings, self.start_from = workspace.resolve(), settings, start or StepStart()
        self.good_steps: list[GoodStep] = []
        self.blender = ""
        self.level = level_in_force(settings)
        self._n_steps = 0
        self._state: dict[str, Any] = {}
        self._process: SandboxedProcess | None = None
        self._cache: Any = None
        self._backup = WorkspaceBackup(self.workspace)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def start(self) -> None:
        """Start Blender. Raises HarnessError when that cannot be."""
        environment = find_environment(self.settings)
        libs = libs_dir(self.settings, environment)
        limits = self.settings.limits
        # the session itself stops a step at memory_mb; this bound catches one that defeats it
        limits = replace(limits, timeout_seconds=_LIFETIME_SECONDS, memory_mb=limits.memory_mb * 2 + 1024)
        self._cache = private_shader_cache(shader_cache_dir(environment))
        jail = blender_jail(environment, libs, self._cache.__enter__(), self.workspace, limits)
        start = json.dumps({"start": self.start_from.model_dump()})
        command = blender_command(environment, "session.py", [RESULT_FD, REQUEST_FD, start])
        self._process = SandboxedProcess(jail, limits, self.level)
        self._process.start(command)
        answer = self._await("started", _START_SECONDS)
        started = answer.message("started")
        if started is None:
            self._stop()
            raise SandboxFailed(f"The Blender session did not start ({answer.end}): {answer.output.text()[-500:]}")
        self.blender = f"{started.get('blender')} ({started.get('build')})"[:80]
        self._request({"op": "measure", "summary_samples": self.settings.summary_samples})
        measured = self._await("measured", _MEASURE_SECONDS).message("measured") or {}
        if not measured.get("measured"):
            self._stop()
            raise HarnessError("The start scene could not be measured.")
        self._state = measured["measured"]["state"]

    def step(self, code: str, *, views: bool | None = None) -> StepResult:
        """Run `code`. What it does wrong is in the result; raises HarnessError for what is not its doing."""
        began = time.monotonic()
        self._n_steps += 1
        rebuilt = differs = False
        if self._process is None:
            rebuilt, differs = True, not self._rebuild()
        self._backup.take()
        wants_views = self.settings.visual_feedback if views is None else views
        answer = self._send_step(self._n_steps, code, wants_views)
        done, failed = answer.message("step_done"), answer.message("step_failed")
        if done is None:
            outcome, reason, error = self._failure(failed, answer)
            if failed is None:
                self._stop()  # the session itself is gone or stuck; the next step finds it rebuilt
            put_back = self._backup.restore()
            changes: list[str] = []
            n_changes, hash_now, scene, pictures, views_failed = 0, None, None, [], False
        else:
            outcome, reason, error, put_back = "ok", "", None, []
            measured = done.get("measured")
            changes, n_changes, hash_now = self._compare(measured)
            scene = parse_scene_facts((measured or {}).get("summary"))
            pictures = _views(done.get("views"))
            views_failed = wants_views and done.get("views") is None
            self.good_steps.append(GoodStep(self._n_steps, code, hash_now))
        return StepResult(
            number=self._n_steps,
            code=code,
            outcome=outcome,
            reason=reason,
            error=error,
            seconds=time.monotonic() - began,
            log=shorten_log(answer.output.text()),
            changes=tuple(changes),
            n_changes=n_changes,
            state_hash=hash_now,
            scene=scene,
            views=tuple(pictures),
            views_failed=views_failed,
            files_put_back=tuple(put_back),
            rebuilt=rebuilt,
            rebuilt_differs=differs,
            sandbox_level=self.level.name,
        )

    @property
    def state(self) -> dict[str, Any]:
        """The canonical scene state after the last good step."""
        return self._state

    def save(self, name: str = SCENE_NAME) -> Path:
        """Write the scene into the workspace: pictures packed, paths relative, compressed."""
        if self._process is None:
            self._rebuild()
        self._request({"op": "save", "file": name})
        answer = self._await("saved", _MEASURE_SECONDS)
        saved = answer.message("saved")
        if saved is None or not saved.get("ok"):
            raise HarnessError(f"The scene could not be saved: {answer.output.text()[-500:]}")
        return self.workspace / name

    def final_script(self) -> str:
        """Every step that took effect, in order, as it was, after the lines that open the start file."""
        return final_script(self.start_from, [(step.number, step.code) for step in self.good_steps])

    def close(self) -> None:
        """End Blender and delete what was kept beside it."""
        self._stop()
        self._backup.close()

    # inside

    def _send_step(self, number: int, code: str, wants_views: bool) -> _Answer:
        views = {"width": self._view_size[0], "height": self._view_size[1], "n_frames": 4} if wants_views else None
        self._request(
            {
                "op": "step",
                "number": number,
                "code": code,
                "timeout": self.settings.exec_timeout,
                "memory_mb": self.settings.memory_mb,
                "summary_samples": self.settings.summary_samples,
                "views": views,
            }
        )
        return self._await(
            ("step_done", "step_failed", "lost"), self.settings.exec_timeout + _MEASURE_SECONDS + _GRACE_SECONDS
        )

    @property
    def _view_size(self) -> tuple[int, int]:
        width, height = self.settings.resolution
        shown = min(self.settings.preview_width, width)
        return shown, max(16, round(height * shown / width))

    def _request(self, request: dict[str, Any]) -> None:
        assert self._process is not None
        data = json.dumps(request).encode()
        try:
            self._process.send(len(data).to_bytes(8, "little") + data)
        except BrokenPipeError:
            pass  # `_await` sees that it has ended

    def _await(self, kinds: str | tuple[str, ...], timeout_seconds: float) -> _Answer:
        """Messages up to the first of `kinds`."""
        process = self._process
        assert process is not None
        wanted = tuple(f'{{"kind": "{kind}"'.encode() for kind in ([kinds] if isinstance(kinds, str) else kinds))

        def is_there() -> bool:
            start = process.result.rfind(b"\n", 0, -1) + 1
            return process.result.endswith(b"\n") and process.result.startswith(wanted, start)

        end = process.watch(timeout_seconds=timeout_seconds, until=is_there)
        process.drain()
        messages = list(parse_messages(bytes(process.result)))
        process.result.clear()
        return _Answer(messages, end, process.take_output())

    def _failure(self, failed: dict[str, Any] | None, answer: _Answer) -> tuple[StepOutcome, str, ScriptError | None]:
        if answer.message("lost") or failed is None:
            return _lost(answer, self.settings)
        fate = failed.get("fate")
        if fate == "timeout":
            return "timeout", f"timed out after {self.settings.exec_timeout:g} s; it was stopped", None
        if fate == "out_of_memory":
            return "out_of_memory", f"out of memory: it used more than {self.settings.memory_mb} MiB", None
        if fate == "crash":
            return "crash", f"Blender crashed (signal {failed.get('signal')})", None
        if fate == "no_result":
            return "no_result", "the process ended before the step did (os._exit?)", None
        error = parse_script_error(failed.get("error"))
        if failed.get("refused"):
            return "refused", str(failed["refused"])[:500], error
        if error is not None and error.type == "MemoryError":
            return "out_of_memory", f"out of memory: an allocation failed ({self.settings.memory_mb} MiB)", error
        return "step_error", f"{error.type}: {error.message}" if error else "it failed", error

    def _compare(self, measured: dict[str, Any] | None) -> tuple[list[str], int, str | None]:
        if not measured:
            return ["(the scene could not be measured)"], 0, None
        state = measured["state"]
        changes = diff(self._state, state)
        self._state = state
        return summarise(changes, max_lines=_MAX_CHANGE_LINES), len(changes), state_hash(state)

    def _rebuild(self) -> bool:
        """Start again and run the good steps again; whether the scene is the same as before."""
        self._backup.take()
        self.start()
        is_same = True
        for step in self.good_steps:
            answer = self._send_step(step.number, step.code, wants_views=False)
            done = answer.message("step_done")
            if done is None:
                self._stop()
                raise HarnessError(f"Step {step.number} fails when it is run again: the session cannot be rebuilt.")
            measured = done.get("measured")
            _, _, now = self._compare(measured)
            is_same = is_same and now == step.state_hash
        self._backup.restore()
        return is_same

    def _stop(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None
        if self._cache is not None:
            self._cache.__exit__(None, None, None)
            self._cache = None


def final_script(start: StepStart, steps: Sequence[tuple[int, str]]) -> str:
    """One script out of good steps (number, code)."""
    parts = [f"# step {number}\n{code.rstrip(chr(10))}\n" for number, code in steps]
    opening = start.script()
    if opening and parts and "from __future__" in parts[0]:
        first, *rest = parts  # such a line has to be the first of a script
        return "\n".join([first, *rest])
    return "\n".join([*([f"# start\n{opening}"] if opening else []), *parts])


def _lost(answer: _Answer, settings: HarnessSettings) -> tuple[StepOutcome, str, ScriptError | None]:
    """The whole session went down with the step."""
    if answer.end == "timeout":
        return "timeout", f"timed out after {settings.exec_timeout:g} s; it was stopped", None
    if answer.end == "memory":
        return "out_of_memory", f"out of memory: it used more than {settings.memory_mb} MiB", None
    if answer.end in ("output", "disk", "files", "processes"):
        return "limit", f"stopped at the {answer.end} limit", None
    return "crash", "the step killed the whole Blender session", None


def _views(drawn: Any) -> list[StepView]:
    views = []
    for view in drawn if isinstance(drawn, list) else []:
        try:
            picture = base64.b64decode(view["jpeg"], validate=True)
            size = int(view["width"]), int(view["height"])
            views.append(StepView(str(view["label"])[:200], int(view["frame"]), *size, picture))
        except (KeyError, TypeError, ValueError):
            continue
    return views
