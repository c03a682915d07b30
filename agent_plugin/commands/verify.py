"""`blendscribe verify`: takes nobody's word for an episode or a data set. So far: whether the record is whole.

Each kind of verification is an option and a function here that gives its findings; without any option all will run.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from recorder.files import Finding


def verify(
    folders: Annotated[list[Path], typer.Argument(help="Episodes (trajectory.jsonl) or data sets (manifest.json).")],
    integrity: Annotated[
        bool, typer.Option("--integrity", help="Trajectory, pictures, states, script and hashes against each other.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False,
) -> None:
    """Examine records; each finding names its file and line. Nothing is written.

    Exit status: 0 sound, 1 something was found, 2 the input is wrong.
    """
    from agent_plugin.faults import BadInput, Fault, bad_input

    if not integrity:
        raise bad_input("say what to verify: --integrity")
    wrong = [path for path in folders if not _is_record(path)]
    if wrong:
        raise BadInput([Fault(str(path), "", "neither an episode nor a data set") for path in wrong])
    found = {str(path): _integrity(path) for path in folders}
    if as_json:
        dumped = {path: [f.model_dump(mode="json") for f in findings] for path, findings in found.items()}
        print(json.dumps(dumped, indent=2))
    else:
        for path, findings in found.items():
            print(f"{path}: {'sound' if not findings else f'{len(findings)} findings'}")
            for finding in findings:
                print(f"  {finding.code:10} {finding}")
    if any(found.values()):
        raise typer.Exit(1)


def _is_record(path: Path) -> bool:
    return any((path / name).exists() for name in ("manifest.json", "trajectory.jsonl", "episode.json"))


def _integrity(path: Path) -> "list[Finding]":
    from recorder.integrity import check_dataset, check_episode

    return check_dataset(path) if (path / "manifest.json").exists() else check_episode(path)
