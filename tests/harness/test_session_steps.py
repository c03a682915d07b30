"""Steps of a live Blender: what one leaves the next one finds, and renders work in them."""

import time
from collections.abc import Iterator

import pytest

from harness.step_report import step_text
from harness.step_session import StepSession
from tests.harness.sessions import good, open_session, printed

pytestmark = pytest.mark.blender


# what persists


def test_names_and_scene_persist(session: StepSession) -> None:
    """A step finds what earlier steps made: names, objects, imports, the working directory."""
    good(session, "os.makedirs('sub', exist_ok=True); os.chdir('sub')\nmine = bpy.data.objects.new('Mine', None)")
    good(session, "bpy.context.collection.objects.link(mine)\nopen('here.txt', 'w').write('x')")
    assert (session.workspace / "sub/here.txt").exists()
    good(session, "os.remove('here.txt'); os.chdir('..'); os.rmdir('sub')\nbpy.data.objects.remove(mine); del mine")


def test_changes_are_told(session: StepSession) -> None:
    """A good step's changes are told against the last good step, and a step that changes nothing has none."""
    result = good(session, "bpy.data.objects['Cube'].location.x = 3")
    assert result.changes == ("~ Object 'Cube': location (0, 0, 0) -> (3, 0, 0)",)
    assert result.scene is not None
    assert result.scene.n_objects == 3
    result = good(session, "bpy.data.objects['Cube'].location.x = 0\nkept = 1")
    assert good(session, "pass").n_changes == 0
    assert session.state


def test_classes_handlers_and_operators_persist(session: StepSession) -> None:
    """What one step defines and registers works in the next: classes, operators, handlers, drivers, timers."""
    good(
        session,
        """
        class Shape:
            "A shape."
            def area(self):
                return 1
        class Double(bpy.types.Operator):
            bl_idname, bl_label = 'object.double', 'Double'
            def execute(self, context):
                context.object.scale *= 2
                return {'FINISHED'}
        class Mood(bpy.types.PropertyGroup):
            happy: bpy.props.BoolProperty(default=True)
        bpy.utils.register_class(Double); bpy.utils.register_class(Mood)
        bpy.types.Object.mood = bpy.props.PointerProperty(type=Mood)
        seen = []
        def note(scene, *rest):
            seen.append(scene.frame_current)
        bpy.app.handlers.frame_change_post.append(note)
        bpy.app.driver_namespace['tripled'] = lambda x: 3 * x
        bpy.app.timers.register(lambda: 1.0, persistent=True)
        helper = bpy.data.objects.new('Helper', None)
        bpy.context.collection.objects.link(helper)
        bpy.context.view_layer.objects.active = helper
        """,
    )
    assert (
        printed(
            session,
            """
            import pickle, inspect
            assert bpy.ops.object.double() == {'FINISHED'} and tuple(helper.scale) == (2, 2, 2)
            assert helper.mood.happy and Shape().area() == 1
            driver = helper.driver_add('location', 0).driver
            driver.expression = 'tripled(2)'
            bpy.context.scene.frame_set(5)
            assert seen == [5], seen
            assert helper.location.x == 6
            assert isinstance(pickle.loads(pickle.dumps(Shape())), Shape)
            assert inspect.getsource(note).strip().endswith('seen.append(scene.frame_current)')
            assert inspect.getsource(Shape).startswith('class Shape'), inspect.getsource(Shape)
            import __main__
            assert __name__ == '__main__' and __main__.__dict__ is globals() and __main__.Shape is Shape
            print('works')
            """,
        )
        == "works"
    )
    good(
        session,
        """
        bpy.app.handlers.frame_change_post.clear()
        bpy.context.scene.frame_set(1)
        del bpy.types.Object.mood
        bpy.utils.unregister_class(Double); bpy.utils.unregister_class(Mood)
        bpy.data.objects.remove(helper); del helper
        """,
    )


def test_traceback_through_earlier_steps(session: StepSession) -> None:
    """A traceback through a function of an earlier step quotes the lines of both steps."""
    first = good(session, "def deep(x):\n    return x.no_such_attribute  # of the earlier step\n")
    result = session.step("# comment\ndeep(5)  # of this step\n")
    assert result.error is not None
    assert f'File "step_{first.number:02d}.py", line 2, in deep' in result.error.traceback
    assert "return x.no_such_attribute  # of the earlier step" in result.error.traceback
    assert "deep(5)  # of this step" in result.error.traceback
    assert result.error.line == 2


def test_our_modules_are_not_in_the_way(session: StepSession) -> None:
    """A step sees itself as a script in the workspace and can import a module called harness."""
    (session.workspace / "harness.py").write_text("VALUE = 7\n")
    code = """
    import harness
    assert harness.VALUE == 7 and sys.path[0] == os.getcwd() and sys.argv == ['final_script.py']
    assert os.path.basename(__file__) == 'final_script.py' and os.path.isabs(__file__)
    assert not [m for m in sys.modules if m.startswith('harness.')]
    """
    good(session, code)
    (session.workspace / "harness.py").unlink()
    good(session, "import shutil; shutil.rmtree('__pycache__', ignore_errors=True)")


