"""A small scene with one of nearly everything, the same in every process. Run by the Blender interpreter."""

import bpy
import numpy as np


def build() -> None:
    bpy.ops.wm.read_factory_settings()
    scene = bpy.context.scene
    scene.frame_current = 5
    cube = bpy.data.objects["Cube"]
    meshes(cube)
    curves_and_text()
    armature()
    animation(cube)
    materials(cube)
    geometry_nodes()
    physics()
    bpy.context.view_layer.update()


def add(name: str, data: bpy.types.ID | None) -> bpy.types.Object:
    o = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(o)
    return o


def meshes(cube: bpy.types.Object) -> None:
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=20, y_subdivisions=20, location=(3, 0, 0))
    grid = bpy.context.object
    grid.name = grid.data.name = "Grid"
    grid.modifiers.new("Subdivision", "SUBSURF").levels = 1
    grid.modifiers.new("Wave", "WAVE").height = 0.2
    group = grid.vertex_groups.new(name="Half")
    group.add(list(range(200)), 0.5, "REPLACE")
    colors = grid.data.color_attributes.new("Col", "FLOAT_COLOR", "POINT")
    colors.data.foreach_set("color", np.linspace(0, 1, len(colors.data) * 4, dtype=np.float32))
    grid.shape_key_add(name="Basis")
    grid.shape_key_add(name="Raised").data[7].co.z = 1
    grid.data.shape_keys.key_blocks["Raised"].value = 0.25
    cube["temperature"] = 21.5
    cube["nested"] = {"list": [1, 2, 3], "word": "red"}
    kept = bpy.data.collections.new("Kept")
    bpy.context.scene.collection.children.link(kept)
    kept.objects.link(grid)


def curves_and_text() -> None:
    curve = bpy.data.curves.new("Path", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", 0.1
    spline = curve.splines.new("BEZIER")
    spline.bezier_points.add(2)
    for i, point in enumerate(spline.bezier_points):
        point.co = (i, i % 2, 0)
        point.handle_left_type = point.handle_right_type = "AUTO"
    add("Path", curve)
    text = bpy.data.curves.new("Sign", "FONT")
    text.body = "OPEN"
    add("Sign", text)
    ball = bpy.data.metaballs.new("Ball")
    ball.elements.new().co = (0, 0, 5)
    add("Ball", ball)
    lattice = bpy.data.lattices.new("Lattice")
    add("Lattice", lattice)


def armature() -> None:
    rig = add("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    lower = rig.data.edit_bones.new("Lower")
    lower.tail = (0, 0, 1)
    upper = rig.data.edit_bones.new("Upper")
    upper.head, upper.tail, upper.parent = (0, 0, 1), (0, 0, 2), lower
    bpy.ops.object.mode_set(mode="OBJECT")
    limit = rig.pose.bones["Upper"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.max_x = True, 0.5
    bpy.data.objects["Light"].constraints.new("TRACK_TO").target = bpy.data.objects["Cube"]


def animation(cube: bpy.types.Object) -> None:
    for frame, x in ((1, 0.0), (10, 2.0), (20, -1.0)):
        cube.location.x = x
        cube.keyframe_insert("location", frame=frame)
    cube.location.x = 0
    driver = cube.driver_add("rotation_euler", 2).driver
    driver.expression = "v * 2"
    variable = driver.variables.new()
    variable.name = "v"
    variable.targets[0].id = bpy.data.objects["Camera"]
    variable.targets[0].data_path = "location.z"
    camera = bpy.data.objects["Camera"]
    action = bpy.data.actions.new("Pan")
    camera.animation_data_create().nla_tracks.new().strips.new("Pan", 1, action)
    bpy.context.scene.timeline_markers.new("cut", frame=12)


def materials(cube: bpy.types.Object) -> None:
    material = cube.data.materials[0]
    tree = material.node_tree
    image = bpy.data.images.new("Painted", 8, 8)
    image.pixels.foreach_set(np.tile(np.array([1.0, 0.5, 0.25, 1.0], dtype=np.float32), 64))
    texture = tree.nodes.new("ShaderNodeTexImage")
    texture.image = image
    tree.links.new(texture.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    tree.nodes.new("ShaderNodeValToRGB")
    other = bpy.data.materials.new("Other")
    other.diffuse_color = (1, 0, 0, 1)
    cube.data.materials.append(other)
    bpy.context.scene.use_nodes = True


def geometry_nodes() -> None:
    tree = bpy.data.node_groups.new("Scatter", "GeometryNodeTree")
    tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    tree.interface.new_socket("Size", in_out="INPUT", socket_type="NodeSocketFloat")
    tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    first, last = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    points, cone = tree.nodes.new("GeometryNodeInstanceOnPoints"), tree.nodes.new("GeometryNodeMeshCone")
    tree.links.new(first.outputs[0], points.inputs["Points"])
    tree.links.new(cone.outputs["Mesh"], points.inputs["Instance"])
    tree.links.new(first.outputs[1], points.inputs["Scale"])
    tree.links.new(points.outputs[0], last.inputs[0])
    mesh = bpy.data.meshes.new("Seed")
    mesh.from_pydata([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [], [])
    seed = add("Seed", mesh)
    modifier = seed.modifiers.new("Nodes", "NODES")
    modifier.node_group = tree
    modifier["Socket_1"] = 0.5


def physics() -> None:
    bpy.ops.mesh.primitive_plane_add(location=(0, 8, 3))
    cloth = bpy.context.object
    cloth.name = "Cloth"
    cloth.modifiers.new("Cloth", "CLOTH").settings.quality = 3
    bpy.ops.mesh.primitive_cube_add(location=(0, -8, 3))
    body = bpy.context.object
    body.name = "Body"
    bpy.ops.rigidbody.object_add()
    body.modifiers.new("Hair", "PARTICLE_SYSTEM")
    body.particle_systems[0].settings.count = 20
    bpy.ops.object.effector_add(type="WIND", location=(0, 12, 0))
    bpy.context.object.name = "Wind"
