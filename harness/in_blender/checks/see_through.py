"""Which faces a renderer leaves out, by their material: the simple cases, where nothing but constants decide."""

from typing import Any, Literal

import numpy as np

from harness.in_blender.checks.node_walk import active_output, source

Look = Literal["solid", "clear", "hole"]
"""Clear: nothing of it is seen, and all behind it is. Hole: nothing of it is seen, and nothing behind it."""
_CONSTANTS = {"ShaderNodeRGB", "ShaderNodeValue"}
_NEXT_TO = 1e-3
_MAX_MIXES = 20


def materials_of(evaluated: Any) -> list[Any]:
    """By face index: the slots', and what nodes have set on the evaluated mesh."""
    slots = [slot.material if slot.link == "OBJECT" else None for slot in evaluated.material_slots]
    data = list(evaluated.data.materials)
    n = max(len(slots), len(data))
    slots, data = slots + [None] * (n - len(slots)), data + [None] * (n - len(data))
    return [slot or own for slot, own in zip(slots, data, strict=True)]


def looks_of(evaluated: Any, indexes: np.ndarray) -> np.ndarray:
    """The look of each face (`solid`, `clear`, `hole`), given the material index of each."""
    looks = np.array([look_of(material) for material in materials_of(evaluated)] or ["solid"])
    return np.asarray(looks[np.clip(indexes, 0, len(looks) - 1)])  # beyond the last slot counts the last


def look_of(material: Any) -> Look:
    """Of one material; what is no constant is solid."""
    if material is None or not material.use_nodes or material.node_tree is None:
        return "solid"
    output = active_output(material.node_tree)
    return _look(output.inputs["Surface"], (), _MAX_MIXES) if output else "solid"


def _look(socket: Any, stack: tuple[Any, ...], left: int) -> Look:
    shader, _, stack = source(socket, stack)
    if shader is None or not left:
        return "solid"
    if shader.bl_idname == "ShaderNodeHoldout":
        return "hole"
    if shader.bl_idname == "ShaderNodeBsdfPrincipled":
        alpha = _constant(shader.inputs["Alpha"], stack)
        return "clear" if alpha is not None and alpha <= _NEXT_TO else "solid"
    if shader.bl_idname == "ShaderNodeBsdfTransparent":
        color = _constant(shader.inputs["Color"], stack)
        return "clear" if color is not None and np.min(color) >= 1 - _NEXT_TO else "solid"
    if shader.bl_idname == "ShaderNodeMixShader":
        return _mixed(shader, stack, left - 1)
    return "solid"


def _mixed(shader: Any, stack: tuple[Any, ...], left: int) -> Look:
    factor = _constant(shader.inputs[0], stack)
    first, second = (_look(shader.inputs[i], stack, left) for i in (1, 2))
    if factor is not None and factor <= _NEXT_TO:
        return first
    if factor is not None and factor >= 1 - _NEXT_TO:
        return second
    return first if first == second else "solid"


def _constant(socket: Any, stack: tuple[Any, ...]) -> Any:
    """A number, or the three of a colour; None for what is computed."""
    node, end, _ = source(socket, stack)
    if node is not None and node.bl_idname not in _CONSTANTS:
        return None
    value: Any = getattr(end, "default_value", None)
    return list(value)[:3] if hasattr(value, "__len__") else value
