"""Measures the file itself: see `harness/checks/hygiene.py`."""

import os
from typing import Any

import bpy

from harness.in_blender.checks import file_facts
from harness.in_blender.checks.materials import image_facts
from harness.in_blender.checks.opened import OpenedScene

_MAX = 500
_KINDS = (
    "objects", "meshes", "curves", "materials", "images", "node_groups", "actions", "armatures", "lights", "cameras",
    "collections", "worlds", "textures", "particles", "lattices", "metaballs",
)  # fmt: skip
_NO_PICTURES = {"VIEWER"}


def no_external_files(_: OpenedScene, __: dict[str, Any]) -> dict[str, Any]:
    return {"files": list(file_facts.external())[:_MAX]}


def images_packed(_: OpenedScene, __: dict[str, Any]) -> dict[str, Any]:
    used = reached_from_scenes()
    images = [image for image in bpy.data.images if image in used and image.source not in _NO_PICTURES]
    return {"images": [image_facts(image) for image in images[:1000]]}


def no_orphans(_: OpenedScene, parameters: dict[str, Any]) -> dict[str, Any]:
    used = reached_from_scenes()
    found = [
        {"kind": kind, "name": block.name, "is_fake_user": bool(block.use_fake_user)}
        for kind in (parameters["kinds"] or _KINDS)
        for block in getattr(bpy.data, kind)
        if block not in used and not (kind == "images" and block.source in _NO_PICTURES)
    ]
    return {"n": len(found), "n_fake": sum(one["is_fake_user"] for one in found), "orphans": found[:200]}


def reached_from_scenes() -> set[Any]:
    """Every data-block that a scene leads to, over any number of others."""
    uses: dict[Any, list[Any]] = {}
    for block, users in bpy.data.user_map().items():
        for user in users:
            uses.setdefault(user, []).append(block)
    found: set[Any] = set()
    waiting: list[Any] = list(bpy.data.scenes)
    while waiting:
        block = waiting.pop()
        if block not in found:
            found.add(block)
            waiting += uses.get(block, [])
    return found


def scene_layout(opened: OpenedScene, _: dict[str, Any]) -> dict[str, Any]:
    return {
        "scenes": [scene.name for scene in bpy.data.scenes][:100],
        "active": opened.scene.name,
        "view_layers": [layer.name for layer in opened.scene.view_layers][:100],
    }


def no_embedded_code(_: OpenedScene, __: dict[str, Any]) -> dict[str, Any]:
    return {"code": list(file_facts.code())[:_MAX], "texts": [text.name for text in bpy.data.texts][:_MAX]}


def file(_: OpenedScene, __: dict[str, Any]) -> dict[str, Any]:
    return {"size_mb": os.path.getsize(bpy.data.filepath) / 2**20, "version": list(bpy.data.version)}
