"""Single changes to the rich scene: those that must show in its state, and those that must not."""

from collections.abc import Callable

import bpy
import numpy as np

CHANGES: list[Callable[[], None]] = []
NO_CHANGES: list[Callable[[], None]] = []


def change(function: Callable[[], None]) -> Callable[[], None]:
    CHANGES.append(function)
    return function


def no_change(function: Callable[[], None]) -> Callable[[], None]:
    NO_CHANGES.append(function)
    return function


def _changes(**statements: str) -> None:
    """Most changes are one line; a line is a function here so that each has its name."""
    for name, code in statements.items():

        def run(code: str = code) -> None:
            exec(code, {"bpy": bpy, "np": np, "D": bpy.data, "S": bpy.context.scene, **_shortcuts()})

        run.__name__ = name
        CHANGES.append(run)


def _shortcuts() -> dict[str, object]:
    objects = bpy.data.objects
    return {name.lower(): objects[name] for name in ("Cube", "Grid", "Light", "Camera", "Rig", "Seed", "Body", "Cloth")}


_CURVE = "D.actions['CubeAction'].layers[0].strips[0].channelbags[0].fcurves[0]"
_TREE = "D.materials['Material'].node_tree"

_changes(
    object_moved="light.location.y += 0.01",
    object_turned="grid.rotation_euler.z = 0.1",
    object_scaled="grid.scale.x = 1.01",
    object_renamed="grid.name = 'Floor'",
    object_added="S.collection.objects.link(D.objects.new('Empty', None))",
    object_removed="D.objects.remove(grid)",
    object_parented="grid.parent = cube",
    object_hidden_in_renders="grid.hide_render = True",
    object_hidden_in_viewports="grid.hide_viewport = True",
    object_hidden_by_the_eye="grid.hide_set(True)",
    object_in_another_collection="D.collections['Collection'].objects.link(seed)",
    object_color="cube.color = (1, 0, 0, 1)",
    delta_transform="cube.delta_location.z = 1",
    rotation_mode="grid.rotation_mode = 'QUATERNION'",
    one_vertex="grid.data.vertices[30].co.z += 0.01; grid.data.update()",
    one_vertex_a_little="cube.data.vertices[0].co.x += 2e-5; cube.data.update()",
    one_uv="grid.data.uv_layers[0].data[5].uv.x += 0.01",
    one_vertex_color="grid.data.color_attributes[0].data[9].color = (1, 1, 1, 1)",
    one_weight="grid.vertex_groups[0].add([3], 0.75, 'REPLACE')",
    one_weight_removed="grid.vertex_groups[0].remove([3])",
    face_material="cube.data.polygons[2].material_index = 1",
    face_smooth="cube.data.shade_smooth()",
    edge_crease="cube.data.attributes.new('crease_edge', 'FLOAT', 'EDGE').data[2].value = 1",
    edge_seam="cube.data.edges[4].use_seam = True",
    custom_attribute="cube.data.attributes.new('heat', 'FLOAT', 'POINT')",
    face_flipped="cube.data.flip_normals()",
    topology="cube.data.clear_geometry(); cube.data.from_pydata([(0,0,0),(1,0,0),(0,1,0)], [], [(0,1,2)])",
    shape_key_value="D.shape_keys['Key'].key_blocks['Raised'].value = 0.5",
    shape_key_point="D.shape_keys['Key'].key_blocks['Raised'].data[9].co.z = 1",
    modifier_added="cube.modifiers.new('Bevel', 'BEVEL')",
    modifier_setting="grid.modifiers['Subdivision'].levels = 2",
    modifier_order="grid.modifiers.move(0, 1)",
    modifier_off="grid.modifiers['Wave'].show_viewport = False",
    modifier_off_in_renders="grid.modifiers['Wave'].show_render = False",
    nodes_modifier_input="seed.modifiers[0]['Socket_1'] = 0.75",
    curve_handle="D.curves['Path'].splines[0].bezier_points[1].handle_left_type = 'VECTOR'",
    curve_point="D.curves['Path'].splines[0].bezier_points[1].co.z = 0.1",
    curve_bevel="D.curves['Path'].bevel_depth = 0.2",
    curve_closed="D.curves['Path'].splines[0].use_cyclic_u = True",
    text="D.curves['Sign'].body = 'OPEM'",
    text_size="D.curves['Sign'].size = 2",
    text_one_character_bold="D.curves['Sign'].body_format[1].use_bold = True",
    metaball="D.metaballs['Ball'].elements[0].radius = 1.5",
    lattice="D.lattices['Lattice'].points[0].co_deform.x = -1",
    keyframe_value=f"{_CURVE}.keyframe_points[1].co.y = 2.5",
    keyframe_handle=f"{_CURVE}.keyframe_points[1].handle_right.y += 0.1",
    keyframe_interpolation=f"{_CURVE}.keyframe_points[0].interpolation = 'LINEAR'",
    keyframe_added="cube.keyframe_insert('scale', frame=3)",
    keyframe_removed=f"{_CURVE}.keyframe_points.remove({_CURVE}.keyframe_points[2])",
    curve_modifier=f"{_CURVE}.modifiers.new('CYCLES')",
    curve_extrapolation=f"{_CURVE}.extrapolation = 'LINEAR'",
    curve_muted=f"{_CURVE}.mute = True",
    action_replaced="cube.animation_data.action = D.actions.new('Still')",
    driver_expression="cube.animation_data.drivers[0].driver.expression = 'v * 3'",
    driver_target="cube.animation_data.drivers[0].driver.variables[0].targets[0].data_path = 'location.x'",
    nla_strip="camera.animation_data.nla_tracks[0].strips[0].frame_start = 4",
    marker="S.timeline_markers[0].frame = 13",
    constraint_added="cube.constraints.new('COPY_LOCATION')",
    constraint_setting="light.constraints[0].influence = 0.5",
    constraint_target="light.constraints[0].target = camera",
    pose_bone="rig.pose.bones['Upper'].location.x = 0.5",
    pose_constraint="rig.pose.bones['Upper'].constraints[0].max_x = 0.75",
    bone_property="rig.data.bones['Upper'].use_deform = False",
    bone_collection="rig.data.collections.new('Left').assign(rig.data.bones['Upper'])",
    custom_property="cube['temperature'] = 22.0",
    custom_property_added="S['note'] = 'final'",
    custom_property_deep="cube['nested']['list'][1] = 5",
    material_slot="cube.material_slots[0].material = D.materials['Other']",
    material_slot_added="cube.data.materials.append(None)",
    material_slot_link="cube.material_slots[0].link = 'OBJECT'",
    material_order="cube.data.materials[0], cube.data.materials[1] = cube.data.materials[1], cube.data.materials[0]",
    material_color="D.materials['Other'].diffuse_color = (0, 1, 0, 1)",
    material_blend="D.materials['Material'].surface_render_method = 'BLENDED'",
    node_input=f"{_TREE}.nodes['Principled BSDF'].inputs['Roughness'].default_value = 0.9",
    node_setting=f"{_TREE}.nodes['Image Texture'].interpolation = 'Closest'",
    node_added=f"{_TREE}.nodes.new('ShaderNodeMath')",
    node_muted=f"{_TREE}.nodes['Image Texture'].mute = True",
    node_link_removed=f"{_TREE}.links.remove({_TREE}.links[0])",
    node_link_moved=f"t = {_TREE}; t.links.new(t.nodes['Image Texture'].outputs['Alpha'], t.links[-1].to_socket)",
    color_ramp=f"{_TREE}.nodes['Color Ramp'].color_ramp.elements[0].position = 0.2",
    node_in_group="D.node_groups['Scatter'].nodes['Cone'].inputs['Depth'].default_value = 3",
    group_interface="D.node_groups['Scatter'].interface.items_tree['Size'].default_value = 3",
    image_pixel="D.images['Painted'].pixels[5] = 0.9",
    image_colorspace="D.images['Painted'].colorspace_settings.name = 'Non-Color'",
    light_energy="light.data.energy = 500",
    light_kind="light.data.type = 'SUN'",
    light_color="light.data.color.b = 0.5",
    camera_lens="camera.data.lens = 35",
    camera_depth_of_field="camera.data.dof.use_dof = True",
    camera_of_the_scene="S.camera = None",
    world_color="S.world.node_tree.nodes['Background'].inputs[0].default_value = (1, 0, 0, 1)",
    world_replaced="S.world = D.worlds.new('Night')",
    resolution="S.render.resolution_x = 1280",
    engine="S.render.engine = 'CYCLES'",
    cycles_samples="S.cycles.samples = 7",
    eevee_samples="S.eevee.taa_render_samples = 7",
    workbench_shading="S.display.shading.show_cavity = True",
    film_transparent="S.render.film_transparent = True",
    view_transform="S.view_settings.view_transform = 'Standard'",
    exposure="S.view_settings.exposure = 1",
    output_format="S.render.image_settings.file_format = 'JPEG'",
    frame_range="S.frame_end = 100",
    frame_rate="S.render.fps = 30",
    current_frame="S.frame_set(7)",
    gravity="S.gravity.z = -1",
    units="S.unit_settings.scale_length = 0.01",
    compositor="S.node_tree.nodes.new('CompositorNodeGlare')",
    view_layer_added="S.view_layers.new('Second')",
    view_layer_pass="S.view_layers[0].use_pass_z = True",
    collection_excluded="S.view_layers[0].layer_collection.children['Kept'].exclude = True",
    collection_hidden="D.collections['Kept'].hide_render = True",
    collection_added="S.collection.children.link(D.collections.new('New'))",
    scene_added="D.scenes.new('Act 2')",
    particles="body.particle_systems[0].settings.count = 30",
    particle_seed="body.particle_systems[0].seed = 3",
    rigid_body="body.rigid_body.mass = 2",
    rigid_body_kind="body.rigid_body.type = 'PASSIVE'",
    cloth="cloth.modifiers['Cloth'].settings.mass = 2",
    force_field="D.objects['Wind'].field.strength = 5",
    strip="S.sequence_editor_create().strips.new_effect('Red', 'COLOR', channel=1, frame_start=1, frame_end=10)",
)


