"""Reads declared checks: every fault with the check's id, the field, and what is allowed there."""

import difflib
import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agent_plugin.faults import BadInput, Fault, bad_input, faults_of, read_json
from harness.checks.check_type import CheckType
from harness.checks.declared import DeclaredCheck
from harness.checks.types import CHECK_TYPES

MAX_CHECKS = 500
MAX_BYTES = 4 << 20


def load_checks(path: Path) -> list[DeclaredCheck]:
    """The checks of a file, in order. Raises BadInput with every fault."""
    return parse_checks(read_json(path, MAX_BYTES), str(path))


def parse_checks(raw: Any, file: str, place: str = "") -> list[DeclaredCheck]:
    """The checks of JSON values that stand at `place` of `file`. Raises BadInput with every fault."""
    if not isinstance(raw, list) or not raw:
        raise bad_input("must hold a list of checks, at least one", file=file, place=place)
    if len(raw) > MAX_CHECKS:
        raise bad_input(f"holds {len(raw)} checks; the most is {MAX_CHECKS}", file=file, place=place)
    faults: list[Fault] = []
    checks: list[DeclaredCheck] = []
    seen: dict[str, int] = {}
    for number, entry in enumerate(raw):
        check, found = _validate(entry, file, f"{place}[{number}]")
        faults += found
        name = entry.get("id") if isinstance(entry, dict) else None
        if isinstance(name, str):
            if name in seen:
                faults.append(
                    Fault(file, f"{place}[{number}].id", f"'{name}' is taken already, by {place}[{seen[name]}]")
                )
            seen.setdefault(name, number)
        checks += [check] if check else []
    if faults:
        raise BadInput(faults)
    return checks


def _validate(entry: Any, file: str, place: str) -> tuple[DeclaredCheck | None, list[Fault]]:
    name = entry.get("id") if isinstance(entry, dict) else None
    place = f"{place} ({name})" if isinstance(name, str) else place
    if not isinstance(entry, dict):
        return None, [Fault(file, place, f"a check must be a mapping, not {type(entry).__name__}")]
    parameters, faults = _parameters(entry, file, place)
    try:
        declared = DeclaredCheck.model_validate_json(json.dumps(entry | {"parameters": {}}), strict=True)
    except ValidationError as error:
        known = [
            fault for fault in faults_of(error, DeclaredCheck, file=file, place=place) if ".type" not in fault.place
        ]
        return None, [*known, *faults]
    return (declared.model_copy(update={"parameters": parameters}) if parameters else None), faults


def _parameters(entry: dict[str, Any], file: str, place: str) -> tuple[CheckType[Any] | None, list[Fault]]:
    kind = entry.get("type")
    if not isinstance(kind, str) or kind not in CHECK_TYPES:
        return None, [Fault(file, f"{place}.type", _unknown_type(kind))]
    model = CHECK_TYPES[kind]
    raw = entry.get("parameters", {})
    if not isinstance(raw, dict):
        return None, [Fault(file, f"{place}.parameters", f"must be a mapping, not {type(raw).__name__}")]
    try:
        # as JSON: strict there takes a list for a tuple, and still no text for a number
        return model.model_validate_json(json.dumps(raw), strict=True), []
    except ValidationError as error:
        return None, faults_of(error, model, file=file, place=f"{place}.parameters")


def _unknown_type(kind: Any) -> str:
    if kind is None:
        return f"missing. The types are: {', '.join(sorted(CHECK_TYPES))}"
    near = difflib.get_close_matches(str(kind), CHECK_TYPES, n=3)
    meant = f" Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
    return f"there is no type '{str(kind)[:80]}'.{meant} The types are: {', '.join(sorted(CHECK_TYPES))}"
