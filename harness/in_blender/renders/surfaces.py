"""What Workbench can show of a material: base colour, opacity, and a picture where that is the base colour."""

from collections.abc import Iterator

import bpy

from harness.in_blender.views.colors import base_color

_OPAQUE_GLASS = 0.3
"""Opacity of what transmits all light: enough to see that it is there."""
_MAX_NODES = 50


def show_surfaces() -> None:
    """Set it in all materials. Their nodes are lost where no picture is shown."""
    for material in bpy.data.materials:
        color = base_color(material)
        if color is not None:
            material.diffuse_color = (*color, _opacity(material))
        material.metallic = 0.0
        _show_picture(material)


def _opacity(material: bpy.types.Material) -> float:
    """Of a Principled surface with a fixed alpha or transmission; 1 for all others."""
    shader = _surface_shader(material)
    if shader is None or shader.type != "BSDF_PRINCIPLED":
        return 1.0
    alpha, glass = shader.inputs["Alpha"], shader.inputs["Transmission Weight"]
    opacity = 1.0 if alpha.is_linked else min(1.0, max(0.0, alpha.default_value))
    return opacity if glass.is_linked else opacity * (1 - (1 - _OPAQUE_GLASS) * min(1.0, max(0.0, glass.default_value)))


def _show_picture(material: bpy.types.Material) -> None:
    """Workbench shows a material's active picture, be it a normal map: leave it the one that is the base colour."""
    if not material.use_nodes or material.node_tree is None:
        return
    node = _base_picture(material)
    if node is None:
        material.use_nodes = False
    else:
        material.node_tree.nodes.active = node


def _base_picture(material: bpy.types.Material) -> bpy.types.Node | None:
    """The picture, laid out by a UV map, that gives the base colour directly or through nodes that change colours."""
    shader = _surface_shader(material)
    socket = next((s for s in shader.inputs if s.type == "RGBA"), None) if shader else None
    while socket is not None and socket.is_linked:
        node = socket.links[0].from_node
        if node.type == "TEX_IMAGE":
            is_there = node.image is not None and node.image.size[0] * node.image.size[1] > 0
            return node if is_there and _is_laid_out_by_uv(node) else None
        linked = [s for s in node.inputs if s.type == "RGBA" and s.is_linked]
        socket = linked[0] if len(linked) == 1 else None
    return None


def _is_laid_out_by_uv(node: bpy.types.Node) -> bool:
    if node.projection != "FLAT":
        return False
    socket = node.inputs["Vector"]
    while socket.is_linked:
        link = socket.links[0]
        if link.from_node.type in {"MAPPING", "REROUTE"}:
            socket = link.from_node.inputs[0]
            continue
        return bool(link.from_node.type == "UVMAP" or link.from_socket.name == "UV")
    return True


def _surface_shader(material: bpy.types.Material) -> bpy.types.Node | None:
    """The first node with a colour behind the output."""
    if not material.use_nodes or material.node_tree is None:
        return None
    outputs = (n for n in material.node_tree.nodes if n.type == "OUTPUT_MATERIAL" and n.is_active_output)
    return next(_linked_shaders(next(outputs, None)), None)


def _linked_shaders(output: bpy.types.Node | None) -> Iterator[bpy.types.Node]:
    waiting, seen = [output], 0
    while waiting and seen < _MAX_NODES:
        node, seen = waiting.pop(0), seen + 1
        if node is None:
            continue
        if any(s.type == "RGBA" for s in node.inputs):
            yield node
        sockets = [s for s in node.inputs if s.type == "SHADER" and s.is_linked and s.name != "Volume"]
        waiting += [s.links[0].from_node for s in sockets]
