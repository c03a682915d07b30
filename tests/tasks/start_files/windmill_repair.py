"""Writes configs/tasks/windmill-repair/start.blend: a windmill, built well and then broken in a dozen places.

Run it with the Blender interpreter and HOME=/tmp: a file keeps the home folder of its maker.
"""

import math
import sys
from itertools import pairwise
from pathlib import Path

import bpy  # first: it brings the two below

# isort: split
import bmesh
from mathutils import Matrix, Vector

sys.path.insert(0, str(Path(__file__).parents[3]))

from tests.tasks.start_files.solids import COLORS, add, box, paint

START_FILE = Path(__file__).parents[3] / "configs/tasks/windmill-repair/start.blend"

COLORS |= {
    "Whitewash": (0.80, 0.78, 0.70),
    "Thatch": (0.34, 0.22, 0.10),
    "Tarred wood": (0.10, 0.08, 0.07),
    "Sailcloth": (0.78, 0.70, 0.54),
    "Door planks": (0.16, 0.30, 0.34),
    "Iron": (0.12, 0.12, 0.13),
    "Jute": (0.55, 0.42, 0.24),
    "Meadow": (0.20, 0.40, 0.10),
    "Bark": (0.22, 0.13, 0.07),
    "Leaves": (0.10, 0.32, 0.08),
}
HUB = Vector((0, -0.95, 4.25))


