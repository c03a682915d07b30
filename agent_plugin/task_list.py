"""Reads task lists: YAML, JSON lines, or a folder of task folders. Every fault of a list is found in one go."""

import codecs
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_plugin.faults import BadInput, Fault, bad_input, faults_of, read_yaml, without_doubles
from agent_plugin.hidden_files import HiddenFiles
from agent_plugin.input_file import open_input
from agent_plugin.tasks import HIDDEN, TAKEN_NAMES, Task
from harness.settings import HarnessSettings


@dataclass(frozen=True, slots=True)
class Read:
    """One entry of a task list: the task, or what is wrong with it."""

    task: Task | None
    faults: tuple[Fault, ...]
    line: int = 0
    """Its number in a JSONL file, from 1; 0 in the other forms."""
    offset: int = -1
    """Of that line, bytes."""


def load_tasks(path: Path, base: HarnessSettings | None = None) -> list[Task]:
    """The tasks of a list, in order. Raises BadInput with every fault.

    What a task fixes for the harness is checked together with `base`, the config's settings.
    """
    return [task for read in sound(read_tasks(path, base)) if (task := read.task)]


def sound(entries: Iterable[Read]) -> Iterator[Read]:
    """The entries of a list as they come; raises BadInput at its end, with every fault of the whole list."""
    faults: list[Fault] = []
    for read in entries:
        if read.faults:
            faults += read.faults
        else:
            yield read
    if faults:
        raise BadInput(faults)


def read_tasks(path: Path, base: HarnessSettings | None = None) -> Iterator[Read]:
    """Each entry of a list in order, read and examined as it is asked for: of a JSONL file one line is in memory.

    Raises BadInput where the list itself cannot be read, or holds no task.
    """
    examine = _Examiner(base or HarnessSettings())
    places: dict[str, str | int] = {}
    """Id -> where it stands; in a JSONL file the number of the line."""
    is_empty = True
    for raw in _raw_tasks(path):
        is_empty = False
        task, faults = examine(raw)
        task_id = raw.value.get("id") if isinstance(raw.value, dict) else None
        if isinstance(task_id, str):
            if (taken := places.get(task_id)) is not None:
                by = f"{path}:{taken}" if isinstance(taken, int) else taken
                faults.append(Fault(raw.file, raw.at("id"), f"'{task_id}' is taken already, by {by}"))
            places.setdefault(task_id, raw.line or f"{raw.file} {raw.place}".strip())
        yield Read(None if faults else task, tuple(faults), raw.line, raw.offset)
    if is_empty:
        raise bad_input("holds no task", file=str(path))


@dataclass(frozen=True, slots=True)
class _Raw:
    """An entry as it was written."""

    file: str
    place: str
    """In the file."""
    value: Any
    """A BadInput where it cannot be read."""
    folder: Path
    """What its paths are relative to."""
    offset: int = -1
    line: int = 0

    def at(self, key: str) -> str:
        return f"{self.place}.{key}" if self.place else key


def _raw_tasks(path: Path) -> Iterator[_Raw]:
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
        for number, value in enumerate(content):
            yield _Raw(str(path), f"tasks[{number}]", value, path.parent)
    elif not path.exists():
        raise bad_input("there is no such file or folder", file=str(path))
    else:
        raise bad_input("not a task list: give a .yaml or .jsonl file, or a folder of task folders", file=str(path))


def _folder_tasks(path: Path) -> Iterator[_Raw]:
    """Folders with a task.yaml each; the id is the folder's name; brief.md, checks.json and rubric.json are found."""
    files = sorted(path.glob("*/task.yaml"))
    if not files:
        raise bad_input("holds no folder with a task.yaml", file=str(path))
    for file in files:
        value: Any
        try:
            value = read_yaml(file)
        except BadInput as error:
            value = error
        if isinstance(value, dict):
            value.setdefault("id", file.parent.name)
            brief = file.parent / "brief.md"
            if "brief" not in value and brief.is_file():
                value["brief"] = brief.read_text(encoding="utf-8", errors="replace")
            # a link that leads nowhere is there too: the task must not lose its checks without a word
            value |= {k: f"{k}.json" for k in HIDDEN if k not in value and os.path.lexists(file.parent / f"{k}.json")}
        yield _Raw(str(file), "", value, file.parent)


