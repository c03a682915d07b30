"""What is wrong with a file that a user wrote: every fault with its file, place, value and what is allowed there."""

import errno
import json
import types
import typing
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from agent_plugin.input_file import read_input
from recorder.config_secrets import is_secret_setting, without_secrets
from recorder.redaction import KEY_SHAPES, REMOVED

_FREE = ("model_kwargs", "env")
"""Mappings whose members may be named anything."""
_MAX_FREE = 5
"""Characters of a value in them that is shown all the same, such as 0.5 or false."""


@dataclass(frozen=True)
class Fault:
    """One fault. Its text is one line. `file` may hold a line number (`tasks.jsonl:3`)."""

    file: str
    place: str
    message: str

    def __str__(self) -> str:
        text = ": ".join(part for part in (self.file, self.place, self.message) if part)
        return " ".join(text.splitlines())


class BadInput(Exception):
    """The user's input is wrong; nothing was started. Holds every fault found."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        self.faults = list(faults)
        super().__init__("\n".join(str(fault) for fault in faults))


def bad_input(message: str, *, file: str = "", place: str = "") -> BadInput:
    """A BadInput with a single fault."""
    return BadInput([Fault(file, place, message)])


def faults_of(error: ValidationError, model: type[BaseModel], *, file: str, place: str = "") -> list[Fault]:
    """pydantic's errors as faults; an unknown key lists the known ones (a model's `ALSO_KNOWN` included)."""
    return [_fault(dict(item), model, file, place) for item in error.errors()]


def read_yaml(path: Path) -> Any:
    """The content of a YAML file. Raises BadInput for one that is missing, no plain file, no YAML, or names a key
    twice."""
    try:
        text = read_input(path)
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    try:
        return yaml.load(text, Loader=_StrictLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        message = f"not valid YAML ({getattr(error, 'problem', None) or error})"
        raise bad_input(message, file=str(path), place=place) from error
    except (ValueError, RecursionError) as error:  # a date such as 2024-13-45, or too much nesting
        raise bad_input(f"not valid YAML ({error})", file=str(path)) from error


def read_json(path: Path, max_bytes: int) -> Any:
    """The content of a JSON file. Raises BadInput for one that is missing, no plain file, too large, no JSON, or names
    a key twice."""
    try:
        return json.loads(read_input(path, max_bytes), object_pairs_hook=without_doubles)
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error
    except (ValueError, RecursionError) as error:
        raise bad_input(f"not valid JSON ({error})", file=str(path)) from error


def _unreadable(path: Path, error: OSError | UnicodeDecodeError) -> BadInput:
    if isinstance(error, UnicodeDecodeError):
        return bad_input("cannot be read (not UTF-8 text)", file=str(path))
    what = f"is {error.strerror}" if error.errno == errno.EFBIG else f"cannot be read ({error.strerror})"
    return bad_input(what, file=str(path))


def without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """json's `object_pairs_hook`: json itself takes the last of two equal keys without a word. Raises ValueError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        double = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"the key '{double}' stands in it twice")
    return found


class _StrictLoader(yaml.SafeLoader):
    """PyYAML takes the last of two equal keys without a word."""

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen: set[tuple[str, str]] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                problem = f"the key '{key.value}' stands here twice"
                raise yaml.composer.ComposerError(problem=problem, problem_mark=key.start_mark)
            seen.add((key.tag, key.value))
        return node


def _fault(item: dict[str, Any], model: type[BaseModel], file: str, place: str) -> Fault:
    location = list(item["loc"])
    where = place + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    message = str(item["msg"]).removeprefix("Value error, ")
    if item["type"] == "extra_forbidden":
        known = _known_keys(model, location[:-1])
        message = f"unknown key. Known here: {', '.join(known)}" if known else "unknown key"
    elif item["type"] == "missing":
        message = "missing"
    elif item["type"] in ("model_type", "dict_type"):
        message = f"must be a mapping (it is {_shown(item['input'], location)})"
    else:
        message = f"{message} (it is {_shown(item['input'], location)})"
    return Fault(file, where.lstrip("."), message)


def _shown(value: Any, location: Sequence[str | int]) -> str:
    """A value as its fault tells it: not where it may be a secret, by its place or by its shape."""
    text = KEY_SHAPES.sub(REMOVED.format(kind="key"), repr(without_secrets(value)))
    may_be_secret = location[-1:] == ["model"] or any(
        part in _FREE or is_secret_setting(str(part)) for part in location
    )
    if may_be_secret and len(text) > _MAX_FREE:
        return "not shown: it may be a secret"
    return text if len(text) <= 80 else f"{text[:77]}..."


def _known_keys(model: Any, location: Sequence[str | int]) -> list[str]:
    """The field names of the model found by following `location` from `model`."""
    for part in location:
        model = _member(model, part)
    model = _model_in(model)
    return [*model.model_fields, *getattr(model, "ALSO_KNOWN", ())] if model else []


def _member(model: Any, part: str | int) -> Any:
    inner = _model_in(model)
    if isinstance(part, str) and inner and part in inner.model_fields:
        return inner.model_fields[part].annotation
    return model if isinstance(part, int) else None


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The first pydantic model in an annotation such as `list[Task] | None`."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if isinstance(annotation, types.GenericAlias | types.UnionType) or typing.get_origin(annotation):
        return next((found for a in typing.get_args(annotation) if (found := _model_in(a))), None)
    return None