@change
def mesh_in_edit_mode() -> None:
    """What is edited, and not written back yet, counts."""
    bpy.context.view_layer.objects.active = bpy.data.objects["Grid"]
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.subdivide()


@change
def bone_in_edit_mode() -> None:
    rig = bpy.data.objects["Rig"]
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["Upper"].tail.x = 0.5


@change
def registered_property() -> None:
    """Set, it is a custom property; where only its default counts, nothing shows."""
    bpy.types.Object.speed = bpy.props.FloatProperty(default=1.0)
    bpy.data.objects["Cube"].speed = 2.0


@no_change
def registered_and_not_set() -> None:
    bpy.types.Object.speed = bpy.props.FloatProperty(default=1.0)


@no_change
def nothing() -> None:
    pass


@no_change
def selection_and_active_object() -> None:
    bpy.ops.object.select_all(action="SELECT")
    bpy.context.view_layer.objects.active = bpy.data.objects["Light"]


@no_change
def selection_of_vertices() -> None:
    mesh = bpy.data.objects["Grid"].data
    mesh.vertices[3].select = True
    mesh.polygons[2].select = False


@no_change
def edit_mode_entered() -> None:
    bpy.context.view_layer.objects.active = bpy.data.objects["Grid"]
    bpy.ops.object.mode_set(mode="EDIT")


