"""`blendscribe doctor`: shows what `harness.doctor` finds, and which agent packages are here."""

import json
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from harness.doctor import Finding

_AGENT_PACKAGES = ("mini-swe-agent", "litellm")
_COLORS = {"ok": "green", "warning": "yellow", "failed": "red"}


def doctor(
    python: Annotated[Path | None, typer.Option(help="Blender interpreter to examine, if not the usual one.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Examine this machine: interpreter, render, video, sandbox, resources. Each finding comes with its remedy."""
    from harness.doctor import can_work, examine
    from harness.settings import HarnessSettings
    from harness.sweep import sweep

    sweep()
    findings = [*examine(HarnessSettings(bpy_python=str(python or ""))), *_agent_packages()]
    if as_json:
        typer.echo(json.dumps({"ok": can_work(findings), "findings": [asdict(f) for f in findings]}, indent=2))
    else:
        _print_table(findings)
    raise typer.Exit(0 if can_work(findings) else 1)


def _agent_packages() -> "list[Finding]":
    """From their metadata: importing litellm takes seconds."""
    from harness.doctor import Finding

    findings = []
    for name in _AGENT_PACKAGES:
        try:
            findings.append(Finding(name, "ok", metadata.version(name)))
        except metadata.PackageNotFoundError:
            findings.append(Finding(name, "failed", "not installed", f"Run `pip install {name}`."))
    return findings


def _print_table(findings: "list[Finding]") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for finding in findings:
        detail = Text(finding.detail)
        if finding.remedy:
            detail.append(f"\n→ {finding.remedy}", style="bold")
        table.add_row(finding.name, Text(finding.status, style=_COLORS[finding.status]), detail)
    console = Console()
    console.print(table)
    n_failed, n_warnings = (sum(f.status == status for f in findings) for status in ("failed", "warning"))
    console.print(f"\n{len(findings)} findings: {n_failed} failed, {n_warnings} warnings", highlight=False)
