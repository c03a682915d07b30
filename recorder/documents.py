"""Reads one JSON document of a record into its model, and says where it is wrong. Knows the version policy.

Every file carries `schema_version`. A reader takes its own version and older ones (a field that was added later has a
default); a newer version is refused by name, before anything else in the file is looked at.
"""

import json
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from recorder.errors import CorruptEpisode
from recorder.records import SCHEMA_VERSION

Document = TypeVar("Document", bound=BaseModel)


def read_document(path: Path, model: type[Document]) -> Document:
    """The content of a JSON file. Raises CorruptEpisode, also for a version that is newer than this reader."""
    try:
        value: Any = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise CorruptEpisode(path, None, f"not valid JSON ({error})") from error
    if newer := newer_schema(value):
        raise CorruptEpisode(path, None, newer)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise CorruptEpisode(path, None, first_of(error)) from error


def newer_schema(value: Any) -> str:
    """What to say of a record of a later release, else ''."""
    version = value.get("schema_version") if isinstance(value, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        return f"schema version {version} is newer than {SCHEMA_VERSION}, the last one known here: update blendscribe"
    return ""


def first_of(error: ValidationError) -> str:
    """The first thing that is wrong, with its place."""
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]
