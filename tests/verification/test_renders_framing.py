"""Whatever a scene holds, its pictures show it whole and large, or say why not."""

from pathlib import Path

import numpy as np
import pytest

from tests.verification.drawing import STILLS, Drawn, draw_many

pytestmark = pytest.mark.blender

NODES = (
    "t = bpy.data.node_groups.new('t', 'GeometryNodeTree')\n"
    "t.interface.new_socket('Geometry', in_out='OUTPUT', socket_type='NodeSocketGeometry')\n"
    "g, c, i, o = (t.nodes.new(n) for n in ('GeometryNodeMeshGrid', 'GeometryNodeMeshCone', "
    "'GeometryNodeInstanceOnPoints', 'NodeGroupOutput'))\n"
    "g.inputs[0].default_value = g.inputs[1].default_value = 10\nt.links.new(g.outputs[0], i.inputs['Points'])\n"
    "t.links.new(c.outputs[0], i.inputs['Instance'])\nt.links.new(i.outputs[0], o.inputs[0])\n"
    "bpy.context.object.modifiers.new('g', 'NODES').node_group = t"
)
COLLECTION = (
    "parts = bpy.data.collections.new('Parts')\nbpy.ops.mesh.primitive_monkey_add()\no = bpy.context.object\n"
    "bpy.context.collection.objects.unlink(o)\nparts.objects.link(o)\ne = bpy.data.objects.new('e', None)\n"
    "e.instance_type, e.instance_collection, e.location = 'COLLECTION', parts, (50, 50, 50)\n"
    "bpy.context.collection.objects.link(e)"
)
CUBE = "bpy.ops.mesh.primitive_cube_add()\n"
SPECK = "bpy.ops.mesh.primitive_cube_add(size=0.002, location=({}, {}, {}))\nbpy.context.object.name = '\x1b[31mDust'\n"
WHOLE = {
    "1 mm": "bpy.ops.mesh.primitive_cube_add(size=0.001)",
    "1 km": "bpy.ops.mesh.primitive_cube_add(size=1000)",
    "100 km away": "bpy.ops.mesh.primitive_monkey_add(location=(100_000, -50_000, 20_000))",
    "1000 km away": "bpy.ops.mesh.primitive_monkey_add(location=(1_000_000, -500_000, 0))",
    "a collection instance alone": COLLECTION,
    "instances of nodes alone": "bpy.ops.mesh.primitive_plane_add(size=0.001)\n" + NODES,
    "text": "bpy.ops.object.text_add()\nbpy.context.object.data.extrude = 0.1",
    "a thick curve": "bpy.ops.curve.primitive_bezier_circle_add()\nbpy.context.object.data.bevel_depth = 0.5",
    "metaballs": "bpy.ops.object.metaball_add()",
    "a rod of 40 m": CUBE + "bpy.context.object.scale = (0.2, 20, 0.2)",
    "an infinite vertex beside": (
        "bpy.ops.mesh.primitive_cube_add(location=(3, 0, 0))\n" + CUBE + "bpy.context.object.name = 'Broken'\n"
        "bpy.context.object.data.vertices[0].co.x = float('inf')"
    ),
    "not a number beside": (
        "bpy.ops.mesh.primitive_cube_add(location=(3, 0, 0))\n" + CUBE + "bpy.context.object.name = 'Broken'\n"
        "for v in bpy.context.object.data.vertices: v.co.x = float('nan')"
    ),
    "hidden things far away": (
        CUBE + "bpy.ops.mesh.primitive_cube_add(location=(90, 0, 0))\nbpy.context.object.hide_render = True\n"
        "bpy.ops.mesh.primitive_cube_add(location=(0, 90, 0))\nc = bpy.data.collections.new('Out')\n"
        "bpy.context.scene.collection.children.link(c)\no = bpy.context.object\n"
        "bpy.context.collection.objects.unlink(o)\nc.objects.link(o)\n"
        "bpy.context.view_layer.layer_collection.children['Out'].exclude = True"
    ),
    "hidden in Blender, but rendered": (
        CUBE + "bpy.ops.mesh.primitive_cube_add(location=(9, 0, 0))\nbpy.context.object.hide_viewport = True\n"
        "bpy.ops.mesh.primitive_cube_add(location=(0, 0, 9))\nbpy.context.object.display_type = 'WIRE'\n"
        "bpy.ops.mesh.primitive_cube_add(location=(0, 9, 0))\nbpy.context.object.hide_set(True)"
    ),
    "hair": (
        CUBE + "bpy.ops.object.particle_system_add()\nbpy.context.object.particle_systems[0].settings.type = 'HAIR'"
    ),
    "grease pencil": "bpy.ops.object.grease_pencil_add(type='MONKEY')",
    "a volume beside": CUBE + "bpy.ops.object.volume_add()",
}
FAR = {
    "a speck far away": CUBE + SPECK.format(500, 0, 0),
    "a speck made first": SPECK.format(500, 0, 0) + CUBE,
    "two specks on two sides": CUBE + SPECK.format(500, 0, 0) + SPECK.format(-500, 0, 9),
    "a speck a thousand kilometres away": CUBE + SPECK.format(1e6, 1e6, 1e6),
    "a cube past all numbers": CUBE + SPECK.format(1e20, 0, 0) + "bpy.context.object.scale = (1000, 1000, 1000)",
    "a speck beside a ground": (
        CUBE + SPECK.format(100, 0, 300) + "bpy.ops.mesh.primitive_plane_add(size=80, location=(0, 0, -1))\n"
    ),
    "an empty mesh far away": (
        CUBE + "m = bpy.data.meshes.new('m')\nm.from_pydata([(90, 0, 0), (990, 0, 900)], [(0, 1)], [])\n"
        "bpy.context.collection.objects.link(bpy.data.objects.new('Edge', m))"
    ),
}
FLAT = {
    "a plane": "bpy.ops.mesh.primitive_plane_add()",
    "an upright plane": "bpy.ops.mesh.primitive_plane_add(rotation=(1.5708, 0, 0))",
    "a plane that the first view sees edge-on": "bpy.ops.mesh.primitive_plane_add(rotation=(1.5708, 0, 0.9599))",
}
NOTHING = {
    "empty": "",
    "a camera and a light": "bpy.ops.object.light_add()\nbpy.ops.object.camera_add()",
    "only hidden": CUBE + "bpy.context.object.hide_render = True",
    "only infinite": CUBE + "for v in bpy.context.object.data.vertices: v.co.x = float('inf')",
}
OTHERS = {
    "a thread": CUBE + "bpy.context.object.scale = (0.05, 100, 0.05)",
    "a ground": (
        CUBE + "bpy.context.object.name = 'Box'\nbpy.ops.mesh.primitive_plane_add(size=500, location=(0, 0, -1))\n"
        "bpy.context.object.name = 'Ground'"
    ),
    "loose edges": (
        "m = bpy.data.meshes.new('m')\nm.from_pydata([(0, 0, 0), (1, 1, 1)], [(0, 1)], [])\n"
        "bpy.context.collection.objects.link(bpy.data.objects.new('o', m))"
    ),
    "equals far apart": CUBE + "bpy.ops.mesh.primitive_cube_add(location=(100, 0, 0))",
    "walls around": (
        "for x, y, a, b in ((5, 0, 0.1, 10), (-5, 0, 0.1, 10), (0, 5, 10, 0.1)):\n"
        "    bpy.ops.mesh.primitive_cube_add(size=1, location=(x, y, 2))\n    bpy.context.object.scale = (a, b, 4)\n"
        "for i in range(16):\n"
        "    bpy.ops.mesh.primitive_cube_add(size=1, location=(2 * (i % 4) - 3, 2 * (i // 4) - 3, 0.5))\n"
        "    m = bpy.data.materials.new('red')\n    m.diffuse_color = (1, 0, 0, 1)\n"
        "    bpy.context.object.data.materials.append(m)"
    ),
    "a closed room": (
        CUBE + "bpy.context.object.scale = (5, 5, 3)\nbpy.context.object.name = 'Room'\n"
        "for x in range(-3, 4, 2):\n"
        "    bpy.ops.mesh.primitive_cube_add(size=1, location=(x, 0, -2.5))\n"
        "    m = bpy.data.materials.new('red')\n    m.diffuse_color = (1, 0, 0, 1)\n"
        "    bpy.context.object.data.materials.append(m)"
    ),
    "many on one side": (
        "bpy.ops.mesh.primitive_cube_add(size=1, location=(20, 0, 0))\n"
        "for i in range(27):\n"
        "    bpy.ops.mesh.primitive_cube_add(size=0.5, location=(i % 3, i // 3 % 3, i // 9))\n"
        "    bpy.context.object.name = f'Part {i}'"
    ),
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn]:
    folder: Path = tmp_path_factory.mktemp("framing")
    return draw_many({**WHOLE, **FAR, **FLAT, **NOTHING, **OTHERS}, folder)


