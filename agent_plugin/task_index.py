"""A task list of which only ids, kinds and hashes are in memory. Its tasks are read when they are asked for.

For lists of tens of thousands of tasks: about 300 bytes a task instead of 2 kB and more. Every task has been examined
once, and one that has changed in the file since is refused.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from agent_plugin.faults import bad_input
from agent_plugin.task_list import read_line, read_tasks, sound
from agent_plugin.tasks import Task
from harness.settings import HarnessSettings


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """What is known of a task without reading it."""

    id: str
    kind: str
    sha256: str
    line: int
    offset: int
    task: Task | None
    """Of a list that is no JSONL file: it cannot be read in parts, and is kept whole."""


class TaskIndex:
    """The tasks of one list, in order. Raises BadInput with every fault of the list."""

    def __init__(self, path: Path, base: HarnessSettings | None = None) -> None:
        """`base`: the config's settings, with which those of each task are checked."""
        self._path, self._base = path, base
        self._entries: dict[str, TaskEntry] = {}
        for read in sound(read_tasks(path, base)):
            if (task := read.task) is not None:
                kept = None if read.line else task
                entry = TaskEntry(task.id, task.kind, task.sha256, read.line, read.offset, kept)
                self._entries[task.id] = entry

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> Iterable[TaskEntry]:
        return self._entries.values()

    @property
    def ids(self) -> list[str]:
        return list(self._entries)

    @property
    def sha256(self) -> str:
        """Of the list, whatever its order."""
        return list_hash((entry.id, entry.sha256) for entry in self.entries)

    def task(self, task_id: str) -> Task:
        """Raises KeyError for an id that there is not, BadInput where the file has changed."""
        entry = self._entries[task_id]
        if entry.task is not None:
            return entry.task
        task = read_line(self._path, entry.line, entry.offset, self._base)
        if task.sha256 != entry.sha256:
            raise bad_input(
                f"the task '{task_id}' has changed since the list was read", file=f"{self._path}:{entry.line}"
            )
        return task


def list_hash(tasks: Iterable[tuple[str, str]]) -> str:
    """SHA-256 of a task list from (id, hash of the task): of a line `id hash` for each, in order of id.

    The order of the list and its form (YAML, JSON lines, folders) make no difference.
    """
    lines = sorted(f"{task_id} {sha256}\n" for task_id, sha256 in tasks)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
