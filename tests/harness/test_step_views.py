"""Views of a scene after a step: a sensible picture of whatever is there, or none with a reason."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from harness.settings import HarnessSettings
from harness.step_report import step_text
from harness.step_result import StepResult, StepView
from harness.step_session import StepSession

pytestmark = pytest.mark.blender

EMPTY = "import bpy\nbpy.ops.wm.read_factory_settings(use_empty=True)\n"
FACTORY = "import bpy\nbpy.ops.wm.read_factory_settings()\n"
CAMERA, WHOLE = "scene camera 'Camera'", "three-quarter view of the whole scene"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    settings = HarnessSettings(resolution=(320, 180), exec_timeout=20)
    with StepSession(tmp_path_factory.mktemp("views"), settings) as session:
        yield session


def look(session: StepSession, code: str) -> StepResult:
    result = session.step(code)
    assert result.ok, step_text(result)
    assert not result.views_failed
    return result


def pixels(view: StepView) -> np.ndarray:
    picture = Image.open(io.BytesIO(view.jpeg)).convert("RGB")
    assert picture.size == (view.width, view.height)
    return np.asarray(picture).astype(int)


def figure(view: StepView) -> np.ndarray:
    """Where the picture is not the background of its corner, [row, column]."""
    found: np.ndarray = np.abs(pixels(view) - pixels(view)[2, 2]).max(axis=2) > 12
    return found


def color(view: StepView) -> tuple[int, int, int]:
    """Brightest colour of the figure."""
    shown = pixels(view)[figure(view)]
    red, green, blue = np.percentile(shown, 90, axis=0)
    return int(red), int(green), int(blue)


def test_camera_and_whole_scene(session: StepSession) -> None:
    """The camera's view comes first, then a three-quarter view of everything, in the size asked for."""
    result = look(session, FACTORY)
    assert [(view.label, view.frame) for view in result.views] == [(CAMERA, 1), (WHOLE, 1)]
    assert {(view.width, view.height) for view in result.views} == {(320, 180)}
    assert all(0.05 < figure(view).mean() < 0.6 for view in result.views)


def test_no_views_when_none_are_wanted(session: StepSession) -> None:
    """A caller may do without."""
    result = session.step(FACTORY, views=False)
    assert (result.views, result.views_failed, result.views_note) == ((), False, "")


WHOLE_SCENES = {
    "a flat plane": "bpy.ops.mesh.primitive_plane_add()",
    "a plane that the first view sees edge-on": "bpy.ops.mesh.primitive_plane_add(rotation=(0, 1.5708, 0.6435))",
    "1 mm": "bpy.ops.mesh.primitive_cube_add(size=0.001)",
    "0.01 mm": "bpy.ops.mesh.primitive_cube_add(size=0.00001)",
    "1 km": "bpy.ops.mesh.primitive_cube_add(size=1000)",
    "far from the origin": "bpy.ops.mesh.primitive_cube_add(location=(100_000, -50_000, 20_000))",
    "text": "bpy.ops.object.text_add()",
    "a thick curve": "bpy.ops.curve.primitive_bezier_circle_add()\nbpy.context.object.data.bevel_depth = 0.5",
    "metaballs": "bpy.ops.object.metaball_add()",
    "grease pencil": "bpy.ops.object.grease_pencil_add(type='MONKEY')",
    "an infinite vertex beside": (
        "bpy.ops.mesh.primitive_cube_add()\nbpy.context.object.data.vertices[0].co.x = float('inf')\n"
        "bpy.ops.mesh.primitive_cube_add(location=(3, 0, 0))"
    ),
    "a collection instance alone": (
        "parts = bpy.data.collections.new('Parts')\nbpy.ops.mesh.primitive_monkey_add()\no = bpy.context.object\n"
        "bpy.context.collection.objects.unlink(o)\nparts.objects.link(o)\ne = bpy.data.objects.new('e', None)\n"
        "e.instance_type, e.instance_collection, e.location = 'COLLECTION', parts, (50, 50, 50)\n"
        "bpy.context.collection.objects.link(e)"
    ),
    "geometry nodes alone": (
        "bpy.ops.mesh.primitive_plane_add(size=0.001)\nt = bpy.data.node_groups.new('t', 'GeometryNodeTree')\n"
        "t.interface.new_socket('Geometry', in_out='OUTPUT', socket_type='NodeSocketGeometry')\n"
        "g, c, i, o = (t.nodes.new(n) for n in ('GeometryNodeMeshGrid', 'GeometryNodeMeshCone', "
        "'GeometryNodeInstanceOnPoints', 'NodeGroupOutput'))\n"
        "g.inputs[0].default_value = g.inputs[1].default_value = 10\nt.links.new(g.outputs[0], i.inputs['Points'])\n"
        "t.links.new(c.outputs[0], i.inputs['Instance'])\nt.links.new(i.outputs[0], o.inputs[0])\n"
        "bpy.context.object.modifiers.new('g', 'NODES').node_group = t"
    ),
}


