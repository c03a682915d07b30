"""Measuring, drawing and saving leave a live Blender as it is, whatever stands in their way."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import HarnessError
from harness.final_script import StepStart
from harness.state_diff import diff, summarise
from harness.step_session import StepSession
from tests.harness.sessions import good, open_session, printed

pytestmark = pytest.mark.blender


# measuring that fails


def test_measuring_that_kills_the_session(workspace: Path) -> None:
    """A handler that ends everything while the scene is measured costs the measure, not the episode."""
    code = """
    import bpy, os
    def end(*arguments):
        os.kill(-1, 9)
    bpy.app.handlers.frame_change_pre.append(end)
    """
    with open_session(workspace) as session:
        good(session, "import bpy")
        assert good(session, code).state_hash is None
        assert good(session, "bpy.app.handlers.frame_change_pre.clear()").state_hash is not None


def test_measuring_that_hangs(workspace: Path) -> None:
    """A frame handler that hangs costs the summary and the views; the state is still compared."""
    code = "import bpy\ndef hang(*a):\n    while True: pass\nbpy.app.handlers.frame_change_pre.append(hang)"
    with open_session(workspace) as session:
        result = good(session, code, views=True)
        assert (result.scene, result.n_changes, result.views_failed) == (None, 0, True)
        assert result.state_hash
        assert result.seconds < 20
        assert good(session, "bpy.app.handlers.frame_change_pre.clear()").scene is not None


def test_measuring_that_says_it_is_done_and_goes_on(workspace: Path) -> None:
    """A handler that closes the pipe of its own process and hangs is ended; the session goes on."""
    code = "import bpy, os\ndef hang(*a):\n    os.closerange(3, 5000)\n    while True: pass\n"
    with open_session(workspace) as session:
        result = good(session, f"{code}bpy.app.handlers.frame_change_pre.append(hang)")
        assert result.state_hash
        after = good(session, "bpy.app.handlers.frame_change_pre.clear()")
        assert (after.rebuilt, after.scene is not None) == (False, True)


# measuring changes nothing

LOOK = """
def look():
    c, l = bpy.context, bpy.context.view_layer
    o = bpy.data.objects
    return repr([
        [tuple(map(tuple, x.matrix_world)) for x in o], [x.name for x in l.objects if x.select_get()],
        l.objects.active and l.objects.active.name, [x.mode for x in o], c.scene.frame_current,
        {n: len(getattr(bpy.data, n)) for n in ('meshes', 'materials', 'images', 'actions', 'objects', 'worlds')},
        random.getstate(), np.random.get_state()[1].tolist(),
        c.scene.render.engine, c.scene.render.filepath, c.scene.world.name, c.scene.camera.name,
        c.scene.cursor.location[:], os.getcwd(), sorted(os.listdir()), os.environ.get('TZ'), len(sys.modules),
    ])
