"""Writes configs/tasks/gallery-shot/start.blend: a corner of a gallery without light and camera.

Run it with the Blender interpreter and HOME=/tmp: a file keeps the home folder of its maker.
"""

import math
from itertools import pairwise
from pathlib import Path

import bpy  # first: it brings the two below

# isort: split
import bmesh
from mathutils import Matrix, Vector

START_FILE = Path(__file__).parents[3] / "configs/tasks/gallery-shot/start.blend"

COLORS = {
    "Plaster": (0.72, 0.70, 0.66),
    "Floor oak": (0.38, 0.24, 0.13),
    "Bronze": (0.46, 0.26, 0.10),
    "Stone": (0.50, 0.50, 0.48),
    "Leather": (0.16, 0.06, 0.04),
    "Gilt": (0.70, 0.50, 0.18),
    "Painted sea": (0.06, 0.20, 0.30),
    "Painted sky": (0.62, 0.50, 0.36),
}


def make_material(name: str) -> bpy.types.Material:
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    inputs = material.node_tree.nodes["Principled BSDF"].inputs
    inputs["Base Color"].default_value = (*COLORS[name], 1.0)
    inputs["Metallic"].default_value = float(name in ("Bronze", "Gilt"))
    inputs["Roughness"].default_value = 0.35 if name in ("Bronze", "Gilt") else 0.7
    return material


def add(name: str, bm: bmesh.types.BMesh, *materials: str) -> None:
    """A new object from `bm`, which is freed."""
    bmesh.ops.recalc_face_normals(bm, faces=bm.faces)
    mesh = bpy.data.meshes.new(name)
    bm.to_mesh(mesh)
    bm.free()
    for material in materials:
        mesh.materials.append(bpy.data.materials.get(material) or make_material(material))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(name, mesh))


def boxes(*corners: tuple[tuple[float, float, float], tuple[float, float, float]]) -> bmesh.types.BMesh:
    """Boxes between pairs of corners; each gets the material index of its place."""
    bm = bmesh.new()
    for index, (low, high) in enumerate(corners):
        size, middle = Vector(high) - Vector(low), (Vector(high) + Vector(low)) / 2
        made = bmesh.ops.create_cube(bm, size=1, matrix=Matrix.Translation(middle) @ Matrix.Diagonal((*size, 1)))
        for face in {face for vert in made["verts"] for face in vert.link_faces}:
            face.material_index = index
    return bm


def twisted_flame(bottom: float, height: float, n_rings: int = 48, n_sides: int = 48) -> bmesh.types.BMesh:
    """Three lobes that twist and close as they rise."""
    bm = bmesh.new()
    rings = []
    for i in range(n_rings + 1):
        t = i / n_rings
        width = 0.06 + 0.21 * math.sin(math.pi * (0.12 + 0.88 * t)) ** 1.4
        lobes, twist = 0.35 * math.sin(math.pi * min(1, t * 1.2)), math.radians(200) * t**1.3
        ring = []
        for k in range(n_sides):
            angle = math.tau * k / n_sides
            radius = width * (1 + lobes * math.cos(3 * angle)) * (1 - 0.93 * t**6)
            place = (radius * math.cos(angle + twist), radius * math.sin(angle + twist), bottom + height * t)
            ring.append(bm.verts.new(place))
        rings.append(ring)
    for low, high in pairwise(rings):
        for k in range(n_sides):
            bm.faces.new((low[k], low[(k + 1) % n_sides], high[(k + 1) % n_sides], high[k])).smooth = True
    bm.faces.new(rings[0])
    bm.faces.new(rings[-1])
    return bm


def add_gallery() -> None:
    add("Floor", boxes(((-3, -3.5, -0.1), (3, 2.5, 0))), "Floor oak")
    add("Wall rear", boxes(((-3, 2.5, -0.1), (3, 2.7, 3.2))), "Plaster")
    add("Wall left", boxes(((-3.2, -3.5, -0.1), (-3, 2.7, 3.2))), "Plaster")
    add("Plinth", boxes(((-0.30, -0.30, 0), (0.30, 0.30, 1.0))), "Stone")
    add("Sculpture", twisted_flame(1.0, 0.95), "Bronze")
    bm = bmesh.new()
    place = Matrix.Translation((0.15, -1.7, 1.6))
    bmesh.ops.create_cone(bm, cap_ends=True, segments=48, radius1=0.24, radius2=0.24, depth=3.2, matrix=place)
    add("Column", bm, "Plaster")
    legs = [((x, y, 0), (x + 0.06, y + 0.06, 0.40)) for x in (-2.6, -1.5) for y in (-0.6, -0.24)]
    add("Bench", boxes(((-2.7, -0.65, 0.40), (-1.34, -0.13, 0.48)), *legs), "Leather", *["Stone"] * 4)
    frame = ((1.0, 2.44, 1.2), (2.5, 2.5, 2.3))
    sea, sky = ((1.06, 2.43, 1.26), (2.44, 2.45, 1.66)), ((1.06, 2.43, 1.66), (2.44, 2.45, 2.24))
    add("Painting", boxes(frame, sea, sky), "Gilt", "Painted sea", "Painted sky")


bpy.ops.wm.read_factory_settings(use_empty=True)
add_gallery()
bpy.context.preferences.filepaths.save_version = 0
bpy.ops.wm.save_as_mainfile(filepath=str(START_FILE), compress=True)
