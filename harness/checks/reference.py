"""The list of check types with their parameters, written from the types themselves: docs/checks.md, `check --types`."""

import types
import typing
from collections.abc import Iterator
from typing import Any

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from harness.checks.check_type import CheckType
from harness.checks.selectors import Selector
from harness.checks.types import CHECK_TYPES


def types_text() -> str:
    """Every type with its parameters, as plain text for a terminal."""
    lines: list[str] = []
    for group, members in groups().items():
        lines += [f"== {group}", ""]
        for member in members:
            lines += [f"{member.name}: {summary(member)}"]
            lines += [f"    {name} ({kind}{default})" for name, kind, default, _ in parameters(member)]
            lines += [""]
    return "\n".join(lines)


def types_json() -> dict[str, Any]:
    """Every type with its group, its description and the JSON schema of its parameters."""
    return {
        name: {"group": each.group, "description": summary(each), "parameters": each.model_json_schema()}
        for name, each in CHECK_TYPES.items()
    }


def groups() -> dict[str, list[type[CheckType[Any]]]]:
    """Group -> its types, in order."""
    found: dict[str, list[type[CheckType[Any]]]] = {}
    for each in CHECK_TYPES.values():
        found.setdefault(each.group, []).append(each)
    return found


def summary(model: type[Any]) -> str:
    """The docstring as one line."""
    return " ".join((model.__doc__ or "").split())


def parameters(model: type[Any]) -> Iterator[tuple[str, str, str, str]]:
    """(name, type, default, description) of each parameter; a selector's fields are documented once."""
    fields = model.model_fields
    for name in sorted(fields, key=lambda name: (not fields[name].is_required(), name != "target")):
        info = fields[name]
        text = " ".join((info.description or "").split())
        if not text and name == "target":
            text = "Selects the objects."
        yield name, f"{type_words(info.annotation)}{_bounds(info)}", _default(info), text


def type_words(annotation: Any) -> str:
    """A type as a task author reads it: a model inside a model by its keys, a selector by its name."""
    if annotation is type(None):
        return "null"
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return type_words(arguments[0]) + _metadata(arguments[1:])
    if origin is typing.Literal:
        return " | ".join(f'"{value}"' for value in arguments)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(type_words(argument) for argument in arguments if argument is not type(None))
    if origin is list:
        return f"list of {type_words(arguments[0])}"
    if origin is tuple and arguments[-1] is Ellipsis:
        return f"list of {type_words(arguments[0])}"
    if origin is tuple:
        return f"[{', '.join(type_words(argument) for argument in arguments)}]"
    if origin is dict:
        return "mapping"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel) and annotation is not Selector:
        return f"{{{', '.join(annotation.model_fields)}}}"
    return {"float": "number", "int": "integer", "str": "text", "bool": "true/false", "Any": "any value"}.get(
        getattr(annotation, "__name__", str(annotation)), getattr(annotation, "__name__", str(annotation))
    )


def _default(info: FieldInfo) -> str:
    if info.is_required() or info.default is None or info.default is PydanticUndefined:
        return ", required" if info.is_required() else ""
    value = info.default
    return f" = {value if isinstance(value, int | float) and not isinstance(value, bool) else _json(value)}"


def _json(value: Any) -> str:
    import json

    return json.dumps(value.model_dump(exclude_none=True) if hasattr(value, "model_dump") else value)


def _bounds(info: FieldInfo) -> str:
    return _metadata(info.metadata)


def _metadata(metadata: Any) -> str:
    words = []
    for item in metadata:
        for kind, sign in ((Ge, "≥"), (Gt, ">"), (Le, "≤"), (Lt, "<")):
            if isinstance(item, kind) and abs(getattr(item, kind.__name__.lower())) < 1e6:
                words.append(f"{sign} {getattr(item, kind.__name__.lower())}")
        words += _metadata_of_field(item)
    return "".join(f" {word}" for word in words if word)


def _metadata_of_field(item: Any) -> list[str]:
    return [_metadata(item.metadata).strip()] if isinstance(item, FieldInfo) and item.metadata else []


def reference_text() -> str:
    """docs/checks.md."""
    lines = [_HEAD.format(n=len(CHECK_TYPES)), "", *_table(Selector), ""]
    for group, members in groups().items():
        lines += [f"## {group[0].upper()}{group[1:]}", ""]
        for member in members:
            lines += [f"### `{member.name}`", "", summary(member), "", *_table(member), ""]
    return "\n".join(lines).rstrip() + "\n"


def _table(model: type[Any]) -> list[str]:
    rows = []
    for name, kind, default, text in parameters(model):
        words = kind.replace("|", "\\|")
        rows.append(f"| `{name}` | {words} | {default.lstrip(' =,')} | {text} |")
    return ["| parameter | type | default | |", "|---|---|---|---|", *rows] if rows else ["No parameters."]


_HEAD = """# Types of checks

Written by `python -m harness.checks.reference` from the types themselves ({n} of them); `blendscribe check --types`
prints the same list. A checks file is a JSON list:

```json
[
  {{
    "id": "table-stands",
    "type": "on_ground",
    "parameters": {{"target": {{"glob": "leg*", "min": 4}}, "tolerance": 0.005}},
    "weight": 2,
    "required": true
  }}
]
```

`id` is unique in the file; `weight` (default 1) is what the check counts for, `required` (default true) whether a
strict pass needs it. An unknown type, parameter or value is refused before anything is opened.

**Outcome.** `pass`, `fail` or `unknown`. A check whose target selects nothing fails: what it asks for is not there.
Unknown is what could not be judged (no mesh, coordinates that are not finite, a texture where a colour is asked for, a
second object that is missing, Blender stopped); it is no pass and no fail.

**Score.** Strict pass: every required check passes. Weighted score: the weights of the checks that pass, divided by the
weights of those that pass or fail. Beside it stand the share of all weights that was judged, and the ids that were not.

**Report.** `--json` prints `ok`, `score` (`is_strict_pass`, `weighted`, `judged_share`, `n_passed`, `n_failed`,
`not_judged`), `file` with its `sha256`, `error` (why it could not be opened, or nothing), `findings` (linked libraries,
absolute paths, code that would run, nodes that write, size: told whatever the checks ask) and `checks`: of each its
`id`, `type`, `outcome`, one sentence as `message`, `measured`, `expected`, `tolerance`, `evidence` (a list of
`{{object, index, world_co}}`) and the `seconds` that measuring took.

**Conventions.** Lengths are in Blender units, places in the world, meshes evaluated with their viewport settings
(`levels`, not `render_levels`). The scene is the file's active one, with its active view layer. A simulation is stepped
through every frame from its start. Colours are linear unless `space` says otherwise. Scripts in the file never run, and
drivers that need Python do nothing.

**Cheating.** A name alone proves little: put a check of shape or effect beside it (`dimensions`, `modifier_effective`,
`moves`, `skinning`, `gn_responds`). Keep some checks, and the files they compare with, where no agent sees them.

## Selectors

`target` and other parameters of the type *Selector*: a text means `name`."""


if __name__ == "__main__":
    from pathlib import Path

    Path("docs/checks.md").write_text(reference_text(), encoding="utf-8")
