"""How the toy train is spoilt."""

MUTATIONS = {
    "the third wagon is gone": (
        "delete('Wagon 3')",
        {"third-wagon", "coupled-evenly", "in-the-train", "own-wheels", "leaf-green", "drives"},
    ),
    "its wheels are gone": (
        "delete('Wagon 3 wheels')",
        {"third-wagon", "rides-on-rails", "own-wheels", "wheels-mirrored"},
    ),
    "the third wagon is hidden in renders": ("obj('Wagon 3').hide_render = True", {"third-wagon", "coupled-evenly"}),
    "the third wagon is out of the scene": ("unlink('Wagon 3')", {"third-wagon", "in-the-train"}),
    "the third wagon is named by Blender": (
        "obj('Wagon 3').name = 'Wagon 2.001'",
        {"third-wagon", "coupled-evenly", "in-the-train", "own-wheels", "leaf-green", "drives"},
    ),
    "the third wagon hangs too far behind": ("move('Wagon 3', x=-0.03)", {"coupled-evenly"}),
    "the third wagon stands beside the line": ("move('Wagon 3', y=0.25)", {"coupled-evenly", "rides-on-rails"}),
    "the third wagon hovers": ("move('Wagon 3', z=0.02)", {"coupled-evenly", "rides-on-rails"}),
    "the third wagon sinks": ("move('Wagon 3', z=-0.02)", {"rides-on-rails"}),
    "the first wagon came closer": ("move('Wagon 1', x=0.02)", {"coupled-evenly"}),
    "the third wagon stays behind": ("unparent('Wagon 3')", {"in-the-train", "drives"}),
    "the third wagon hangs on the second": (
        "unparent('Wagon 3'); obj('Wagon 3').parent = obj('Wagon 2')\n"
        "obj('Wagon 3').matrix_parent_inverse = obj('Wagon 2').matrix_world.inverted()",
        {"in-the-train"},
    ),
    "its wheels stay behind": ("unparent('Wagon 3 wheels')", {"own-wheels"}),
    "its wheels are the second wagon's": ("obj('Wagon 3 wheels').parent = obj('Wagon 2')", {"own-wheels"}),
    "its wheels are on one side": ("remove_modifier('Wagon 3 wheels', 'MIRROR')", {"wheels-mirrored"}),
    "its wheels' mirror is applied": ("apply_modifier('Wagon 3 wheels', 'MIRROR')", {"wheels-mirrored"}),
    "its wheels' mirror has no axis": (
        "modifier('Wagon 3 wheels', 'MIRROR').use_axis = (False, False, False)",
        {"wheels-mirrored"},
    ),
    "the first wagon is red": ("set_socket('Wagon 1', 'Base Color', (0.65, 0.06, 0.05, 1))", {"mustard"}),
    "the first wagon has no material": ("unlink_materials('Wagon 1')", {"mustard"}),
    "the signal is mustard too": ("obj('Signal arm').data.materials[0] = material_of('Wagon 1')", {"signal-stays-red"}),
    "the second wagon is green too": (
        "obj('Wagon 2').data.materials[0] = material_of('Wagon 3')",
        {"blue-stays"},
    ),
    "the second wagon is a lighter blue": ("set_socket('Wagon 2', 'Base Color', (0.1, 0.3, 0.7, 1))", {"blue-stays"}),
    "the third wagon is blue": ("obj('Wagon 3').data.materials[0] = material_of('Wagon 2')", {"leaf-green"}),
    "the third wagon's shader is unlinked": ("material_of('Wagon 3').node_tree.links.clear()", {"leaf-green"}),
    "the rails are short": (
        "modifier('Rails', 'ARRAY').count = 12",
        {"track-pieces", "track-length", "still-on-rails"},
    ),
    "the sleepers are short": ("modifier('Sleepers', 'ARRAY').count = 12", {"track-pieces"}),
    "the rails' array is applied": ("apply_modifier('Rails', 'ARRAY')", {"track-pieces"}),
    "the rails' array is off": (
        "modifier('Rails', 'ARRAY').show_viewport = False",
        {"track-length", "still-on-rails"},
    ),
    "the rails' pieces are longer": (
        "modifier('Rails', 'ARRAY').constant_offset_displace[0] = 0.12",
        {"track-length"},
    ),
    "the train lost its last key": ("drop_keys('Train root')", {"drives", "steady"}),
    "the train has no action": ("obj('Train root').animation_data_clear()", {"drives", "steady"}),
    "the curves are muted": ("for curve in curves('Train root'):\n    curve.mute = True", {"drives", "steady"}),
    "the train drives as far as before": (
        "curves('Train root')[0].keyframe_points[-1].co.y = 0.15",
        {"drives", "steady"},
    ),
    "the train drives backwards": (
        "curves('Train root')[0].keyframe_points[-1].co.y = -0.6",
        {"drives", "steady"},
    ),
    "the train arrives early": ("curves('Train root')[0].keyframe_points[-1].co.x = 30", {"steady"}),
    "the train eases in and out": (
        "for point in curves('Train root')[0].keyframe_points:\n    point.interpolation = 'BOUNCE'",
        {"steady"},
    ),
    "the train starts elsewhere": (
        "for point in curves('Train root')[0].keyframe_points:\n    point.co.y += 0.05",
        {"starts-there", "steady"},
    ),
    "the locomotive is lifted": ("move('Locomotive', z=0.03)", {"starts-there", "still-on-rails"}),
    "there are more frames": ("S.frame_end = 96", {"time"}),
    "the film is faster": ("S.render.fps = 30", {"time"}),
    "a barrel stands there": ("add_cube('Barrel', (0.22, 0, 0.06), 0.06)", {"no-barrel"}),
    "a hidden barrel is left": ("add_cube('Barrel.001', (0.2, 0, 0), 0.1).hide_viewport = True", {"no-barrel"}),
    "the coal has its old name": (
        "obj('Coal').name = 'Cube.002'",
        {"no-barrel", "coal-lies", "coal-place", "coal-rides", "drives"},
    ),
    "the coal hovers": ("move('Coal', z=0.08)", {"coal-lies"}),
    "the coal lies before the cab": ("move('Coal', x=0.09, z=0.06)", {"coal-place"}),
    "the coal stays behind": ("unparent('Coal')", {"coal-rides", "drives"}),
    "the arm points away": ("turn('Signal arm', z=180)", {"arm-turned"}),
    "the arm points along the line": ("turn('Signal arm', z=90)", {"arm-turned"}),
    "the arm hovers": ("move('Signal arm', x=0.05)", {"arm-on-post"}),
    "the table is subdivided": (
        "edit('Table', lambda m: bmesh.ops.subdivide_edges(m, edges=m.edges[:], cuts=1))",
        {"all-else-kept"},
    ),
    "the signal post is gone": ("delete('Signal post')", {"all-else-kept", "arm-on-post"}),
    "a face of the locomotive is gone": ("edit('Locomotive', lambda m: m.verts.remove(m.verts[0]))", {"all-else-kept"}),
    "a material is left over": ("add_orphan()", {"nothing-left-over"}),
}
"""Change -> (its code, ids of the checks that have to see it)."""

HARMLESS = {
    "another frame is shown": "S.frame_set(30)",
    "the wagons' materials have other names": "material_of('Wagon 1').name = 'Yellow'",
    "the mustard is a shade darker": "set_socket('Wagon 1', 'Base Color', (0.70, 0.40, 0.04, 1))",
    "the meshes have other names": "for mesh in D.meshes:\n    mesh.name = 'toy'",
    "the wheels' modifier has another name": "modifier('Wagon 3 wheels', 'MIRROR').name = 'Mirror'",
    "the coal sinks in a little more": "move('Coal', z=-0.005)",
    "the wheels share one mesh": "obj('Wagon 3 wheels').data = obj('Wagon 2 wheels').data",
}
"""Change -> its code. What the brief leaves open."""
