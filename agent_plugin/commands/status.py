"""`blendscribe status`: what a run came to, or is doing."""

from pathlib import Path
from typing import Annotated

import typer


def status(
    runs: Annotated[
        list[Path], typer.Argument(help="Folders of runs. Several are taken as one: their models are compared.")
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON, nothing left out.")] = False,
) -> None:
    """Say what a run has done, while it goes on and after: what passed, by model and by task, and what it cost.

    Pass rates with 95 % intervals over tasks, pass@k, scores, steps, cost, tokens, time, why episodes failed; models
    compared on the same tasks; what runs now, what was lost and why. Exit status: 0 whatever the run came to, 2 no run.
    """
    import json
    from dataclasses import asdict

    from recorder.run_reading import read_run
    from recorder.run_report import report

    _check(runs)
    found = report([read_run(run) for run in dict.fromkeys(runs)])
    if as_json:
        print(json.dumps({"schema_version": 1, **asdict(found)}, indent=2))
        return
    from rich.console import Console

    from agent_plugin.sheet import show
    from agent_plugin.status_tables import head_lines, sheets
    from harness.plain_text import plain

    console = Console()
    for line in head_lines(found):
        console.print(plain(line), markup=False, highlight=False, soft_wrap=True)
    for sheet in sheets(found):
        show(sheet, console)


def _check(runs: list[Path]) -> None:
    """Raises BadInput for every folder that is no run."""
    from agent_plugin.faults import BadInput, Fault

    faults = []
    for run in dict.fromkeys(runs):
        if not run.is_dir():
            faults.append(Fault(str(run), "", "there is no such folder"))
        elif not (run / "run.json").exists() and not (run / "episodes").is_dir():
            faults.append(Fault(str(run), "", "is not the folder of a run: it holds neither run.json nor episodes/"))
    if faults:
        raise BadInput(faults)
