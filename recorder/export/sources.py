"""Finds the episodes that a user named: of a run, finished or not, or single folders. Follows no link below them."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recorder.paths import folder_name
from recorder.plain_files import is_plain


class NoSource(Exception):
    """A path that is neither a run nor an episode; the text says so."""


@dataclass(frozen=True)
class Source:
    """An episode's folder."""

    root: Path
    episode: str
    """`<task>/<model>/<attempt>` of a run, else the folder's name. Attempts that were stopped have names such as
    `1.interrupted-1`."""
    run: Path | None

    @property
    def sample_name(self) -> str:
        """One folder name: `<task>--<model>--<attempt>`."""
        return "--".join(folder_name(part) for part in self.episode.split("/"))


def find_sources(paths: Sequence[Path]) -> list[Source]:
    """Every episode below these paths once, in their order, then by name. Raises NoSource."""
    found: dict[Path, Source] = {}
    for path in paths:
        if is_plain(path, "trajectory.jsonl"):
            sources = [_single(path)]
        elif is_plain(path, "run.json"):
            sources = [Source(folder, str(folder.relative_to(path / "episodes")), path) for folder in _episodes(path)]
        else:
            raise NoSource(f"{path}: neither a run (run.json) nor an episode (trajectory.jsonl)")
        for source in sources:
            found.setdefault(source.root.resolve(), source)
    return list(found.values())


def names_of(sources: Sequence[Source]) -> list[str]:
    """A sample's name for each; where runs have the same one, the later ones get a number."""
    names: list[str] = []
    taken: set[str] = set()
    for source in sources:
        name, number = source.sample_name, 1
        while name in taken:
            number += 1
            name = f"{source.sample_name}--{number}"
        taken.add(name)
        names.append(name)
    return names


def _single(path: Path) -> Source:
    """An episode that lies in a run keeps its name there."""
    whole = path.resolve()
    if len(whole.parents) > 3 and whole.parents[2].name == "episodes" and is_plain(whole.parents[3], "run.json"):
        return Source(path, str(whole.relative_to(whole.parents[2])), whole.parents[3])
    return Source(path, whole.name, None)


def _episodes(run: Path) -> list[Path]:
    """Every attempt's folder, those that were moved aside included."""
    folders = [run / "episodes"]
    for _ in range(3):
        folders = [inner for folder in folders for inner in _folders(folder)]
    return folders


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(e.path) for e in sorted(entries, key=lambda e: e.name) if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
