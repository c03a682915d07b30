"""Reads what a run's folder holds, also while a launcher writes it: results, attempts without one, what runs.

Takes no lock and writes nothing. Folders may be half made, or be moved away between two looks; a result that cannot be
read is listed, and stops nothing. Of an episode.json only what is counted is kept, so that tens of thousands fit.
"""

import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from recorder.documents import read_document
from recorder.errors import CorruptEpisode
from recorder.files import RunFile
from recorder.last_launch import Key, LastLaunch, read_last_launch
from recorder.paths import RunPaths, folder_name
from recorder.records import SCHEMA_VERSION, EpisodeSummary, TokenCount
from recorder.trajectory import read_summary

_ASIDE = re.compile(r"(\d+)\.([a-z_-]+?)-(\d+)")
_TAIL = 64 << 10


@dataclass(frozen=True, slots=True)
class Result:
    """A finished episode."""

    task_id: str
    task_sha256: str
    model: str
    attempt: int
    passed: bool
    failures: tuple[str, ...]
    """Why it failed, in words that can be counted: the codes of its errors, or how it ended without handing in."""
    score: float | None
    n_steps: int
    usd: float
    is_cost_known: bool
    tokens: TokenCount | None
    seconds: float


@dataclass(frozen=True, slots=True)
class Aside:
    """What an attempt left that has no result."""

    key: Key
    why: str
    """`infrastructure`, `interrupted`, …: as its folder says."""
    ended_as: str
    """The reason in a word; '' where nothing was recorded."""
    error: str
    folder: str
    """Relative to the run."""


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A folder of an episode without a result that was not moved aside: it runs, or its launcher was killed."""

    key: Key
    folder: str


@dataclass
class RunContents:
    """One run, as it was found."""

    root: Path
    plan: RunFile | None = None
    """None where run.json cannot be read."""
    results: list[Result] = field(default_factory=list)
    damaged: dict[str, str] = field(default_factory=dict)
    """File, relative to the run -> why it cannot be read."""
    damaged_keys: set[Key] = field(default_factory=set)
    asides: list[Aside] = field(default_factory=list)
    unfinished: list[Unfinished] = field(default_factory=list)
    launch: LastLaunch | None = None
    """None where no event tells of one."""

    @property
    def planned(self) -> Iterator[Key]:
        """Every episode of the plan."""
        if self.plan is not None:
            for attempt in range(1, self.plan.n_attempts + 1):
                for task in self.plan.tasks:
                    for model in self.plan.models:
                        yield task, model, attempt


def read_run(root: Path) -> RunContents:
    """What is there now."""
    paths, contents = RunPaths(root), RunContents(root)
    try:
        contents.plan = read_document(paths.run_file, RunFile)
    except CorruptEpisode as error:
        contents.damaged["run.json"] = error.why
    names = {folder_name(model): model for model in contents.plan.models} if contents.plan else {}
    for task in _folders(contents, root / "episodes"):
        for model_dir in _folders(contents, Path(task.path)):
            model = names.get(model_dir.name, model_dir.name)
            for folder in _folders(contents, Path(model_dir.path)):
                _read_folder(contents, Path(folder.path), task.name, model)
    contents.launch = read_last_launch(paths.events_file, [one.key for one in contents.unfinished])
    return contents


def _folders(contents: RunContents, path: Path) -> list[os.DirEntry[str]]:
    """Folders in a folder, by name; none where it is gone. Links are not followed."""
    try:
        with os.scandir(path) as entries:
            found = [entry for entry in entries if entry.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        contents.damaged[str(path.relative_to(contents.root))] = f"cannot be read ({error.strerror})"
        return []
    return sorted(found, key=lambda entry: entry.name)


def _read_folder(contents: RunContents, folder: Path, task: str, model: str) -> None:
    inside = str(folder.relative_to(contents.root))
    if folder.name.isdigit():
        key = (task, model, int(folder.name))
        try:
            contents.results.append(_result(folder / "episode.json", key))
        except FileNotFoundError:
            if folder.is_dir():  # else it was moved aside just now
                contents.unfinished.append(Unfinished(key, inside))
        except CorruptEpisode as error:
            contents.damaged[f"{inside}/episode.json"] = error.why
            contents.damaged_keys.add(key)
    elif found := _ASIDE.fullmatch(folder.name):
        ended_as, error_text = _why_lost(folder)
        contents.asides.append(Aside((task, model, int(found[1])), found[2], ended_as, error_text, inside))


def _result(path: Path, key: Key) -> Result:
    """Raises FileNotFoundError where there is none, and CorruptEpisode."""
    summary = _summary(path)
    if (summary.task_id, folder_name(summary.model), summary.attempt) != (key[0], folder_name(key[1]), key[2]):
        raise CorruptEpisode(path, None, f"is of {summary.task_id}, {summary.model}, attempt {summary.attempt}")
    return Result(
        task_id=summary.task_id,
        task_sha256=summary.task_sha256,
        model=summary.model,
        attempt=summary.attempt,
        passed=summary.verdict == "pass",
        failures=() if summary.verdict == "pass" else failures_of(summary),
        score=summary.score.weighted if summary.score else None,
        n_steps=summary.n_steps,
        usd=summary.cost.usd,
        is_cost_known=summary.cost.is_known,
        tokens=summary.tokens,
        seconds=summary.seconds,
    )


def _summary(path: Path) -> EpisodeSummary:
    """The fast way for a sound file; what is odd about another one, the careful reader says."""
    try:
        summary = EpisodeSummary.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        if path.is_symlink():
            raise CorruptEpisode(path, None, "not a plain file") from None
        raise
    except (ValidationError, OSError):
        return read_summary(path)
    return summary if summary.schema_version <= SCHEMA_VERSION else read_summary(path)


def failures_of(summary: EpisodeSummary) -> tuple[str, ...]:
    """Why an episode failed: how it ended, where nothing was handed in; else the codes of its errors, each once."""
    if summary.exit_status != "Submitted":
        return (summary.exit_status or "no exit status",)
    found = (summary.final_execution or {}).get("problems")
    measured = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    warnings = {one.get("code") for one in measured if one.get("severity") == "warning"}
    errors = tuple(dict.fromkeys(code for code in summary.problems if code not in warnings))
    return errors or tuple(dict.fromkeys(summary.problems)) or ("no problem recorded",)


def _why_lost(folder: Path) -> tuple[str, str]:
    """(the reason in a word, the error) of an attempt that was moved aside: from lost.json, else from its last line."""
    try:
        loss = json.loads((folder / "lost.json").read_bytes())
        return str(loss["ended_as"]), str(loss["error"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    try:
        with (folder / "trajectory.jsonl").open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        end = json.loads(last)
        return (str(end["exit_status"]), str(end.get("error", ""))) if end["kind"] == "end" else ("", "")
    except (OSError, ValueError, KeyError, TypeError):
        return "", ""