@no_change
def edit_mode_entered_and_left() -> None:
    edit_mode_entered()
    bpy.ops.object.mode_set(mode="OBJECT")


@no_change
def pose_mode() -> None:
    bpy.context.view_layer.objects.active = bpy.data.objects["Rig"]
    bpy.ops.object.mode_set(mode="POSE")


@no_change
def active_slots_and_layers() -> None:
    bpy.data.objects["Cube"].active_material_index = 1
    bpy.data.objects["Grid"].active_shape_key_index = 1


@no_change
def selected_keyframes_and_nodes() -> None:
    curve = bpy.data.actions["CubeAction"].layers[0].strips[0].channelbags[0].fcurves[0]
    curve.keyframe_points[1].select_control_point = False
    tree = bpy.data.materials["Material"].node_tree
    tree.nodes.active = tree.nodes["Image Texture"]
    tree.nodes["Image Texture"].select = False


@no_change
def interface_settings() -> None:
    bpy.context.scene.tool_settings.use_snap = True
    bpy.context.scene.cursor.location.x = 3
    bpy.data.objects["Grid"].modifiers[0].show_expanded = False


@no_change
def orphans() -> None:
    bpy.data.meshes.new("Orphan")
    bpy.data.materials.new("Kept by nobody").use_fake_user = True


@no_change
def undo_push() -> None:
    bpy.ops.ed.undo_push(message="x")


@no_change
def updated() -> None:
    bpy.context.view_layer.update()
    bpy.context.evaluated_depsgraph_get().update()


@no_change
def renamed_and_back() -> None:
    grid = bpy.data.objects["Grid"]
    grid.name = "Other name"
    grid.name = "Grid"


@no_change
def other_order_of_blocks() -> None:
    collection = bpy.data.collections["Collection"]
    cube = bpy.data.objects["Cube"]
    collection.objects.unlink(cube)
    collection.objects.link(cube)


@no_change
def rendered() -> None:
    scene = bpy.context.scene
    kept = scene.render.engine, scene.render.resolution_percentage, scene.render.filepath, scene.use_nodes
    scene.render.engine, scene.render.resolution_percentage, scene.use_nodes = "BLENDER_WORKBENCH", 4, False
    bpy.ops.render.render()
    scene.render.engine, scene.render.resolution_percentage, scene.render.filepath, scene.use_nodes = kept


@no_change
def noise_in_the_last_bit() -> None:
    light = bpy.data.objects["Light"]
    light.location.y = np.nextafter(np.float32(light.location.y), np.float32(9))
    vertex = bpy.data.objects["Cube"].data.vertices[0]
    vertex.co.x = np.nextafter(np.float32(vertex.co.x), np.float32(9))


@no_change
def state_read_twice() -> None:
    from harness.in_blender.scene_state import scene_state

    scene_state()
