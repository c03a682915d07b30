"""Render settings, cameras and other things in a file do not come between a scene and its pictures."""

from pathlib import Path

import numpy as np
import pytest

from harness.renders import RenderRequest
from tests.verification.drawing import SMALL, STILLS, Drawn, draw_many

pytestmark = pytest.mark.blender

CUBE = "bpy.ops.mesh.primitive_cube_add()\nS = bpy.context.scene\n"
RED = (
    CUBE + "m = bpy.data.materials.new('red')\nm.use_nodes = True\n"
    "m.node_tree.nodes['Principled BSDF'].inputs['Base Color'].default_value = (1, 0, 0, 1)\n"
    "bpy.context.object.data.materials.append(m)\n"
)
CAMERA = "bpy.ops.object.camera_add(location=(0, -10, 0), rotation=(1.5708, 0, 0))\nS.camera = bpy.context.object\n"
DISTURBING = """
S.render.film_transparent = S.render.use_stamp = S.render.use_border = S.render.use_crop_to_border = True
S.render.border_max_x = 0.1
S.render.resolution_percentage = 3
S.render.image_settings.file_format = 'OPEN_EXR_MULTILAYER'
S.render.use_sequencer = S.render.use_compositing = True
S.sequence_editor_create().strips.new_effect('c', 'COLOR', 1, frame_start=1, frame_end=99)
S.use_nodes = True
S.node_tree.nodes.clear()
out = S.node_tree.nodes.new('CompositorNodeOutputFile')
out.base_path = '//written'
S.view_settings.exposure = -10
S.view_settings.gamma = 5
S.render.use_multiview = True
S.render.image_settings.views_format = 'MULTIVIEW'
S.render.use_simplify = True
S.display.shading.show_xray = True
S.display.shading.use_dof = True
S.display.shading.show_backface_culling = True
S.display.shading.light = 'FLAT'
S.display.shading.color_type = 'RANDOM'
S.render.threads_mode, S.render.threads = 'FIXED', 1
S.view_layers.new('second')
bpy.context.view_layer.use = False
S.view_layers[0].use = False
S.view_layers['second'].layer_collection.holdout = True
bpy.data.scenes.new('Another')
"""
IMAGE = """
i = bpy.data.images.new('pattern', 64, 64)
p = [0, 0, 1, 1] * 32 + [0, 1, 0, 1] * 32
i.pixels[:] = p * 64
i.pack()
"""
TEXTURED = (
    IMAGE
    + """
def textured(name, x, socket='Base Color', mapped=''):
    bpy.ops.mesh.primitive_cube_add(location=(x, 0, 0))
    m = bpy.data.materials.new(name)
    m.use_nodes = True
    n, l = m.node_tree.nodes, m.node_tree.links
    n['Principled BSDF'].inputs['Base Color'].default_value = (1, 0, 0, 1)
    t = n.new('ShaderNodeTexImage')
    t.image = i
    l.new(t.outputs['Color'], n['Principled BSDF'].inputs[socket])
    if mapped:
        l.new(n.new('ShaderNodeTexCoord').outputs[mapped], t.inputs['Vector'])
    bpy.context.object.data.materials.append(m)
"""
)
CASES = {
    "disturbing settings": RED + CAMERA + DISTURBING,
    "glass": RED + "m.node_tree.nodes['Principled BSDF'].inputs['Alpha'].default_value = 0.3\n",
    "red beside a picture": RED + TEXTURED + "textured('t', 4)",
    "a picture as roughness": CUBE
    + "bpy.data.objects.remove(bpy.context.object)\n"
    + TEXTURED
    + "textured('t', 0, 'Roughness')",
    "a picture laid out by the object": CUBE
    + "bpy.data.objects.remove(bpy.context.object)\n"
    + TEXTURED
    + "textured('t', 0, 'Base Color', 'Object')",
    "a wide camera": RED
    + CAMERA
    + "S.render.resolution_x, S.render.resolution_y, S.render.pixel_aspect_x = 400, 400, 2",
    "a tiny render": RED + CAMERA + "S.render.resolution_x, S.render.resolution_y = 4, 4",
    "a huge render": RED + CAMERA + "S.render.resolution_x, S.render.resolution_y = 60_000, 30_000",
    "a sliver of a render": RED + CAMERA + "S.render.resolution_x, S.render.resolution_y = 4000, 4",
    "orthographic": RED + CAMERA + "S.camera.data.type, S.camera.data.ortho_scale = 'ORTHO', 4",
    "panoramic": RED + CAMERA + "S.camera.data.type = 'PANO'",
    "inside": RED + CAMERA + "S.camera.location = (0, 0, 0)",
    "looks away": RED + CAMERA + "S.camera.rotation_euler.z = 3.1416",
    "more cameras": RED
    + CAMERA
    + "for x in range(5): bpy.ops.object.camera_add(location=(x, -10, 0), rotation=(1.5708, 0, 0))",
    "a marker's camera": (
        RED + CAMERA + "far = S.camera\nbpy.ops.object.camera_add(location=(0, -5, 0), rotation=(1.5708, 0, 0))\n"
        "S.timeline_markers.new('near', frame=1).camera = bpy.context.object\n"
        "S.timeline_markers.new('far', frame=30).camera = far\nS.frame_set(20)"
    ),
    "a light as camera": RED + "bpy.ops.object.light_add(location=(0, 0, 9))\nS.camera = bpy.context.object",
    "cycles without light": RED + CAMERA + "S.world = None",
    "cycles with a sun": RED
    + CAMERA
    + "S.world = None\nbpy.ops.object.light_add(type='SUN', rotation=(0.8, 0, -0.6))\n"
    + "bpy.context.object.data.energy = 5",
}
CYCLES = RenderRequest(engine="cycles", samples=2, width=128, n_turntable=0)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn]:
    folder: Path = tmp_path_factory.mktemp("settings")
    return draw_many(CASES, folder, {name: CYCLES for name in CASES if name.startswith("cycles")})


