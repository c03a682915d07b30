"""Reads task lists: YAML, JSON lines, or a folder of task folders. Every fault of a list is found in one go."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from agent_plugin.faults import BadInput, Fault, bad_input, faults_of, read_yaml
from agent_plugin.tools import TaskKind
from harness.final_script import StepStart
from harness.settings import HarnessSettings

TaskId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,79}$")]


_TAKEN_NAMES = ("brief.md", "task.json")
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

    @property
    def step_start(self) -> StepStart:
        """What the first step of a scene task finds."""
        if self.kind == "scene" and self.start_file:
            return StepStart(kind="file", file=self.start_file.name)
        return StepStart(kind=self.start)

    @property
    def sha256(self) -> str:
        """Hash of all that defines the task, the start file's bytes included."""
        fields = self.model_dump(mode="json", exclude={"start_file"})
        fields["start_file"] = _file_hash(self.start_file) if self.start_file else None
        return hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()

    def settings(self, base: HarnessSettings) -> HarnessSettings:
        """`base` with what this task fixes."""
        return HarnessSettings.model_validate(base.model_dump() | self.harness)


def load_tasks(path: Path, base: HarnessSettings | None = None) -> list[Task]:
    """The tasks of a list, in order. Raises BadInput with every fault.

    What a task fixes for the harness is checked together with `base`, the config's settings.
    """
    faults: list[Fault] = []
    tasks: list[Task] = []
    seen: dict[str, str] = {}
    for file, place, raw, folder in _raw_tasks(path):
        task, found = _validate(raw, file, place, folder, base or HarnessSettings())
        faults += found
        task_id = raw.get("id") if isinstance(raw, dict) else None
        if isinstance(task_id, str):
            if task_id in seen:
                faults.append(
                    Fault(file, f"{place}.id".lstrip("."), f"'{task_id}' is taken already, by {seen[task_id]}")
                )
            seen.setdefault(task_id, f"{file} {place}".strip())
        tasks += [task] if task else []
    if faults:
        raise BadInput(faults)
    if not tasks:
        raise bad_input("holds no task", file=str(path))
    return tasks


def _raw_tasks(path: Path) -> Iterator[tuple[str, str, Any, Path]]:
    """(file, place in it, raw task, folder that its paths are relative to); a BadInput where a task cannot be read."""
    if path.is_dir():
        yield from _folder_tasks(path)
    elif path.suffix == ".jsonl":
        yield from _json_lines(path)
    elif path.suffix in (".yaml", ".yml"):
        content = read_yaml(path)
        if isinstance(content, dict) and set(content) == {"tasks"}:
            content = content["tasks"]
        if not isinstance(content, list):
            raise bad_input("must hold a list of tasks, or `tasks:` and nothing beside it", file=str(path))
        for number, raw in enumerate(content):
            yield str(path), f"tasks[{number}]", raw, path.parent
    elif not path.exists():
        raise bad_input("there is no such file or folder", file=str(path))
    else:
        raise bad_input("not a task list: give a .yaml or .jsonl file, or a folder of task folders", file=str(path))


def _folder_tasks(path: Path) -> Iterator[tuple[str, str, Any, Path]]:
    """Folders with a task.yaml each; the id is the folder's name, the brief may stand in brief.md."""
    files = sorted(path.glob("*/task.yaml"))
    if not files:
        raise bad_input("holds no folder with a task.yaml", file=str(path))
    for file in files:
        try:
            raw = read_yaml(file)
        except BadInput as error:
            raw = error
        if isinstance(raw, dict):
            raw.setdefault("id", file.parent.name)
            brief = file.parent / "brief.md"
            if "brief" not in raw and brief.is_file():
                raw["brief"] = brief.read_text(encoding="utf-8", errors="replace")
        yield str(file), "", raw, file.parent


def _json_lines(path: Path) -> Iterator[tuple[str, str, Any, Path]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")  # a string may hold other ends of line, unescaped
    except (OSError, UnicodeDecodeError) as error:
        raise bad_input(f"cannot be read ({error})", file=str(path)) from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        file = f"{path}:{number}"
        try:
            raw = json.loads(line)
        except (ValueError, RecursionError) as error:
            raw = bad_input(f"not valid JSON ({error})", file=file)
        yield file, "", raw, path.parent


def _validate(raw: Any, file: str, place: str, folder: Path, base: HarnessSettings) -> tuple[Task | None, list[Fault]]:
    if isinstance(raw, BadInput):
        return None, raw.faults
    if not isinstance(raw, dict):
        return None, [Fault(file, place, f"a task must be a mapping, not {type(raw).__name__}")]
    faults: list[Fault] = []
    harness = raw.get("harness", {})
    try:
        HarnessSettings.model_validate(base.model_dump() | harness if isinstance(harness, dict) else {})
    except ValidationError as error:
        faults += faults_of(error, HarnessSettings, file=file, place=f"{place}.harness".lstrip("."))
    try:
        task = Task.model_validate(raw | {"harness": {}} if faults else raw)
    except ValidationError as error:
        return None, faults + faults_of(error, Task, file=file, place=place)
    if task.start_file is not None:
        located = folder / task.start_file
        if not located.is_file():
            faults.append(Fault(file, f"{place}.start_file".lstrip("."), f"there is no file '{located}'"))
        if located.name in _TAKEN_NAMES:
            faults.append(Fault(file, f"{place}.start_file".lstrip("."), f"may not be named '{located.name}'"))
        if task.kind == "scene" and located.suffix != ".blend":
            faults.append(Fault(file, f"{place}.start_file".lstrip("."), "a scene task starts from a .blend file"))
        task = task.model_copy(update={"start_file": located.resolve()})
    return (None if faults else task), faults


def _file_hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
