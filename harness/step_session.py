"""A live Blender for a scene task: send code step by step; a step that fails leaves no mark.

Owns the sandboxed process (`in_blender/session.py`), the list of good steps, the workspace's copy, and the way
back when the process is lost: the good steps are run again, and the diff of states tells whether they gave the same.
Use it in one thread.
"""

import json
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from harness.blender import blender_command, blender_jail, level_in_force, parse_messages, private_shader_cache
from harness.blender_slots import SESSION_MB, blender_slots
from harness.errors import HarnessError, SandboxFailed
from harness.final_script import BYTE_ORDER_MARK, StepStart, final_script
from harness.interpreter import find_environment, libs_dir, shader_cache_dir
from harness.log import shorten_log
from harness.sandbox import REQUEST_FD, RESULT_FD, SandboxedProcess
from harness.scene_facts import SceneFacts, parse_scene_facts
from harness.settings import HarnessSettings
from harness.state_diff import diff, parse_state, state_hash, summarise
from harness.state_patch import state_patch
from harness.step_answers import Answer, failure_of, views_note, views_of
from harness.step_result import StepOutcome, StepResult, StepView
from harness.workspace import remove_entry
from harness.workspace_backup import WorkspaceBackup

SCENE_NAME = "scene.blend"
_START_SECONDS = 60.0
_MEASURE_SECONDS = 60.0
"""For measuring and drawing side by side; less where a step itself has less."""
_GRACE_SECONDS = 5.0
"""What the session may take longer than it allows itself, before it is called lost."""
_LIFETIME_SECONDS = 7 * 86_400.0
_MAX_CHANGE_LINES = 12
_N_VIEW_FRAMES = 4
_OWN_PROCESSES = 16
_UNMEASURED = ("(the scene could not be measured)",)


@dataclass(frozen=True)
class GoodStep:
    """A step that took effect."""

    number: int
    code: str
    state_hash: str | None


@dataclass(frozen=True)
class _Measured:
    """What was read and drawn after a step."""

    changes: tuple[str, ...] = ()
    n_changes: int = 0
    state_hash: str | None = None
    patch: dict[str, Any] | None = None
    scene: SceneFacts | None = None
    views: tuple[StepView, ...] = ()
    views_note: str = ""
    is_all_drawn: bool = True


@dataclass(frozen=True)
class _Rebuilt:
    """What came of running the good steps again."""

    is_same: bool
    failed: tuple[int, ...] = ()
    """Numbers of steps that failed this time, and count no more."""

    def after(self, earlier: "_Rebuilt | None") -> "_Rebuilt":
        """Both of them, for one that was lost again."""
        if earlier is None:
            return self
        return _Rebuilt(self.is_same and earlier.is_same, earlier.failed + self.failed)