def color(pictures: Drawn, file: str) -> tuple[int, int, int]:
    """The bright colour of the figure."""
    shown = pictures.pixels(file)[pictures.figure(file)]
    red, green, blue, _ = np.percentile(shown, 80, axis=0)
    return int(red), int(green), int(blue)


def is_red(pictures: Drawn, file: str) -> bool:
    red, green, blue = color(pictures, file)
    return red > 110 and max(green, blue) < 0.6 * red


def test_settings_of_the_file_change_nothing(drawn: dict[str, Drawn]) -> None:
    """Border, stamp, compositor, strips, exposure, stereo, layers and shading of the file are left aside."""
    pictures = drawn["disturbing settings"]
    for file in (*STILLS, "shot_camera.png", "front.png", "right.png", "top.png"):
        assert is_red(pictures, file)
        assert pictures.span(file) > 0.3
        assert not pictures.is_cut(file)
    assert pictures.pixels("hero.png").shape == (240, 320, 4)
    assert "of 2 scenes, 'Scene' is drawn" in pictures.notes
    assert not list(pictures.folder.parent.glob("**/written*"))


def test_glass_is_seen_through(drawn: dict[str, Drawn]) -> None:
    """A surface with an alpha of 0.3 is not drawn opaque."""
    alpha = drawn["glass"].pixels("front.png")[..., 3]
    middle = alpha[alpha.shape[0] // 2, alpha.shape[1] // 2]
    assert 30 < middle < 200


def colors_at(pictures: Drawn, file: str) -> set[str]:
    """Which of red, green and blue are found as the strongest of a pixel, on a share of the figure worth naming."""
    shown = pictures.pixels(file)[pictures.figure(file)][:, :3]
    strong = shown[np.sort(shown, axis=1)[:, 2] > 1.6 * np.sort(shown, axis=1)[:, 1] + 10].argmax(axis=1)
    return {name for n, name in enumerate(("red", "green", "blue")) if (strong == n).mean() > 0.05}


def test_plain_colours_and_pictures_side_by_side(drawn: dict[str, Drawn]) -> None:
    """In one scene a red material is red, and a picture as base colour is shown as a picture."""
    assert colors_at(drawn["red beside a picture"], "front.png") == {"red", "green", "blue"}


def test_pictures_that_are_no_colour_are_not_shown(drawn: dict[str, Drawn]) -> None:
    """A picture that is the roughness leaves the base colour red."""
    assert colors_at(drawn["a picture as roughness"], "front.png") == {"red"}


def test_pictures_without_uv_layout_give_their_mean(drawn: dict[str, Drawn]) -> None:
    """A picture that is not laid out by a UV map is shown in its mean colour, here between green and blue."""
    red, green, blue = color(drawn["a picture laid out by the object"], "front.png")
    assert green == pytest.approx(blue, abs=12)
    assert red < 0.5 * green


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("a wide camera", (100, 200)),
        ("a tiny render", (150, 150)),
        ("a huge render", (100, 200)),
        ("a sliver of a render", (50, 200)),
    ],
)
def test_cameras_keep_the_shape_of_their_picture(drawn: dict[str, Drawn], name: str, shape: tuple[int, int]) -> None:
    """What the scene's camera shows has the shape of the scene's render, within 4:1, in a size of ours."""
    assert drawn[name].pixels("shot_camera.png").shape[:2] == shape
    assert is_red(drawn[name], "shot_camera.png")