def test_odd_streams_do_not_stop_the_session(session: StepSession) -> None:
    """After a step that closed or replaced the output streams, steps work, and print again when they are put back."""
    good(session, "saved = sys.stdout\nsys.stdout = open(os.devnull, 'w')\nprint('nowhere')")
    assert printed(session, "print('nowhere')\nsys.stdout = saved\nprint('here')") == "here"
    good(session, "os.close(0); os.close(1); os.close(2)")
    assert printed(session, "print('again', flush=True)") == "again"
    good(
        session,
        "class Odd:\n    def write(self, text): pass\n    def flush(self): raise RuntimeError\nsys.stdout = Odd()",
    )
    assert printed(session, "sys.stdout = saved\nprint('here')") == "here"


def test_clocks_and_signals_do_not_stop_the_session(session: StepSession) -> None:
    """Alarms of a step do not go off later, and its signal handlers do not take the session's children."""
    good(session, "signal.alarm(1)\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)")
    time.sleep(1.2)
    result = good(session, "signal.signal(signal.SIGCHLD, lambda *a: os.waitpid(-1, os.WNOHANG))\nprint('alive')")
    assert (result.log.lines, result.rebuilt) == (("alive",), False)
    assert not good(session, "pass").rebuilt


def test_stopping_the_session_does_not_hold_it(session: StepSession) -> None:
    """A good step that stops its parent, or everything it can, still becomes the session."""
    result = good(session, "os.kill(os.getppid(), signal.SIGSTOP)\nprint('on')")
    assert not good(session, "pass").rebuilt
    assert result.log.lines == ("on",)


def test_background_process_is_refused(session: StepSession) -> None:
    """A step that leaves a process running is refused and the process ended; one that has waited for it is good."""
    result = session.step("import subprocess\nsubprocess.Popen(['sleep', '600'])")
    assert (result.outcome, "left 1 process(es) running" in result.reason) == ("refused", True)
    good(session, "import subprocess\nsubprocess.run(['sleep', '0'], check=True)")


# renders

FILM = """
import bpy, os
scene = bpy.context.scene
scene.render.engine = 'BLENDER_WORKBENCH'
scene.display.render_aa = 'OFF'
scene.render.resolution_x = scene.render.resolution_y = 32
scene.render.resolution_percentage = 100
scene.cycles.samples = 1
scene.frame_end = 3
"""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepSession]:
    with open_session(tmp_path_factory.mktemp("studio"), exec_timeout=40, memory_mb=3000) as session:
        good(session, FILM)
        yield session


RENDERS = {
    "Workbench still": ("bpy.ops.render.render(write_still=True)", "PNG", ["out.png"]),
    "Cycles still": ("scene.render.engine = 'CYCLES'\nbpy.ops.render.render(write_still=True)", "PNG", ["out.png"]),
    "animation": (
        "bpy.ops.render.render(animation=True)",
        "PNG",
        ["out0001.png", "out0002.png", "out0003.png"],
    ),
    "film": ("bpy.ops.render.render(animation=True)", "FFMPEG", ["out0001-0003.mkv"]),
    "EXR": ("bpy.ops.render.render(write_still=True)", "OPEN_EXR", ["out.exr"]),
    "multilayer EXR": ("bpy.ops.render.render(write_still=True)", "OPEN_EXR_MULTILAYER", ["out.exr"]),
    "invoked": ("bpy.ops.render.render('INVOKE_DEFAULT', write_still=True)", "PNG", ["out.png"]),
    "compositor": (
        "scene.use_nodes = True\nbpy.ops.render.render(write_still=True)\nscene.use_nodes = False",
        "PNG",
        ["out.png"],
    ),
    "sequencer": (
        "strips = scene.sequence_editor_create().strips\n"
        "strip = strips.new_effect('c', 'COLOR', 1, frame_start=1, frame_end=9)\n"
        "bpy.ops.render.render(write_still=True)\nstrips.remove(strip)",
        "PNG",
        ["out.png"],
    ),
}


@pytest.mark.parametrize("name", RENDERS)
def test_render_in_a_step(studio: StepSession, name: str) -> None:
    """The model's own render writes its files, returns what Blender returns, and leaves a session that goes on."""
    code, file_format, files = RENDERS[name]
    *before, call, after = ["", *code.split("\n"), ""] if name not in ("compositor", "sequencer") else code.split("\n")
    steps = [
        "scene.render.engine = 'BLENDER_WORKBENCH'",
        f"scene.render.image_settings.file_format = '{file_format}'",
        "os.makedirs('out', exist_ok=True)",
        "scene.render.filepath = os.path.abspath('out/out')",
        *before,
        f"returned = {call}",
        after,
        "print(returned, sorted(os.listdir('out')))",
        "import shutil; shutil.rmtree('out')",
    ]
    assert printed(studio, "\n".join(steps)) == f"{{'FINISHED'}} {files}"
    assert not good(studio, "pass").rebuilt


