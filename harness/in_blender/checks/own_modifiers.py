"""Which modifiers a file holds, and which Blender made itself when it opened an older file."""

import bpy

_NO_AUTO_SMOOTH = (4, 1, 0)
"""The first version in which it is a modifier; before, it was a setting of the mesh."""


def own_modifiers(o: bpy.types.Object) -> list[bpy.types.Modifier]:
    """Its modifiers, without the `Auto Smooth` that stands for an older file's setting: nobody put it there."""
    if tuple(bpy.data.version) >= _NO_AUTO_SMOOTH:
        return list(o.modifiers)
    return [m for m in o.modifiers if not _is_converted(m)]


def _is_converted(modifier: bpy.types.Modifier) -> bool:
    group = modifier.node_group if modifier.type == "NODES" else None
    if group is None or not group.name.startswith("Auto Smooth"):
        return False
    kinds = [node.bl_idname for node in group.nodes]
    # the group that Blender makes has these; one of that name that a person made does something else
    return kinds.count("GeometryNodeSetShadeSmooth") == 2 and "GeometryNodeInputMeshEdgeAngle" in kinds