@pytest.mark.parametrize("name", WHOLE)
def test_all_of_it_is_shown(drawn: dict[str, Drawn], name: str) -> None:
    """Whatever its size, place and kind, it fills a good part of each picture, and none of it is cut off."""
    pictures = drawn[name]
    for file in (*STILLS, "front.png", "right.png", "top.png"):
        assert file in pictures.files
        least = 0.4 if "turntable" in file or name == "a rod of 40 m" else 0.5
        if name == "grease pencil" and not pictures.figure(file).any():
            continue  # drawn on a plane, which the front and the top see edge-on
        if name == "a rod of 40 m" and file in ("front.png", "shot_low.png"):
            continue  # from its end
        assert pictures.span(file) > least, (file, pictures.span(file))
        assert not pictures.is_cut(file), file


@pytest.mark.parametrize("name", ["an infinite vertex beside", "not a number beside", "only infinite"])
def test_what_is_not_finite_is_told(drawn: dict[str, Drawn], name: str) -> None:
    """An object with coordinates that are no numbers is not drawn, and named."""
    assert "is not drawn: coordinates that are no finite numbers" in drawn[name].notes
    assert ("'Cube'" if name == "only infinite" else "'Broken'") in drawn[name].notes


@pytest.mark.parametrize("name", FAR)
def test_a_far_speck_does_not_decide_the_framing(drawn: dict[str, Drawn], name: str) -> None:
    """The main body is large in each picture; labels and a note tell what is left out."""
    pictures = drawn[name]
    for file in (*STILLS, "front.png", "right.png", "top.png"):
        assert pictures.figure(file).mean() > 0.03, file
        if name == "an empty mesh far away":
            assert pictures.span(file) > 0.4
        elif name != "a cube past all numbers":
            assert pictures.label(file).endswith("Dust', far away"), pictures.label(file)
    if name == "a cube past all numbers":
        assert "Dust' is not drawn: coordinates that are no finite numbers, or beyond 1e9 units" in pictures.notes
    elif name != "an empty mesh far away":
        assert "left out, since small or alone and far from the rest: '" in pictures.notes
    assert "\\x1b" not in pictures.notes + pictures.label("hero.png")


