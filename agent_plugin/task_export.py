"""Writes a task as one JSON line that is complete in itself: brief, checks and rubric inside, its start file named."""

import json
import os
import random
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from agent_plugin.tasks import Task

Item = TypeVar("Item")


def task_line(task: Task, folder: Path | None) -> str:
    """The task, with the same hash as before. `folder`: where the list will be, to which the start file's path is
    relative; None: the path is absolute."""
    stated = task.model_dump(mode="json", exclude_defaults=True)
    stated = {"id": task.id, "kind": task.kind, **stated}
    if task.start_file is not None:
        stated["start_file"] = os.path.relpath(task.start_file, folder.resolve()) if folder else str(task.start_file)
    return json.dumps(stated, ensure_ascii=False) + "\n"


def sample(items: Iterable[Item], n: int, seed: int) -> list[Item]:
    """`n` of the items, each as likely as any other, without repetition, in their order; all, if there are no more.

    The same for the same items, `n` and `seed`. One pass, `n` items in memory (J. S. Vitter 1985, "Random Sampling with
    a Reservoir", ACM TOMS 11, 37-57, algorithm R).
    """
    chance = random.Random(seed)
    kept: list[tuple[int, Item]] = []
    for number, item in enumerate(items):
        if number < n:
            kept.append((number, item))
        elif (place := chance.randrange(number + 1)) < n:
            kept[place] = (number, item)
    return [item for _, item in sorted(kept, key=lambda pair: pair[0])]
