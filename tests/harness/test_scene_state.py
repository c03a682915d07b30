"""The canonical scene state, read in a real Blender from a scene with one of nearly everything."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness.blender import run_in_blender
from harness.final_script import StepStart
from harness.interpreter import find_environment, library_environment, libs_dir
from harness.settings import HarnessSettings
from harness.state_diff import diff, state_hash
from harness.step_session import StepSession

pytestmark = pytest.mark.blender

PROGRAM = Path(__file__).parent / "in_blender_scripts/mutate.py"


def mutate(folder: Path, hash_seed: str, *arguments: str) -> dict[str, Any]:
    """What the test program in Blender found."""
    settings = HarnessSettings()
    environment = find_environment(settings)
    words = library_environment((), libs_dir(settings, environment))
    libraries = {k: ":".join(map(str, v)) if isinstance(v, list) else str(v) for k, v in words.items()}
    variables = {"PYTHONHASHSEED": hash_seed, "EGL_PLATFORM": "surfaceless", "PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(
        [environment.python, "-P", "-s", PROGRAM, folder / "result.json", folder, *arguments],
        env={**os.environ, **libraries, **variables},
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    found: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scene-state")


@pytest.fixture(scope="module")
def found(folder: Path) -> dict[str, Any]:
    return mutate(folder, "1")


def reopened(folder: Path, name: str, tmp_path: Path) -> dict[str, Any]:
    shutil.copy(folder / name, tmp_path / name)
    run = run_in_blender("dump_state.py", [name], workspace=tmp_path, settings=HarnessSettings())
    message = run.message("state")
    assert message is not None, run.exit
    return message


def test_every_change_shows(found: dict[str, Any]) -> None:
    """One changed vertex, handle, link, slot, setting or property is another state, 120 kinds of them."""
    assert {name: answer["error"] for name, answer in found["changes"].items() if "error" in answer} == {}
    assert [n for n, answer in found["changes"].items() if answer["hash"] == found["base"]["hash"]] == []
    assert len(found["changes"]) > 120


def test_what_is_not_the_scene_does_not_show(found: dict[str, Any]) -> None:
    """Selection, modes, tools, orphans, undo, evaluation, rendering and noise in the last bit leave the state alone."""
    different = {n: answer for n, answer in found["same"].items() if answer.get("hash") != found["base"]["hash"]}
    assert different == {}


def test_other_process_other_hash_seed(found: dict[str, Any], tmp_path: Path) -> None:
    """The same script in another process, with another PYTHONHASHSEED, gives the same state."""
    again = mutate(tmp_path, "2", "base")
    assert diff(found["base"]["state"], again["base"]["state"]) == []
    assert again["base"]["hash"] == found["base"]["hash"]


def test_saved_and_reopened(found: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    """The saved file, opened in another process, has the state of the session that saved it."""
    message = reopened(folder, "saved.blend", tmp_path)
    assert diff(found["saved"]["state"], message["state"]) == []
    assert message["hash"] == found["saved"]["hash"] == found["base"]["hash"]


def test_simulations_after_reopening(found: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    """Cloth and particles stand in the file where they stood; unbaked rigid bodies are back at their start."""
    message = reopened(folder, "played.blend", tmp_path)
    assert [c.path for c in diff(found["played"]["state"], message["state"])] == ["Object/Body.evaluated.matrix_world"]


def test_both_sides_compute_one_hash(found: dict[str, Any]) -> None:
    """The hash made in Blender is the hash of the JSON that arrives."""
    assert state_hash(found["base"]["state"]) == found["base"]["hash"]


def test_everything_could_be_read(found: dict[str, Any]) -> None:
    """No property of the scene raises, and nothing is left out for its size."""
    text = json.dumps(found["base"]["state"])
    assert "<unreadable" not in text
    assert "_left_out" not in text


def test_evaluated_geometry_has_counts_and_bounds(found: dict[str, Any]) -> None:
    """The subdivided grid and the instances on points are there as counts, bounds and hashes."""
    evaluated = found["base"]["state"]["evaluated"]
    grid = evaluated["Object/Grid"]
    assert (grid["n_vertices"], grid["n_faces"]) == (1681, 1600)
    assert len(grid["bounds"]) == 2
    assert evaluated["instances"]["n"] == 3


def test_paths_read_like_the_python_api(found: dict[str, Any]) -> None:
    """Values stand under the path by which a script would reach them."""
    blocks = found["base"]["state"]["blocks"]
    assert blocks["Object/Grid"]["modifiers[Wave].height"] == 0.2
    assert blocks["Object/Cube"]['["temperature"]'] == 21.5
    assert blocks["Object/Seed"]['modifiers[Nodes]["Socket_1"]'] == 0.5
    assert blocks["Object/Rig"]["pose.bones[Upper].constraints[Limit Rotation].max_x"] == 0.5
    assert blocks["Material/Material"]["node_tree.nodes[Image Texture].image"] == "Image/Painted"


ORDERS = """
import bpy
bpy.ops.mesh.primitive_uv_sphere_add()
bpy.context.object.modifiers.new('smooth', 'SUBSURF').levels = 2
bpy.ops.mesh.primitive_torus_add(location=(3, 0, 0))
bpy.ops.object.mode_set(mode='EDIT')
bpy.ops.mesh.remove_doubles(threshold=0.1)
bpy.ops.object.mode_set(mode='OBJECT')
"""


def test_order_of_elements_is_no_difference(tmp_path: Path) -> None:
    """Blender numbers the faces of a UV sphere in another way in each process; the scene is the same all the same."""
    states = []
    for number in range(3):
        (tmp_path / f"{number}").mkdir()
        with StepSession(tmp_path / f"{number}", HarnessSettings(), StepStart(kind="empty")) as session:
            assert session.step(ORDERS, views=False).ok
            states.append(session.state)
    assert diff(states[0], states[1]) == diff(states[0], states[2]) == []


SHOWN = """
import bpy, os
def shown(image):
    material = bpy.data.materials.new('shown'); material.use_nodes = True
    material.node_tree.nodes.new('ShaderNodeTexImage').image = image
    bpy.data.objects['Cube'].data.materials.append(material)
