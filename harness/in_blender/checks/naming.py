"""Measures names, collections, parents and custom properties: see `harness/checks/naming.py`."""

import re
from collections.abc import Iterator
from typing import Any

import bpy

from harness.in_blender.checks.opened import OpenedScene

_MAX = 20_000


def name_pattern(_: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    return {"object": o.name, "is_match": re.fullmatch(parameters["regex"], o.name) is not None}


def no_default_names(opened: OpenedScene, parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    objects = list(opened.view_layer.objects)
    for kind in parameters["kinds"]:
        found: dict[str, list[Any]] = {
            "objects": objects,
            "meshes": [o.data for o in objects if o.type == "MESH"],
            "materials": [s.material for o in objects for s in o.material_slots if s.material],
            "collections": list(opened.scene.collection.children_recursive),
        }
        yield {"kind": kind, "all_names": sorted({block.name for block in found[kind]})[:_MAX]}


def collection_membership(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    root = opened.scene.collection
    collections = [root, *root.children_recursive]
    return {
        "direct": [c.name for c in collections if o.name in c.objects and c.objects[o.name] == o][:500],
        "through": [c.name for c in collections if o.name in c.all_objects][:500],
    }


def parent_of(_: OpenedScene, o: bpy.types.Object, __: dict[str, Any]) -> dict[str, Any]:
    parents: list[str] = []
    above = o.parent
    while above is not None and len(parents) < 200:
        parents.append(above.name)
        above = above.parent
    return {"parents": parents, "bone": o.parent_bone if o.parent and o.parent_type == "BONE" else ""}


def custom_property(_: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    key = parameters["key"]
    if key not in o.keys():  # noqa: SIM118 - an object is no mapping
        return {"exists": False, "is_plain": False}
    value = o[key]
    if hasattr(value, "to_list"):
        value = value.to_list()
    is_plain = isinstance(value, bool | int | float | str) or (
        isinstance(value, list) and all(isinstance(item, bool | int | float) for item in value)
    )
    return {"exists": True, "value": value if is_plain else None, "is_plain": is_plain}
