"""Reads task lists: YAML, JSON lines, or a folder of task folders. Every fault of a list is found in one go."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_plugin.faults import BadInput, Fault, bad_input, faults_of, read_yaml, without_doubles
from agent_plugin.hidden_files import HiddenFiles
from agent_plugin.tasks import HIDDEN, TAKEN_NAMES, Task
from harness.settings import HarnessSettings


def load_tasks(path: Path, base: HarnessSettings | None = None) -> list[Task]:
    """The tasks of a list, in order. Raises BadInput with every fault.

    What a task fixes for the harness is checked together with `base`, the config's settings.
    """
    faults: list[Fault] = []
    tasks: list[Task] = []
    seen: dict[str, str] = {}
    hidden = HiddenFiles()
    for file, place, raw, folder in _raw_tasks(path):
        task, found = _validate(raw, file, place, folder, base or HarnessSettings(), hidden)
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
    """Folders with a task.yaml each; the id is the folder's name; brief.md, checks.json and rubric.json are found."""
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
            # a link that leads nowhere is there too: the task must not lose its checks without a word
            raw |= {k: f"{k}.json" for k in HIDDEN if k not in raw and os.path.lexists(file.parent / f"{k}.json")}
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
            raw = json.loads(line, object_pairs_hook=without_doubles)
        except (ValueError, RecursionError) as error:
            raw = bad_input(f"not valid JSON ({error})", file=file)
        yield file, "", raw, path.parent


def _validate(
    raw: Any, file: str, place: str, folder: Path, base: HarnessSettings, hidden: HiddenFiles
) -> tuple[Task | None, list[Fault]]:
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
    valid: dict[str, Any] = {"harness": {}} if faults else {}
    contents, found = hidden.contents(raw, file, place, folder)
    faults += found
    try:
        task = Task.model_validate(raw | valid | contents)
    except ValidationError as error:
        return None, faults + faults_of(error, Task, file=file, place=place)
    if task.start_file is not None:
        located = folder / task.start_file
        faults += [Fault(file, f"{place}.start_file".lstrip("."), why) for why in _start_faults(task, located)]
        task = task.model_copy(update={"start_file": located.resolve()})
    return (None if faults else task), faults


def _start_faults(task: Task, located: Path) -> Iterator[str]:
    if not located.is_file():
        yield f"there is no file '{located}'"
    if located.name in TAKEN_NAMES:
        yield f"may not be named '{located.name}'"
    if task.kind == "scene" and located.suffix != ".blend":
        yield "a scene task starts from a .blend file"