@pytest.mark.parametrize("name", WHOLE_SCENES)
def test_whole_scene_is_framed(session: StepSession, name: str) -> None:
    """Whatever its size and place, what is there fills a good part of the picture and nothing is cut off."""
    (view,) = look(session, EMPTY + WHOLE_SCENES[name]).views
    odd = "three-quarter view; left out for coordinates that are no numbers or absurdly large: 'Cube'"
    assert view.label == (odd if "infinite" in name else WHOLE)
    shown = figure(view)
    assert shown.mean() > 0.01
    if "infinite" not in name:  # whose faces go right across the picture
        assert shown.mean() < 0.7
        assert not shown[0].any() | shown[-1].any() | shown[:, 0].any() | shown[:, -1].any()
        rows, columns = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
        assert max((rows[-1] - rows[0]) / 180, (columns[-1] - columns[0]) / 320) > 0.2


def test_large_ground_is_not_framed(session: StepSession) -> None:
    """A ground of 2 km does not make what stands on it a dot."""
    code = "bpy.ops.mesh.primitive_plane_add(size=2000, location=(0, 0, -1))\nbpy.context.object.name = 'Ground'"
    result = look(session, FACTORY + code)
    whole = pixels(result.views[1])
    assert result.views[1].label == "three-quarter view; too large for it: 'Ground'"
    edges = np.abs(np.diff(whole.sum(axis=2), axis=1)) > 60
    assert np.ptp(np.flatnonzero(edges.any(axis=0))) > 60


def test_a_far_speck_does_not_decide_the_framing(session: StepSession) -> None:
    """What is tiny and half a kilometre away is named, and the rest is as large as without it."""
    speck = "bpy.ops.mesh.primitive_cube_add(size=0.002, location=(500, 0, 0))\n"
    speck += r"bpy.context.object.name = '\x1b[31mDu\nst'"
    (view,) = look(session, EMPTY + "bpy.ops.mesh.primitive_cube_add()\n" + speck).views
    assert view.label == "three-quarter view; too far from the rest for it: 'Du st'"
    assert 0.05 < figure(view).mean() < 0.7


ROW = "for i in range(12):\n    bpy.ops.mesh.primitive_cube_add(size=0.6, location=({}))\n"
FLAT_OR_LONG = {
    "a plane": "bpy.ops.mesh.primitive_plane_add()",
    "a row": ROW.format("i, 0, 0"),
    "a row away from the view": ROW.format("0, i, 0"),
    "a tower": ROW.format("0, 0, i"),
    "far from the origin": "bpy.ops.mesh.primitive_plane_add(location=(9_000, -5_000, 2_000))",
}


@pytest.mark.parametrize("name", FLAT_OR_LONG)
def test_flat_and_long_scenes_fill_the_picture(session: StepSession, name: str) -> None:
    """The view is as near as the scene allows: it spans most of the picture in one direction, and is not cut off."""
    shown = figure(look(session, EMPTY + FLAT_OR_LONG[name]).views[0])
    rows, columns = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
    assert max((rows[-1] - rows[0]) / 180, (columns[-1] - columns[0]) / 320) > 0.8
    assert min(rows[0], 179 - rows[-1], columns[0], 319 - columns[-1]) > 0


