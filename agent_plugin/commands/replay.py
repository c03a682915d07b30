"""`blendscribe replay`: one recorded step again, with edited code, or with a model's new answer."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.sandbox.level import LevelName

if TYPE_CHECKING:
    from agent_plugin.recorded_episode import RecordedEpisode
    from agent_plugin.replay import Replay, StepReplay
    from agent_plugin.replay_reply import Reply
    from agent_plugin.replay_workplace import Workplace
    from recorder.records import Action


def replay(
    episode: Annotated[Path, typer.Argument(help="Folder of an episode (it holds trajectory.jsonl).")],
    step: Annotated[int | None, typer.Option(help="The step to run again, by its number in the record.")] = None,
    all_steps: Annotated[bool, typer.Option("--all", help="Run every step in order, up to the first difference.")] = (
        False
    ),
    code: Annotated[
        Path | None, typer.Option(help="Run this file instead: as a scene's step, or as a video's script.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option("-m", "--model", help="Ask this model (litellm name) for the step anew, and run its answer."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the replay as an episode of its own: a new folder.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    allow_isolation: Annotated[
        LevelName | None,
        typer.Option(help="Weakest isolation to run the episode's code in. Without: what the record asks for."),
    ] = None,
) -> None:
    """Restore the state before a recorded step, run the step again, and say what differs from the record.

    Nothing in the episode is changed. Exit status: 0 it came out the same (with --code or -m: what was run is good),
    1 it differs (is not good, or the state before it does not reproduce), 2 the input is wrong, or holds no
    step to run.
    """
    from agent_plugin.isolation_here import on_this_machine
    from agent_plugin.keys import hide_keys
    from agent_plugin.recorded_episode import read_episode
    from harness.sweep import sweep

    _check_options(step, all_steps, code, model, output)
    sweep()
    hide_keys()
    recorded = on_this_machine(read_episode(episode), allow_isolation)
    if all_steps:
        result, text, is_good = _all(recorded, quiet=as_json)
    else:
        assert step is not None
        result, text, is_good = _one(recorded, step, code, model, output)
    if as_json:
        print(json.dumps(_as_json(recorded, result, is_good), indent=2))
    else:
        print(_printable(text))
    raise typer.Exit(0 if is_good else 1)


def _check_options(
    step: int | None, all_steps: bool, code: Path | None, model: str | None, output: Path | None
) -> None:
    from agent_plugin.faults import BadInput, Fault, bad_input
    from agent_plugin.preflight import model_faults

    if (step is None) != all_steps:
        raise bad_input("give either --step N or --all")
    if all_steps and (code or model or output):
        raise bad_input("--code, -m and -o go with --step N, not with --all")
    if code and model:
        raise bad_input("give --code or -m, not both")
    faults: list[Fault] = model_faults([model]) if model is not None else []
    if faults:
        raise BadInput(faults)


def _all(recorded: "RecordedEpisode", *, quiet: bool) -> tuple["Replay", str, bool]:
    from agent_plugin.faults import bad_input
    from agent_plugin.replay import replay_all

    if not any(step.actions for step in recorded.steps):
        raise bad_input("holds no step with a call to run", file=str(recorded.paths.root))

    def say(step: "StepReplay") -> None:
        if not quiet:
            print(_printable(_line(recorded, step)), flush=True)

    recorded.check_states(len(recorded.steps))
    result = replay_all(recorded, say)
    number = result.first_different
    n_run = sum(step.status != "no action" for step in result.steps)
    if number is None:
        last = f"All {n_run} steps came out as recorded."
    else:
        left = len(recorded.steps) - number
        last = f"Step {number} is the first that does not reproduce" + (
            f"; {left} after it were not run." if left else "."
        )
    return result, "\n".join([*result.notes, last]), number is None


def _one(
    recorded: "RecordedEpisode", number: int, code: Path | None, model: str | None, output: Path | None
) -> tuple["Replay", str, bool]:
    from agent_plugin.faults import bad_input
    from agent_plugin.replay import compare_edited, compare_step, replay_one
    from agent_plugin.replay_branch import check_new, write_branch
    from agent_plugin.replay_reply import asked_reply, edited_reply, recorded_reply

    step = recorded.step(number)
    recorded.conversation_before(number + 1)  # a damaged file is told before anything is run
    recorded.check_states(number)
    given = edited_reply(recorded, step, code) if code else recorded_reply(step, recorded.header.task_kind)
    if not model and not given.actions:
        why = "the reply held no usable call" if step.format_error else "what its calls came to was not recorded"
        raise bad_input(f"step {number} has nothing to run: {why}", file=str(recorded.paths.root))
    if output:
        check_new(output, recorded)

    def make_reply() -> "Reply":
        return asked_reply(recorded, step, model) if model else given

    def keep(place: "Workplace", reply: "Reply", replayed: "StepReplay") -> None:
        if output:
            write_branch(output, recorded, place, step, reply, replayed, model or recorded.header.model)

    compare = None if model else compare_edited if code else compare_step
    result = replay_one(recorded, step, make_reply, compare=compare, keep=keep)
    is_new = bool(code or model)
    is_good = (
        all(replayed.is_good for replayed in result.steps) and bool(result.steps)
        if is_new
        else result.first_different is None
    )
    text = [*_drift_lines(result, number), *(_new_lines(result) if is_new else _same_or_not(recorded, result))]
    written = [f"Written to {output}"] if output and result.steps else []
    return result, "\n".join([*text, *result.notes, *written]), is_good


def _drift_lines(result: "Replay", number: int) -> list[str]:
    """What to know of the state in which the step was run."""
    drift = result.drift
    if drift is None:
        return []
    if drift.is_fatal:
        first = f"The state before step {number} cannot be restored: step {drift.step} took effect then, and fails now."
    else:
        first = f"The state before step {number} is not the recorded one, from step {drift.step} on:"
    return [first, *(f"  {difference}" for difference in drift.differences)]


def _same_or_not(recorded: "RecordedEpisode", result: "Replay") -> list[str]:
    return [_line(recorded, replayed) for replayed in result.steps]


def _new_lines(result: "Replay") -> list[str]:
    """The reply, what came of it, and how that differs from the record where it can be compared."""
    lines = []
    for replayed in result.steps:
        reply = result.reply
        assert reply is not None
        lines += [reply.note] if reply.note else []
        lines += [reply.text] if reply.text else []
        lines += [str(message.get("content", "")) for message in reply.format_error]
        for one in replayed.ran:
            lines += [f"── {one.action.tool}", *(f"  > {line}" for line in _argument(one.action).splitlines())]
            answer = "\n".join(part["text"].rstrip("\n") for part in one.content if part["type"] == "text")
            lines += [answer]
        if replayed.status == "differs":
            lines += [f"Beside the recorded step {replayed.step}:", *(f"  {d}" for d in replayed.differences)]
        elif replayed.status == "same":
            lines += [f"Nothing in it differs from the recorded step {replayed.step}."]
    return lines


def _line(recorded: "RecordedEpisode", replayed: "StepReplay") -> str:
    """`step 3  same     run_blender (0.4 s)`, and below it what differs."""
    tools = ", ".join(action.tool for action in recorded.steps[replayed.step - 1].actions) or "no call"
    status = "DIFFERS" if replayed.status == "differs" else replayed.status
    width = len(str(len(recorded.steps)))
    first = f"step {replayed.step:>{width}}  {status:<9}  {tools} ({replayed.seconds:.1f} s)"
    return "\n".join([first, *(f"  {difference}" for difference in replayed.differences)])


def _argument(action: "Action") -> str:
    return "\n".join(str(value) for value in action.arguments.values()) or f"({action.error})"


def _as_json(recorded: "RecordedEpisode", result: "Replay", is_good: bool) -> dict[str, Any]:
    from dataclasses import asdict

    drift, reply = result.drift, result.reply
    return {
        "episode": str(recorded.paths.root),
        "is_good": is_good,
        "first_different": result.first_different,
        "drift": {"step": drift.step, "differences": [asdict(d) for d in drift.differences]} if drift else None,
        "steps": [step.to_json() for step in result.steps],
        "reply": {key: value for key, value in reply.message.items() if key != "extra"} if reply else None,
        "notes": result.notes,
    }


def _printable(text: str) -> str:
    """Without what would steer a terminal: text of an episode is not ours."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)
