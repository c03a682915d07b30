"""Measures geometry nodes: see `harness/checks/geometry_nodes.py`."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from harness.in_blender.checks import values
from harness.in_blender.checks.node_walk import active_output, reachable, source
from harness.in_blender.checks.opened import GEOMETRY, OpenedScene, Unmeasurable
from harness.in_blender.checks.own_modifiers import own_modifiers


def gn_modifier(_: OpenedScene, o: bpy.types.Object, __: dict[str, Any]) -> dict[str, Any]:
    return {"trees": [_tree_facts(modifier) for modifier in _modifiers(o)][:100]}


def _tree_facts(modifier: Any) -> dict[str, Any]:
    tree = modifier.node_group
    output = active_output(tree) if tree else None
    geometry = next((s for s in output.inputs if s.type == "GEOMETRY"), None) if output else None
    node = source(geometry)[0] if geometry else None
    return {
        "modifier": modifier.name,
        "group": tree.name if tree else "",
        "is_on": bool(modifier.show_viewport and modifier.show_render),
        "is_linked": node is not None,
        "passes_through": node is not None and node.bl_idname == "NodeGroupInput",
        "warnings": [warning.message[:200] for warning in list(modifier.node_warnings)[:20]],
    }


def gn_nodes(_: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    trees = [modifier.node_group for modifier in _modifiers(o) if modifier.node_group and modifier.show_viewport]
    counts = Counter(node.bl_idname for tree in trees for node in reachable(tree))
    return {"n": counts[parameters["node"]], "others": sorted(counts)[:100]}


def gn_input(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    sockets = [item.name for _, item in _inputs(o)]
    for modifier, item in _inputs(o):
        if item.name == parameters["socket"]:
            if modifier.get(f"{item.identifier}_use_attribute"):
                attribute = str(modifier.get(f"{item.identifier}_attribute_name", ""))
                return {"exists": True, "attribute": attribute or "?", "sockets": sockets[:200]}
            evaluated = opened.evaluated(o).modifiers[modifier.name]
            value = values.plain(evaluated[item.identifier], item.name)
            is_switch = item.socket_type == "NodeSocketBool"
            return {"exists": True, "value": bool(value) if is_switch else value, "sockets": sockets[:200]}
    return {"exists": False, "sockets": sockets[:200]}


def gn_output(opened: OpenedScene, o: bpy.types.Object, _: dict[str, Any]) -> dict[str, Any]:
    try:
        geometry = opened.evaluated(o).evaluated_geometry()
        mesh, points, curves = geometry.mesh, geometry.pointcloud, geometry.curves
    except TypeError:  # an empty, a camera: it has none, though an empty may instance a collection
        mesh = points = curves = None
    return {
        "vertices": len(mesh.vertices) if mesh else 0,
        "faces": len(mesh.polygons) if mesh else 0,
        "instances": sum(i.is_instance and i.parent.original == o for i in opened.graph.object_instances),
        "points": len(points.points) if points else 0,
        "curves": len(curves.curves) if curves else 0,
    }


def gn_responds(opened: OpenedScene, o: bpy.types.Object, parameters: dict[str, Any]) -> dict[str, Any]:
    sockets = [item.name for _, item in _inputs(o)]
    for modifier, item in _inputs(o):
        if item.name == parameters["socket"]:
            kept = modifier[item.identifier]
            kept = list(kept) if hasattr(kept, "__len__") and not isinstance(kept, str) else kept
            before = _with(opened, o, modifier, item, kept if parameters["start"] is None else parameters["start"])
            after = _with(opened, o, modifier, item, parameters["to"])
            _with(opened, o, modifier, item, kept)
            return {"exists": True, "sockets": sockets[:200], "before": before, "after": after}
    return {"exists": False, "sockets": sockets[:200]}


def _with(opened: OpenedScene, o: bpy.types.Object, modifier: Any, item: Any, value: Any) -> dict[str, Any]:
    """The state of its geometry when the input has a value."""
    old = modifier[item.identifier]
    try:
        # the type stays: an integer for a float socket is refused
        modifier[item.identifier] = type(old)(value) if isinstance(old, bool | int | float) else value
    except (TypeError, ValueError) as error:
        raise Unmeasurable(f"the input '{item.name}' does not take {value!r} ({error})") from error
    o.update_tag()
    opened.refresh()
    return _state(opened, o)


def _state(opened: OpenedScene, o: bpy.types.Object) -> dict[str, Any]:
    parts = [opened.mesh(o).points] if o.type in GEOMETRY else []
    parts += [p.mesh.points for p in opened.parts() if p.is_instance and p.owner == o.name_full]
    points = np.concatenate(parts) if parts else np.zeros((0, 3))
    size = points.max(axis=0) - points.min(axis=0) if len(points) else np.zeros(3)
    shape = hashlib.sha256(np.round(points, 4).tobytes()).hexdigest()[:16]
    return {**gn_output(opened, o, {}), "size": size, "shape": shape}


def _modifiers(o: bpy.types.Object) -> list[Any]:
    return [modifier for modifier in own_modifiers(o) if modifier.type == "NODES"]


def _inputs(o: bpy.types.Object) -> Iterator[tuple[Any, Any]]:
    """(modifier, input socket of its group that has a value)."""
    for modifier in _modifiers(o):
        for item in modifier.node_group.interface.items_tree if modifier.node_group else ():
            if item.item_type == "SOCKET" and item.in_out == "INPUT" and item.identifier in modifier.keys():  # noqa: SIM118
                yield modifier, item
