"""The steps that took effect are one script, which gives the scene by itself."""

import ast
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.final_script import StepStart, final_script
from harness.interpreter import PROJECT_DIR, RUN_ENVIRONMENT, find_environment, library_environment, libs_dir
from harness.sandbox.jail import Jail
from harness.settings import HarnessSettings
from harness.state_diff import diff, summarise
from harness.step_report import step_text
from harness.step_result import StepResult
from harness.step_session import StepSession
from tests.harness.sessions import good, open_session, printed

pytestmark = pytest.mark.blender


def run_bare(script: Path, timeout: float = 60) -> dict[str, Any]:
    """Run a script by itself with the Blender interpreter, and return the scene's state."""
    settings = HarnessSettings()
    environment = find_environment(settings)
    state = script.with_suffix(".json")
    program = (
        f"import sys, os, json, runpy\nsys.argv = [{str(script)!r}]\n"
        f"runpy.run_path({str(script)!r}, run_name='__main__')\n"
        f"sys.path.insert(0, {str(PROJECT_DIR)!r})\nfrom harness.in_blender.scene_state import scene_state\n"
        f"json.dump(scene_state(), open({str(state)!r}, 'w'))\nsys.stdout.flush()\nos._exit(0)\n"
    )
    variables = {
        **RUN_ENVIRONMENT,
        **library_environment((), libs_dir(settings, environment)),
        "HOME": str(script.parent),
    }
    ended = subprocess.run(
        [str(environment.python), "-c", program],
        cwd=script.parent,
        env={name: Jail.outside(word) for name, word in variables.items()},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr[-2000:]
    found: dict[str, Any] = json.loads(state.read_text())
    return found


def assert_replays(session: StepSession, folder: Path, *files: str) -> None:
    """The final script alone, in a folder with nothing but `files`, gives the session's scene."""
    for name in files:
        (folder / name).write_bytes((session.workspace / name).read_bytes())
    script = folder / "final_script.py"
    script.write_text(session.final_script(), encoding="utf-8")
    changes = diff(session.state, run_bare(script))
    assert summarise(changes) == []


@pytest.fixture(scope="module")
def start_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with two scenes, the second one in use, at frame 7."""
    folder = tmp_path_factory.mktemp("start")
    with open_session(folder) as session:
        good(
            session,
            """
            import bpy
            other = bpy.data.scenes.new('Other')
            other.collection.objects.link(bpy.data.objects['Cube'])
            bpy.context.window.scene = other if bpy.context.window else None
            bpy.data.objects['Cube'].name = 'Box'
            bpy.context.scene.frame_set(7)
            """,
        )
        session.save("room.blend")
    return folder / "room.blend"


@pytest.mark.parametrize("kind", ["factory", "empty", "file"])
def test_final_script_gives_the_scene(workspace: Path, tmp_path: Path, start_file: Path, kind: str) -> None:
    """From every kind of start, the steps as one script, run by the bare interpreter, give the same state."""
    (workspace / "room.blend").write_bytes(start_file.read_bytes())
    start = StepStart.model_validate({"kind": kind, "file": "room.blend" if kind == "file" else ""})
    with open_session(workspace, start) as session:
        good(
            session,
            '"""A docstring."""\nfrom __future__ import annotations; import bpy\nn: Unknown = len(bpy.data.objects)',
        )
        good(
            session, "def add(x: NotDefined) -> None:\n    bpy.ops.mesh.primitive_cone_add(location=(x, 0, n))\nadd(1)"
        )
        session.step("add(2)\nadd(None)")
        good(session, "add(3)\nbpy.context.object.modifiers.new('Bevel', 'BEVEL').width = 0.1")
        good(session, "assert __doc__ == 'A docstring.'" if kind != "empty" else "pass")
        assert_replays(session, tmp_path, *(["room.blend"] if kind == "file" else []))


def test_start_file_is_opened_as_it_is(workspace: Path, start_file: Path) -> None:
    """The first step finds the file's scene, objects and frame, and where the file is."""
    (workspace / "room.blend").write_bytes(start_file.read_bytes())
    with open_session(workspace, StepStart(kind="file", file="room.blend")) as session:
        assert sorted(key for key in session.state["blocks"] if key.startswith(("Object/", "Scene/"))) == [
            "Object/Box",
            "Object/Camera",
            "Object/Light",
            "Scene/Other",
            "Scene/Scene",
        ]
        code = "import bpy, os\nprint(bpy.context.scene.frame_current, bpy.path.abspath('//x') == os.path.abspath('x'))"
        assert printed(session, code) == "7 True"


def test_start_file_that_steps_overwrite(workspace: Path, start_file: Path) -> None:
    """A rebuilt session starts from the file as it was, even when a step has saved over it."""
    (workspace / "room.blend").write_bytes(start_file.read_bytes())
    with open_session(workspace, StepStart(kind="file", file="room.blend")) as session:
        good(session, "import bpy, os, time\nbpy.data.objects['Box'].name = 'Renamed'\nbpy.ops.wm.save_mainfile()")
        session.step("os.kill(os.getppid(), 9); time.sleep(9)")
        result = good(session, "print('Renamed' in bpy.data.objects)")
        assert (result.rebuilt_differs, result.log.lines) == (False, ("True",))


ODD_CODE = {
    "comment at the end": "a = 1  # no line end",
    "backslash at the end": "b = 1 + \\\n\n",
    "backslash before the end": "b = 1 \\\n\n",
    "block at the end": "if True:\n    c = 3\n    if a:\n        d = 4",
    "form feed": "\x0ce = 5\n\x0c\nf = 6\x0c",
    "tabs": "if True:\n\tg = 7\n\n\n",
    "Windows line ends": "h = '''x\r\ny'''\r\nassert h == 'x\\ny'\r\nif h:\r\n    i = 9\r\n",
    "old line ends": "j = 10\rk = 11\r",
    "byte order mark": "\ufeffl = 12",
    "names in other scripts": "größe = 3\nπ = 'ü😀\u2028'\nassert len(π) == 3",
    "coding line": "# -*- coding: latin-1 -*-\nm = 'é'\nassert len(m) == 1",
    "main guard": "if __name__ == '__main__':\n    n = 14",
    "only a comment": "# nothing",
    "nothing": "",
    "spaces": "   \n\t\n",
    "docstring": '"""A text."""\no = 15',
    "line in a string": "p = '''\n# step 1\n'''",
    "decorated class": "import dataclasses\n@dataclasses.dataclass\nclass Q:\n    r: int = 1\ns = Q().r",
    "global": "def t():\n    global u\n    u = 20\nt()",
    "semicolons": "v = 21; w = 22;",
    "type comment": "x = []  # type: list[int]",
}


@pytest.fixture(scope="module")
def odd_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[StepSession, dict[str, StepResult]]]:
    with open_session(tmp_path_factory.mktemp("odd"), StepStart(kind="empty")) as session:
        yield session, {name: session.step(code) for name, code in ODD_CODE.items()}