class StepSession:
    """One live Blender. `start` it, `step` it, `save` it, `close` it; also a context manager."""

    def __init__(self, workspace: Path, settings: HarnessSettings, start: StepStart | None = None) -> None:
        self.workspace, self.settings, self.start_from = workspace.resolve(), settings, start or StepStart()
        self.good_steps: list[GoodStep] = []
        self.blender = ""
        self.level = level_in_force(settings)
        self._n_steps = self._n_requests = 0
        self.n_starts = 0
        """Blenders that were started: one, and one more each time it was lost."""
        self._state: dict[str, Any] = {}
        self._good_state: dict[str, Any] | None = None
        """After the last good step, as it was measured last; None where it was not."""
        self._state_hash = ""
        self.recorded_state: dict[str, Any] = {}
        """From which the next step's patch leads on: that of the start or of the last patch, whatever a rebuild gave
        since. A replay puts the recorded one here."""
        self._process: SandboxedProcess | None = None
        self._is_killed = False
        """Whether the last session that is gone was killed (SIGKILL), and not by us."""
        self._resources = ExitStack()
        self._at_start, self._now = WorkspaceBackup(self.workspace), WorkspaceBackup(self.workspace)

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def start(self) -> None:
        """Start Blender. Raises HarnessError when that cannot be."""
        with _disk_errors():
            self._at_start.take()
        with blender_slots().working(SESSION_MB):
            self._start_blender()
        self.recorded_state = self._state

    def step(self, code: str, *, views: bool | None = None, number: int | None = None) -> StepResult:
        """Run `code`. What it does wrong is in the result; raises HarnessError for what is not its doing.

        `number` is the next one, unless a replay leaves out steps that failed. A step whose Blender was killed
        (SIGKILL) is run once more on the scene before it: it may have been somebody outside, and what does it by
        itself does it again.
        """
        with blender_slots().working():
            return self._step(code, views=views, number=number)

    def _step(self, code: str, *, views: bool | None, number: int | None) -> StepResult:
        began = time.monotonic()
        self._n_steps = number or self._n_steps + 1
        rebuilt = None if self._is_alive() else self._rebuild()
        with _disk_errors():
            self._now.take()
        answer = self._send_step(self._n_steps, code)
        if self._was_killed(answer):
            self._stop()
            with _disk_errors():
                self._now.restore()
            rebuilt = self._rebuild().after(rebuilt)
            with _disk_errors():
                self._now.take()
            answer = self._send_step(self._n_steps, code)
        failed = answer.messages.get("step_failed")
        measured, put_back = _Measured(), []
        outcome: StepOutcome
        if "step_done" in answer.messages:
            outcome, reason, error = "ok", "", None
            with _disk_errors():
                self._now.take()
            is_drawn = self.settings.visual_feedback if views is None else views
            measured = self._measure(views=is_drawn)
            with _disk_errors():
                self._now.restore()
            self.good_steps.append(GoodStep(self._n_steps, code, measured.state_hash))
            if self._process is None and self._is_killed:
                again, measured = self._measure_anew(views=is_drawn)
                rebuilt = again.after(rebuilt)
            self._good_state = None if measured.patch is None else self._state
            self.recorded_state = self._good_state or self.recorded_state
        else:
            outcome, reason, error = failure_of(failed, answer, self.settings)
            if failed is None:
                self._stop()  # the session itself is gone or stuck; the next step finds it rebuilt
            with _disk_errors():
                put_back = self._now.restore()
        return StepResult(
            number=self._n_steps,
            code=code,
            outcome=outcome,
            reason=reason,
            error=error,
            seconds=time.monotonic() - began,
            log=shorten_log(answer.output),
            changes=measured.changes,
            n_changes=measured.n_changes,
            state_hash=measured.state_hash,
            state_patch=measured.patch,
            scene=measured.scene,
            views=measured.views,
            views_failed=not measured.is_all_drawn,
            files_put_back=tuple(put_back),
            rebuilt=rebuilt is not None,
            rebuilt_differs=rebuilt is not None and not rebuilt.is_same,
            sandbox_level=self.level.name,
            steps_lost=rebuilt.failed if rebuilt else (),
            views_note=measured.views_note,
        )

    @property
    def state(self) -> dict[str, Any]:
        """The canonical scene state after the last good step."""
        return self._state

    def save(self, name: str = SCENE_NAME) -> Path:
        """Write the scene into the workspace: pictures packed, paths relative, compressed. Raises HarnessError."""
        with blender_slots().working():
            return self._save(name)

    def _save(self, name: str) -> Path:
        if not self._is_alive():
            self._rebuild()
        path = self.workspace / name
        with _disk_errors():
            remove_entry(path)
        answer = self._ask(("saved",), self._measure_seconds, op="save", file=name)
        error = answer.messages.get("saved", {}).get("error", f"the session did not answer ({answer.end})")
        if error or path.is_symlink() or not path.is_file():
            raise HarnessError(
                f"The scene could not be saved: {error or 'no file came'} {answer.output[-500:]}".strip()
            )
        return path

    def final_script(self) -> str:
        """Every step that took effect, in order, as it was, after the lines that open the start file."""
        return final_script(self.start_from, [(step.number, step.code) for step in self.good_steps])

    def close(self) -> None:
        """End Blender and delete what was kept beside it."""
        self._stop(is_closing=True)
        self._at_start.close()
        self._now.close()

    # the process

    def _start_blender(self) -> None:
        try:
            self._start_once()
        except HarnessError:
            if not self._is_killed:
                raise
            self._start_once()

    def _start_once(self) -> None:
        environment = find_environment(self.settings)
        libs = libs_dir(self.settings, environment)
        asked = self.settings.limits
        # the session itself stops a step at memory_mb; this bound catches one that defeats it
        limits = replace(
            asked,
            timeout_seconds=_LIFETIME_SECONDS,
            memory_mb=asked.memory_mb * 2 + 1024,
            max_processes=asked.max_processes + _OWN_PROCESSES,
        )
        cache = self._resources.enter_context(private_shader_cache(shader_cache_dir(environment)))
        jail = blender_jail(environment, libs, cache, self.workspace, limits)
        settings = json.dumps({"start_script": self.start_from.script()})
        self._process = SandboxedProcess(jail, limits, self.level)
        self.n_starts += 1
        self._process.start(blender_command(environment, "session.py", [RESULT_FD, REQUEST_FD, settings]))
        answer = self._await(("started",), 0, _START_SECONDS)
        started = answer.messages.get("started")
        if started is None:
            self._stop()
            raise SandboxFailed(f"The Blender session did not start ({answer.end}): {answer.output[-500:]}")
        self.blender = f"{started.get('blender')} ({started.get('build')})"[:80]
        if self._measure(views=False).state_hash is None:
            self._stop()
            raise HarnessError("The start scene could not be measured.")

    def _was_killed(self, answer: Answer) -> bool:
        """Whether the step's own process, or the whole session, ended by SIGKILL that was not ours."""
        failed = answer.messages.get("step_failed")
        if failed is not None:
            return failed.get("fate") == "crash" and failed.get("signal") == signal.SIGKILL
        is_done = "step_done" in answer.messages
        return not is_done and answer.end == "ended" and self._process is not None and self._process.was_killed

    def _is_alive(self) -> bool:
        return self._process is not None and self._process.watch(timeout_seconds=0) == "timeout"

    def _rebuild(self) -> _Rebuilt:
        """Start again and run the good steps again, on the files they found; then put the files of now back."""
        before = self._good_state if self.good_steps else None
        failed: list[int] = []
        with _disk_errors():
            self._now.take()
        while True:
            self._stop()
            with _disk_errors():
                self._at_start.restore()
            self._start_blender()
            if self._run_again(failed):
                break
        is_same = self._is_as_before(before) and not failed
        with _disk_errors():
            self._now.restore()
        return _Rebuilt(is_same, tuple(failed))

    def _measure_anew(self, *, views: bool) -> tuple[_Rebuilt, _Measured]:
        """The session was killed while the last step was measured: bring it back, and measure that step."""
        self._good_state = None  # that of the step before says nothing of this one
        rebuilt = self._rebuild()
        measured = self._measure(views=views)
        with _disk_errors():
            self._now.restore()
        self.good_steps[-1:] = [replace(step, state_hash=measured.state_hash) for step in self.good_steps[-1:]]
        return rebuilt, measured

    def _run_again(self, failed: list[int]) -> bool:
        """Run the good steps, drop those that fail into `failed`. False if the session was lost once more."""
        for step in self.good_steps[:]:
            answer = self._send_step(step.number, step.code)
            if "step_done" not in answer.messages:
                failed.append(step.number)
                self.good_steps.remove(step)
                if "step_failed" not in answer.messages:
                    return False
        return True

    def _is_as_before(self, before: dict[str, Any] | None) -> bool:
        """Whether the scene is this again. One that could not be measured before is not measured now."""
        if before is None:
            return True
        hash_now = self._measure(views=False).state_hash
        self.good_steps[-1:] = [replace(step, state_hash=hash_now) for step in self.good_steps[-1:]]
        self._good_state = None if hash_now is None else self._state
        return self._good_state is not None and _is_same_scene(before, self._good_state)

    def _stop(self, *, is_closing: bool = False) -> None:
        """End Blender. Raises HarnessError where it was stopped for what the machine ran out of by no doing of its."""
        process, self._process = self._process, None
        try:
            if process is not None:
                self._is_killed = process.was_killed
                process.close()
                if not is_closing:
                    process.check_blame()
        finally:
            self._resources.close()

    # requests

    def _send_step(self, number: int, code: str) -> Answer:
        return self._ask(
            ("step_done", "step_failed"),
            self.settings.exec_timeout,
            op="step",
            number=number,
            code=code.removeprefix(BYTE_ORDER_MARK),
            timeout=self.settings.exec_timeout,
            memory_mb=self.settings.memory_mb,
        )

    def _measure(self, *, views: bool) -> _Measured:
        """Read the scene, compare it with the one before, and draw it. The script's handlers may write files then."""
        width, height = self.settings.resolution
        shown = min(self.settings.preview_width, width)
        size = {"width": shown, "height": max(16, round(height * shown / width)), "n_frames": _N_VIEW_FRAMES}
        answer = self._ask(
            ("measured",),
            self._measure_seconds,
            op="measure",
            summary_samples=self.settings.summary_samples,
            views=size if views else None,
        )
        if "measured" not in answer.messages:
            self._stop()
        message = answer.messages.get("measured", {})
        compared = self._compare(parse_state(message.get("state")))
        return replace(
            compared,
            scene=parse_scene_facts(_mapping(message.get("summary"))),
            views=tuple(views_of(message.get("views"))),
            views_note=views_note(message.get("views")),
            is_all_drawn=message.get("is_all_drawn") is True or not views,
        )

    def _compare(self, state: dict[str, Any] | None) -> _Measured:
        """What changed since the last state, for a model and for the record, and the hash of this one."""
        if state is None:
            return _Measured(changes=_UNMEASURED)
        try:
            changes = diff(self._state, state) if self._state else []
            lines = tuple(summarise(changes, max_lines=_MAX_CHANGE_LINES))
            hash_now = self._state_hash if state == self._state else state_hash(state)
            patch = state_patch(self.recorded_state, state) if self.recorded_state else None
        except Exception:  # noqa: BLE001 - a step's code could reach the pipe: this may be a state in form only
            return _Measured(changes=_UNMEASURED)
        self._state, self._state_hash = state, hash_now
        return _Measured(changes=lines, n_changes=len(changes), state_hash=hash_now, patch=patch)

    @property
    def _measure_seconds(self) -> float:
        return min(_MEASURE_SECONDS, max(5.0, self.settings.exec_timeout))

    def _ask(self, kinds: tuple[str, ...], timeout_seconds: float, **request: Any) -> Answer:
        assert self._process is not None
        self._n_requests += 1
        data = json.dumps({"id": self._n_requests, "seconds": self._measure_seconds, **request}).encode()
        try:
            self._process.send(len(data).to_bytes(8, "little") + data)
        except BrokenPipeError:
            pass  # `_await` sees that it has ended
        return self._await(kinds, self._n_requests, timeout_seconds + _GRACE_SECONDS)

    def _await(self, kinds: tuple[str, ...], number: int, timeout_seconds: float) -> Answer:
        """The messages that answer request `number`, up to the first of `kinds`."""
        process = self._process
        assert process is not None
        wanted = tuple(f'{{"kind": "{kind}", "id": {number}'.encode() for kind in kinds)

        def is_there() -> bool:
            start = process.result.rfind(b"\n", 0, -1) + 1
            return process.result.endswith(b"\n") and process.result.startswith(wanted, start)

        end = process.watch(timeout_seconds=timeout_seconds, until=is_there)
        process.drain()
        whole = process.result.rfind(b"\n") + 1  # what comes after is the beginning of the next message
        messages = {m["kind"]: m for m in parse_messages(bytes(process.result[:whole])) if m.get("id") == number}
        del process.result[:whole]
        return Answer(messages, end, process.take_output().text())


@contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise HarnessError(f"The workspace cannot be kept or put back: {error}") from error


def _mapping(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _is_same_scene(before: dict[str, Any], now: dict[str, Any]) -> bool:
    """No difference but noise: a mesh edited in edit mode has another hash each time, since its elements are numbered
    in another order."""
    try:
        return not diff(before, now)
    except Exception:  # noqa: BLE001 - as in `_compare`, a state in form only
        return False