"""

BEFORE_LOOK = {
    "stale matrix": "bpy.data.objects['Cube'].location.z = 7",
    "selection": "bpy.ops.object.select_all(action='DESELECT'); bpy.data.objects['Light'].select_set(True)",
    "active object": "bpy.context.view_layer.objects.active = bpy.data.objects['Camera']",
    "frame": "bpy.context.scene.frame_current = 33",
    "orphans": "bpy.data.meshes.new('orphan'); bpy.data.materials.new('orphan')",
    "random": "random.seed(5); random.random(); np.random.seed(6); np.random.rand()",
    "files": "bpy.app.handlers.frame_change_pre.append(lambda *a: open('written', 'a').write('x'))",
}


@pytest.fixture(scope="module")
def looked_at(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    with open_session(tmp_path_factory.mktemp("looked_at"), exec_timeout=30) as session:
        good(session, "import bpy, bmesh, mathutils, os, random, sys\nimport numpy as np" + LOOK)
        yield session


@pytest.mark.parametrize("name", BEFORE_LOOK)
def test_measuring_and_drawing_change_nothing(looked_at: StepSession, name: str) -> None:
    """What the next step sees is what the last one left: measured, summed up over frames and drawn in between."""
    good(looked_at, f"{BEFORE_LOOK[name]}\nleft = look()", views=True)
    assert printed(looked_at, "now = look()\nprint(now == left)\nbpy.app.handlers.frame_change_pre.clear()") == "True"


def test_stale_matrix_stays_stale(looked_at: StepSession) -> None:
    """`matrix_world` after a change of location is the old one in the next step too, as in one script."""
    code = "cube = bpy.data.objects['Cube']\nbpy.context.view_layer.update()\ncube.location.x = 40"
    good(looked_at, code, views=True)
    assert printed(looked_at, "print(cube.matrix_world.translation.x == 40)\ncube.location.x = 0") == "False"


def test_edit_mode_stays(looked_at: StepSession) -> None:
    """A step finds edit mode and its uncommitted BMesh as the last one left it; sculpt mode too."""
    good(
        looked_at,
        """
        cube = bpy.data.objects['Cube']
        bpy.context.view_layer.objects.active = cube
        bpy.ops.object.mode_set(mode='EDIT')
        buffer = bmesh.from_edit_mesh(cube.data)
        buffer.verts.new((9, 9, 9))
        """,
        views=True,
    )
    code = "print(cube.mode, len(buffer.verts), len(cube.data.vertices))\nbpy.ops.object.mode_set(mode='SCULPT')"
    assert printed(looked_at, code) == "EDIT 9 8"
    assert printed(looked_at, "print(cube.mode)\nbpy.ops.object.mode_set(mode='OBJECT')") == "SCULPT"
    good(looked_at, "cube.data.vertices[8].co = (0, 0, 0)")


def test_undo_stays(looked_at: StepSession) -> None:
    """Undo steps are those that the steps pushed."""
    good(
        looked_at,
        """
        bpy.ops.ed.undo_push(message='one')
        bpy.data.objects['Cube'].location.y = 3
        bpy.ops.ed.undo_push(message='two')
        """,
        views=True,
    )
    assert printed(looked_at, "print(bpy.ops.ed.undo(), bpy.data.objects['Cube'].location.y)") == "{'FINISHED'} 0.0"


def test_simulation_is_not_advanced(looked_at: StepSession) -> None:
    """Sampling and drawing later frames does not fill the caches of a simulation."""
    code = """
    bpy.context.scene.frame_set(1)
    bpy.context.scene.frame_end = 20
    bpy.ops.mesh.primitive_cube_add(location=(0, 0, 5))
    falling = bpy.context.object
    bpy.ops.rigidbody.object_add()
    for frame in range(1, 6):
        bpy.context.scene.frame_set(frame)
    """
    cache = "print(bpy.context.scene.rigidbody_world.point_cache.info, round(falling.matrix_world.translation.z, 4))"
    result = good(looked_at, code + "\n    " + cache, views=True)
    assert printed(looked_at, cache) == "\n".join(result.log.lines)


# saving


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    with open_session(tmp_path_factory.mktemp("furnished")) as session:
        good(
            session,
            """
            import bpy, numpy as np
            cube = bpy.data.objects['Cube']
            picture = bpy.data.images.new('picture', 8, 8)
            picture.pixels.foreach_set(np.tile(np.array([1, 0.5, 0.25, 1], dtype=np.float32), 64))
            picture.update()
            file = bpy.data.images.new('file', 4, 4)
            file.filepath_raw, file.file_format = '//picture.png', 'PNG'
            file.filepath_raw = __file__.replace('final_script.py', 'picture.png')
            file.save()
            nodes = cube.data.materials[0].node_tree.nodes
            for image in (picture, bpy.data.images.load(file.filepath_raw)):
                nodes.new('ShaderNodeTexImage').image = image
            bpy.data.images.load('/nowhere/missing.png', check_existing=False) if False else None
            cube.keyframe_insert('location', frame=1)
            cube.location.x = 4
            cube.keyframe_insert('location', frame=50)
            """,
        )
        yield session


def test_saved_file_holds_the_scene(furnished: StepSession, tmp_path: Path) -> None:
    """The saved file, opened elsewhere, has the live state, with pictures inside; the live scene stays as it is."""
    before = furnished.state
    path = furnished.save()
    assert path == furnished.workspace / "scene.blend"
    assert path.read_bytes()[:4] in (b"\x28\xb5\x2f\xfd", b"\x1f\x8b\x08\x00")  # compressed
    (tmp_path / "scene.blend").write_bytes(path.read_bytes())
    with open_session(tmp_path, StepStart(kind="file", file="scene.blend")) as opened:
        assert summarise(diff(before, opened.state)) == []
        code = "import bpy\nprint(sorted(i.name for i in bpy.data.images if i.packed_file))"
        assert printed(opened, code) == "['picture', 'picture.png']"
        strings = "print([p for p in bpy.utils.blend_paths() if p.startswith(('/workspace', '/tmp'))])"
        assert printed(opened, strings) in ("[]", "['/workspace/picture.png']")
    result = good(furnished, "print({i.packed_file for i in bpy.data.images}, bpy.data.filepath == '')")
    assert (result.n_changes, result.log.lines) == (0, ("{None} True",))
    assert not list(furnished.workspace.glob("*.blend1"))


HOSTILE = {
    "raises": "def f(*a):\n    raise ValueError\nbpy.app.handlers.save_pre.append(f)",
    "hangs": "def f(*a):\n    while True: pass\nfor when in ('pre', 'post'):\n"
    "    getattr(bpy.app.handlers, f'save_{when}').append(f)",
    "in the way": "import os; os.makedirs('scene.blend/x')",
    "a link": "import os; os.symlink('/etc/passwd', 'scene.blend')",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_saving_against_resistance(workspace: Path, name: str) -> None:
    """Handlers of the script do not run while saving, and what stands in the way is removed."""
    with open_session(workspace) as session:
        good(session, f"import bpy\n{HOSTILE[name]}")
        started = time.monotonic()
        path = session.save()
        assert time.monotonic() - started < 5
        assert not path.is_symlink()
        assert path.read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
        good(session, "pass")


def test_saving_that_hangs_is_an_error(workspace: Path) -> None:
    """What hangs all the same (a driver) ends in an error that says so, in time, and the session goes on."""
    code = """
    import bpy, time
    bpy.app.driver_namespace['hang'] = lambda: time.sleep(60) if hanging else 1.0
    hanging = False
    bpy.data.objects['Cube'].driver_add('location', 0).driver.expression = 'hang()'
    bpy.context.view_layer.update()
    """
    with open_session(workspace) as session:
        good(session, code)
        result = good(session, "hanging = True\nbpy.data.objects['Cube'].update_tag()")
        assert (result.state_hash, result.changes) == (None, ("(the scene could not be measured)",))
        with pytest.raises(HarnessError, match="could not be saved: it crashed or took too long"):
            session.save()
        good(session, "hanging = False")
        session.save()
