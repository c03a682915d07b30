"""`blendscribe decide`: a person's last word on an episode, kept with what it was about."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from recorder.decision_file import Decision


def decide(
    episode: Annotated[Path, typer.Argument(help="Folder of an episode (it holds trajectory.jsonl).")],
    decision: Annotated[Literal["accept", "reject"], typer.Argument(help="Whether it may become a sample.")],
    reason: Annotated[str, typer.Option(help="Why, in words.")],
    by: Annotated[str, typer.Option(help="Who decides.")],
    override: Annotated[
        str | None,
        typer.Option(help="Accept in spite of what speaks against it, for this reason; both are recorded."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Replace an earlier decision, which is kept in the history.")
    ] = False,
) -> None:
    """Write verification/decision.json: who, when, why, and the hashes of everything that was decided on.

    The record is examined anew. An episode is not accepted in which something is found, or whose verification is
    missing, stale or failed, unless --override says why. Exit status:
    0 decided, 1 refused (every reason is listed, nothing is written), 2 the input is wrong.
    """
    from agent_plugin.faults import bad_input
    from harness.plain_text import plain
    from recorder.decisions import AlreadyDecided, NothingToOverride, Refused
    from recorder.decisions import decide as make

    for name, text in (("--reason", reason), ("--by", by), ("--override", override)):
        if text is not None and not text.strip():
            raise bad_input("is empty; say it in words", place=name)
    if override is not None and decision == "reject":
        raise bad_input("goes with accept alone", place="--override")
    _check_episode(episode, decision)
    try:
        made = make(episode, decision, reason=reason, by=by, override=override, again=again)
    except Refused as refused:
        typer.echo(f"{episode}: not accepted. What speaks against it:", err=True)
        for fault in refused.faults:
            typer.echo(f"  {plain(fault)}", err=True)
        typer.echo("Mend that, or say with --override why it is accepted all the same.", err=True)
        raise typer.Exit(1) from refused
    except AlreadyDecided as decided:
        raise bad_input(f"was {plain(str(decided))}. --again decides anew", file=str(episode)) from decided
    except NothingToOverride:
        raise bad_input("nothing speaks against the episode: leave it away", place="--override") from None
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror or error})", file=str(episode)) from error
    typer.echo(_told(episode, made))


def _check_episode(episode: Path, decision: str) -> None:
    from agent_plugin.faults import bad_input
    from recorder.plain_files import is_plain

    if not is_plain(episode, "trajectory.jsonl"):
        raise bad_input("not an episode: it holds no trajectory.jsonl", file=str(episode))
    if is_plain(episode.parent.parent, "manifest.json"):
        raise bad_input("is a sample of a data set, which stays as it is: decide on its episode", file=str(episode))
    if decision == "accept" and not is_plain(episode, "episode.json"):
        raise bad_input("never finished (no episode.json): it can be rejected, not accepted", file=str(episode))


def _told(episode: Path, made: "Decision") -> str:
    from harness.checks.verdict import plural
    from harness.plain_text import one_line

    n = len(made.history)
    earlier = f"; {plural(n, 'earlier decision')} {'is' if n == 1 else 'are'} kept" if n else ""
    faults = f" in spite of {plural(len(made.override.faults), 'fault')}" if made.override else ""
    return (
        f"{episode}: {made.decision}ed by {one_line(made.by)}{faults}, about {plural(len(made.about), 'file')}{earlier}"
    )