def test_equals_far_apart_are_all_framed(drawn: dict[str, Drawn]) -> None:
    """Neither of two like cubes is left out."""
    assert drawn["equals far apart"].notes == ""
    assert drawn["equals far apart"].label("hero.png") == "the whole scene from the front left"
    assert drawn["equals far apart"].span("front.png") > 0.5


def test_far_things_do_not_shake(drawn: dict[str, Drawn]) -> None:
    """A thousand kilometres from the origin a head looks as it does at a hundred."""
    near, far = (drawn[name].figure("hero.png") for name in ("100 km away", "1000 km away"))
    assert (near != far).mean() < 0.003
    assert near.mean() > 0.15


@pytest.mark.parametrize("name", FLAT)
def test_flat_things_are_looked_at_from_a_side_that_shows_them(drawn: dict[str, Drawn], name: str) -> None:
    """The hero sees the face of a plane; an elevation that sees it edge-on shows a line or nothing, and is not cut."""
    pictures = drawn[name]
    assert pictures.figure("hero.png").mean() > 0.15
    assert not pictures.is_cut("hero.png")
    shares = [pictures.figure(f"{side}.png").mean() for side in ("front", "right", "top")]
    assert max(shares) > 0.1 or name == "a plane that the first view sees edge-on"
    assert not any(pictures.is_cut(f"{side}.png") for side in ("front", "right", "top"))


