"""Runs recorded steps again and says what differs. Nothing of the episode is changed."""

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from agent_plugin.recorded_episode import RecordedEpisode, frames_in
from agent_plugin.replay_compare import Difference, compare_executions
from agent_plugin.replay_reply import Reply, recorded_reply
from agent_plugin.replay_workplace import Drift, Ran, Workplace, fresh_workplace, restored
from agent_plugin.versions import versions
from harness.blender import level_in_force
from harness.state_diff import diff, summarise
from recorder.records import Step

Compare = Callable[[Workplace, Step, list[Ran]], list[Difference]]
Status = Literal["same", "differs", "not compared", "no action"]
_MAX_LINES = 12
_SHOWN_VERSIONS = ("blendscribe", "blendscribe-revision", "bpy", "av", "system")


@dataclass(frozen=True)
class StepReplay:
    """A step that was run again, or in whose place something else was run."""

    step: int
    status: Status
    differences: list[Difference]
    ran: list[Ran]
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether something was run, and all of it came out well."""
        return bool(self.ran) and all(one.is_good for one in self.ran)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values, without pictures."""
        return {
            "step": self.step,
            "status": self.status,
            "differences": [asdict(difference) for difference in self.differences],
            "executions": [one.execution.model_dump(mode="json") for one in self.ran],
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True)
class Replay:
    """What came of a replay."""

    steps: list[StepReplay]
    drift: Drift | None = None
    """Where the state before the step could not be made the recorded one."""
    reply: Reply | None = None
    """What was run, where it was a single step."""
    notes: list[str] = field(default_factory=list)
    """Why something differs, as far as that can be told."""

    @property
    def first_different(self) -> int | None:
        """The first step that does not reproduce."""
        differing = [step.step for step in self.steps if step.status == "differs"]
        return self.drift.step if self.drift else min(differing, default=None)


def replay_step(place: Workplace, step: Step, reply: Reply, *, compare: Compare | None) -> StepReplay:
    """Run the actions of `reply` where the state is that before `step`."""
    began = time.monotonic()
    ran: list[Ran] = []
    for action in reply.actions:
        ran.append(place.run(action))
        if ran[-1].is_submission:
            break
    seconds = time.monotonic() - began
    differences = compare(place, step, ran) if compare else []
    ran = [replace(one, state=None) for one in ran]  # of all steps they may fill the memory
    status: Status = "not compared" if compare is None else "differs" if differences else "same"
    return StepReplay(step.step, status, differences, ran, seconds)


def replay_one(
    episode: RecordedEpisode,
    step: Step,
    make_reply: Callable[[], Reply],
    *,
    compare: Compare | None,
    keep: Callable[[Workplace, Reply, StepReplay], None] | None = None,
) -> Replay:
    """Restore the state before a step and run a reply there; `keep` is called while the workplace stands.

    `make_reply` is called only once the state is there, since an answer may cost money.
    """
    with restored(episode, step.step) as place:
        drift = place.drift
        if drift and drift.is_fatal:
            return Replay([], drift, None, reasons(episode, [], drift, None))
        reply = make_reply()
        replayed = replay_step(place, step, reply, compare=compare)
        if keep:
            keep(place, reply, replayed)
        state = drift.state if drift else place.state
    of_record = [replayed] if compare is compare_step else []
    return Replay([replayed], drift, reply, reasons(episode, of_record, drift, state))


def replay_all(episode: RecordedEpisode, on_step: Callable[[StepReplay], None]) -> Replay:
    """Run every step in order, up to the first that differs."""
    steps: list[StepReplay] = []
    with fresh_workplace(episode) as place:
        for step in episode.steps:
            steps.append(_in_turn(episode, place, step))
            on_step(steps[-1])
            if steps[-1].status == "differs":
                break
        state = place.state
    return Replay(steps, None, None, reasons(episode, steps, None, state))