def test_upright_pictures_are_filled_too(tmp_path: Path) -> None:
    """In a picture that is higher than wide nothing is cut off either."""
    with StepSession(tmp_path, HarnessSettings(resolution=(180, 320))) as upright:
        shown = figure(look(upright, EMPTY + ROW.format("i, 0, 0")).views[0])
    columns = np.flatnonzero(shown.any(axis=0))
    assert 0 < columns[0] < 20
    assert 160 < columns[-1] < 179


NOTHING = {
    "an empty scene": "",
    "only a light": "bpy.ops.object.light_add()",
    "only hidden things": "bpy.ops.mesh.primitive_cube_add()\nbpy.context.object.hide_render = True",
    "only loose edges": (
        "m = bpy.data.meshes.new('m')\nm.from_pydata([(0, 0, 0), (1, 1, 1)], [(0, 1)], [])\n"
        "bpy.context.collection.objects.link(bpy.data.objects.new('o', m))"
    ),
}


@pytest.mark.parametrize("name", NOTHING)
def test_nothing_to_show_has_a_reason(session: StepSession, name: str) -> None:
    """Where a picture would be one even colour there is none, and the model is told why."""
    result = look(session, EMPTY + NOTHING[name])
    assert result.views == ()
    assert "nothing that a render would show" in result.views_note or "one even colour" in result.views_note
    assert f"Views: {result.views_note}." in step_text(result)


def test_camera_that_sees_nothing(session: StepSession) -> None:
    """A camera that looks away is told, and the whole scene is shown all the same."""
    result = look(session, FACTORY + "bpy.data.objects['Camera'].location = (0, 0, -500)")
    assert [view.label for view in result.views] == [WHOLE]
    assert "scene camera 'Camera', frame 1, is left out: it is one even colour" in result.views_note


COLORS = {
    "Principled": ("b.inputs['Base Color'].default_value = (1, 0, 0, 1)", "red"),
    "a colour node": (
        "r = n.new('ShaderNodeRGB')\nr.outputs[0].default_value = (0, 0, 1, 1)\n"
        "l.new(r.outputs[0], b.inputs['Base Color'])",
        "blue",
    ),
    "a ramp": (
        "r = n.new('ShaderNodeValToRGB')\nfor e in r.color_ramp.elements: e.color = (0, 1, 0, 1)\n"
        "l.new(r.outputs['Color'], b.inputs['Base Color'])",
        "green",
    ),
    "a checker": (
        "r = n.new('ShaderNodeTexChecker')\nr.inputs['Color1'].default_value = (1, 0, 0, 1)\n"
        "r.inputs['Color2'].default_value = (0.5, 0, 0, 1)\nl.new(r.outputs['Color'], b.inputs['Base Color'])",
        "red",
    ),
    "an image": (
        "i = bpy.data.images.new('i', 8, 8)\ni.pixels[:] = [0, 0, 1, 1] * 64\nr = n.new('ShaderNodeTexImage')\n"
        "r.image = i\nl.new(r.outputs['Color'], b.inputs['Base Color'])",
        "blue",
    ),
    "emission": (
        "b.inputs['Base Color'].default_value = (0, 0, 0, 1)\nb.inputs['Emission Color'].default_value = (0, 1, 0, 1)\n"
        "b.inputs['Emission Strength'].default_value = 3",
        "green",
    ),
    "a mix of shaders": (
        "x, e, d = (n.new('ShaderNode' + k) for k in ('MixShader', 'Emission', 'BsdfDiffuse'))\n"
        "for s in (e, d): s.inputs['Color'].default_value = (1, 0, 0, 1)\nl.new(e.outputs[0], x.inputs[1])\n"
        "l.new(d.outputs[0], x.inputs[2])\nl.new(x.outputs[0], n['Material Output'].inputs['Surface'])",
        "red",
    ),
    "no nodes": ("m.use_nodes = False\nm.diffuse_color = (0, 0, 1, 1)", "blue"),
}


