"""Makes Blender evaluate what a final render would, where viewports show other geometry.

Modifiers that are on in one of the two only, and nodes that ask which it is. Level of detail (`levels`,
`render_levels`) stays the viewport's. A switch that is animated or driven wins over this one.
"""

from collections.abc import Callable, Iterable
from typing import Any

import bpy

_ASKS = "GeometryNodeIsViewport"


def evaluate_as_rendered(objects: Iterable[bpy.types.Object]) -> Callable[[], None] | None:
    """Change what has to be changed; what changes it back, or None where renders and viewports show the same."""
    modifiers = [
        (modifier, modifier.show_viewport)
        for o in objects
        for modifier in o.modifiers
        if modifier.show_viewport != modifier.show_render
    ]
    trees = [tree for tree in bpy.data.node_groups if tree.library is None and _asking(tree)]
    if not modifiers and not trees:
        return None
    for modifier, _ in modifiers:
        modifier.show_viewport = modifier.show_render
    answers = [_answer_no(tree) for tree in trees]

    def back() -> None:
        for modifier, was_on in modifiers:
            modifier.show_viewport = was_on
        for undo in answers:
            undo()

    return back


def _asking(tree: Any) -> list[Any]:
    return [node for node in tree.nodes if node.bl_idname == _ASKS and node.outputs[0].is_linked]


def _answer_no(tree: Any) -> Callable[[], None]:
    """Put a constant in the place of the answer."""
    constant = tree.nodes.new("FunctionNodeInputBool")
    constant.boolean = False
    changed = [(node.outputs[0], link.to_socket) for node in _asking(tree) for link in node.outputs[0].links]
    for _, socket in changed:
        tree.links.new(constant.outputs[0], socket)

    def back() -> None:
        for output, socket in changed:
            tree.links.new(output, socket)
        tree.nodes.remove(constant)

    return back
