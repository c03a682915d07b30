"""Measures lights and the world: see `harness/checks/lighting.py`."""

from typing import Any

import bpy

from harness.in_blender.checks.materials import image_facts
from harness.in_blender.checks.node_walk import active_output, reachable, source
from harness.in_blender.checks.opened import GEOMETRY, OpenedScene, Unmeasurable


def light(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    lamp = _lamp(opened, o)
    return {
        "type": lamp.type,
        "energy": lamp.energy * 2**lamp.exposure if hasattr(lamp, "exposure") else lamp.energy,
        "color": list(lamp.color),
        "has_shadow": bool(lamp.use_shadow),
    }


def light_aims_at(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    lamp, other = _lamp(opened, o), opened.one(parameters["at"], "at")
    if other.type in GEOMETRY:
        points = opened.points_of(other, False)
        center = (points.min(axis=0) + points.max(axis=0)) / 2
    else:
        center = opened.matrix(other)[:3, 3]
    matrix = opened.matrix(o)
    to_target = center - matrix[:3, 3]
    if not to_target.any() or not matrix[:3, 2].any():
        raise Unmeasurable("it stands at the very centre of what it has to point at")
    return {"type": lamp.type, "direction": -matrix[:3, 2], "to_target": to_target, "other": other.name}


def world(opened: OpenedScene, _: dict[str, Any]) -> dict[str, Any]:
    world = opened.scene.world
    none: dict[str, Any] = {"world": None, "color": None, "strength": None, "images": [], "nodes": []}
    if world is None:
        return none
    if not world.use_nodes or world.node_tree is None:
        return none | {"world": world.name, "color": list(world.color), "strength": 1.0}
    tree = world.node_tree
    nodes = reachable(tree, "Surface")
    images = {node.image.name: node.image for node in nodes if getattr(node, "image", None)}
    found = none | {
        "world": world.name,
        "images": [image_facts(image) for image in list(images.values())[:20]],
        "nodes": sorted({node.bl_idname for node in nodes})[:100],
    }
    return found | _background(tree)


def _background(tree: Any) -> dict[str, Any]:
    """Colour and strength of the Background node at the output, where they are constants."""
    output = active_output(tree)
    shader, _, stack = source(output.inputs["Surface"]) if output else (None, None, ())
    if shader is None:
        return {"color": [0.0, 0.0, 0.0], "strength": 0.0}  # nothing linked: black
    if shader.bl_idname != "ShaderNodeBackground":
        return {}
    values: dict[str, Any] = {}
    for key, name in (("color", "Color"), ("strength", "Strength")):
        node, end, _ = source(shader.inputs[name], stack)
        if node is None or node.bl_idname in ("ShaderNodeRGB", "ShaderNodeValue"):
            value = end.default_value
            values[key] = list(value)[:3] if key == "color" else float(value)
    return values


def _lamp(opened: OpenedScene, o: bpy.types.Object) -> Any:
    if o.type != "LIGHT":
        raise Unmeasurable(f"it is no light (its type is {o.type})")
    return opened.evaluated(o).data