@pytest.mark.parametrize("name", COLORS)
def test_base_colours_are_visible(session: StepSession, name: str) -> None:
    """A red material is red in the picture, wherever its colour comes from."""
    code, expected = COLORS[name]
    prepare = "m = bpy.data.objects['Cube'].data.materials[0]\nn, l = m.node_tree.nodes, m.node_tree.links\n"
    result = look(session, f"{FACTORY}{prepare}b = n['Principled BSDF']\n{code}")
    for view in result.views:
        channels = dict(zip(("red", "green", "blue"), color(view), strict=True))
        strongest = channels.pop(expected)
        assert strongest > 90
        assert max(channels.values()) < 0.6 * strongest


DISTURBING = """
s = bpy.context.scene
s.world.color = (0, 0, 0)
s.view_settings.exposure = -10
s.view_settings.gamma = 5
s.render.film_transparent = s.render.use_stamp = s.render.use_border = True
s.render.border_max_x = 0.1
s.render.resolution_percentage = 3
s.render.pixel_aspect_x = 8
s.render.image_settings.file_format = 'PNG'
s.render.image_settings.color_mode = 'BW'
s.render.use_sequencer = True
s.sequence_editor_create().strips.new_effect('c', 'COLOR', 1, frame_start=1, frame_end=99)
s.use_nodes = True
s.node_tree.nodes.clear()
bpy.context.view_layer.use = False
bpy.app.handlers.render_pre.append(lambda *a: 1 / 0)
bpy.app.handlers.render_write.append(lambda *a: open('written', 'w').write('x'))
bpy.data.objects['Cube'].data.materials[0].node_tree.nodes['Principled BSDF'].inputs[0].default_value = (1, 0, 0, 1)
"""


def test_render_settings_of_the_scene_do_not_spoil_views(session: StepSession) -> None:
    """Views show the scene, not what its render settings and handlers make of it; the files stay as they are."""
    result = look(session, FACTORY + DISTURBING)
    assert [view.label for view in result.views] == [CAMERA, WHOLE]
    for view in result.views:
        red, green, blue = color(view)
        assert red > 90 > max(green, blue)
        assert (view.width, view.height) == (320, 180)
    assert list(session.workspace.iterdir()) == []


def centre(view: StepView) -> float:
    return float(np.flatnonzero(figure(view).any(axis=0)).mean())


ANIMATED = {
    "keyframes": (
        "o = bpy.context.object\nfor f, x in ((1, -6), (40, 6)):\n    o.location.x = x\n"
        "    o.keyframe_insert('location', frame=f)"
    ),
    "a driver": "bpy.context.object.driver_add('location', 0).driver.expression = 'frame * 0.3'",
    "a handler": (
        "def f(scene, *rest): bpy.data.objects['Cube'].location.x = scene.frame_current * 0.3\n"
        "bpy.app.handlers.frame_change_pre.append(f)"
    ),
}


@pytest.mark.parametrize("name", ANIMATED)
def test_animated_scene_is_shown_over_time(session: StepSession, name: str) -> None:
    """Where something moves there are four frames over the range, all of them in view from one fixed place."""
    code = f"{EMPTY}bpy.ops.mesh.primitive_cube_add()\nbpy.context.scene.frame_end = 40\n{ANIMATED[name]}"
    views = look(session, code).views
    assert [(view.label, view.frame) for view in views] == [(WHOLE, frame) for frame in (1, 14, 27, 40)]
    places = [centre(view) for view in views]
    assert places == sorted(places)
    assert places[-1] - places[0] > 60
    assert not any(figure(view)[:, [0, -1]].any() for view in views)


def test_camera_of_an_animated_scene(session: StepSession) -> None:
    """With a camera, its view is shown over time and the whole scene once."""
    code = f"{FACTORY}bpy.context.scene.frame_end = 40\no = bpy.data.objects['Cube']\n" + (
        "o.keyframe_insert('location', frame=1)\no.location.x = 1\no.keyframe_insert('location', frame=40)"
    )
    views = look(session, code).views
    assert [(view.label, view.frame) for view in views] == [(CAMERA, f) for f in (1, 14, 27, 40)] + [(WHOLE, 1)]


