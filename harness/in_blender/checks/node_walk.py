"""Which nodes of a tree have a say in its output: walked back from the active output, into groups, past reroutes.

A muted node passes one input through and counts as not there; a muted link is none.
"""

from collections.abc import Iterator
from typing import Any

_MAX_NODES = 20_000
_OUTPUTS = {
    "ShaderNodeOutputMaterial", "ShaderNodeOutputWorld", "ShaderNodeOutputLight", "NodeGroupOutput",
    "CompositorNodeComposite",
}  # fmt: skip


def active_output(tree: Any) -> Any | None:
    """The node that the renderer takes the result from; of several for other engines, the one for all."""
    found = [node for node in tree.nodes if node.bl_idname in _OUTPUTS and getattr(node, "is_active_output", True)]
    return min(found, key=lambda node: getattr(node, "target", "ALL") != "ALL", default=None)


def reachable(tree: Any, socket_name: str | None = None) -> list[Any]:
    """The nodes that the active output depends on (through one of its sockets, if it is named)."""
    output = active_output(tree)
    if output is None:
        return []
    walk = _Walk()
    for socket in output.inputs:
        if socket_name is None or socket.name == socket_name:
            walk.through(socket, (), tree)
    return walk.found


def source(socket: Any, stack: tuple[Any, ...] = ()) -> tuple[Any | None, Any, tuple[Any, ...]]:
    """(node, output socket, groups around it) that feeds an input, or (None, the input whose own value counts, …)."""
    for _ in range(_MAX_NODES):
        links = [link for link in socket.links if not link.is_muted and link.is_valid]
        if not links:
            return None, socket, stack
        node, output = links[0].from_node, links[0].from_socket
        step = _past(node, output, stack)
        if step is None:
            return node, output, stack
        socket, stack = step
    return None, socket, stack


def _past(node: Any, output: Any, stack: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]] | None:
    """(input, groups) that stand for this output, where the node only passes on; None where it does something."""
    if node.mute:
        inner = [link.from_socket for link in node.internal_links if link.to_socket == output]
        return (inner[0], stack) if inner else None
    if node.bl_idname == "NodeReroute":
        return node.inputs[0], stack
    if node.bl_idname == "NodeGroupInput" and stack:
        outer = [socket for socket in stack[-1].inputs if socket.identifier == output.identifier]
        return (outer[0], stack[:-1]) if outer else None
    if getattr(node, "node_tree", None) is not None and len(stack) < 50:
        inside = active_output(node.node_tree)
        sockets = [s for s in inside.inputs if s.identifier == output.identifier] if inside else []
        return (sockets[0], (*stack, node)) if sockets else None
    return None


class _Walk:
    """Collects nodes; each once for every group it is reached through."""

    def __init__(self) -> None:
        self.found: list[Any] = []
        self._seen: set[tuple[Any, ...]] = set()

    def through(self, socket: Any, stack: tuple[Any, ...], tree: Any) -> None:
        waiting = [(socket, stack, tree)]
        while waiting and len(self._seen) < _MAX_NODES:
            socket, stack, tree = waiting.pop()
            for link in socket.links:
                if not link.is_muted and link.is_valid:
                    waiting += self._visit(link.from_node, link.from_socket, stack, tree)

    def _visit(self, node: Any, output: Any, stack: tuple[Any, ...], tree: Any) -> Iterator[tuple[Any, Any, Any]]:
        key = (*(id_of(group) for group in stack), id_of(node), output.identifier)
        if key in self._seen:
            return
        self._seen.add(key)
        is_group = getattr(node, "node_tree", None) is not None
        if not node.mute and (is_group or _past(node, output, stack) is None) and node not in self.found:
            self.found.append(node)
        step = _past(node, output, stack)
        if step is not None:
            inner_tree = node.node_tree if is_group else tree
            yield step[0], step[1], inner_tree
            return
        for owner in (node, *_zone_input(node, tree)):
            for socket in owner.inputs:
                yield socket, stack, tree


def _zone_input(node: Any, tree: Any) -> list[Any]:
    """The node at the other end of a zone (repeat, simulation, for each)."""
    return [other for other in tree.nodes if getattr(other, "paired_output_node", None) == node]


def id_of(node: Any) -> int:
    """A node's address: Python's own object for it may change."""
    return int(node.as_pointer())
