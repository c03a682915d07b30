"""Tells whether geometry nodes give another result at another frame.

Not covered: objects and pictures that a tree refers to, which may move by themselves.
"""

import bpy

_TIME_NODES = {"GeometryNodeInputSceneTime"}
_SIMULATION_NODES = {"GeometryNodeSimulationOutput"}


def has_timed_nodes(o: bpy.types.Object) -> bool:
    """Whether an object has a node tree with Scene Time, a simulation, keyframes or drivers in it."""
    return any(
        _is_animated(tree) or _holds(tree, _TIME_NODES | _SIMULATION_NODES)
        for modifier in o.modifiers
        for tree in _trees(modifier)
    )


def simulates(modifier: bpy.types.Modifier) -> bool:
    """Whether a modifier's nodes have a simulation zone, whose frames need the ones before them."""
    return any(_holds(tree, _SIMULATION_NODES) for tree in _trees(modifier))


def _trees(modifier: bpy.types.Modifier) -> list[bpy.types.NodeTree]:
    """A modifier's node tree and the groups in it, each once."""
    found: list[bpy.types.NodeTree] = []
    waiting = [getattr(modifier, "node_group", None)]
    while waiting:
        tree = waiting.pop()
        if tree is not None and tree not in found:
            found.append(tree)
            waiting += [node.node_tree for node in tree.nodes if node.type == "GROUP"]
    return found


def _holds(tree: bpy.types.NodeTree, kinds: set[str]) -> bool:
    return any(node.bl_idname in kinds for node in tree.nodes)


def _is_animated(tree: bpy.types.NodeTree) -> bool:
    data = tree.animation_data
    return data is not None and bool(data.action or data.nla_tracks or data.drivers)