def test_odd_code_joins(odd_session: tuple[StepSession, dict[str, StepResult]], tmp_path: Path) -> None:
    """Whatever its line ends, indents or last characters, code that ran as a step runs as a part of the script."""
    session, results = odd_session
    assert [name for name, result in results.items() if not result.ok] == ["backslash at the end"]
    names = sorted(good(session, "print(sorted(n for n in dir() if len(n) == 1))").log.lines)
    script = session.final_script() + "\nprint(sorted(n for n in dir() if len(n) == 1))\n"
    (tmp_path / "final_script.py").write_text(script, encoding="utf-8")
    assert diff(session.state, run_bare(tmp_path / "final_script.py")) == []
    assert "'π', 'größe'"[:3] in names[0]


PREFACES = {
    "none": "import bpy",
    "future": "from __future__ import annotations\nimport bpy",
    "futures on one line": "from __future__ import annotations; from __future__ import division; import bpy; x = 'ä'",
    "docstring": '"""Text\nof two lines."""\nimport bpy',
    "docstring and future": '"""ä"""; from __future__ import annotations; import bpy',
    "comments": (
        "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n'd'\n# x\nfrom __future__ import (\n    annotations,\n)\n\nx = 1"
    ),
    "Windows": '"""d"""\r\nfrom __future__ import annotations\r\nx = 1\r\n',
    "only future": "from __future__ import annotations",
    "nothing": "",
    "bytes": "b'no docstring'\nx = 1",
}


