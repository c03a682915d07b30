"""`blendscribe review`: a model that sees the harness's renders alone answers an episode's rubric."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from agent_plugin.review import Judge, Reviewed
    from agent_plugin.review_input import Found

_NO_MODEL = "no model: name one with -m, or give a config that does, such as -c models/anthropic.yaml"


def review(
    folders: Annotated[list[Path], typer.Argument(help="Episodes, or runs: all their episodes.", metavar="EPISODE")],
    model: Annotated[
        str | None,
        typer.Option(
            "-m", "--model", help="Model that sees, by its litellm name. Without: model.model_name of the config."
        ),
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option("-c", "--config", help="YAML file or a.b.c=value, as for `run`; its `model:` counts. Repeatable."),
    ] = None,
    repeat: Annotated[
        int,
        typer.Option(min=1, max=100, help="Answers that an episode is to have, those of before included."),
    ] = 1,
    workers: Annotated[int, typer.Option("-w", "--workers", min=1, max=256, help="Episodes at the same time.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print answers and what they come to as JSON.")] = False,
) -> None:
    """Let a model review episodes: it sees the harness's renders and the task's rubric, nothing else.

    Each answer is kept as it came, in verification/rubric_review.json. What cannot be read in it is unscored, never
    zero. Exit status: 0 everything is answered and scored, 1 something is unscored or a call failed (the same command
    asks again), 2 the input is wrong (nothing was asked), 130 stopped.
    """
    from agent_plugin.review import review_all

    found, judge = _what_to_ask(folders, model, config or [], repeat)
    say = _silent if as_json else _say
    with _interruptible(judge.stopped):
        outcomes = review_all(found.episodes, judge, n_workers=workers, say=say)
    if as_json:
        print(json.dumps([_as_json(outcome) for outcome in outcomes], indent=2, ensure_ascii=True))
    else:
        for folder, why in found.skipped.items():
            print(f"{folder}: passed over, {why}")
        n_good = sum(outcome.is_good for outcome in outcomes)
        print(f"Answered and scored whole: {n_good} of {len(outcomes)}.")
    if judge.stopped.is_set():
        raise typer.Exit(130)
    raise typer.Exit(0 if all(outcome.is_good for outcome in outcomes) else 1)


def _what_to_ask(folders: list[Path], model: str | None, config: list[str], repeat: int) -> tuple["Found", "Judge"]:
    """The episodes and the model. Raises BadInput with the faults of all arguments at once."""
    from agent_plugin.config import load_config
    from agent_plugin.faults import BadInput, Fault
    from agent_plugin.preflight import model_faults, provider_faults
    from agent_plugin.review_input import find_reviewable

    faults: list[Fault] = []
    resolved = None
    try:
        resolved = load_config(config)
    except BadInput as error:
        faults += error.faults
    name = model or (resolved.model.model_name if resolved else "")
    if name:
        faults += model_faults([name])
    elif resolved:
        faults.append(Fault("", "", _NO_MODEL))
    found = find_reviewable(folders)
    faults += found.faults
    if faults or resolved is None:
        raise BadInput(faults)
    if unreachable := provider_faults([name], resolved.model.model_kwargs):
        raise BadInput(unreachable)
    from agent_plugin.review import Judge

    return found, Judge(name, resolved, repeat)


@contextmanager
def _interruptible(stopped: Event) -> Iterator[None]:
    """Ctrl-C (or SIGTERM) once: calls are given up, answers that came are kept. Twice: as usual, at once."""
    before: dict[int, Any] = {}

    def on_signal(number: int, _frame: Any) -> None:
        stopped.set()
        typer.echo("Stopping; what was answered is kept, and the same command goes on.", err=True)
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


def _silent(_outcome: "Reviewed") -> None: ...


def _say(outcome: "Reviewed") -> None:
    """The episode's table, or why there is none."""
    from rich.console import Console

    from agent_plugin.review_table import criteria_table, lines_after, lines_before

    console = Console()

    def show(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    for line in lines_before(outcome):
        show(line)
    if outcome.review and outcome.review.answers:
        console.print(criteria_table(outcome.review))
    for line in lines_after(outcome):
        show(line)


def _as_json(outcome: "Reviewed") -> dict[str, Any]:
    review = outcome.review
    return {
        "episode": str(outcome.episode.root),
        "n_new_answers": outcome.n_new,
        "notes": outcome.notes,
        "error": outcome.error,
        "is_good": outcome.is_good,
        "figures": review.figures() if review and review.answers else None,
        "review": review.model_dump(mode="json") if review and review.answers else None,
    }
