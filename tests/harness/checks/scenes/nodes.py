"""Scenes of geometry nodes."""

from typing import Any

import bpy

from tests.harness.checks.scenes.making import cube, plane


def tree(name: str, *sockets: tuple[str, str, Any]) -> Any:
    """A group with geometry in and out, and more inputs (name, type, default)."""
    group = bpy.data.node_groups.new(name, "GeometryNodeTree")
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    for socket, kind, default in sockets:
        made = group.interface.new_socket(socket, in_out="INPUT", socket_type=kind)
        made.default_value = default
    group.nodes.new("NodeGroupInput").name = "In"
    group.nodes.new("NodeGroupOutput").name = "Out"
    return group


def join(group: Any, *pairs: tuple[str, str, str, str]) -> None:
    """Link (node, output, node, input)."""
    for one, output, other, target in pairs:
        group.links.new(group.nodes[one].outputs[output], group.nodes[other].inputs[target])


def modifier(o: Any, group: Any) -> Any:
    made = o.modifiers.new("GeometryNodes", "NODES")
    made.node_group = group
    return made


def gn() -> None:
    scatter = tree("Scatter", ("Density", "NodeSocketFloat", 20.0), ("Seed", "NodeSocketInt", 3))
    for idname in ("GeometryNodeDistributePointsOnFaces", "GeometryNodeInstanceOnPoints", "GeometryNodeMeshCube"):
        scatter.nodes.new(idname)
    scatter.nodes.new("GeometryNodeMeshCone")  # leads nowhere
    join(
        scatter,
        ("In", "Geometry", "Distribute Points on Faces", "Mesh"),
        ("In", "Density", "Distribute Points on Faces", "Density"),
        ("In", "Seed", "Distribute Points on Faces", "Seed"),
        ("Distribute Points on Faces", "Points", "Instance on Points", "Points"),
        ("Cube", "Mesh", "Instance on Points", "Instance"),
        ("Instance on Points", "Instances", "Out", "Geometry"),
    )
    scatter.nodes["Cube"].inputs["Size"].default_value = (0.1, 0.1, 0.1)
    modifier(plane("Scatter"), scatter)
    by_attribute = modifier(plane("ByAttribute", (5, 0, 0)), scatter)
    by_attribute["Socket_2_use_attribute"] = True
    by_attribute["Socket_2_attribute_name"] = "thick"
    passes = tree("PassesThrough", ("Height", "NodeSocketFloat", 1.0))
    join(passes, ("In", "Geometry", "Out", "Geometry"))
    modifier(cube("PassesThrough", (10, 0, 0)), passes)
    modifier(cube("Unlinked", (15, 0, 0)), tree("Unlinked"))
    modifier(cube("NoGroup", (20, 0, 0)), None)
    modifier(cube("TurnedOff", (25, 0, 0)), scatter).show_viewport = False
    nested()
    zones()
    points = tree("Points")
    points.nodes.new("GeometryNodeDistributePointsOnFaces")
    join(points, ("In", "Geometry", "Distribute Points on Faces", "Mesh"))
    join(points, ("Distribute Points on Faces", "Points", "Out", "Geometry"))
    modifier(plane("Points", (40, 0, 0)), points)
    cube("Plain", (45, 0, 0))


def nested() -> None:
    inner = tree("Inner")
    inner.nodes.new("GeometryNodeSubdivideMesh")
    join(inner, ("In", "Geometry", "Subdivide Mesh", "Mesh"), ("Subdivide Mesh", "Mesh", "Out", "Geometry"))
    outer = tree("Outer", ("Offset", "NodeSocketVector", (0, 0, 0)), ("Flag", "NodeSocketBool", True))
    group = outer.nodes.new("GeometryNodeGroup")
    group.node_tree, group.name = inner, "G"
    outer.nodes.new("GeometryNodeTransform").name = "Move"
    outer.nodes.new("GeometryNodeSetShadeSmooth").mute = True
    join(
        outer,
        ("In", "Geometry", "G", "Geometry"),
        ("G", "Geometry", "Set Shade Smooth", "Geometry"),
        ("Set Shade Smooth", "Geometry", "Move", "Geometry"),
        ("In", "Offset", "Move", "Translation"),
        ("Move", "Geometry", "Out", "Geometry"),
    )
    modifier(cube("Nested", (30, 0, 0)), outer)


def zones() -> None:
    """A repeat zone: what is linked inside it has a say."""
    group = tree("Zones")
    start, end = group.nodes.new("GeometryNodeRepeatInput"), group.nodes.new("GeometryNodeRepeatOutput")
    start.pair_with_output(end)
    start.name, end.name = "Start", "End"
    start.inputs["Iterations"].default_value = 2
    group.nodes.new("GeometryNodeSubdivideMesh")
    group.nodes.new("FunctionNodeInputInt").name = "Times"
    group.nodes["Times"].integer = 2
    join(
        group,
        ("In", "Geometry", "Start", "Geometry"),
        ("Start", "Geometry", "Subdivide Mesh", "Mesh"),
        ("Subdivide Mesh", "Mesh", "End", "Geometry"),
        ("Times", "Integer", "Start", "Iterations"),
        ("End", "Geometry", "Out", "Geometry"),
    )
    modifier(cube("Zones", (35, 0, 0)), group)


def simulated() -> None:
    """A simulation zone that moves its geometry by 0.5 a frame: it needs every frame."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 20
    group = tree("Simulated")
    start, end = group.nodes.new("GeometryNodeSimulationInput"), group.nodes.new("GeometryNodeSimulationOutput")
    start.pair_with_output(end)
    start.name, end.name = "Start", "End"
    group.nodes.new("GeometryNodeTransform").name = "Move"
    group.nodes["Move"].inputs["Translation"].default_value = (0.5, 0, 0)
    join(
        group,
        ("In", "Geometry", "Start", "Geometry"),
        ("Start", "Geometry", "Move", "Geometry"),
        ("Move", "Geometry", "End", "Geometry"),
        ("End", "Geometry", "Out", "Geometry"),
    )
    modifier(cube("Mover"), group)


SCENES = {"gn": gn, "simulated": simulated}
