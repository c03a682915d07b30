"""Writes configs/tasks/toy-train/start.blend: a toy train of two wagons that its owner wants changed.

Run it with the Blender interpreter and HOME=/tmp: a file keeps the home folder of its maker.
"""

import math
import sys
from pathlib import Path

import bpy  # first: it brings the two below

# isort: split
import bmesh
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.tasks.start_files.solids import COLORS, add, box, paint

START_FILE = Path(__file__).parents[3] / "configs/tasks/toy-train/start.blend"

COLORS |= {
    "Table beech": (0.62, 0.42, 0.24),
    "Steel": (0.55, 0.56, 0.58),
    "Sleeper": (0.20, 0.12, 0.07),
    "Toy green": (0.05, 0.26, 0.16),
    "Toy red": (0.65, 0.06, 0.05),
    "Toy blue": (0.06, 0.18, 0.50),
    "Black": (0.02, 0.02, 0.02),
    "Brass": (0.80, 0.55, 0.20),
    "White": (0.85, 0.85, 0.82),
    "Oak": (0.40, 0.25, 0.12),
}
RAIL_TOP = 0.03
WHEEL = 0.025  # radius


def cylinder(
    bm: bmesh.types.BMesh,
    start: tuple[float, float, float],
    end: tuple[float, float, float],
    radius: float,
    index: int = 0,
) -> None:
    way = Vector(end) - Vector(start)
    turn = way.to_track_quat("Z", "Y").to_matrix().to_4x4()
    matrix = Matrix.Translation((Vector(start) + Vector(end)) / 2) @ turn
    made = bmesh.ops.create_cone(
        bm, cap_ends=True, segments=32, radius1=radius, radius2=radius, depth=way.length, matrix=matrix
    )
    paint(made, index)


def add_wheels(name: str, vehicle: bpy.types.Object, *places: float) -> None:
    """The wheels of one side; a Mirror modifier makes the others."""
    bm = bmesh.new()
    for x in places:
        cylinder(bm, (x, 0.045, WHEEL - 0.03), (x, 0.057, WHEEL - 0.03), WHEEL)
    wheels = add(name, bm, "Black", parent=vehicle)
    wheels.modifiers.new("Other side", "MIRROR").use_axis = (False, True, False)


def add_wagon(name: str, color: str, x: float, root: bpy.types.Object) -> None:
    """An open wagon: floor, four walls, and the bar that couples it to what is before it."""
    bm = bmesh.new()
    box(bm, (-0.10, -0.045, 0), (0.10, 0.045, 0.012))
    box(bm, (-0.10, -0.045, 0.012), (0.10, -0.037, 0.06))
    box(bm, (-0.10, 0.037, 0.012), (0.10, 0.045, 0.06))
    box(bm, (-0.10, -0.037, 0.012), (-0.092, 0.037, 0.06))
    box(bm, (0.092, -0.037, 0.012), (0.10, 0.037, 0.06))
    box(bm, (0.10, -0.006, 0.003), (0.165, 0.006, 0.009), 1)
    wagon = add(name, bm, color, "Steel", parent=root, location=(x, 0, RAIL_TOP + 0.03))
    add_wheels(f"{name} wheels", wagon, -0.06, 0.06)


def add_locomotive(root: bpy.types.Object) -> None:
    bm = bmesh.new()
    box(bm, (-0.13, -0.045, 0), (0.13, 0.045, 0.02), 1)
    cylinder(bm, (-0.01, 0, 0.06), (0.125, 0, 0.06), 0.038)
    cylinder(bm, (0.125, 0, 0.06), (0.132, 0, 0.06), 0.030, 2)
    cylinder(bm, (0.09, 0, 0.09), (0.09, 0, 0.135), 0.013, 1)
    cylinder(bm, (0.04, 0, 0.09), (0.04, 0, 0.108), 0.015, 2)
    box(bm, (-0.07, -0.042, 0.02), (-0.01, 0.042, 0.12))
    box(bm, (-0.08, -0.048, 0.12), (0.0, 0.048, 0.128), 1)
    for low, high in (((-0.125, -0.042, 0.02), (-0.07, -0.036, 0.07)), ((-0.125, 0.036, 0.02), (-0.07, 0.042, 0.07)),
                      ((-0.13, -0.042, 0.02), (-0.125, 0.042, 0.07))):  # fmt: skip
        box(bm, low, high)
    locomotive = add("Locomotive", bm, "Toy green", "Black", "Brass", parent=root, location=(0, 0, RAIL_TOP + 0.03))
    add_wheels("Locomotive wheels", locomotive, -0.09, 0.0, 0.08)
    bm = bmesh.new()
    bmesh.ops.create_icosphere(bm, subdivisions=2, radius=1)
    bm.transform(Matrix.Diagonal((0.026, 0.034, 0.020, 1)))
    add("Cube.002", bm, "Black", location=(-0.098, 0, 0.17))


