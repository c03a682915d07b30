"""`blendscribe export`: accepted episodes become a data set."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    sources: Annotated[list[Path], typer.Argument(help="Runs (they hold run.json) or episodes (trajectory.jsonl).")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder of the data set: a new one.")],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            help="More than the canonical files: vlm-flat, llamafactory, atif, parquet, openai, sts, nemo-gym, traj. "
            "Repeatable.",
        ),
    ] = None,
    include: Annotated[
        str, typer.Option(help="Beside accepted episodes: failed, unfinished, or both with a comma; labelled so.")
    ] = "",
    decontaminate: Annotated[
        Path | None,
        typer.Option(help="Held-out briefs (.txt: one a line, .jsonl): what shares 8 words in a row is dropped."),
    ] = None,
    license_name: Annotated[
        str, typer.Option("--license", help="Licence of the data, for the card and each row, as the Hub names it.")
    ] = "unknown",
    images_column: Annotated[
        bool, typer.Option(help="vlm-flat: pictures in a column (TRL, Unsloth), or by path in the messages (axolotl).")
    ] = True,
) -> None:
    """Make a data set folder: samples, train files, card, manifest.

    Exit status: 0 done, 1 done, but an episode is damaged or holds a secret and was left out, 2 the input is wrong
    (nothing was written).
    """
    from agent_plugin.faults import bad_input
    from recorder.export.dataset import OutputExists, Request
    from recorder.export.dataset import export as make
    from recorder.export.formats import Options
    from recorder.export.history import report
    from recorder.export.listing import UnknownFormat
    from recorder.export.sources import NoSource
    from recorder.files import Label

    labels: set[Label] = set()
    for name in filter(None, (part.strip() for part in include.split(","))):
        if name not in ("failed", "unfinished"):
            raise bad_input(f"there is no '{name}'. Known: failed, unfinished", place="--include")
        labels.add("failed" if name == "failed" else "unfinished")
    request = Request(
        sources=tuple(sources),
        output=output,
        formats=tuple(formats or ()),
        include=frozenset(labels),
        held_out=decontaminate,
        options=Options(license=license_name, images_column=images_column),
    )
    try:
        history = make(request)
    except (OutputExists, NoSource, UnknownFormat) as error:
        raise bad_input(str(error)) from error
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror or error})", file=str(output)) from error
    print(report(history, output))
    if history.damaged:
        raise typer.Exit(1)
