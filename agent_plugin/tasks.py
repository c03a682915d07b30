"""A task: what the agent is asked to make, and by what it is judged. `task_list.py` reads lists of them."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent_plugin.tools import TaskKind
from harness.final_script import StepStart
from harness.settings import HarnessSettings

TaskId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$")]

HIDDEN = ("checks", "rubric")
"""Keys that the agent never sees. Each is a file of its own, `<key>.json`, where a task is pinned."""
TAKEN_NAMES = ("brief.md", "task.json", *(f"{key}.json" for key in HIDDEN))
"""What an episode's task folder holds beside the start file."""


class TaskLimits(BaseModel):
    """What an episode of this task may use; 0 or absent means the config's limit."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: Annotated[int, Field(ge=0)] = 0
    cost_usd: Annotated[float, Field(ge=0)] = 0.0
    seconds: Annotated[int, Field(ge=0)] = 0


class Task(BaseModel):
    """One task. Immutable, and known by its hash."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: TaskId
    kind: TaskKind = "video"
    """`video`: the agent edits files, and its main.py renders the output video. `scene`: it builds a live scene step
    by step, which is saved."""
    brief: Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
    """What the agent is asked to make."""
    start_file: Path | None = None
    """A file given to the agent in its workspace; relative to the task list. A scene task opens it (a .blend)."""
    start: Literal["factory", "empty"] = "factory"
    """What a scene task without a start file begins with: Blender's default scene, or nothing."""
    harness: dict[str, Any] = {}
    """Settings of the harness that this task fixes (`resolution`, `fps`, `frame_count`, …)."""
    limits: TaskLimits = TaskLimits()
    checks: tuple[dict[str, Any], ...] | None = None
    """Declared checks on the scene that is handed in: what a checks file holds (`checks_file.py`), or its name beside
    the task list."""
    rubric: dict[str, Any] | None = None
    """Criteria for one who sees the renders alone: what a rubric file holds (`recorder/rubric.py`), or its name."""

    @property
    def step_start(self) -> StepStart:
        """What the first step of a scene task finds."""
        if self.kind == "scene" and self.start_file:
            return StepStart(kind="file", file=self.start_file.name)
        return StepStart(kind=self.start)

    @property
    def sha256(self) -> str:
        """Hash of all that defines the task, the bytes of its files included."""
        fields = self.model_dump(mode="json", exclude={"start_file", *HIDDEN})
        fields["start_file"] = _file_hash(self.start_file) if self.start_file else None
        # a task without them has the hash that it had before there were any
        fields |= {key: hashlib.sha256(content).hexdigest() for key, content in self.hidden_files.items()}
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()

    @property
    def hidden_files(self) -> dict[str, bytes]:
        """Key of HIDDEN -> the file that it is pinned as, for those that the task has."""
        held = {key: value for key in HIDDEN if (value := getattr(self, key)) is not None}
        return {key: as_file(value) for key, value in held.items()}

    def settings(self, base: HarnessSettings) -> HarnessSettings:
        """`base` with what this task fixes."""
        return HarnessSettings.model_validate(base.model_dump() | self.harness)


def as_file(content: Any) -> bytes:
    """JSON, the same for the same content. Raises TypeError, ValueError for what JSON cannot hold."""
    text = json.dumps(content, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return f"{text}\n".encode()


def _file_hash(path: Path) -> str:
    """Of its content. Thousands of tasks may start from one large file: it is read again only if it has changed."""
    found = path.stat()
    return _hash_of(path, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=4096)
def _hash_of(path: Path, state: tuple[int, ...]) -> str:
    del state  # it tells one content of the path from another
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
