"""Short ways to make objects, for the test scenes. Imported in Blender only."""

from collections.abc import Sequence
from typing import Any

import bmesh
import bpy

Point = Sequence[float]


def add(name: str, data: Any, at: Point = (0, 0, 0), **properties: Any) -> Any:
    """Link an object into the scene."""
    o = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(o)
    o.location = at
    for key, value in properties.items():
        setattr(o, key, value)
    return o


def cube(name: str, at: Point = (0, 0, 0), size: float = 2.0, **properties: Any) -> Any:
    """A cube with its UV layer."""
    mesh, made = bpy.data.meshes.new(name), bmesh.new()
    made.loops.layers.uv.new("UVMap")
    bmesh.ops.create_cube(made, size=size, calc_uvs=True)
    return _finish(name, mesh, made, at, properties)


def ball(name: str, at: Point = (0, 0, 0), radius: float = 1.0, **properties: Any) -> Any:
    """A UV sphere."""
    mesh, made = bpy.data.meshes.new(name), bmesh.new()
    made.loops.layers.uv.new("UVMap")
    bmesh.ops.create_uvsphere(made, u_segments=16, v_segments=8, radius=radius, calc_uvs=True)
    return _finish(name, mesh, made, at, properties)


def plane(name: str, at: Point = (0, 0, 0), size: float = 2.0, **properties: Any) -> Any:
    """A square of one face."""
    mesh, made = bpy.data.meshes.new(name), bmesh.new()
    made.loops.layers.uv.new("UVMap")
    bmesh.ops.create_grid(made, x_segments=1, y_segments=1, size=size / 2, calc_uvs=True)
    return _finish(name, mesh, made, at, properties)


def solid(
    name: str, points: Sequence[Point], faces: Sequence[Sequence[int]], edges: Any = (), **properties: Any
) -> Any:
    """A mesh from its points and faces, without a UV layer."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points, edges, faces)
    at = properties.pop("at", (0, 0, 0))
    return add(name, mesh, at, **properties)


def collection(name: str, *objects: Any) -> Any:
    """A collection of the scene that alone holds the objects."""
    made = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(made)
    for o in objects:
        for old in list(o.users_collection):
            old.objects.unlink(o)
        made.objects.link(o)
    return made


def layer_collection(name: str) -> Any:
    """Its place in the view layer."""
    return bpy.context.view_layer.layer_collection.children[name]


def _finish(name: str, mesh: Any, made: Any, at: Point, properties: dict[str, Any]) -> Any:
    made.to_mesh(mesh)
    made.free()
    return add(name, mesh, at, **properties)
