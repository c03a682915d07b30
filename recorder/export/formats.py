"""What a format is: something that is given each sample in turn, and writes rows or files below its own folder."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from recorder.export.forging import Escaped, RefusedRow
from recorder.export.sample import Sample


@dataclass(frozen=True)
class Options:
    """What a user may choose."""

    license: str = "unknown"
    images_column: bool = True
    """vlm-flat: pictures in a column of their own (TRL, Unsloth); else by path in the message (axolotl)."""


@dataclass
class Outcome:
    """What a format made, for the report and the card."""

    name: str
    n_rows: int = 0
    escaped: Escaped = field(default_factory=Escaped)
    refused: dict[str, str] = field(default_factory=dict)
    """Sample -> why."""
    files: Counter[str] = field(default_factory=Counter)
    """File, relative to the data set -> rows."""


class Format(Protocol):
    """One format. Made with the data set's folder and the options."""

    outcome: Outcome

    def add(self, sample: Sample) -> None:
        """Write this sample. Raises RefusedRow."""

    def close(self) -> None:
        """Finish the files."""


FormatClass = Callable[[Path, Options], Format]


class JsonLines:
    """A JSON lines file that is there once it has a row."""

    def __init__(self, root: Path, name: str, outcome: Outcome) -> None:
        self.name, self._path, self._outcome = name, root / name, outcome

    def write(self, row: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(row, ensure_ascii=False, allow_nan=False)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line.encode("utf-8", "replace").decode("utf-8") + "\n")
        self._outcome.files[self.name] += 1


def add_safely(made: Format, sample: Sample) -> None:
    """Give a format its sample; a refusal is noted."""
    try:
        made.add(sample)
        made.outcome.n_rows += 1
    except RefusedRow as refused:
        made.outcome.refused[sample.name] = str(refused)
