"""Scenes of sound and of flawed meshes."""

import math

import bmesh
import bpy
from mathutils import Matrix

from tests.harness.checks.scenes.making import add, ball, cube, plane, solid


def meshes() -> None:
    cube("Cube")
    ball("Ball", (4, 0, 0))
    plane("Plane", (8, 0, 0))
    bpy.ops.mesh.primitive_cylinder_add(location=(12, 0, 0), vertices=12)
    bpy.context.object.name = "Cylinder"
    arrayed = cube("Arrayed", (16, 0, 0))
    arrayed.modifiers.new("Array", "ARRAY").count = 3
    add("Text", bpy.data.curves.new("Text", "FONT"), (30, 0, 0)).data.body = "o"
    solid("Empty", [], [])
    add("Lamp", bpy.data.lights.new("Lamp", "POINT"))
    solid("Bare", [(0, 0, 50)], [])
    two_cubes_at_an_edge()
    two_tetrahedra_at_a_vertex()
    loose = cube("Loose", (0, 10, 0))
    loose.data.vertices.add(2)
    loose.data.edges.add(1)
    loose.data.edges[-1].vertices = (0, 8)
    normals()
    flaws()
    shaded()


def two_cubes_at_an_edge() -> None:
    points = [(x, y, z) for x in (0, 1, 2) for y in (0, 1, 2) for z in (0, 1)]
    at = {point: i for i, point in enumerate(points)}
    faces = []
    for dx, dy in ((0, 0), (1, 1)):
        faces += [[at[(x + dx, y + dy, z)] for x, y, z in face] for face in BOX]
    solid("AtAnEdge", points, faces, at=(0, 20, 0))


BOX = (
    ((0, 0, 0), (0, 1, 0), (1, 1, 0), (1, 0, 0)),
    ((0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)),
    ((0, 0, 0), (1, 0, 0), (1, 0, 1), (0, 0, 1)),
    ((0, 1, 0), (0, 1, 1), (1, 1, 1), (1, 1, 0)),
    ((0, 0, 0), (0, 0, 1), (0, 1, 1), (0, 1, 0)),
    ((1, 0, 0), (1, 1, 0), (1, 1, 1), (1, 0, 1)),
)


def two_tetrahedra_at_a_vertex() -> None:
    points = [(0, 0, 0), (1, 0, 1), (0, 1, 1), (-1, -1, 1), (1, 0, -1), (0, 1, -1), (-1, -1, -1)]
    faces = [(0, 2, 1), (0, 3, 2), (0, 1, 3), (1, 2, 3), (0, 4, 5), (0, 5, 6), (0, 6, 4), (6, 5, 4)]
    solid("AtAVertex", points, faces, at=(6, 20, 0))


def normals() -> None:
    one = cube("OneFlipped", (0, 30, 0))
    one.data.polygons[0].flip()
    inside_out = cube("InsideOut", (4, 30, 0))
    inside_out.data.flip_normals()
    cube("NegativeScale", (8, 30, 0), scale=(-1, 1, 1))
    applied = cube("NegativeApplied", (12, 30, 0))
    for vertex in applied.data.vertices:
        vertex.co.x *= -1
    mirrored = solid("MirrorModifier", *half_box(), at=(16, 30, 0))
    mirrored.modifiers.new("Mirror", "MIRROR").use_clip = True
    hollow = ball("Hollow", (22, 30, 0))
    hollow.modifiers.new("Solidify", "SOLIDIFY").thickness = 0.2
    stuck = bmesh.new()
    bmesh.ops.create_cube(stuck, size=2)
    inwards = bmesh.ops.create_cube(stuck, size=2, matrix=Matrix.Translation((1, 1, 1)))["verts"]
    bmesh.ops.reverse_faces(stuck, faces=list({face for vertex in inwards for face in vertex.link_faces}))
    mesh = bpy.data.meshes.new("StuckIn")
    stuck.to_mesh(mesh)
    add("StuckIn", mesh, (28, 30, 0))


def half_box() -> tuple[list[tuple[float, float, float]], list[list[int]]]:
    """A box from x = 0 on, open there."""
    points = [(float(x), float(y), float(z)) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    at = {point: i for i, point in enumerate(points)}
    return points, [[at[c] for c in face] for face in BOX if any(c[0] for c in face)]


def flaws() -> None:
    solid("Degenerate", [(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0)], [(0, 1, 2), (0, 1, 3)], at=(0, 40, 0))
    solid(
        "Doubles",
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)],
        [(0, 1, 2), (3, 4, 5)],
        at=(4, 40, 0),
    )
    crossed = bmesh.new()
    bmesh.ops.create_cube(crossed, size=2)
    shifted = bmesh.ops.create_cube(crossed, size=2)["verts"]
    bmesh.ops.translate(crossed, verts=shifted, vec=(1, 1, 1))
    mesh = bpy.data.meshes.new("Crossed")
    crossed.to_mesh(mesh)
    add("Crossed", mesh, (8, 40, 0))
    broken = solid("NotFinite", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], at=(12, 40, 0))
    broken.data.vertices[1].co.y = math.inf
    invalid = solid("Invalid", [(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], at=(16, 40, 0))
    for loop in invalid.data.loops:
        loop.vertex_index = 0
    bent = solid("Bent", [(0, 0, 0), (1, 0, 0), (1, 1, 0.5), (0.5, 1.5, 0), (0, 1, 0.5)], [(0, 1, 2, 3, 4)])
    bent.location = (20, 40, 0)


def shaded() -> None:
    smooth = ball("Smooth", (0, 50, 0))
    smooth.data.shade_smooth()
    partly = cube("Sharp", (4, 50, 0))
    partly.data.shade_smooth()
    partly.data.edges[0].use_edge_sharp = True
    ball("Faceted", (8, 50, 0))


SCENES = {"meshes": meshes}