@pytest.mark.parametrize("name", PREFACES)
@pytest.mark.parametrize("kind", ["factory", "empty", "file"])
def test_opening_lines_stand_where_they_may(name: str, kind: str) -> None:
    """The lines that open the start come before the first step's code, after its docstring and future imports."""
    code = PREFACES[name]
    start = StepStart.model_validate({"kind": kind, "file": "a.blend" if kind == "file" else ""})
    script = final_script(start, [(1, code), (2, "y = 2")])
    body = ast.parse(script).body
    compile(script, "final_script.py", "exec")
    own = [ast.dump(node) for node in ast.parse(code.replace("\r\n", "\n")).body]
    opening = [ast.dump(node) for node in ast.parse(start.script()).body]
    got = [ast.dump(node) for node in body]
    assert [node for node in got if node not in opening] == [n for n in own if n not in opening] + [
        ast.dump(ast.parse("y = 2").body[0])
    ]
    assert ast.get_docstring(ast.parse(script)) == ast.get_docstring(ast.parse(code))
    if kind == "factory":
        assert script.count(code) == 1 or name == "nothing"


# a whole session


TWENTY = """
## ok
import bpy, bmesh, math, os, random, sys, time, ctypes
random.seed(3)
scene = bpy.context.scene
scene.render.engine = 'BLENDER_WORKBENCH'
scene.render.resolution_x = scene.render.resolution_y = 32
scene.display.render_aa = 'OFF'
scene.frame_end = 12
## ok
bpy.data.objects.remove(bpy.data.objects['Cube'])
bpy.ops.mesh.primitive_plane_add(size=10)
ground = bpy.context.object
## ok
bpy.ops.mesh.primitive_monkey_add(location=(0, 0, 2))
monkey = bpy.context.object
monkey.modifiers.new('Smooth', 'SUBSURF').levels = 2
monkey.modifiers.new('Solid', 'SOLIDIFY').thickness = 0.1
## step_error
monkey.location = (random.random(), 9, 9)
raise RuntimeError('four')
## ok
red = bpy.data.materials.new('Red')
red.use_nodes = True
nodes, links = red.node_tree.nodes, red.node_tree.links
nodes['Principled BSDF'].inputs['Base Color'].default_value = (0.8, 0.05, 0.02, 1)
links.new(nodes.new('ShaderNodeTexNoise').outputs['Fac'], nodes['Principled BSDF'].inputs['Roughness'])
monkey.data.materials.append(red)
## ok
monkey.keyframe_insert('rotation_euler', frame=1)
monkey.rotation_euler.z = math.pi
monkey.keyframe_insert('rotation_euler', frame=12)
## ok
scene.render.filepath = os.path.abspath('one.png')
assert bpy.ops.render.render(write_still=True) == {'FINISHED'}
## timeout
bpy.data.objects.remove(monkey)
open('one.png', 'w').write('x')
while True: pass
## ok
bpy.context.view_layer.objects.active = ground
bpy.ops.rigidbody.object_add(type='PASSIVE')
balls = []
for i in range(5):
    x = random.uniform(-2, 2)
    bpy.ops.mesh.primitive_ico_sphere_add(radius=0.3, location=(x, 0, 3 + i))
    bpy.ops.rigidbody.object_add()
    balls.append(bpy.context.object)
## ok
for frame in range(1, 13):
    scene.frame_set(frame)
for ball in balls:
    ball['landed'] = ball.matrix_world.translation[:]
scene.frame_set(1)
## ok
bpy.ops.mesh.primitive_grid_add(size=2, x_subdivisions=8, y_subdivisions=8, location=(3, 0, 3))
cloth = bpy.context.object
cloth.modifiers.new('Cloth', 'CLOTH').settings.quality = 2
for frame in range(1, 6):
    scene.frame_set(frame)
scene.frame_set(1)
## crash
del balls
ctypes.string_at(0)
## ok
tree = bpy.data.node_groups.new('Scatter', 'GeometryNodeTree')
tree.interface.new_socket('Geometry', in_out='INPUT', socket_type='NodeSocketGeometry')
tree.interface.new_socket('Geometry', in_out='OUTPUT', socket_type='NodeSocketGeometry')
names = ('NodeGroupInput', 'GeometryNodeDistributePointsOnFaces', 'GeometryNodeMeshCone')
begin, points, cone = (tree.nodes.new(name) for name in names)
place, end = tree.nodes.new('GeometryNodeInstanceOnPoints'), tree.nodes.new('NodeGroupOutput')
points.inputs['Density'].default_value = 0.5
tree.links.new(begin.outputs[0], points.inputs['Mesh'])
tree.links.new(points.outputs['Points'], place.inputs['Points'])
tree.links.new(cone.outputs['Mesh'], place.inputs['Instance'])
tree.links.new(place.outputs[0], end.inputs[0])
## ok
bpy.ops.mesh.primitive_grid_add(size=4, location=(-4, 0, 0))
bpy.context.object.modifiers.new('Scatter', 'NODES').node_group = tree
## ok
scene.render.filepath = os.path.abspath('film_')
bpy.ops.render.render(animation=True)
assert len([name for name in os.listdir() if name.startswith('film_')]) == 12
## out_of_memory
x = []
while True: x.append(bytearray(b'1' * (20 << 20)))
## ok
scene.render.engine = 'CYCLES'
scene.cycles.samples = 1
scene.render.filepath = os.path.abspath('cycles.png')
bpy.ops.render.render(write_still=True)
## ok
bm = bmesh.new()
bmesh.ops.create_cube(bm, size=1)
bmesh.ops.bevel(bm, geom=bm.edges[:], offset=0.1, segments=2, affect='EDGES')
bevelled = bpy.data.objects.new('Bevelled', bpy.data.meshes.new('Bevelled'))
bm.to_mesh(bevelled.data)
bm.free()
scene.collection.objects.link(bevelled)
## ok
bevelled.parent = monkey
bevelled.constraints.new('TRACK_TO').target = ground
scene.camera.data.lens = 20 + 10 * random.random()
## refused
sys.exit('twenty')
## ok
scene.world.color = (0.1, 0.2, 0.3)
scene.frame_set(1)
"""
"""Steps and how each ends."""


@pytest.mark.timeout(150)
def test_twenty_steps_of_which_some_fail(workspace: Path, tmp_path: Path) -> None:
    """Modelling, materials, physics, nodes and renders, with steps that fail between them, replay to an empty diff."""
    with open_session(workspace, exec_timeout=8, memory_mb=1500) as session:
        for number, step in enumerate(TWENTY.split("\n## ")[1:], start=1):
            outcome, _, code = step.partition("\n")
            result = session.step(code)
            assert (result.number, result.outcome) == (number, outcome), step_text(result)
            assert not result.rebuilt
        assert sorted(p.name for p in workspace.iterdir())[:3] == ["cycles.png", "film_0001.png", "film_0002.png"]
        assert (workspace / "one.png").read_bytes()[:4] == b"\x89PNG"
        path = session.save()
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        assert_replays(session, elsewhere)
        opened_in = tmp_path / "opened"
        opened_in.mkdir()
        (opened_in / "scene.blend").write_bytes(path.read_bytes())
        with open_session(opened_in, StepStart(kind="file", file="scene.blend")) as opened:
            assert summarise(diff(session.state, opened.state)) == []
