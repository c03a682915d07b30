"""Reads one JSON document of a record into its model, and says where it is wrong. Knows the version policy.

Every file carries `schema_version`. A reader takes its own version and older ones (a field that was added later has a
default); a newer version is refused by name, before anything else in the file is looked at.
"""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError

from recorder.errors import CorruptEpisode
from recorder.plain_files import NotPlain, open_plain
from recorder.records import SCHEMA_VERSION

Document = TypeVar("Document", bound=BaseModel)
MAX_DOCUMENT_BYTES = 64 << 20
"""Of what `read_plain_document` reads."""


def read_document(path: Path, model: type[Document]) -> Document:
    """The content of a JSON file. Raises CorruptEpisode, also for a version that is newer than this reader.

    A link is not followed, and nothing is opened that could block.
    """
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise CorruptEpisode(path, None, "not a plain file")
        raw = path.read_bytes()
    except OSError as error:
        raise CorruptEpisode(path, None, f"cannot be read ({error})") from error
    return parse(path, None, raw, model.model_validate)


def read_plain_document(root: Path, name: str, model: type[Document]) -> Document:
    """The JSON file `name` below `root`, behind no link and of bounded size. Raises CorruptEpisode."""
    path = root / name
    try:
        with open_plain(root, name) as file:
            raw = file.read(MAX_DOCUMENT_BYTES + 1)
    except NotPlain as error:
        raise CorruptEpisode(path, None, str(error).removeprefix(f"'{name}' ")) from error
    if len(raw) > MAX_DOCUMENT_BYTES:
        raise CorruptEpisode(path, None, f"is larger than {MAX_DOCUMENT_BYTES >> 20} MiB")
    return parse(path, None, raw, model.model_validate)


def parse(path: Path, line: int | None, raw: bytes, validate: Callable[[Any], Document]) -> Document:
    """What the JSON of a file or of one of its lines holds. Raises CorruptEpisode, naming the place."""
    try:
        value = load_json(raw)
    except (ValueError, RecursionError) as error:
        raise CorruptEpisode(path, line, f"not valid JSON ({error})") from error
    if newer := newer_schema(value):
        raise CorruptEpisode(path, line, newer)
    try:
        record = validate(value)
    except ValidationError as error:
        raise CorruptEpisode(path, line, first_of(error)) from error
    check_text(path, line, raw, record)
    return record


def load_json(raw: bytes) -> Any:
    """The value, without `NaN` and its like, which are no JSON. Raises ValueError, RecursionError."""
    return json.loads(raw, parse_constant=_refuse)


def _refuse(name: str) -> float:
    raise ValueError(f"'{name}' is no number")


def check_text(path: Path, line: int | None, raw: bytes, record: BaseModel) -> None:
    """Raises CorruptEpisode for half a surrogate pair, which JSON can spell and no text file can hold."""
    if b"\\ud" not in raw.lower():
        return
    try:
        record.model_dump_json()
    except PydanticSerializationError as error:
        raise CorruptEpisode(path, line, "holds half a surrogate pair, which is no text") from error


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