"""
TILES = f"""{SHOWN}
def write_tile(number, colour):
    tile = bpy.data.images.new('one', 8, 8)
    tile.pixels.foreach_set(colour * 64)
    tile.file_format, tile.filepath_raw = 'PNG', os.path.abspath(f't.{{number}}.png')
    tile.save(); bpy.data.images.remove(tile)
write_tile(1001, (1, 0, 0, 1)); write_tile(1002, (0, 1, 0, 1))
image = bpy.data.images.load(os.path.abspath('t.1001.png'))
image.source, image.filepath = 'TILED', os.path.abspath('t.<UDIM>.png')
image.reload(); shown(image)
"""
LARGE = f"{SHOWN}\nimage = bpy.data.images.new('large', 4096, 4097); shown(image)\n"


@pytest.mark.parametrize(
    ("start", "change", "paths"),
    [
        (TILES, "write_tile(1002, (0, 0, 1, 1))", ["Image/t.1001.png.files"]),
        (TILES, "image.pack()", []),
        (LARGE, "image.pixels[70_000] = 0.5", ["Image/large.pixels"]),
    ],
)
def test_images_that_are_not_read_whole_show_by_their_content(
    tmp_path: Path, start: str, change: str, paths: list[str]
) -> None:
    """Another tile's file and one pixel among 16 million are changes; packing, which saving does, is none."""
    with StepSession(tmp_path, HarnessSettings(), StepStart()) as session:
        assert session.step(start, views=False).ok
        before = session.state
        assert session.step(change, views=False).ok
        changed = [c.path for c in diff(before, session.state)]
    assert changed == paths