def lathe(profile: list[tuple[float, float]], n_sides: int, turn: float = 0.0) -> bmesh.types.BMesh:
    """A closed surface of revolution through (radius, height) points; a radius of 0 is a pole."""
    bm = bmesh.new()
    rings = []
    for radius, height in profile:
        turns = [turn + math.tau * i / n_sides for i in range(n_sides if radius else 1)]
        ring = [bm.verts.new((radius * math.cos(a), radius * math.sin(a), height)) for a in turns]
        rings.append(ring * (n_sides // len(ring)))
    for low, high in pairwise(rings):
        for i in range(n_sides):
            j = (i + 1) % n_sides
            corners = dict.fromkeys((low[i], low[j], high[j], high[i]))
            if len(corners) > 2:
                bm.faces.new(tuple(corners))
    return bm


def add_mill() -> None:
    turn = math.radians(15)  # a flat side looks to the front
    heights = (0, 0.8, 1.6, 2.4, 3.2, 4.0)
    walls = [(1.1 - 0.4 * z / 4.0, z) for z in heights]
    tower = add("Tower", lathe([(0, 0), *walls, (0, 4.0)], 12, turn), "Whitewash")
    tower["wind_speed"] = 1.0
    dome = [(0.86 * math.cos(a), 4.0 + 0.80 * math.sin(a)) for a in (math.radians(10 * i) for i in range(9))]
    cap = add("Cap", lathe([(0, 4.0), *dome, (0, 4.80)], 24), "Thatch")
    cap.data.shade_smooth()
    deck = [(0.90, 1.54), (1.45, 1.54), (1.45, 1.62), (0.90, 1.62), (0.90, 1.54)]
    bm = lathe(deck, 24)
    bmesh.ops.remove_doubles(bm, verts=bm.verts, dist=1e-5)
    for i in range(12):
        a = math.tau * (i + 0.5) / 12
        x, y = 1.38 * math.cos(a), 1.38 * math.sin(a)
        box(bm, (x - 0.03, y - 0.03, 1.60), (x + 0.03, y + 0.03, 2.0))
    gallery = add("Gallery", bm, "Tarred wood")
    gallery.modifiers.new("Rounded edges", "BEVEL").width = 0.01
    bm = bmesh.new()
    box(bm, (-0.32, -1.13, 0), (0.32, -1.02, 1.2))
    door = add("Door", bm, "Door planks")
    layer = door.data.uv_layers.new(name="UVMap")
    for loop in door.data.loops:
        place = door.data.vertices[loop.vertex_index].co
        depth = (place.y + 1.13) * 0.8  # so that the narrow sides have an area too
        layer.uv[loop.index].vector = ((place.x + 0.32) * 1.4 + depth, place.z * 0.75 + depth)
    bm = bmesh.new()
    box(bm, (-0.02, -0.02, 4.75), (0.02, 0.02, 5.35))
    box(bm, (-0.35, -0.015, 5.25), (0.30, 0.015, 5.29))
    box(bm, (0.18, -0.015, 5.17), (0.34, 0.015, 5.37))
    add("Weathervane", bm, "Iron")


def add_sails() -> None:
    bm = bmesh.new()
    matrix = Matrix.Rotation(math.radians(90), 4, "X")
    bmesh.ops.create_cone(bm, cap_ends=True, segments=20, radius1=0.13, radius2=0.13, depth=0.60, matrix=matrix)
    hub = add("Hub", bm, "Tarred wood", location=tuple(HUB))
    bm = bmesh.new()
    box(bm, (-0.035, -0.24, 0.0), (0.035, -0.18, 1.75))
    box(bm, (0.035, -0.22, 0.35), (0.36, -0.20, 1.70), 1)
    for i in range(6):
        box(bm, (-0.06, -0.195, 0.36 + 0.26 * i), (0.38, -0.175, 0.39 + 0.26 * i))
    sails = add("Sails", bm, "Tarred wood", "Sailcloth", parent=hub)
    step = bpy.data.objects.new("Sail step", None)
    step.parent, step.rotation_euler.y, step.empty_display_size = hub, math.radians(90), 0.3
    bpy.context.scene.collection.objects.link(step)
    array = sails.modifiers.new("Four sails", "ARRAY")
    array.count, array.use_relative_offset, array.use_object_offset, array.offset_object = 4, False, True, step
    driver = hub.driver_add("rotation_euler", 1).driver
    driver.type, driver.expression = "SCRIPTED", "frame * wind * 0.0654498"
    wind = driver.variables.new()
    wind.name, wind.type = "wind", "SINGLE_PROP"
    wind.targets[0].id, wind.targets[0].data_path = bpy.data.objects["Tower"], '["wind_speed"]'


def add_surroundings() -> None:
    add("Ground", lathe([(0, -0.15), (4.2, -0.15), (4.2, 0), (0, 0)], 48), "Meadow")
    sack = [(0, 0), (0.17, 0), (0.21, 0.10), (0.20, 0.30), (0.12, 0.42), (0.07, 0.45), (0.10, 0.50), (0, 0.49)]
    for i, (x, y) in enumerate(((0.75, -1.45), (1.20, -1.35), (1.0, -1.75)), start=1):
        add(f"Sack {i}", lathe(sack, 20), "Jute", location=(x, y, 0)).data.shade_smooth()
    bm = bmesh.new()
    for i in range(13):
        box(bm, (-0.04 + 0.3 * i, -0.02, 0), (0.04 + 0.3 * i, 0.02, 0.75))
    for z in (0.2, 0.55):
        box(bm, (-0.1, 0.02, z), (3.7, 0.05, z + 0.08))
    add("Fence", bm, "Sailcloth", location=(-1.8, -2.9, 0))
    bm = lathe([(0, 0), (0.14, 0), (0.10, 1.2), (0, 1.2)], 12)
    crown = Matrix.Translation((0, 0, 1.9)) @ Matrix.Diagonal((0.75, 0.75, 0.95, 1))
    paint(bmesh.ops.create_icosphere(bm, subdivisions=3, radius=1, matrix=crown), 1)
    add("Tree", bm, "Bark", "Leaves", location=(2.5, 0.9, 0))


def add_stage() -> None:
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.location, camera.data.lens = (5.2, -11.0, 3.6), 32
    camera.rotation_euler = (Vector((0.25, 0, 2.75)) - camera.location).to_track_quat("-Z", "Y").to_euler()
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.rotation_euler, sun.data.energy = (0.7, 0.2, 0.4), 3
    for obj in (camera, sun):
        scene.collection.objects.link(obj)
    scene.camera = camera
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.50, 0.66, 0.80)
    scene.display.shading.studio_light = "paint.sl"
    scene.frame_start, scene.frame_end, scene.render.fps = 1, 96, 24
    scene.render.resolution_x, scene.render.resolution_y = 1280, 720


def break_meshes() -> None:
    objects = bpy.data.objects
    objects["Cap"].data.flip_normals()
    bm = bmesh.new()
    bm.from_mesh(objects["Tower"].data)
    at_the_back = [f for f in bm.faces if f.normal.y > 0.95 and 1.7 < f.calc_center_median().z < 3.2]
    bmesh.ops.delete(bm, geom=at_the_back, context="FACES")
    bm.to_mesh(objects["Tower"].data)
    bm.free()
    bm = bmesh.new()
    bm.from_mesh(objects["Door"].data)
    bmesh.ops.duplicate(bm, geom=bm.verts[:] + bm.edges[:] + bm.faces[:])
    bm.to_mesh(objects["Door"].data)
    bm.free()
    fence = objects["Fence"].data
    max(fence.vertices, key=lambda vertex: (round(vertex.co.z, 3), vertex.co.x, vertex.co.y)).co.x += 300
    objects["Sack 2"].scale = (12, 12, 12)
    objects["Weathervane"].location.z += 0.35


def break_the_rest() -> None:
    objects = bpy.data.objects
    nodes = objects["Door"].data.materials[0].node_tree
    texture = nodes.nodes.new("ShaderNodeTexImage")
    texture.image = bpy.data.images.new("planks", 8, 8)
    texture.image.source, texture.image.filepath = "FILE", "//textures/planks.png"
    nodes.links.new(texture.outputs["Color"], nodes.nodes["Principled BSDF"].inputs["Base Color"])
    objects["Sails"].modifiers["Four sails"].offset_object = None
    driver = objects["Hub"].animation_data.drivers[0].driver
    driver.variables[0].targets[0].data_path = '["wind"]'
    objects["Tree"].hide_render = True
    bpy.context.scene.camera.data.clip_end = 9.0
    old = bpy.data.objects.new("Tower old", bpy.data.meshes.new("Tower old"))
    old.use_fake_user = True
    bpy.data.materials.new("Whitewash test").use_fake_user = True


bpy.ops.wm.read_factory_settings(use_empty=True)
add_surroundings()
add_mill()
add_sails()
add_stage()
break_meshes()
break_the_rest()
bpy.context.preferences.filepaths.save_version = 0
bpy.ops.wm.save_as_mainfile(filepath=str(START_FILE), compress=True)
