"""The checks that a task declares, as they are pinned in an episode's `task/`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recorder.documents import load_json, read_plain_document
from recorder.errors import CorruptEpisode
from recorder.files import PinnedTask
from recorder.plain_files import NotPlain, read_plain

Entry = dict[str, Any]
"""A check in the form of a checks file."""


def pinned_checks(root: Path) -> list[Entry] | None:
    """As they were written; None where the task declares none. Raises CorruptEpisode for what cannot be read."""
    name = read_plain_document(root, "task/task.json", PinnedTask).checks
    if name is None:
        return None
    path = root / "task" / name
    try:
        raw = load_json(read_plain(root, f"task/{name}"))
    except (NotPlain, ValueError, RecursionError) as error:
        raise CorruptEpisode(path, None, f"cannot be read: {error}") from error
    if not isinstance(raw, list) or not raw or not all(isinstance(entry, dict) for entry in raw):
        raise CorruptEpisode(path, None, "is no list of checks")
    return raw


def as_judged(entries: Sequence[Entry]) -> list[Entry]:
    """The same with every default written out, as a verification copies them. Raises ValueError for a check that this
    release does not know."""
    from harness.checks.types import CHECK_TYPES

    copies = []
    for entry in entries:
        model = CHECK_TYPES.get(str(entry.get("type")))
        if model is None:
            raise ValueError(f"there is no type of check '{entry.get('type')}'")
        parameters = model.model_validate_json(json.dumps(entry.get("parameters", {})), strict=True)
        copies.append(copied(*counts_of(entry), parameters.model_dump(mode="json", exclude_none=True)))
    return copies


def copied(name: object, kind: object, weight: object, required: object, parameters: Entry) -> Entry:
    """A check as a verification copies it."""
    return {"id": name, "type": kind, "parameters": parameters, "weight": weight, "required": required}


def counts_of(entry: Entry) -> tuple[object, object, object, object]:
    """(id, type, weight, required): which check it is, and what its outcome counts for."""
    return entry.get("id"), entry.get("type"), entry.get("weight", 1.0), entry.get("required", True)
