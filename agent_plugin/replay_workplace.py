"""A fresh place in which recorded actions run again, and the way back to the state before a step.

What is run again on the way to a step, and what is not:

- of a scene, the steps that took effect, under their old numbers (tracebacks name `step_NN.py`) and without views; a
  step that failed left no mark;
- bash commands, all of them: they are what changes files;
- of a video, only the `run_blender` calls whose files something later can see: the last one, those that wrote other
  files than the video, and those after which a bash command names the video or its contact sheet. Should a command
  then come to something else than recorded, everything is run again instead.

Does not cover files that were in the workspace of plain `mini` before it began: they were not recorded.
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from minisweagent.exceptions import Submitted

from agent_plugin.agent import execution_record
from agent_plugin.environment import BlenderEnvironment
from agent_plugin.observations import content_of, error_content
from agent_plugin.recorded_episode import RecordedEpisode, argument_of
from agent_plugin.replay_compare import Difference, compare_executions, compare_states
from agent_plugin.replay_states import RecordedStates
from agent_plugin.submission import is_submitting_step
from harness.folders import private_folder
from harness.step_report import step_text
from harness.step_session import StepSession
from harness.workspace import PREVIEW_NAME
from recorder.records import Action, Execution, Step
from recorder.redaction import Redactor

_NOT_RUN = "This call was not run, because an earlier one in the same reply ended the episode."

_WRITTEN_FILE = re.compile(
    r"""^[^\n]*\b(?:cat|tee)\b[^\n]*<<-?\s*(['"]?)(\w+)\1[^\n]*\n.*?^\s*\2\s*$""", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Ran:
    """One action that was run, and what came of it."""

    action: Action
    output: dict[str, Any]
    """mini-swe-agent's form."""
    execution: Execution
    """As it would be recorded, host paths and secrets taken out."""
    content: list[dict[str, Any]]
    """What a model sees of it."""
    is_submission: bool
    state: dict[str, Any] | None = None
    """Of the scene after it, where it took effect and could be measured."""

    @property
    def is_good(self) -> bool:
        return self.execution.returncode == 0


@dataclass(frozen=True)
class Drift:
    """The first step on the way that did not come out as recorded."""

    step: int
    differences: list[Difference]
    state: dict[str, Any] | None
    """Of the scene after it."""
    is_fatal: bool
    """It took effect when it was recorded, and fails now: what comes after it cannot be restored."""


@dataclass
class Workplace:
    """A workspace with the start file in it, and for a scene a live Blender once a step has run."""

    episode: RecordedEpisode
    folder: Path
    environment: BlenderEnvironment = field(init=False)
    recorded: RecordedStates = field(init=False)
    drift: Drift | None = None
    next_number: int | None = None
    """Of the next step of a scene, where earlier ones were left out."""

    def __post_init__(self) -> None:
        settings = self.episode.environment.model_dump() | {"cwd": str(self.folder)}
        self.environment = BlenderEnvironment(**settings)
        self._redactor = Redactor.for_this_machine(folders={str(self.folder): "<workspace>"})
        self.recorded = RecordedStates(self.episode, self._redactor.clean_texts)
        if self.episode.task.start_file:
            shutil.copyfile(self.episode.task.start_file, self.folder / self.episode.task.start_file.name)

    def run(self, action: Action, *, number: int | None = None, views: bool | None = None) -> Ran:
        """Run one action. `number` is that of a scene's step, for which `views` can be left out."""
        is_submission = False
        try:
            if self.episode.is_scene and action.tool == "run_blender" and not action.error:
                output = self._step(action, number, views)
            else:
                output = self.environment.execute(_for_mini(action, self.episode.header.task_kind))
        except Submitted as submitted:
            is_submission = True
            output = submitted.messages[0]["extra"]["output"]
        record = self._redactor.clean(execution_record(action, output).model_dump(mode="json"))
        is_measured = "step" in output and output["step"].state_hash is not None
        state = self.state if is_measured else None
        return Ran(action, output, Execution.model_validate(record), content_of(output), is_submission, state)

    @property
    def state(self) -> dict[str, Any] | None:
        """The canonical state of the scene; None for a video, and before the first step."""
        return self.environment.session.state if self.environment.session else None

    def _step(self, action: Action, number: int | None, views: bool | None) -> dict[str, Any]:
        code = action.arguments["code"]
        if is_submitting_step(code):
            return self.environment.execute(_for_mini(action, "scene"))
        if self.environment.session is None:
            config = self.environment.config
            session = StepSession(self.environment.workspace, config.harness, config.start)
            self.environment.session = session  # first, so that it is closed if it does not start
            session.start()
            self.recorded.begin(session.state)
        result = self.environment.session.step(code, number=number or self.next_number, views=views)
        self.next_number = None if number is None else self.next_number
        self.environment.views = result.views or self.environment.views
        returncode = 0 if result.ok else 1
        return {"output": step_text(result), "returncode": returncode, "step": result, "seconds": result.seconds}


@contextmanager
def fresh_workplace(episode: RecordedEpisode) -> Iterator[Workplace]:
    """A new one, which is gone afterwards."""
    with private_folder("replay") as folder:
        place = Workplace(episode, folder.resolve())
        try:
            yield place
        finally:
            place.environment.close()


@contextmanager
def restored(episode: RecordedEpisode, number: int) -> Iterator[Workplace]:
    """A workplace in the state before step `number`; its `drift` says where it is not the recorded one."""
    with fresh_workplace(episode) as place:
        runs = needed_runs(episode, number)
        _restore(place, number, runs)
        if place.drift is None or runs == all_runs(episode, number):  # else it may be for what was left out
            yield place
            return
    with fresh_workplace(episode) as place:
        _restore(place, number, all_runs(episode, number))
        yield place


def all_runs(episode: RecordedEpisode, before: int) -> set[tuple[int, int]]:
    """(step, position) of every run of a video's script before a step."""
    if episode.is_scene:
        return set()
    calls = _calls(episode, before)
    return {(step.step, position) for step, position, action, _ in calls if _is_run(action)}


def needed_runs(episode: RecordedEpisode, before: int) -> set[tuple[int, int]]:
    """Those of them whose files something later can see."""
    if episode.is_scene:
        return set()
    video = episode.environment.harness.output_video
    names = [name for name in (video, Path(video).suffix, PREVIEW_NAME) if name]
    needed: set[tuple[int, int]] = set()
    last: tuple[int, int] | None = None
    for step, position, action, execution in _calls(episode, before):
        if _is_run(action):
            last = (step.step, position)
            problems = (execution.blender or {}).get("problems") or []
            if any(problem.get("code") == "extra_files" for problem in problems):
                needed.add(last)
        elif last and any(name in _looked_at(action) for name in names):
            needed.add(last)
    return needed | ({last} if last else set())


def _looked_at(action: Action) -> str:
    """A command without the files that it writes: a script names its video."""
    return _WRITTEN_FILE.sub("", argument_of(action, "video") or "")


def _step_number(step: Step, position: int) -> int | None:
    """Under which number the live Blender ran this call."""
    blender = step.executions[position].blender if position < len(step.executions) else None
    number = (blender or {}).get("number")
    return number if isinstance(number, int) and number > 0 else None


def _lost_steps(episode: RecordedEpisode, before: int) -> set[int]:
    """Numbers of good steps that failed when a lost session was made again: they counted no more."""
    calls = _calls(episode, min(before, len(episode.steps)) + 1)  # it was made again in the call that came next
    return {number for _, _, _, execution in calls for number in (execution.blender or {}).get("steps_lost") or []}


def _next_number(episode: RecordedEpisode, before: int) -> int:
    """The number of the first call of step `before` that the live Blender runs."""
    numbers = (_step_number(step, position) for step, position, _, _ in _calls(episode, before))
    return max((number for number in numbers if number), default=0) + 1


def observations(message: dict[str, Any], ran: list[Ran]) -> list[dict[str, Any]]:
    """One message for each action of a reply, in order, also for those that were not run."""
    contents = [one.content for one in ran]
    answers = []
    for position, action in enumerate(message["extra"]["actions"]):
        content = contents[position] if position < len(contents) else error_content(_NOT_RUN)
        answered = {"role": "tool", "tool_call_id": action["tool_call_id"]} if action.get("tool_call_id") else {}
        answers.append({"role": "user", "content": content, **answered})
    return answers


def _restore(place: Workplace, before: int, runs: set[tuple[int, int]]) -> None:
    place.next_number = _next_number(place.episode, before)
    lost = _lost_steps(place.episode, before)
    for step, position, action, execution in _calls(place.episode, before):
        is_step = place.episode.is_scene and action.tool == "run_blender"
        is_left_out = (
            action.error
            or (is_step and (execution.returncode != 0 or _step_number(step, position) in lost))
            or (not is_step and _is_run(action) and (step.step, position) not in runs)
        )
        if is_left_out:
            continue
        ran = place.run(action, number=_step_number(step, position), views=False)
        place.drift = place.drift or _drift(place, step, position, ran, is_step=is_step)
        if place.drift and place.drift.is_fatal:
            return
    _lead_on(place, before)


def _lead_on(place: Workplace, before: int) -> None:
    """What is written of the next step leads on from the recorded state, in which a mesh may differ by noise."""
    session, state = place.environment.session, place.recorded.before(before)
    if session and state:
        session.recorded_state = state


def _drift(place: Workplace, step: Step, position: int, ran: Ran, *, is_step: bool) -> Drift | None:
    recorded, failed = step.executions[position], is_step and not ran.is_good
    if not is_step or failed:
        differences = compare_executions(recorded, ran.execution)
    else:
        changes = place.recorded.changes((step.step, position), ran.state)
        differences = compare_states(recorded, ran.execution, changes)
    where = f"step {step.step}, {ran.action.tool}"
    inside = [difference.inside(where) for difference in differences]
    return Drift(step.step, inside, place.state, failed) if inside else None


def _calls(episode: RecordedEpisode, before: int) -> Iterator[tuple[Step, int, Action, Execution]]:
    """Everything that was run before a step, in order."""
    for step in episode.steps[: before - 1]:
        for position, (action, execution) in enumerate(zip(step.actions, step.executions, strict=False)):
            yield step, position, action, execution


def _is_run(action: Action) -> bool:
    return action.tool == "run_blender" and not action.error


def _for_mini(action: Action, kind: str) -> dict[str, Any]:
    fields = action.model_dump(exclude_none=True)
    return fields | {"command": argument_of(action, kind) or ""}
