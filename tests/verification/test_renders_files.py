"""What is published of a scene: names, forms, bytes that do not tell where they were made, and nothing forged."""

import getpass
import json
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from harness.checks.opened_file import Wanted
from harness.checks.run import examine
from harness.execute import execute
from harness.renders import LIMITS, RENDERS_FILE, RenderRequest, Renders, finish_renders, render_scene_file
from harness.settings import HarnessSettings
from recorder.verification import RendersFile

pytestmark = pytest.mark.blender

SETTINGS = HarnessSettings()
REQUEST = RenderRequest(width=256, n_turntable=4, n_frames=3, n_film_frames=8)
SCENE = """
import bpy
scene = bpy.context.scene
scene.frame_end = 30
scene.unit_settings.system = 'METRIC'
cube = bpy.data.objects['Cube']
cube.keyframe_insert('location', frame=1)
cube.location.x = 4
cube.keyframe_insert('location', frame=30)
scene.frame_set(1)
bpy.ops.mesh.primitive_plane_add(size=8, location=(0, 0, -1))
bpy.ops.wm.save_as_mainfile(filepath='scene.blend')
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.wm.save_as_mainfile(filepath='empty.blend')
bpy.ops.mesh.primitive_plane_add(size=8)
bpy.ops.object.camera_add(location=(0, 0, -500))
bpy.context.scene.camera = bpy.context.object
bpy.ops.wm.save_as_mainfile(filepath='plane.blend')
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.mesh.primitive_cube_add()
heavy = bpy.context.object.modifiers.new('s', 'SUBSURF')
heavy.levels, heavy.render_levels = 0, 11
bpy.ops.wm.save_as_mainfile(filepath='heavy.blend')
bpy.context.object.modifiers.remove(heavy)
for axis in range(3):
    row = bpy.context.object.modifiers.new('a', 'ARRAY')
    row.count, row.show_viewport = 1000, False
bpy.ops.wm.save_as_mainfile(filepath='heaviest.blend')
"""
SCANT = replace(LIMITS, memory_mb=1024)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `scene.blend` and others, drawn into `renders`, `again`, ..."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "make.py").write_text(SCENE)
    execute("make.py", folder, SETTINGS)
    for name, scene in {"renders": "scene", "again": "scene", "empty": "empty", "plane": "plane"}.items():
        render_scene_file(folder / f"{scene}.blend", SETTINGS, REQUEST, folder / name)
    return folder


def listing(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / RENDERS_FILE).read_text(encoding="utf-8"))
    return content


def test_all_files_are_there_and_listed(made: Path) -> None:
    """The list names every file of the folder, in the form that the recorder reads."""
    record = RendersFile.model_validate_json((made / "renders" / RENDERS_FILE).read_bytes())
    names = [render.file for render in record.renders]
    assert names == [
        "hero.png",
        "shot_camera.png",
        "shot_high.png",
        "shot_low.png",
        "front.png",
        "right.png",
        "top.png",
        *(f"turntable_{n}.png" for n in range(4)),
        "frame_0001.png",
        "frame_0017.png",
        "frame_0029.png",
        "animation.mp4",
        "contact_sheet.png",
    ]
    assert sorted([*names, RENDERS_FILE]) == sorted(file.name for file in (made / "renders").iterdir())
    assert record.notes == ["the film shows one frame in 4, at the true speed"]
    for render in record.renders:
        if render.file.endswith(".png"):
            with Image.open(made / "renders" / render.file) as picture:
                assert picture.size == (render.width, render.height)


def test_elevations_have_a_scale(made: Path) -> None:
    """An elevation says how many units a pixel is, and has a strip with a bar below the picture."""
    elevations = [r for r in listing(made / "renders")["renders"] if r["kind"] == "elevation"]
    assert all(r["units_per_pixel"] == pytest.approx(8 * 1.12 / 160, rel=0.4) for r in elevations)
    with Image.open(made / "renders/front.png") as picture:
        assert picture.size == (160, 140)
        strip = picture.crop((80, 121, 160, 140)).convert("L")
        assert strip.getextrema() == (16, 240)


def test_the_same_scene_gives_the_same_bytes(made: Path) -> None:
    """A second run with a Blender of its own writes the same pictures."""
    for file in (made / "renders").iterdir():
        assert file.read_bytes() == (made / "again" / file.name).read_bytes(), file.name


def test_nothing_says_where_or_when(made: Path) -> None:
    """No file holds a path, a user, a machine, a date or a program's name; PNGs hold pixels alone."""
    words = [str(made), "scene.blend", "/tmp", "/opt", "/home", "/root"]
    words += [word for word in (socket.gethostname(), getpass.getuser(), made.name) if len(word) > 4]
    words += ["Blender", "Lavf", "Lavc", "creation_time", "tEXt", "eXIf", "tIME", "pHYs"]
    for file in (made / "renders").iterdir():
        content = file.read_bytes()
        for word in words:
            assert word.encode() not in content, (file.name, word)


def test_an_empty_scene_is_a_list_with_a_note(made: Path) -> None:
    """No pictures, no sheet, and the reason."""
    assert [file.name for file in (made / "empty").iterdir()] == [RENDERS_FILE]
    assert listing(made / "empty")["renders"] == []
    assert listing(made / "empty")["notes"] == ["the scene holds nothing that a render would show"]