def _json_lines(path: Path) -> Iterator[_Raw]:
    try:
        file = open_input(path)
    except OSError as error:
        raise bad_input(f"cannot be read ({error.strerror})", file=str(path)) from error
    offset = 0
    with file:
        for number, line in enumerate(file, start=1):  # by line feeds alone: a string may hold other ends of line
            if line.strip() not in (b"", codecs.BOM_UTF8):
                yield _json_line(path, number, line, offset)
            offset += len(line)


def read_line(path: Path, number: int, offset: int, base: HarnessSettings | None = None) -> Task:
    """The task of a line of a JSONL file, of which it is known where it begins. Raises BadInput."""
    with open_input(path) as file:
        file.seek(offset)
        raw = _json_line(path, number, file.readline(), offset)
    task, faults = _Examiner(base or HarnessSettings())(raw)
    if task is None or faults:
        raise BadInput(faults)
    return task


def _json_line(path: Path, number: int, line: bytes, offset: int) -> _Raw:
    """The entry of one line of a JSONL file."""
    where, value = f"{path}:{number}", None
    try:
        value = _DECODER.decode(line.decode("utf-8" if offset else "utf-8-sig").rstrip("\r\n"))
    except UnicodeDecodeError:
        value = bad_input("not UTF-8 text", file=where)
    except (ValueError, RecursionError) as error:
        value = bad_input(f"not valid JSON ({error})", file=where)
    return _Raw(where, "", value, path.parent, offset, number)


_DECODER = json.JSONDecoder(object_pairs_hook=without_doubles)


class _Examiner:
    """Makes tasks of entries. What many entries of a list repeat is examined once."""

    def __init__(self, base: HarnessSettings) -> None:
        self._base = base.model_dump()
        self._hidden = HiddenFiles()
        self._good_settings: set[str] = set()
        self._resolved: dict[Path, Path | None] = {}
        """Start file as it is named -> where it is; None where there is none."""

    def __call__(self, raw: _Raw) -> tuple[Task | None, list[Fault]]:
        """The task (None for one that cannot be made), and everything that is wrong."""
        if isinstance(raw.value, BadInput):
            return None, list(raw.value.faults)
        if not isinstance(raw.value, dict):
            return None, [Fault(raw.file, raw.place, f"a task must be a mapping, not {type(raw.value).__name__}")]
        faults = self._settings_faults(raw)
        valid: dict[str, Any] = {"harness": {}} if faults else {}
        contents, found = self._hidden.contents(raw.value, raw.file, raw.place, raw.folder)
        faults += found
        try:
            task = Task.model_validate(raw.value | valid | contents)
        except ValidationError as error:
            return None, faults + faults_of(error, Task, file=raw.file, place=raw.place)
        if task.start_file is not None:
            located = raw.folder / task.start_file
            resolved = self._locate(located)
            problems = _start_faults(task, located, is_there=resolved is not None)
            faults += [Fault(raw.file, raw.at("start_file"), why) for why in problems]
            task = task.model_copy(update={"start_file": resolved or located})
        return task, faults

    def _settings_faults(self, raw: _Raw) -> list[Fault]:
        harness = raw.value.get("harness", {})
        if not isinstance(harness, dict):
            return []  # the task's own model says so
        text = repr(harness)
        if text in self._good_settings:
            return []
        try:
            HarnessSettings.model_validate(self._base | harness)
        except ValidationError as error:
            return faults_of(error, HarnessSettings, file=raw.file, place=raw.at("harness"))
        self._good_settings.add(text)
        return []

    def _locate(self, path: Path) -> Path | None:
        if path not in self._resolved:
            self._resolved[path] = path.resolve() if path.is_file() else None
        return self._resolved[path]


def _start_faults(task: Task, located: Path, *, is_there: bool) -> Iterator[str]:
    if not is_there:
        yield f"there is no file '{located}'"
    if located.name in TAKEN_NAMES:
        yield f"may not be named '{located.name}'"
    if task.kind == "scene" and located.suffix != ".blend":
        yield "a scene task starts from a .blend file"