def test_a_markers_camera_does_not_replace_the_whole_scene(session: StepSession) -> None:
    """A marker that binds a camera decides on the camera's views alone."""
    code = (
        f"{FACTORY}s = bpy.context.scene\ns.timeline_markers.new('cut', frame=1).camera = s.camera\n"
        "s.camera.rotation_euler.z += 3.1416"
    )
    (whole,) = look(session, code).views
    assert whole.label == WHOLE
    assert 0.05 < figure(whole).mean() < 0.6


def test_simulation_is_run_through(session: StepSession) -> None:
    """Later frames of a simulation show where things have fallen to."""
    code = EMPTY + (
        "bpy.context.scene.frame_end = 31\nbpy.ops.mesh.primitive_plane_add(size=6)\n"
        "bpy.ops.rigidbody.object_add(type='PASSIVE')\nbpy.ops.mesh.primitive_cube_add(size=1, location=(0, 0, 5))\n"
        "bpy.ops.rigidbody.object_add()"
    )
    views = look(session, code).views
    tops = [int(np.flatnonzero(figure(view).any(axis=1))[0]) for view in views]
    assert [view.frame for view in views] == [1, 11, 21, 31]
    assert tops[0] < tops[1] < tops[3]


NODES = """
bpy.ops.mesh.primitive_cube_add()
bpy.context.scene.frame_end = 40
tree = bpy.data.node_groups.new('t', 'GeometryNodeTree')
tree.interface.new_socket('Geometry', in_out='INPUT', socket_type='NodeSocketGeometry')
tree.interface.new_socket('Geometry', in_out='OUTPUT', socket_type='NodeSocketGeometry')
first, move, last = (tree.nodes.new(n) for n in ('NodeGroupInput', 'GeometryNodeSetPosition', 'NodeGroupOutput'))
tree.links.new(first.outputs[0], move.inputs['Geometry'])
tree.links.new(move.outputs[0], last.inputs[0])
bpy.context.object.modifiers.new('Nodes', 'NODES').node_group = tree
"""
TIME = "tree.links.new(tree.nodes.new('GeometryNodeInputSceneTime').outputs['Seconds'], move.inputs['Offset'])\n"
ANIMATED_NODES = {
    "still nodes": ("", False),
    "scene time": (TIME, True),
    "scene time in a group": (
        f"{TIME}outer = bpy.data.node_groups.new('o', 'GeometryNodeTree')\n"
        "group, end = outer.nodes.new('GeometryNodeGroup'), outer.nodes.new('NodeGroupOutput')\n"
        "group.node_tree = tree\n"
        "for way in ('INPUT', 'OUTPUT'):\n"
        "    outer.interface.new_socket('Geometry', in_out=way, socket_type='NodeSocketGeometry')\n"
        "outer.links.new(outer.nodes.new('NodeGroupInput').outputs[0], group.inputs[0])\n"
        "outer.links.new(group.outputs[0], end.inputs[0])\n"
        "bpy.context.object.modifiers[0].node_group = outer\n",
        True,
    ),
    "a simulation zone": (
        "begin = tree.nodes.new('GeometryNodeSimulationInput')\n"
        "begin.pair_with_output(tree.nodes.new('GeometryNodeSimulationOutput'))",
        True,
    ),
    "a driver in the tree": ("move.inputs['Offset'].driver_add('default_value', 0).driver.expression = 'frame'", True),
    "keyframes in the tree": ("move.inputs['Offset'].keyframe_insert('default_value', frame=1)", True),
}


@pytest.mark.parametrize("name", ANIMATED_NODES)
def test_nodes_are_animated_where_they_depend_on_time(session: StepSession, name: str) -> None:
    """Geometry nodes that give the same in every frame are not called animated, and are shown once."""
    code, is_animated = ANIMATED_NODES[name]
    result = look(session, EMPTY + NODES + code)
    assert result.scene is not None
    assert [(a.name, a.by) for a in result.scene.animated] == [("Cube", ["simulation or nodes"])] * is_animated
    assert len(result.views) == (4 if is_animated else 1)