@pytest.mark.parametrize("name", ["orthographic", "panoramic", "inside", "a light as camera"])
def test_odd_cameras_are_drawn(drawn: dict[str, Drawn], name: str) -> None:
    """An orthographic or panoramic camera, one inside an object, and another object in its place give a picture."""
    assert is_red(drawn[name], "shot_camera.png")
    assert ("panoramic" in drawn[name].notes) == (name == "panoramic")


def test_a_camera_that_sees_nothing_does_not_stop_the_others(drawn: dict[str, Drawn]) -> None:
    """Its picture is empty, which publishing tells; all others are there."""
    pictures = drawn["looks away"]
    assert not pictures.figure("shot_camera.png").any()
    assert is_red(pictures, "hero.png")


def test_more_cameras_are_shown(drawn: dict[str, Drawn]) -> None:
    """Of the other cameras three are shown, and it is told how many there are."""
    pictures = drawn["more cameras"]
    names = [file for file in pictures.files if file.startswith("shot_camera")]
    assert names == ["shot_camera.png", "shot_camera_2.png", "shot_camera_3.png", "shot_camera_4.png"]
    assert "of 5 more cameras the first 3 are shown" in pictures.notes


def test_markers_decide_on_the_camera_and_on_nothing_else(drawn: dict[str, Drawn]) -> None:
    """The camera that a marker binds at the frame is the scene's; it does not replace ours."""
    pictures = drawn["a marker's camera"]
    assert pictures.label("shot_camera.png") == "the scene's camera 'Camera.001'"
    assert pictures.figure("shot_camera.png").mean() > 2 * pictures.figure("shot_camera_2.png").mean()
    assert pictures.span("hero.png") > 0.5
    assert not pictures.is_cut("hero.png")
    assert pictures.film is not None
    frames = [file for file in pictures.files if file.startswith("frame")]
    assert pictures.figure(frames[0]).mean() > 2 * pictures.figure(frames[-1]).mean()


def test_cycles_adds_light_where_there_is_none(drawn: dict[str, Drawn]) -> None:
    """A scene without any light is lit by ours, and that is told; one with a sun is not touched."""
    dark, lit = drawn["cycles without light"], drawn["cycles with a sun"]
    assert "two suns were added" in dark.notes
    assert "added" not in lit.notes
    for pictures in (dark, lit):
        assert color(pictures, "hero.png")[0] > 60
        assert color(pictures, "hero.png")[0] > 2 * color(pictures, "hero.png")[2]
        assert {"hero.png", "shot_camera.png", "front.png"} <= {*pictures.files}


def test_a_request_is_kept(drawn: dict[str, Drawn]) -> None:
    """As many views around the scene as were asked for."""
    assert SMALL.n_turntable == 2
    assert [f for f in drawn["glass"].files if "turntable" in f] == ["turntable_0.png", "turntable_1.png"]
    assert not [f for f in drawn["cycles with a sun"].files if "turntable" in f]
