"""Writes configs/tasks/breakfast-materials/start.blend: a breakfast table without a single material.

Run it with the Blender interpreter and HOME=/tmp: a file keeps the home folder of its maker.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import bpy  # first: it brings the two below

# isort: split
import bmesh
from mathutils import Matrix, Vector

START_FILE = Path(__file__).parents[3] / "configs/tasks/breakfast-materials/start.blend"


def add(name: str, bm: bmesh.types.BMesh, location: tuple[float, float, float] = (0, 0, 0), turn: float = 0.0) -> None:
    """A new object from `bm`, which is freed; `turn` in degrees about Z."""
    bmesh.ops.recalc_face_normals(bm, faces=bm.faces)
    mesh = bpy.data.meshes.new(name)
    bm.to_mesh(mesh)
    bm.free()
    obj = bpy.data.objects.new(name, mesh)
    obj.location, obj.rotation_euler.z = location, math.radians(turn)
    bpy.context.scene.collection.objects.link(obj)


def lathe(profile: list[tuple[float, float]], n_sides: int = 40) -> bmesh.types.BMesh:
    """A closed surface of revolution through (radius, height) points; a radius of 0 is a pole."""
    bm = bmesh.new()
    rings = []
    for radius, height in profile:
        turns = [math.tau * i / n_sides for i in range(n_sides if radius else 1)]
        ring = [bm.verts.new((radius * math.cos(a), radius * math.sin(a), height)) for a in turns]
        rings.append(ring * (n_sides // len(ring)))
    for low, high in pairwise(rings):
        for i in range(n_sides):
            j = (i + 1) % n_sides
            bm.faces.new(tuple(dict.fromkeys((low[i], low[j], high[j], high[i]))))
    return bm


def box(bm: bmesh.types.BMesh, low: tuple[float, float, float], high: tuple[float, float, float]) -> None:
    """Adds a box between two corners."""
    size, middle = Vector(high) - Vector(low), (Vector(high) + Vector(low)) / 2
    bmesh.ops.create_cube(bm, size=1, matrix=Matrix.Translation(middle) @ Matrix.Diagonal((*size, 1)))


def bend_tube(
    bm: bmesh.types.BMesh, path: Sequence[tuple[float, float, float]], radii: list[float], n: int = 12
) -> None:
    """Adds a closed tube along a path in the XZ plane: handles and spouts."""
    rings = []
    for i, (point, radius) in enumerate(zip(path, radii, strict=True)):
        before, after = Vector(path[max(i - 1, 0)]), Vector(path[min(i + 1, len(path) - 1)])
        turn = (after - before).to_track_quat("Z", "Y").to_matrix()
        circle = [
            Vector((radius * math.cos(math.tau * k / n), radius * math.sin(math.tau * k / n), 0)) for k in range(n)
        ]
        rings.append([bm.verts.new(Vector(point) + turn @ corner) for corner in circle])
    for low, high in pairwise(rings):
        for k in range(n):
            bm.faces.new((low[k], low[(k + 1) % n], high[(k + 1) % n], high[k]))
    bm.faces.new(rings[0])
    bm.faces.new(rings[-1])


def add_kettle() -> None:
    body = [(0, 0), (0.075, 0), (0.088, 0.012), (0.092, 0.05), (0.080, 0.10), (0.052, 0.128), (0.046, 0.134)]
    lid = [(0.046, 0.140), (0.030, 0.150), (0.010, 0.155), (0.010, 0.165), (0.016, 0.172), (0.010, 0.180), (0, 0.182)]
    bm = lathe([*body, *lid])
    spout = [(0.075, 0, 0.045), (0.105, 0, 0.065), (0.122, 0, 0.100), (0.142, 0, 0.125)]
    bend_tube(bm, spout, [0.022, 0.018, 0.012, 0.010])
    handle = [
        (0.058 * math.cos(a), 0, 0.125 + 0.085 * math.sin(a)) for a in (math.radians(180 - 18 * i) for i in range(11))
    ]
    bend_tube(bm, handle, [0.006] * 11)
    add("Kettle", bm, (-0.13, 0.10, 0), 205)


def add_mug() -> None:
    outer = [(0, 0), (0.034, 0), (0.040, 0.004), (0.042, 0.020), (0.042, 0.040), (0.042, 0.062), (0.042, 0.092)]
    inner = [(0.040, 0.095), (0.038, 0.092), (0.038, 0.012), (0.032, 0.006), (0, 0.006)]
    bm = lathe([*outer, *inner])
    handle = [
        (0.040 + 0.026 * math.sin(a), 0, 0.050 + 0.028 * math.cos(a)) for a in (math.radians(18 * i) for i in range(11))
    ]
    bend_tube(bm, handle, [0.0055] * 11)
    add("Mug", bm, (0.16, 0.06, 0), -30)


def add_still_life() -> None:
    bm = bmesh.new()
    box(bm, (-0.40, -0.26, -0.03), (0.40, 0.26, 0))
    add("Table top", bm)
    add_kettle()
    add_mug()
    glass = [(0, 0), (0.030, 0), (0.036, 0.11), (0.0345, 0.11), (0.0285, 0.008), (0, 0.008)]
    add("Glass", lathe(glass), (0.045, 0.14, 0))
    bm = bmesh.new()
    box(bm, (-0.13, -0.08, 0), (0.13, 0.08, 0.018))
    add("Board", bm, (-0.13, -0.11, 0), 12)
    lemon = [(0, -0.040), (0.006, -0.037), *((0.027 * math.sin(a), -0.033 * math.cos(a)) for a in
             (math.radians(15 * i) for i in range(2, 11))), (0.006, 0.037), (0, 0.040)]  # fmt: skip
    bm = lathe(lemon)
    bm.transform(Matrix.Translation((0, 0, 0.027)) @ Matrix.Rotation(math.radians(90), 4, "Y"))
    add("Lemon", bm, (-0.16, -0.09, 0.018), 40)
    bm = bmesh.new()
    box(bm, (-0.10, -0.012, 0), (0.01, 0.012, 0.0015))
    add("Knife blade", bm, (-0.04, -0.13, 0.018), -15)
    bm = bmesh.new()
    box(bm, (0.01, -0.010, 0), (0.10, 0.010, 0.012))
    add("Knife handle", bm, (-0.04, -0.13, 0.018), -15)
    bm = bmesh.new()
    bmesh.ops.create_grid(bm, x_segments=12, y_segments=12, size=0.09)
    for vertex in bm.verts:
        vertex.co.z = 0.006 + 0.004 * math.sin(40 * vertex.co.x) * math.cos(25 * vertex.co.y)
    add("Napkin", bm, (0.18, -0.11, 0), 20)
    add(
        "Candle",
        lathe([(0, 0), (0.026, 0), (0.026, 0.13), (0.022, 0.133), (0.004, 0.128), (0, 0.128)]),
        (0.29, 0.15, 0),
    )
    flame = [(0, 0), (0.005, 0.006), (0.0075, 0.014), (0.0055, 0.026), (0.002, 0.038), (0, 0.043)]
    add("Flame", lathe(flame, 20), (0.29, 0.15, 0.130))


def add_stage() -> None:
    """Camera, light and backdrop colour: given, and none of the task."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.data.lens = (0.10, -0.86, 0.52), 46
    camera.rotation_euler = (Vector((0.02, 0.01, 0.045)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    light = bpy.data.objects.new("Window", bpy.data.lights.new("Window", "AREA"))
    light.location, light.data.energy, light.data.size = (-0.8, 0.3, 0.9), 20, 0.8
    light.rotation_euler = (-light.location).to_track_quat("-Z", "Y").to_euler()
    for obj in (camera, light):
        scene.collection.objects.link(obj)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("Morning")
    scene.world.color = (0.30, 0.34, 0.38)
    scene.display.shading.studio_light = "paint.sl"


bpy.ops.wm.read_factory_settings(use_empty=True)
add_still_life()
add_stage()
bpy.context.preferences.filepaths.save_version = 0
bpy.ops.wm.save_as_mainfile(filepath=str(START_FILE), compress=True)
