"""Measures materials and textures as the faces of evaluated meshes use them: see `harness/checks/materials.py`."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks.node_walk import active_output, reachable, source
from harness.in_blender.checks.opened import OpenedScene, Unmeasurable
from harness.in_blender.checks.see_through import materials_of

_COLOR_SOCKETS = ("Base Color", "Color")
_CONSTANTS = {"ShaderNodeRGB", "ShaderNodeValue"}
_PRINCIPLED = "ShaderNodeBsdfPrincipled"


def used(opened: OpenedScene, o: bpy.types.Object) -> dict[str, tuple[Any, float]]:
    """Material name ('' for none) -> (material, share of the object's area that it covers)."""
    mesh = opened.finite_mesh(o)
    evaluated = opened.evaluated(o)
    areas = mesh.face_areas
    if not len(areas) or areas.sum() <= 0:
        raise Unmeasurable("its mesh has no faces with an area")
    materials = materials_of(evaluated)
    found: dict[str, tuple[Any, float]] = {}
    for index in np.unique(mesh.materials):
        material = materials[index] if 0 <= index < len(materials) else None
        name = material.name if material else ""
        share = float(areas[mesh.materials == index].sum() / areas.sum())
        found[name] = (material, found.get(name, (None, 0.0))[1] + share)
    return found


def material_assigned(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    shares = {name: share for name, (_, share) in used(opened, o).items()}
    return {"n_slots": len(o.material_slots), "shares": shares}


def base_color(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    colors = []
    for name, (material, share) in used(opened, o).items():
        color, why = color_of(material) if material else (None, "no material")
        colors.append({"material": name, "share": share, "color": color, "why": why})
    return {"colors": colors}


def color_of(material: Any) -> tuple[list[float] | None, str]:
    """The linear base colour of a material and where it comes from; None where it is no single colour."""
    if not material.use_nodes or material.node_tree is None:
        return list(material.diffuse_color)[:3], "diffuse_color"
    output = active_output(material.node_tree)
    if output is None:
        return None, "it has no Material Output"
    shader, _, stack = source(output.inputs["Surface"])
    if shader is None:
        return None, "nothing is linked to its surface"
    socket = next((shader.inputs[name] for name in _COLOR_SOCKETS if name in shader.inputs), None)
    if socket is None or shader.bl_idname in ("ShaderNodeMixShader", "ShaderNodeAddShader"):
        return None, f"its surface is {shader.bl_label}"
    node, end, _ = source(socket, stack)
    if node is None:
        return list(end.default_value)[:3], shader.bl_label
    if node.bl_idname == "ShaderNodeRGB":
        return list(end.default_value)[:3], "RGB"
    return None, f"its colour comes from {node.bl_label}"


def principled_param(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, (material, share) in used(opened, o).items():
        tree = material.node_tree if material and material.use_nodes else None
        shaders = [node for node in reachable(tree, "Surface") if node.bl_idname == _PRINCIPLED] if tree else []
        value, by = _constant(shaders[0].inputs[parameters["socket"]]) if shaders else (None, "")
        yield {"material": name, "share": share, "n_shaders": len(shaders), "value": value, "linked_by": by}


def _constant(socket: Any) -> tuple[Any, str]:
    """(the value of an input, ''), or (None, what feeds it)."""
    node, end, _ = source(socket)
    if node is not None and node.bl_idname not in _CONSTANTS:
        return None, node.bl_label
    value: Any = getattr(end, "default_value", None)
    return (list(value)[:3] if hasattr(value, "__len__") else value), ""


def shader_node(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    nodes = [node for material, _ in used(opened, o).values() for node in _nodes(material)]
    counts = Counter(node.bl_idname for node in nodes)
    return {"n": counts[parameters["node"]], "others": sorted(counts)[:50]}


def texture_image(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    nodes = [node for material, _ in used(opened, o).values() for node in _nodes(material)]
    images = {node.image.name: node.image for node in nodes if getattr(node, "image", None)}
    return {"images": [image_facts(image) for image in list(images.values())[:100]]}


def image_facts(image: Any) -> dict[str, Any]:
    """Reading the size loads it; a missing file has none."""
    width, height = image.size
    return {
        "name": image.name,
        "source": image.source,
        "width": int(width),
        "height": int(height),
        "is_packed": bool(image.packed_file or len(image.packed_files)),
        "has_data": bool(image.has_data) and width > 0,
    }


def material_count(opened: OpenedScene, parameters: dict[str, Any]) -> dict[str, Any]:
    names: set[str] = set()
    for o in opened.some(parameters["target"], "target"):
        names |= {name for name in used(opened, o) if name}
    return {"materials": sorted(names)[:500], "n": len(names)}


def _nodes(material: Any) -> list[Any]:
    return reachable(material.node_tree) if material and material.use_nodes and material.node_tree else []