AIMED = (
    FACTORY
    + """
cube, camera = bpy.data.objects['Cube'], bpy.context.scene.camera
camera.location, camera.rotation_euler = (0, -10, 0), (1.5707963, 0, 0)
camera.data.angle = 0.6435  # at the cube 3.33 to either side, 1.87 up and down
bpy.context.scene.render.resolution_x, bpy.context.scene.render.resolution_y = 320, 180
"""
)
CUTS = {
    "in view": ("", []),
    "at the right": ("cube.location.x = 3.2", ["right"]),
    "at the left": ("cube.location.x = -3.2", ["left"]),
    "in a corner": ("cube.location = (3.2, 0, 2)", ["right", "top"]),
    "above and below": ("cube.scale.z = 4", ["bottom", "top"]),
    "wholly outside": ("cube.location.x = 9", []),
    "outside, but beyond no single side": ("cube.location = (5.2, 0, 3.4); cube.rotation_euler.y = 0.785", []),
    "a ball whose box alone is cut": (
        "bpy.data.objects.remove(cube)\nbpy.ops.mesh.primitive_uv_sphere_add(location=(2.2, 0, 0))\n"
        "bpy.context.object.name = 'Cube'\nbpy.context.object.rotation_euler.z = 0.785",
        [],
    ),
    "a ground": ("cube.scale = (40, 40, 0.1); cube.location.z = -1.5", []),
    "a ground before the camera": ("cube.scale = (8, 8, 0.1); cube.location.z = -1.5", []),
    "a wall": ("cube.scale = (9, 0.1, 9); cube.location.y = 3", []),
    "a room around the camera": ("cube.scale = (20, 20, 20)", []),
    "a box that reaches behind the camera": ("cube.scale.y = 15; cube.location.x = 2", []),
    "not rendered": ("cube.location.x = 3.2; cube.hide_render = True", []),
    "with an orthographic camera": ("cube.location.x = 3.2; camera.data.type = 'ORTHO'", ["right"]),
    "a camera that looks away": ("cube.location.x = 3.2; camera.rotation_euler.z = 3.1416", []),
}


@pytest.mark.parametrize("name", CUTS)
def test_objects_that_the_edge_cuts_are_told(session: StepSession, name: str) -> None:
    """Told with the sides of the picture; not what is outside, around the camera, or larger than the picture."""
    code, sides = CUTS[name]
    result = look(session, AIMED + code)
    assert result.scene is not None
    assert [(cut.name, cut.sides) for cut in result.scene.cut] == ([("Cube", sides)] if sides else [])
    assert result.scene.n_cut == len(result.scene.cut)
    if sides:
        line = f"  cut by the edge of the camera's picture in frame 1: 'Cube' ({' and '.join(sides)})"
        assert line in step_text(result).splitlines()


def test_cuts_are_those_of_the_current_frame(session: StepSession) -> None:
    """What is cut is told for the frame in which the step left the scene."""
    code = "cube.keyframe_insert('location', frame=1)\ncube.location.x = 3.2\n"
    code += "cube.keyframe_insert('location', frame=20)\nbpy.context.scene.frame_set({})"
    at_start, later = (look(session, AIMED + code.format(frame)).scene for frame in (1, 20))
    assert at_start is not None
    assert later is not None
    assert (at_start.n_cut, later.n_cut, later.frame_current) == (0, 1, 20)


def test_many_cut_objects_are_counted(session: StepSession) -> None:
    """Of many objects that are cut eight are named."""
    code = "for i in range(60):\n    o = cube.copy(); o.location.x = 3.2; bpy.context.collection.objects.link(o)"
    result = look(session, AIMED + code)
    assert result.scene is not None
    assert (result.scene.n_cut, len(result.scene.cut)) == (60, 40)
    assert "'Cube.008' (right) and 52 more" in step_text(result)


def test_hair_is_no_simulation(session: StepSession) -> None:
    """Hair that does not move is shown once."""
    code = "bpy.ops.mesh.primitive_plane_add()\nbpy.context.object.modifiers.new('p', 'PARTICLE_SYSTEM')\n"
    code += "bpy.context.object.particle_systems[0].settings.type = 'HAIR'"
    assert len(look(session, EMPTY + code).views) == 1
