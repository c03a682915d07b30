"""`blendscribe verify`: takes nobody's word for an episode, a run or a data set."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.sandbox.level import LevelName

if TYPE_CHECKING:
    from agent_plugin.verify_episode import Verified
    from harness.renders import RenderRequest
    from recorder.files import Finding


def verify(
    folders: Annotated[
        list[Path], typer.Argument(help="Episodes (trajectory.jsonl), runs (run.json) or data sets (manifest.json).")
    ],
    integrity: Annotated[
        bool,
        typer.Option("--integrity", help="Look at the record alone: every hash and invariant. Writes nothing."),
    ] = False,
    checks: Annotated[
        Path | None, typer.Option(help="Checks file to take in place of the checks that the task declares.")
    ] = None,
    renders: Annotated[bool, typer.Option("--renders/--no-renders", help="Draw the saved scene into renders/.")] = True,
    cycles: Annotated[
        bool, typer.Option("--cycles", help="Draw the stills with Cycles: the scene's own light and materials, slowly.")
    ] = False,
    workers: Annotated[int, typer.Option("-w", "--workers", min=1, max=64, help="Episodes at once.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    allow_isolation: Annotated[
        LevelName | None,
        typer.Option(help="Weakest isolation to run the episode's code in. Without: what the record asks for."),
    ] = None,
) -> None:
    """Open the saved scene in a fresh Blender, make the declared checks and the renders, run final_script.py whole
    again and compare, and examine the record. The results go into the episode's verification/ and renders/; samples of
    a data set stay as they are.

    Exit status: 0 all is good, 1 something was found or the machine failed (another command at work on an
    episode included), 2 the input is wrong, 130 stopped.
    """
    from agent_plugin.faults import bad_input

    if integrity:
        if checks or cycles:
            raise bad_input("--checks and --cycles have no meaning beside --integrity")
        _verify_integrity(folders, as_json=as_json)
        return
    if cycles and not renders:
        raise bad_input("--cycles says how to draw, --no-renders not to")
    drawing = _drawing(cycles=cycles) if renders else None
    _verify_all(folders, checks, drawing, workers, allow_isolation, as_json=as_json)


def _drawing(*, cycles: bool) -> "RenderRequest":
    from harness.renders import RenderRequest

    return RenderRequest(engine="cycles" if cycles else "workbench")


def _verify_all(
    folders: list[Path],
    checks: Path | None,
    drawing: "RenderRequest | None",
    workers: int,
    allow_isolation: LevelName | None,
    *,
    as_json: bool,
) -> None:
    from agent_plugin.checks_file import load_checks
    from agent_plugin.keys import hide_keys
    from agent_plugin.verify_batch import choose, verify_all
    from agent_plugin.verify_episode import Wish
    from agent_plugin.verify_text import block_of, json_of
    from harness.sweep import sweep

    given = tuple(load_checks(checks)) if checks else None
    chosen = choose(folders)
    sweep()
    hide_keys()

    def tell(done: "Verified") -> None:
        if not as_json:
            print(block_of(done), flush=True)

    try:
        done = verify_all(chosen, Wish(given, drawing, allow_isolation), workers, tell)
    except KeyboardInterrupt:
        told = "stopped: what was told of is verified; an episode that was under way has to be verified again"
        typer.echo(told, err=True)
        raise typer.Exit(130) from None
    findings = {str(dataset): _integrity(dataset) for dataset in chosen.datasets}
    if as_json:
        of_datasets = {name: _as_json(found) for name, found in findings.items()}
        print(json.dumps({str(one.root): json_of(one) for one in done} | of_datasets, indent=2))
    else:
        _print_findings(findings)
    if any(findings.values()) or not all(one.ok for one in done):
        raise typer.Exit(1)


def _verify_integrity(folders: list[Path], *, as_json: bool) -> None:
    from agent_plugin.faults import BadInput, Fault
    from recorder.export.sources import find_sources
    from recorder.plain_files import is_plain

    wrong = [path for path in folders if not _is_record(path)]
    if wrong:
        raise BadInput([Fault(str(path), "", "neither an episode nor a run nor a data set") for path in wrong])
    records = [
        record
        for path in folders
        for record in ([one.root for one in find_sources([path])] if is_plain(path, "run.json") else [path])
    ]
    found = {str(path): _integrity(path) for path in records}
    if as_json:
        print(json.dumps({path: _as_json(findings) for path, findings in found.items()}, indent=2))
    else:
        _print_findings(found)
    if any(found.values()):
        raise typer.Exit(1)


def _print_findings(found: "dict[str, list[Finding]]") -> None:
    from harness.checks.verdict import plural

    for path, findings in found.items():
        print(f"{path}: {'sound' if not findings else plural(len(findings), 'finding')}")
        for finding in findings:
            print(f"  {finding.code:10} {finding}")


def _as_json(findings: "list[Finding]") -> list[dict[str, object]]:
    return [finding.model_dump(mode="json") for finding in findings]


def _is_record(path: Path) -> bool:
    return any((path / name).exists() for name in ("manifest.json", "trajectory.jsonl", "episode.json", "run.json"))


def _integrity(path: Path) -> "list[Finding]":
    from recorder.integrity import check_dataset, check_episode

    return check_dataset(path) if (path / "manifest.json").exists() else check_episode(path)
