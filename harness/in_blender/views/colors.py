"""One colour for each material, for Workbench, which ignores shader nodes.

Pixels of textures are not looked at, only their average; colours that vary over the mesh (attributes) are not known.
"""

from collections.abc import Iterable

import bpy
import numpy as np

_MAX_NODES_DEEP = 12
_MAX_PIXELS = 4_000_000


def show_base_colors() -> None:
    """Copy each material's base colour to its viewport colour."""
    for material in bpy.data.materials:
        color = base_color(material)
        if color is not None:
            material.diffuse_color = (*color, 1.0)


def base_color(material: bpy.types.Material) -> list[float] | None:
    """One colour that stands for the material's nodes; None where they tell none."""
    if not material.use_nodes or material.node_tree is None:
        return None
    outputs = [node for node in material.node_tree.nodes if node.type == "OUTPUT_MATERIAL"]
    output = next((node for node in outputs if node.is_active_output), None)
    if output is None or not output.inputs["Surface"].is_linked:
        return None
    try:
        return _shader_color(output.inputs["Surface"].links[0].from_node, 0)
    except (KeyError, IndexError, AttributeError, TypeError, RuntimeError):
        return None  # odd nodes: the viewport colour is what there is


def _shader_color(node: bpy.types.Node, depth: int) -> list[float] | None:
    if depth > _MAX_NODES_DEEP:
        return None
    if node.type == "BSDF_PRINCIPLED":
        glow = min(1.0, node.inputs["Emission Strength"].default_value)
        base, light = (_socket_color(node.inputs[name], depth) for name in ("Base Color", "Emission Color"))
        return [min(1.0, b + glow * c) for b, c in zip(base, light, strict=True)] if base and light else base
    shaders = [s.links[0].from_node for s in node.inputs if s.type == "SHADER" and s.is_linked]
    if shaders:
        return _average(_shader_color(shader, depth + 1) for shader in shaders)
    color = next((s for s in node.inputs if s.type == "RGBA"), None)
    return _socket_color(color, depth) if color else None


def _socket_color(socket: bpy.types.NodeSocket, depth: int) -> list[float] | None:
    """The colour that arrives at a socket, averaged over what varies."""
    if not socket.is_linked:
        value = socket.default_value
        return [float(x) for x in value[:3]] if socket.type == "RGBA" else [float(value)] * 3
    node = socket.links[0].from_node
    if depth > _MAX_NODES_DEEP:
        return None
    if node.type == "RGB":
        return [float(x) for x in node.outputs[0].default_value[:3]]
    if node.type == "VALTORGB":
        return _average([float(x) for x in element.color[:3]] for element in node.color_ramp.elements)
    if node.type == "TEX_IMAGE":
        return _image_color(node.image)
    colors = [s for s in node.inputs if s.type == "RGBA" and s.enabled and not s.is_unavailable]
    return _average(_socket_color(s, depth + 1) for s in colors) if colors else None


def _image_color(image: bpy.types.Image | None) -> list[float] | None:
    if image is None or image.channels < 3 or not 0 < image.size[0] * image.size[1] <= _MAX_PIXELS:
        return None
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    color = pixels.reshape(-1, image.channels)[:, :3].mean(axis=0)
    if not image.is_float:  # stored as shown, wanted as light
        color = color**2.2
    return [float(x) for x in color]


def _average(colors: Iterable[list[float] | None]) -> list[float] | None:
    known = [color for color in colors if color]
    return [sum(channel) / len(known) for channel in zip(*known, strict=True)] if known else None
