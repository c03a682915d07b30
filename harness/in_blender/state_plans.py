"""Which properties of a class of RNA structs the scene state reads, and how each value becomes JSON.

Follows RNA's description of the class and `state_exclusions`; knows no property by name.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from harness.in_blender import state_exclusions as exclusions
from harness.in_blender.state_values import Value, digest, rounded

DTYPES = {"FLOAT": np.float32, "INT": np.int32, "ENUM": np.int32, "BOOLEAN": np.bool_}
_MAX_STRING = 4_000
_USUAL = ("Scene", "Object", "Mesh", "Material", "World", "Camera", "PointLight", "Collection", "Action", "Keyframe")
_MAX_PREPARED = 400


@dataclass(frozen=True)
class Plan:
    """What to read of structs of one class."""

    values: tuple[tuple[str, Callable[[Any], Value]], ...]
    columns: tuple[tuple[str, str, int], ...]
    """The numeric ones again, as (name, type, width), for whole collections at once."""
    pointers: tuple[str, ...]
    collections: tuple[str, ...]
    has_strings: bool

    @property
    def is_plain(self) -> bool:
        """Only numbers: a collection of such structs is read as columns."""
        return bool(self.columns) and not (self.pointers or self.collections or self.has_strings)


def remembered_plan(kind: type, rna: bpy.types.Struct) -> Plan:
    """Plans outlive a reading (a fork starts with its parent's), until a script registers further properties."""
    n_properties = len(rna.properties)
    if kind not in _PLANS or _PLANS[kind][0] != n_properties:
        _PLANS[kind] = (n_properties, make_plan(rna))
    return _PLANS[kind][1]


_PLANS: dict[type, tuple[int, Plan]] = {}


def prepare() -> None:
    """Make the plans of usual classes: once in a process that forks, instead of in each fork (40 ms)."""
    waiting = [getattr(bpy.types, name).bl_rna for name in _USUAL]
    seen = {rna.identifier for rna in waiting}
    while waiting and len(seen) < _MAX_PREPARED:
        rna = waiting.pop(0)
        plan = remembered_plan(getattr(bpy.types, rna.identifier), rna)
        for name in (*plan.pointers, *plan.collections):
            target = rna.properties[name].fixed_type
            if target.identifier not in seen and hasattr(bpy.types, target.identifier):
                seen.add(target.identifier)
                waiting.append(target)


def make_plan(rna: bpy.types.Struct) -> Plan:
    classes = class_names(rna)
    values: list[tuple[str, Callable[[Any], Value]]] = []
    columns = []
    pointers, collections = [], []
    has_strings = False
    for prop in rna.properties:
        name = prop.identifier
        if prop.is_hidden or prop.is_skip_save or exclusions.is_excluded(classes, name) or _is_a_scripts(prop, classes):
            continue
        if prop.type == "POINTER":
            pointers.append(name)
        elif prop.type == "COLLECTION":
            collections.append(name)
        elif not _is_computed(prop, classes) and not _is_folder(prop):
            values.append((name, converter(prop)))
            has_strings |= prop.type == "STRING"
            if prop.type in DTYPES:
                columns.append((name, prop.type, getattr(prop, "array_length", 0) or 1))
    return Plan(tuple(values), tuple(columns), tuple(pointers), tuple(collections), has_strings)


def _is_computed(prop: bpy.types.Property, classes: list[str]) -> bool:
    """Read-only numbers and yes/no values follow from the rest; read-only names and kinds do not."""
    if any((c, prop.identifier) in exclusions.KEPT for c in classes):
        return False
    return bool(prop.is_readonly and prop.type in {"FLOAT", "INT", "BOOLEAN"})


def _is_a_scripts(prop: bpy.types.Property, classes: list[str]) -> bool:
    """Registered by a script on a class of Blender's."""
    is_known = "PropertyGroup" in classes or prop.identifier in exclusions.BUILT_IN_ADDONS
    return bool(prop.is_runtime) and not is_known


def _is_folder(prop: bpy.types.Property) -> bool:
    return prop.type == "STRING" and prop.subtype in exclusions.DIRECTORY_SUBTYPES


def converter(prop: bpy.types.Property) -> Callable[[Any], Value]:
    by_type: dict[str, Callable[[Any], Value]] = {
        "FLOAT": float_list if getattr(prop, "is_array", False) else rounded,
        "ENUM": sorted if getattr(prop, "is_enum_flag", False) else str,
        "STRING": plain_value,
    }
    if prop.type == "STRING" and prop.subtype == "FILE_PATH":
        return file_name
    return by_type.get(prop.type, list if getattr(prop, "is_array", False) else _same)


def _same(value: Any) -> Value:
    return value


def float_list(value: Any) -> Value:
    try:
        return [rounded(x) for x in value]
    except TypeError:
        return [rounded(x) for row in value for x in row]


def file_name(path: str) -> str:
    return os.path.basename(path.replace("\\", "/"))


def plain_value(value: object) -> Value:
    if isinstance(value, bool | int) or value is None:
        return value
    if isinstance(value, float):
        return rounded(value)
    if isinstance(value, bytes):
        return f"<{len(value)} bytes, {digest(value)}>"
    text = str(value)
    if len(text) > _MAX_STRING:
        return f"<{len(text)} characters, {digest(text.encode(errors='backslashreplace'))}>"
    return text


def unreadable(error: Exception) -> str:
    return f"<unreadable: {type(error).__name__}>"


def class_names(rna: bpy.types.Struct) -> list[str]:
    return list(_bases(rna))


def _bases(rna: bpy.types.Struct | None) -> Iterator[str]:
    while rna:
        yield rna.identifier
        rna = rna.base


def class_name(struct: bpy.types.bpy_struct) -> str:
    return str(struct.bl_rna.identifier)
