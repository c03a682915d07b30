"""What a .blend brings along besides its scene: code, other files, and what would write when it renders."""

from collections.abc import Iterator
from typing import Any

import bpy

_MAX = 40


def read() -> dict[str, Any]:
    """Bounded lists of text; `n_` counts what they leave out."""
    lists = {"code": list(code()), "external": list(external()), "writers": list(writers())}
    return {
        "version": list(bpy.data.version),
        "reader": list(bpy.app.version),
        **{name: found[:_MAX] for name, found in lists.items()},
        **{f"n_{name}": len(found) for name, found in lists.items()},
    }


def name_readably() -> None:
    """Give another name to blocks whose names are not UTF-8, as old files may hold: reading one raises."""
    for block in list(blocks()):
        try:
            _ = block.name
        except UnicodeDecodeError:
            block.name = "(not UTF-8)"


def code() -> Iterator[dict[str, str]]:
    """Python that Blender would run by itself if scripts were allowed: kind, name, detail."""
    for text in bpy.data.texts:
        if text.use_module:
            yield {"kind": "registered_text", "name": text.name, "detail": "runs when the file is opened"}
    for block, driver in drivers():
        if driver.driver.type == "SCRIPTED" and not driver.driver.is_simple_expression:
            yield {"kind": "scripted_driver", "name": block.name, "detail": driver.driver.expression[:200]}
    for scene in bpy.data.scenes:
        for layer in scene.view_layers:
            if layer.freestyle_settings.mode == "SCRIPT":
                yield from (
                    {"kind": "freestyle_script", "name": module.script.name, "detail": f"scene '{scene.name}'"}
                    for module in layer.freestyle_settings.modules
                    if module.script
                )
    for group in bpy.data.node_groups:
        yield from _osl_nodes(group, group.name)
    for material in bpy.data.materials:
        if material.node_tree:
            yield from _osl_nodes(material.node_tree, material.name)


def drivers() -> Iterator[tuple[Any, Any]]:
    """(data-block, driver curve) of everything in the file; node trees and shape keys included."""
    for block in blocks():
        for owner in (block, getattr(block, "node_tree", None), getattr(block, "shape_keys", None)):
            data = getattr(owner, "animation_data", None)
            for driver in data.drivers if data else ():
                yield owner, driver


def blocks() -> Iterator[Any]:
    """Every data-block of the file."""
    for prop in bpy.data.bl_rna.properties:
        if prop.type == "COLLECTION":
            yield from getattr(bpy.data, prop.identifier)


def external() -> Iterator[dict[str, Any]]:
    for library in bpy.data.libraries:
        yield _file("library", library.name, library.filepath)
    for image in bpy.data.images:
        if image.source in {"FILE", "SEQUENCE", "MOVIE", "TILED"} and not image.packed_file and image.users:
            yield _file("image", image.name, image.filepath)
    for sound in bpy.data.sounds:
        if not sound.packed_file:
            yield _file("sound", sound.name, sound.filepath)
    for font in bpy.data.fonts:
        if font.filepath != "<builtin>" and not font.packed_file:
            yield _file("font", font.name, font.filepath)
    for name in ("movieclips", "cache_files", "volumes"):
        for block in getattr(bpy.data, name):
            if not getattr(block, "packed_file", None):
                yield _file(name.rstrip("s"), block.name, block.filepath)
    for scene in bpy.data.scenes:
        for strip in scene.sequence_editor.strips_all if scene.sequence_editor else ():
            if strip.type == "MOVIE":
                yield _file("strip", strip.name, strip.filepath)
            elif strip.type == "IMAGE":
                yield _file("strip", strip.name, strip.directory)


def writers() -> Iterator[dict[str, str]]:
    """Nodes that write files whenever the scene is rendered, scripts or not."""
    trees = [(scene.name, scene.node_tree) for scene in bpy.data.scenes if scene.node_tree]
    trees += [(group.name, group) for group in bpy.data.node_groups]
    for name, tree in trees:
        for node in tree.nodes:
            if node.bl_idname == "CompositorNodeOutputFile":
                yield {"kind": "file_output_node", "name": name, "detail": node.base_path[:200]}


def _file(kind: str, name: str, path: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "name": name[:200],
        "path": path[:500],
        "is_absolute": bool(path) and not path.startswith("//"),
    }


def _osl_nodes(tree: Any, name: str) -> Iterator[dict[str, str]]:
    for node in tree.nodes:
        if node.bl_idname == "ShaderNodeScript":
            yield {"kind": "osl_script", "name": name, "detail": (node.filepath or node.bl_idname)[:200]}