@pytest.mark.parametrize("name", NOTHING)
def test_an_empty_scene_has_no_pictures_and_a_reason(drawn: dict[str, Drawn], name: str) -> None:
    """Where there is nothing to show, nothing is drawn."""
    assert drawn[name].files == []
    assert "the scene holds nothing that a render would show" in drawn[name].notes


def test_large_ground_is_drawn_but_not_framed(drawn: dict[str, Drawn]) -> None:
    """What stands on a ground of half a kilometre is large in the picture, and a note says what is not framed."""
    pictures = drawn["a ground"]
    assert pictures.notes == "not framed, since far larger than the rest: 'Ground'"
    assert pictures.label("shot_everything.png") == "everything, with 'Ground', from the front left"
    hero = pictures.pixels("hero.png")[..., :3].sum(axis=2)
    edges = np.abs(np.diff(hero, axis=1)) > 40
    assert np.ptp(np.flatnonzero(edges.any(axis=0))) > 0.3 * hero.shape[1]


def test_a_closed_room_is_cut_open(drawn: dict[str, Drawn]) -> None:
    """Where the whole hides most of what is in it, one more picture leaves out what stands before."""
    pictures = drawn["a closed room"]
    assert "shot_section.png" in pictures.files
    section, hero = (pictures.pixels(file) for file in ("shot_section.png", "hero.png"))

    def redness(shown: np.ndarray) -> float:
        return float((shown[..., 0] > 2 * shown[..., 1] + 20).mean())

    assert redness(hero) == 0
    assert redness(section) > 0.01


def test_the_turntable_looks_over_walls(drawn: dict[str, Drawn]) -> None:
    """From behind a wall it is raised, so that what the wall hides shows; from the open side it is not."""
    pictures = drawn["walls around"]
    assert pictures.label("turntable_0.png") == "from the front, at 0 degrees"
    assert pictures.label("turntable_1.png") == "from the back, at 180 degrees, from higher up"
    shown = pictures.pixels("turntable_1.png")
    assert float((shown[..., 0] > 2 * shown[..., 1] + 20).mean()) > 0.02


def test_closer_picture_shows_where_most_is(drawn: dict[str, Drawn]) -> None:
    """Of a heap and a block far from it the closer picture shows the heap."""
    pictures = drawn["many on one side"]
    assert "'Part" in pictures.label("shot_closeup.png")
    assert "'Cube'" not in pictures.label("shot_closeup.png")
    assert pictures.figure("shot_closeup.png").mean() > 2 * pictures.figure("hero.png").mean()


def test_a_thread_is_shown_by_the_hero(drawn: dict[str, Drawn]) -> None:
    """Two thousand times as long as thick, it goes through the hero; smaller pictures may have no pixel for it."""
    assert drawn["a thread"].span("hero.png") > 0.5


def test_loose_edges_make_empty_pictures(drawn: dict[str, Drawn]) -> None:
    """What has no faces is framed, but not drawn: such pictures are left out when they are published."""
    assert not drawn["loose edges"].figure("hero.png").any()
