"""`blendscribe check`: grades any .blend against a checks file."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.checks.report import CheckReport

_COLORS = {"pass": "green", "fail": "red", "unknown": "yellow"}


def check(
    file: Annotated[Path | None, typer.Argument(help="The .blend to check.", metavar="FILE.blend")] = None,
    checks: Annotated[
        Path | None, typer.Argument(help="The checks: a JSON list of {id, type, parameters}.", metavar="CHECKS.json")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the report (or the types, as JSON schemas) as JSON.")
    ] = False,
    types: Annotated[bool, typer.Option("--types", help="List the types of checks with their parameters.")] = False,
) -> None:
    """Check a .blend, from any source: opened in the sandbox with its scripts off, measured, judged.

    Exit status: 0 every required check passes, 1 one fails or cannot be judged, 2 the input is wrong.
    """
    from agent_plugin.faults import bad_input

    if types:
        from harness.checks.reference import types_json, types_text

        typer.echo(json.dumps(types_json(), indent=2) + "\n" if as_json else types_text(), nl=False)
        return
    if file is None or checks is None:
        raise bad_input("give a .blend and a checks file, or --types")
    report = _report(file, checks)
    if as_json:
        typer.echo(json.dumps(report.to_json(), indent=2))
    else:
        _print_report(report)
    raise typer.Exit(0 if report.ok else 1)


def _report(file: Path, checks: Path) -> "CheckReport":
    from agent_plugin.checks_file import load_checks
    from agent_plugin.faults import bad_input
    from harness.checks.run import run_checks
    from harness.settings import HarnessSettings
    from harness.sweep import sweep

    declared = load_checks(checks)
    try:
        is_file = file.is_file()
    except OSError as error:
        raise bad_input(f"cannot be read ({error.strerror})", file=str(file)) from error
    if not is_file:
        what = "is a folder" if file.is_dir() else "is not a plain file" if file.exists() else "there is no such file"
        raise bad_input(what, file=str(file))
    try:
        with file.open("rb"):
            pass
    except OSError as error:
        raise bad_input(f"cannot be read ({error.strerror})", file=str(file)) from error
    sweep()
    return run_checks(file, declared, HarnessSettings())


def _print_report(report: "CheckReport") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from harness.plain_text import plain

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("check", "type", "outcome", "weight", "what was found"):
        table.add_column(title, overflow="fold", no_wrap=title == "outcome")
    for result in report.checks:
        table.add_row(
            result.id if result.required else f"{result.id} (optional)",
            result.type,
            Text(result.outcome, style=_COLORS[result.outcome]),
            f"{result.weight:g}",
            Text(plain(result.message)),
        )
    console = Console()
    if report.error:
        console.print(Text(f"error: {plain(report.error)}", style="red"))
    console.print(table)
    for finding in report.findings:
        console.print(Text(f"finding: {plain(finding.message)} [{finding.code}]", style="yellow"))
    console.print(_last_line(report), markup=False, highlight=False)


def _last_line(report: "CheckReport") -> str:
    score = report.score
    weighted = "none" if score.weighted is None else f"{score.weighted:.2f}"
    strict = "PASS" if report.ok else "NOT PASSED"
    opened, measured = 1000 * report.open_seconds, 1000 * sum(result.seconds for result in report.checks)
    return (
        f"\n{strict}: {score.n_passed} pass, {score.n_failed} fail, {len(score.not_judged)} unknown; weighted score "
        f"{weighted} over {score.judged_share:.0%} of the weight; opened in {opened:.0f} ms, measured in "
        f"{measured:.0f} ms, {report.seconds:.1f} s in all; isolation: {report.isolation or 'none needed'}"
    )
