"""The other JSON files of a run, an episode and a sample, as models. `records.py` has the trajectory and episode.json.

Not here: the rows of train files (`rows.py`), and what the harness measured, which is kept as it was (`dict`).
"""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from recorder.records import SCHEMA_VERSION, Record


class RunChange(Record):
    """A run that was continued by another plan, which the user allowed."""

    changed_at: str
    fingerprint_before: str
    differences: list[str]
    """`place: before, after`; the first 200."""


class RunFile(Record):
    """`run.json`: what a run consists of. Two with the same fingerprint are the same run."""

    fingerprint: str
    schema_version: int = SCHEMA_VERSION
    tasks: dict[str, str]
    """Task id -> SHA-256 of the task."""
    models: list[str]
    n_attempts: int
    config: dict[str, Any]
    """Resolved; secrets removed."""
    prompts: dict[str, str]
    """Kind of task -> SHA-256 of its prompt."""
    versions: dict[str, str]
    isolation: dict[str, Any]
    history: list[RunChange] = Field(default_factory=list)
    """What it was changed from while it went on, oldest first. Empty for a run that never was."""


class LossFile(Record):
    """`lost.json` in a folder that was moved aside: why this attempt at an episode has no result."""

    schema_version: int = SCHEMA_VERSION
    loss: str
    """Its class, which decides whether it is played again."""
    ended_as: str
    """The error's name."""
    error: str
    lost_at: str


class PinnedLimits(Record):
    """What an episode of the task may use; 0: the config's limit."""

    steps: int = 0
    cost_usd: float = 0.0
    seconds: int = 0


PINNED_FILES = ("start_file", "checks", "rubric")
"""Keys of `task.json` that name a file beside it. In the task's hash, the file's hash stands for its name."""


class PinnedTask(Record):
    """`task/task.json`: the task as it was when the episode began. Keys that tasks got later are kept as they are:
    `sha256` covers every one of them, and of files the bytes."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: str
    kind: str
    brief: str
    start: str = "factory"
    start_file: str | None = None
    """Its name beside task.json."""
    checks: str | None = None
    """Name of the file with the declared checks beside task.json; what lies there without being named is not the
    task's."""
    rubric: str | None = None
    harness: dict[str, Any] = Field(default_factory=dict)
    limits: PinnedLimits = PinnedLimits()
    sha256: str


class Finding(Record):
    """One thing in a record that is not as it has to be."""

    code: str
    """`hash`, `missing`, `order`, … (docs/formats.md lists them)."""
    file: str
    """Relative to the episode or data set."""
    line: int | None = None
    message: str

    def __str__(self) -> str:
        return f"{self.file}{f', line {self.line}' if self.line else ''}: {self.message}"


class IntegrityFile(Record):
    """`verification/integrity.json`: what was looked for, and found."""

    schema_version: int = SCHEMA_VERSION
    trajectory_sha256: str
    """Of the trajectory that was examined: another one has to be examined anew."""
    about: dict[str, str] = Field(default_factory=dict)
    """Name -> SHA-256 of the files that a verification rests on (`subject.py`). Empty: an older record."""
    findings: list[Finding]
    renders_sha256: str | None = None
    """Of `renders/renders.json`, as it was drawn; '' where nothing was. None: not drawn by a verification, or an older
    record."""

    @property
    def is_sound(self) -> bool:
        return not self.findings


Label = Literal["accepted", "failed", "unfinished"]
"""accepted: passed, no verification fails, and nobody rejected it, or a person accepted it in spite of that; failed:
judged and not accepted; unfinished: never judged."""


class SampleFile(Record):
    """`samples/<name>/sample.json`: what the sample is and where it is from."""

    schema_version: int = SCHEMA_VERSION
    name: str
    label: Label
    reason: str
    episode: str
    """`<task>/<model>/<attempt>` of its run, or the folder's name."""
    task_id: str
    model: str
    attempt: int
    trajectory_sha256: str
    license: str


class ManifestEntry(Record):
    """One file of a data set."""

    path: str
    sha256: str
    n_bytes: int


class Manifest(Record):
    """`manifest.json`: every file of the data set but itself, in order of path."""

    schema_version: int = SCHEMA_VERSION
    made_by: str
    """`blendscribe <version>`."""
    files: list[ManifestEntry]
