"""SCHEMAS.md of a data set: every file's fields and every type of check, written from the models themselves."""

import json
import re
from typing import Any

from harness.checks.reference import reference_text
from recorder.json_schemas import DOCUMENTS, schema

_HEAD = """# Files of this data set

Each file and its fields, as the models of blendscribe that wrote them have them. A `schema_version` says which version
a file has; a reader refuses a newer one. Paths are relative to the folder that is named. `manifest.json` holds the
SHA-256 and size of every file.
"""


def schemas_page() -> str:
    """The page."""
    return _HEAD + "".join(_section(name) for name in DOCUMENTS) + "\n" + _check_types()


def _check_types() -> str:
    """What stands in a task's `checks.json`; the page of all types, one level down."""
    return re.sub(r"^#", "##", reference_text(), flags=re.MULTILINE)


def _section(name: str) -> str:
    file, _ = DOCUMENTS[name]
    whole = schema(name)
    models = {whole.get("title", name): whole} if "properties" in whole else {}
    models |= whole.get("$defs", {})
    return f"\n## {file}\n" + "".join(_model(title, model) for title, model in models.items() if "properties" in model)


def _model(title: str, model: dict[str, Any]) -> str:
    says = " ".join(str(model.get("description", "")).split())
    required = set(model.get("required", ()))
    rows = "".join(
        f"| `{name}` | {_type(field)} | {'yes' if name in required else _default(field)} |\n"
        for name, field in model["properties"].items()
    )
    return f"\n### {title}\n\n{says}\n\n| field | type | required |\n|---|---|---|\n{rows}"


def _type(field: dict[str, Any]) -> str:
    """A type in words, for a cell of a table."""
    if "$ref" in field:
        return str(field["$ref"]).rsplit("/", 1)[-1]
    if "const" in field:
        return f"`{json.dumps(field['const'])}`"
    if "enum" in field:
        return " or ".join(f"`{json.dumps(value)}`" for value in field["enum"])
    for key in ("anyOf", "oneOf"):
        if key in field:
            return " or ".join(dict.fromkeys(_type(one) for one in field[key]))
    if field.get("type") == "array":
        return f"list of {_type(field.get('items', {}))}"
    if field.get("type") == "object" and isinstance(field.get("additionalProperties"), dict):
        return f"object of {_type(field['additionalProperties'])}"
    return str(field.get("type", "any"))


def _default(field: dict[str, Any]) -> str:
    return f"no: `{json.dumps(field['default'])}`" if "default" in field else "no"