def test_pictures_of_nothing_are_left_out(made: Path) -> None:
    """A plane seen edge-on and a camera that sees nothing give notes instead of empty pictures."""
    names = [render["file"] for render in listing(made / "plane")["renders"]]
    assert "hero.png" in names
    assert "top.png" in names
    assert not {"shot_camera.png", "front.png", "right.png"} & {*names}
    (note,) = listing(made / "plane")["notes"]
    assert note.startswith("left out: shot_camera.png, front.png, right.png: nothing shows in it")


def test_the_film_plays(made: Path) -> None:
    """It is H.264 in 4:2:0, as long as the scene."""
    from harness.video_reader import VideoReader

    with VideoReader(SETTINGS) as reader:
        reader.start()
        reader.video.write_bytes((made / "renders/animation.mp4").read_bytes())
        facts = reader.analyse().facts
    assert (facts.codec, facts.pixel_format, facts.n_frames) == ("h264", "yuv420p", 8)
    assert facts.fps == pytest.approx(6)
    film = next(r for r in listing(made / "renders")["renders"] if r["kind"] == "animation")
    assert (facts.width, facts.height) == (film["width"], film["height"])
    content = (made / "renders/animation.mp4").read_bytes()
    assert content.index(b"moov") < content.index(b"mdat")


def test_what_is_there_is_not_overwritten(made: Path) -> None:
    """A folder that exists is refused."""
    with pytest.raises(FileExistsError):
        render_scene_file(made / "empty.blend", SETTINGS, REQUEST, made / "renders")


def test_a_file_that_is_no_scene_has_a_note(made: Path) -> None:
    """What Blender cannot open gives no pictures, and its words without a path."""
    broken = made / "broken.blend"
    broken.write_bytes((made / "scene.blend").read_bytes()[:5000])
    drawn = render_scene_file(broken, SETTINGS, REQUEST, made / "broken")
    assert drawn.renders == []
    (note,) = drawn.notes
    assert note.startswith("Blender cannot open the scene: ")
    assert "/" not in note


def test_what_is_too_heavy_is_drawn_with_less_subdivision(made: Path) -> None:
    """A render that subdivides eleven times ends the Blender that examines the file; another one draws it."""
    looked = examine(made / "heavy.blend", Wanted(renders=REQUEST), SETTINGS, SCANT, keep=made / "heavy")
    drawn = looked.renders
    assert drawn
    assert {"hero.png", "front.png", "contact_sheet.png"} <= {render.file for render in drawn.renders}
    assert drawn.problem == ""
    why, simple = drawn.notes
    assert why.startswith("on a second try, since at first Blender ")  # stopped, or crashed
    assert simple == "drawn with subdivision of at most 2 levels"


def test_what_cannot_be_drawn_at_all_is_a_problem(made: Path) -> None:
    """No picture of a scene that holds a thing is a problem that says why; an empty scene is none."""
    drawn = render_scene_file(made / "heaviest.blend", SETTINGS, REQUEST, made / "heaviest", SCANT)
    assert drawn.renders == []
    assert "limit of memory" in drawn.problem
    record = RendersFile.model_validate_json((made / "heaviest" / RENDERS_FILE).read_bytes())
    assert record.problem == drawn.problem
    assert listing(made / "empty")["problem"] == listing(made / "renders")["problem"] == ""


def forged(raw: Path, files: list[str], keep: Path) -> Renders:
    """Publish what a hostile Blender left in `raw` and said of it."""
    said = {"kind": "render", "render_kind": "shot", "label": "forged", "frame": 1, "width": 64, "height": 64}
    messages = [{**said, "file": name} for name in files]
    return finish_renders(messages, raw, keep, SETTINGS, REQUEST, "0" * 64)


def test_links_and_other_forms_are_not_published(made: Path, tmp_path: Path) -> None:
    """Links, pipes, names that lead out, and what is no PNG are left out; an honest picture beside them is there."""
    raw = tmp_path / "raw"
    raw.mkdir()
    honest = Image.new("RGBA", (64, 64), (255, 0, 0, 255))
    honest.putpixel((0, 0), (0, 0, 0, 0))
    honest.save(raw / "good.png")
    (raw / "link.png").symlink_to(made / "renders/hero.png")
    os.link(made / "renders/hero.png", raw / "hard.png")
    os.mkfifo(raw / "pipe.png")
    (raw / "text.png").write_text("not a picture")
    (raw / "cut.png").write_bytes((made / "renders/hero.png").read_bytes()[:3000])
    names = ["good.png", "link.png", "hard.png", "pipe.png", "text.png", "cut.png", "missing.png"]
    drawn = forged(raw, [*names, "../good.png", "/etc/passwd", "good.png"], tmp_path / "keep")
    assert [render.file for render in drawn.renders] == ["good.png", "contact_sheet.png"]
    assert drawn.notes == [f"left out: {', '.join(names[1:])}: the picture that Blender wrote cannot be read"]
    (raw / "hard.png").unlink()


def test_notes_are_plain_and_bounded(tmp_path: Path) -> None:
    """What an object's name brings along is one plain line of bounded length."""
    raw = tmp_path / "raw"
    raw.mkdir()
    messages = [{"kind": "render_note", "text": "a\n\x1b[31mb" + "x" * 10_000}] * 500
    drawn = finish_renders(messages, raw, tmp_path / "keep", SETTINGS, REQUEST, "0" * 64)
    assert 0 < len(drawn.notes) <= 60
    assert all(len(note) <= 300 and note.isprintable() for note in drawn.notes)