def _in_turn(episode: RecordedEpisode, place: Workplace, step: Step) -> StepReplay:
    reply = recorded_reply(step, episode.header.task_kind)
    if not reply.actions:
        return StepReplay(step.step, "no action", [], [], 0.0)
    return replay_step(place, step, reply, compare=compare_step)


def compare_step(place: Workplace, step: Step, ran: list[Ran]) -> list[Difference]:
    """What the actions of a step came to, then and now."""
    found = []
    for position, (recorded, now) in enumerate(zip(step.executions, ran, strict=False)):
        where = f"step {step.step}, {now.action.tool}"
        if len(step.executions) > 1:
            where += f" (call {position + 1} of {len(step.executions)})"
        changes = place.recorded.changes((step.step, position), now.state)
        differences = [
            *compare_executions(recorded, now.execution, changes),
            *_frames(place.episode, step, position, now),
        ]
        found += [difference.inside(where) for difference in differences]
    if len(ran) != len(step.executions):
        found.append(Difference(f"step {step.step}: calls that were run", str(len(step.executions)), str(len(ran))))
    return found


def compare_edited(place: Workplace, step: Step, ran: list[Ran]) -> list[Difference]:
    """The run of edited code beside the step's own last run, if it had one."""
    runs = [position for position, execution in enumerate(step.executions) if execution.tool == "run_blender"]
    if not runs or not ran:
        return []
    changes = place.recorded.changes((step.step, runs[-1]), ran[-1].state)
    differences = [
        *compare_executions(step.executions[runs[-1]], ran[-1].execution, changes),
        *_frames(place.episode, step, runs[-1], ran[-1]),
    ]
    return [difference.inside(f"step {step.step}, run_blender") for difference in differences]


def conditions(episode: RecordedEpisode) -> list[str]:
    """What is not as it was when the episode was made."""
    settings = episode.environment.harness
    now, then = versions(settings), episode.header.versions
    pairs = [(name, then.get(name, ""), now.get(name, "")) for name in _SHOWN_VERSIONS]
    pairs.append(("isolation", episode.header.sandbox_level, level_in_force(settings).name))
    return [f"{name} was {old or 'not known'}, is {new or 'not known'}" for name, old, new in pairs if old != new]


def _frames(episode: RecordedEpisode, step: Step, position: int, now: Ran) -> Iterator[Difference]:
    recorded = step.executions[position].blender
    in_time = not any((blender or {}).get("views_failed") for blender in (recorded, now.execution.blender))
    if in_time and position < len(step.observations):
        from agent_plugin.replay_frames import compare_frames

        yield from compare_frames(episode.frames(step, position), frames_in(now.content))


def reasons(
    episode: RecordedEpisode, steps: list[StepReplay], drift: Drift | None, state: dict[str, Any] | None
) -> list[str]:
    """Why something differs: other conditions, or code that leaves things to chance. `state` is that after it."""
    differences = drift.differences if drift else [d for step in steps for d in step.differences]
    if not differences:
        return []
    notes = [f"Not as it was: {'; '.join(found)}."] if (found := conditions(episode)) else []
    is_state = any(": state" in difference.where for difference in differences)
    number = drift.step if drift else next(step.step for step in steps if step.status == "differs")
    return [*notes, *(_chance(episode, number, state) if is_state and state else [])]


def _chance(episode: RecordedEpisode, number: int, state: dict[str, Any]) -> list[str]:
    """Run the steps up to `number` once more, and name the paths at which two runs here differ."""
    with restored(episode, number + 1) as place:
        again = place.state
    if again is None:
        return []
    changes = diff(state, again)
    if not changes:
        return [f"Run twice here, step {number} gives the same scene both times: it was made under other conditions."]
    return [
        f"Run twice here, the steps up to {number} give two scenes that differ at {len(changes)} paths: something in "
        "them is left to chance (unseeded random, time, set order).",
        *(f"  {line}" for line in summarise(changes, max_lines=_MAX_LINES)),
    ]
