"""Solids in named colours: what the makers of start files build from."""

import bpy  # first: it brings the two below

# isort: split
import bmesh
from mathutils import Matrix, Vector

COLORS: dict[str, tuple[float, float, float]] = {}
"""Name of a material -> its base colour; each maker fills it."""


def material(name: str) -> bpy.types.Material:
    found = bpy.data.materials.get(name)
    if found is None:
        found = bpy.data.materials.new(name)
        found.use_nodes = True
        found.node_tree.nodes["Principled BSDF"].inputs["Base Color"].default_value = (*COLORS[name], 1.0)
    return found


def add(name: str, bm: bmesh.types.BMesh, *materials: str, parent: bpy.types.Object | None = None,
        location: tuple[float, float, float] = (0, 0, 0)) -> bpy.types.Object:  # fmt: skip
    """A new object from `bm`, which is freed."""
    bmesh.ops.recalc_face_normals(bm, faces=bm.faces)
    mesh = bpy.data.meshes.new(name)
    bm.to_mesh(mesh)
    bm.free()
    for each in materials:
        mesh.materials.append(material(each))
    obj = bpy.data.objects.new(name, mesh)
    obj.parent, obj.location = parent, location
    bpy.context.scene.collection.objects.link(obj)
    return obj


def paint(made: dict[str, list[bmesh.types.BMVert]], index: int) -> None:
    for face in {face for vert in made["verts"] for face in vert.link_faces}:
        face.material_index = index


def box(
    bm: bmesh.types.BMesh, low: tuple[float, float, float], high: tuple[float, float, float], index: int = 0
) -> None:
    size, middle = Vector(high) - Vector(low), (Vector(high) + Vector(low)) / 2
    matrix = Matrix.Translation(middle) @ Matrix.Diagonal((*size, 1))
    paint(bmesh.ops.create_cube(bm, size=1, matrix=matrix), index)
