"""Reads a property by its path, as a plain value."""

import re
from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks.opened import Unmeasurable

_STEP = re.compile(r'\.?([A-Za-z_]\w*)|\[(\d+)\]|\["([^"\]]+)"\]')


def read(owner: Any, path: str) -> Any:
    """The value at an RNA path below `owner`: a number, text, yes/no, or a list of them. Data-blocks give their name.

    Walks by registered properties alone, so that a path reads data and calls nothing.
    """
    value = owner
    for match in _STEP.finditer(path):
        name, index, key = match.groups()
        try:
            value = _property(value, name) if name else value[int(index) if index else key]
        except (KeyError, IndexError, TypeError) as error:
            raise Unmeasurable(f"there is no '{path}' here (at '{match[0]}')") from error
    return plain(value, path)


def plain(value: Any, path: str) -> Any:
    """As JSON can hold it. Raises Unmeasurable for what is no value."""
    if value is None or isinstance(value, bool | int | float | str):
        return "" if value is None else value
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, bpy.types.ID):
        return value.name
    try:
        values = np.array(value).tolist()
    except (TypeError, ValueError):
        values = None
    if isinstance(values, list) and all(isinstance(item, bool | int | float) for item in values):
        return values
    raise Unmeasurable(f"'{path}' is no plain value")


def _property(value: Any, name: str) -> Any:
    if isinstance(value, bpy.types.bpy_struct) and name not in value.bl_rna.properties:
        near = [p for p in value.bl_rna.properties.keys() if name.split("_")[0] in p][:5]  # noqa: SIM118
        hint = f"; there are {', '.join(near)}" if near else ""
        raise Unmeasurable(f"{type(value).__name__} has no property '{name}'{hint}")
    if not isinstance(value, bpy.types.bpy_struct) and name not in ("x", "y", "z", "w", "r", "g", "b"):
        raise Unmeasurable(f"'{name}' is no property of a {type(value).__name__}")
    return getattr(value, name)