def test_render_errors_come_back(studio: StepSession) -> None:
    """A render that Blender refuses raises in the step, with Blender's words; so does a wrong argument."""
    code = """
    camera, scene.camera = scene.camera, None
    for call in (lambda: bpy.ops.render.render(), lambda: bpy.ops.render.render(nonsense=1), bpy.ops.render.opengl):
        try:
            call()
        except Exception as error:
            print(type(error).__name__, str(error).strip()[:60])
    scene.camera = camera
    """
    lines = printed(studio, code).splitlines()
    assert "RuntimeError Error: Cannot render, no camera" in lines
    assert any(line.startswith("TypeError Converting py args") for line in lines)
    assert any("background mode" in line for line in lines)


def test_render_result_in_memory(studio: StepSession) -> None:
    """The pixels of a render are not in the session; the step fails and is told how to get them."""
    result = studio.step("bpy.ops.render.render()\nbpy.data.images['Render Result'].save_render('x.png')")
    assert result.outcome == "step_error"
    assert "write_still=True" in step_text(result)


def test_render_that_crashes_is_an_error_of_the_step(studio: StepSession) -> None:
    """A render child that dies raises in the step; the step may catch it and go on."""
    code = """
    def die(*arguments):
        os._exit(3)
    bpy.app.handlers.render_pre.append(die)
    try:
        bpy.ops.render.render()
    except RuntimeError as error:
        print(error)
    bpy.app.handlers.render_pre.clear()
    """
    assert "crashed while rendering" in printed(studio, code)


def test_endless_render_is_stopped(studio: StepSession) -> None:
    """A render that never ends counts as the step's own time."""
    with open_session(studio.workspace) as session:
        code = (
            FILM + "bpy.app.handlers.render_pre.append(lambda *a: [0 for _ in iter(int, 1)])\nbpy.ops.render.render()"
        )
        result = session.step(code)
        assert (result.outcome, result.seconds < 8) == ("timeout", True)
        good(session, "pass")


OPERATORS = {
    "bake": """
        scene.render.engine = 'CYCLES'
        cube = bpy.data.objects['Cube']
        bpy.context.view_layer.objects.active = cube
        cube.select_set(True)
        nodes = cube.data.materials[0].node_tree.nodes
        nodes.active = nodes.new('ShaderNodeTexImage')
        nodes.active.image = bpy.data.images.new('baked', 16, 16)
        print(bpy.ops.object.bake(type='EMIT'))
        nodes.remove(nodes.active)
        """,
    "image.save_render": """
        bpy.data.images.new('i', 4, 4).save_render('i.png')
        print({'FINISHED'} if os.path.exists('i.png') else 'no file')
        """,
    "save_as_mainfile": "print(bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath('s.blend'), copy=True))",
    "sound": "print(bpy.ops.sound.mixdown(filepath=os.path.abspath('a.wav')))",
    "glTF": "print(bpy.ops.export_scene.gltf(filepath=os.path.abspath('a.glb')))",
    "USD": "print(bpy.ops.wm.usd_export(filepath=os.path.abspath('a.usdc')))",
    "Alembic": "print(bpy.ops.wm.alembic_export(filepath=os.path.abspath('a.abc')))",
    "preview": """
        material = bpy.data.materials['Material']
        with bpy.context.temp_override(id=material):
            print(bpy.ops.ed.lib_id_generate_preview())
        """,
    "subdivision": """
        cube = bpy.data.objects['Cube']
        cube.modifiers.new('s', 'SUBSURF').levels = 5
        n = len(cube.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.vertices)
        cube.modifiers.clear()
        print({'FINISHED'} if n > 6000 else n)
        """,
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_neither_draw_nor_hang(studio: StepSession, name: str) -> None:
    """Operators that one may suspect of drawing finish, twice in a row, in a session that is not lost."""
    for _ in range(2):
        assert "{'FINISHED'}" in printed(studio, OPERATORS[name]).splitlines()
    assert not good(studio, "bpy.ops.render.render(write_still=False)").rebuilt


@pytest.mark.timeout(120)
def test_sixty_steps_with_a_render_in_every_third(studio: StepSession) -> None:
    """Twenty renders between forty other steps hang nowhere and write twenty pictures."""
    for number in range(60):
        code = f"bpy.data.objects['Cube'].rotation_euler.z = {number / 10}\n"
        if number % 3 == 0:
            code += (
                "scene.render.engine, scene.render.image_settings.file_format = 'BLENDER_WORKBENCH', 'PNG'\n"
                f"scene.render.filepath = os.path.abspath('r{number}.png')\nbpy.ops.render.render(write_still=True)"
            )
        result = good(studio, code)
        assert not result.rebuilt
    pictures = sorted(studio.workspace.glob("r*.png"))
    assert len({picture.read_bytes() for picture in pictures}) == 20