def add_track() -> None:
    bm = bmesh.new()
    for y in (-0.05, 0.05):
        box(bm, (0, y - 0.006, 0.012), (0.1, y + 0.006, RAIL_TOP))
    rails = add("Rails", bm, "Steel", location=(-0.9, 0, 0))
    bm = bmesh.new()
    box(bm, (0.03, -0.08, 0), (0.07, 0.08, 0.012))
    sleepers = add("Sleepers", bm, "Sleeper", location=(-0.9, 0, 0))
    for part in (rails, sleepers):
        array = part.modifiers.new("Along the line", "ARRAY")
        array.count, array.use_relative_offset, array.use_constant_offset = 12, False, True
        array.constant_offset_displace = (0.1, 0, 0)


def add_surroundings() -> None:
    bm = bmesh.new()
    box(bm, (-1.1, -0.4, -0.04), (1.1, 0.4, 0))
    add("Table", bm, "Table beech").modifiers.new("Rounded edges", "BEVEL").width = 0.01
    bm = bmesh.new()
    box(bm, (-0.03, -0.03, 0), (0.03, 0.03, 0.01))
    cylinder(bm, (0, 0, 0.01), (0, 0, 0.30), 0.008)
    post = add("Signal post", bm, "White", location=(0.45, 0.16, 0))
    bm = bmesh.new()
    box(bm, (-0.01, -0.004, -0.015), (0.10, 0.004, 0.015))
    arm = add("Signal arm", bm, "Toy red", parent=post, location=(0, -0.010, 0.27))
    arm.rotation_euler.z = math.radians(90)
    bm = bmesh.new()
    for low, high, radius in ((0, 0.02, 0.026), (0.02, 0.05, 0.030), (0.05, 0.07, 0.026)):
        cylinder(bm, (0, 0, low), (0, 0, high), radius)
    add("Barrel", bm, "Oak", location=(0.22, 0.0, RAIL_TOP))


def add_stage() -> None:
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.data.lens = (0.35, -2.1, 0.95), 42
    camera.rotation_euler = (Vector((-0.02, 0, 0.04)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    sun = bpy.data.objects.new("Lamp", bpy.data.lights.new("Lamp", "SUN"))
    sun.rotation_euler, sun.data.energy = (0.6, 0.3, 0), 3
    for obj in (camera, sun):
        scene.collection.objects.link(obj)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("Nursery")
    scene.world.color = (0.55, 0.66, 0.72)
    scene.display.shading.studio_light = "paint.sl"
    scene.render.resolution_x, scene.render.resolution_y, scene.render.fps = 1280, 720, 24


def add_drive(root: bpy.types.Object) -> None:
    """The train drives 15 cm in frames 1 to 48, at one speed."""
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 48
    for frame, x in ((1, 0.0), (48, 0.15)):
        root.location.x = x
        root.keyframe_insert("location", index=0, frame=frame)
    for curve in root.animation_data.action.fcurves:
        for point in curve.keyframe_points:
            point.interpolation = "LINEAR"
    scene.frame_set(1)


bpy.ops.wm.read_factory_settings(use_empty=True)
train = bpy.data.objects.new("Train root", None)
train.empty_display_size = 0.1
bpy.context.scene.collection.objects.link(train)
add_surroundings()
add_track()
add_locomotive(train)
add_wagon("Wagon 1", "Toy red", -0.27, train)
add_wagon("Wagon 2", "Toy blue", -0.53, train)
add_stage()
add_drive(train)
bpy.context.preferences.filepaths.save_version = 0
bpy.ops.wm.save_as_mainfile(filepath=str(START_FILE), compress=True)
