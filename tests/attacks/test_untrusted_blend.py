"""A .blend made to attack whoever opens it: nothing of it runs, and it is judged all the same."""

from pathlib import Path

import pytest

from harness.blender import run_in_blender
from harness.final_script import StepStart
from harness.sandbox import Bind
from harness.settings import HarnessSettings
from harness.step_session import StepSession
from tests.attacks.honest import FILM
from tests.conftest import RunScript

pytestmark = pytest.mark.blender
PAYLOAD = "__import__('os').system('touch /workspace/PWNED')"
EVIL = f"""{FILM}
text = bpy.data.texts.new('evil.py')
text.write("import bpy, os\\nos.system('touch /workspace/PWNED')\\n"
           "bpy.app.handlers.frame_change_pre.append(lambda *a: os.system('touch /workspace/PWNED'))\\n")
text.use_module = True
for index, expression in enumerate(({PAYLOAD!r}, "[c for c in ().__class__.__base__.__subclasses__()][0]",
                                    "open('/workspace/PWNED', 'w') and 1")):
    cube.driver_add('rotation_euler', index).driver.expression = expression
scene.use_nodes = True
output = scene.node_tree.nodes.new('CompositorNodeOutputFile')
output.base_path = '/workspace/PWNED_by_a_node'
scene.node_tree.links.new(scene.node_tree.nodes['Render Layers'].outputs[0], output.inputs[0])
scene.render.use_freestyle = True
style = bpy.context.view_layer.freestyle_settings
style.mode = 'SCRIPT'
style.modules.new().script = text
scene.render.filepath = '/workspace/PWNED.png'
bpy.ops.wm.save_as_mainfile(filepath=os.path.abspath('evil.blend'), check_existing=False)
"""


@pytest.fixture
def evil(run_script: RunScript, tmp_path: Path) -> Path:
    result = run_script(EVIL)
    assert result.outcome == "ok", result
    return (tmp_path / "evil.blend").rename(tmp_path.parent / f"{tmp_path.name}.blend")


def test_the_judge_runs_nothing_of_it(evil: Path, tmp_path: Path) -> None:
    """It renders the scene, writes its own video and no other file."""
    workspace = tmp_path / "judge"
    workspace.mkdir()
    run = run_in_blender(
        "judge_render.py",
        [evil, "8", "100000", "2"],
        workspace=workspace,
        settings=HarnessSettings(),
        binds=[Bind(evil, "/scene.blend")],
    )
    assert run.message("rendered") is not None, run.exit.output.text()[-2000:]
    assert run.message("rendered")["was_script_blocked"] is True  # type: ignore[index]
    assert {path.name for path in workspace.rglob("*")} == {"judge.mp4"}


def test_a_session_runs_nothing_of_it(evil: Path, tmp_path: Path) -> None:
    """As the start file of a scene task: opened, measured, drawn, moved in time."""
    workspace = tmp_path / "session"
    workspace.mkdir()
    (workspace / "evil.blend").write_bytes(evil.read_bytes())
    with StepSession(workspace, HarnessSettings(exec_timeout=60), StepStart(kind="file", file="evil.blend")) as session:
        result = session.step("import bpy\nfor f in range(1, 5): bpy.context.scene.frame_set(f)", views=True)
    assert result.ok, result
    assert {path.name for path in workspace.rglob("*")} == {"evil.blend"}


@pytest.mark.parametrize(
    "content", [b"", b"BLENDER-v405", b"BLENDER17-01v0405" + bytes(5000), b"\x28\xb5\x2f\xfd" * 99]
)
def test_garbage_is_no_traceback(tmp_path: Path, content: bytes) -> None:
    """The judge says nothing good of a file that is none."""
    scene = tmp_path / "scene.blend"
    scene.write_bytes(content)
    workspace = tmp_path / "judge"
    workspace.mkdir()
    run = run_in_blender(
        "judge_render.py",
        [scene, "8", "100000", "2"],
        workspace=workspace,
        settings=HarnessSettings(exec_timeout=60),
        binds=[Bind(scene, "/scene.blend")],
    )
    assert run.message("rendered") is None
    assert run.message("finished") is None
