"""The folder of a run: made or known again, locked, and what an unfinished attempt left is moved aside in it."""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from agent_plugin.agent import now
from agent_plugin.faults import bad_input
from agent_plugin.launch_plan import RunPlan, differences
from recorder.files import LossFile
from recorder.paths import EpisodePaths, RunPaths
from recorder.trajectory import write_atomically

INFRASTRUCTURE, INTERRUPTED, CHANGED = "infrastructure", "interrupted", "changed"
"""Why a folder was moved aside: `1.infrastructure-2` is the second lost try of the first attempt."""
_MAX_SHOWN = 5
_MAX_HISTORY = 200
"""Differences kept for one change: a task list of thousands may have been replaced whole."""


def open_run(plan: RunPlan, root: Path, *, allow_changed: bool = False) -> RunPaths:
    """Make the run's folder, or check that the one that is there is the same run. Raises BadInput otherwise.

    With `allow_changed`, another plan takes the run over, and run.json says so.
    """
    paths, described = RunPaths(root), plan.describe()
    if root.exists() and not root.is_dir():
        raise bad_input("is not a folder", file=str(root))
    if paths.run_file.is_file():
        _continue(paths.run_file, described, allow_changed=allow_changed)
        return paths
    if root.is_dir() and not all(paths.is_begun_with(entry.name) for entry in root.iterdir()):
        raise bad_input("is not empty and holds no run.json; give a new folder for the run", file=str(root))
    try:
        root.mkdir(parents=True, exist_ok=True)
        _write(paths.run_file, described)
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror})", file=str(root)) from error
    return paths


@contextmanager
def lock_run(paths: RunPaths) -> Iterator[None]:
    """One launcher at a time in a run's folder."""
    try:
        file = paths.lock_file.open("w")
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror})", file=str(paths.root)) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise bad_input("another launcher is working in this run", file=str(paths.root)) from None
        yield


def move_aside(episode: EpisodePaths, why: str) -> Path | None:
    """Keep what an unfinished attempt recorded, under a name of its own: that folder, None where there is nothing."""
    if not episode.root.exists():
        return None
    number = 1
    while (aside := episode.root.with_name(f"{episode.root.name}.{why}-{number}")).exists():
        number += 1
    episode.root.rename(aside)
    return aside


def n_lost_before(episode: EpisodePaths) -> int:
    """Attempts at this episode that the provider or the machine ended, over all launches."""
    start = f"{episode.root.name}.{INFRASTRUCTURE}-"
    try:
        return sum(folder.name.startswith(start) for folder in episode.root.parent.iterdir())
    except FileNotFoundError:
        return 0


def note_loss(folder: Path, loss: str, ended_as: str, error: str) -> None:
    """Write down why what is in `folder` has no result, as far as the disk allows it."""
    with suppress(OSError):
        record = LossFile(loss=loss, ended_as=ended_as, error=error, lost_at=now())
        write_atomically(folder / "lost.json", (record.model_dump_json(indent=2) + "\n").encode())


def _continue(run_file: Path, described: dict[str, Any], *, allow_changed: bool) -> None:
    try:
        there = json.loads(run_file.read_text(encoding="utf-8"))
        theirs = there["fingerprint"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise bad_input(f"cannot be read as a run ({error!r})", file=str(run_file)) from error
    if theirs == described["fingerprint"]:
        return
    found = list(differences(there, described))
    if not allow_changed:
        shown = "; ".join(found[:_MAX_SHOWN]) + (f"; and {n} more" if (n := len(found) - _MAX_SHOWN) > 0 else "")
        raise bad_input(
            f"is another run. There, then here: {shown or 'its fingerprint'}. Give another folder with -o, "
            "repeat the command that made it, or go on with what is here by --allow-changed",
            file=str(run_file.parent),
        )
    change = {"changed_at": now(), "fingerprint_before": theirs, "differences": found[:_MAX_HISTORY]}
    try:
        _write(run_file, described | {"history": [*(there.get("history") or []), change]})
    except OSError as error:
        raise bad_input(f"cannot be written ({error.strerror})", file=str(run_file)) from error


def _write(run_file: Path, content: dict[str, Any]) -> None:
    write_atomically(run_file, (json.dumps(content, indent=2) + "\n").encode())
