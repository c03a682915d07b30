"""What the deliverables of a scene task come to, with real sessions."""

from pathlib import Path

import pytest

from harness.final_script import StepStart
from harness.scene_verdict import SceneVerdict, judge_scene
from harness.settings import HarnessSettings
from harness.step_session import StepSession

pytestmark = pytest.mark.blender
SETTINGS = HarnessSettings(visual_feedback=False, exec_timeout=60)


def judged(
    folder: Path, steps: list[str], start: StepStart | None = None, start_file: Path | None = None
) -> SceneVerdict:
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    with StepSession(workspace, SETTINGS, start) as session:
        for code in steps:
            session.step(code)
        return judge_scene(
            session, start_file, keep_scene=folder / "kept.blend", keep_script=folder / "final_script.py"
        )


def test_a_seeded_scene_passes(tmp_path: Path) -> None:
    """File and script give the scene that was built; failed steps are not part of either."""
    steps = [
        "import bpy, random\nrandom.seed(7)\nbpy.data.objects['Cube'].location.x = random.random()",
        "bpy.data.objects['Cub'].location.x = 1",
        "bpy.data.objects['Cube'].keyframe_insert('location', frame=5)\nbpy.ops.mesh.primitive_monkey_add()",
    ]
    verdict = judged(tmp_path, steps)
    assert verdict.ok, verdict.problems
    assert verdict.problems == ()
    assert verdict.n_good_steps == 2
    assert verdict.state_hash == verdict.replay_hash == verdict.saved_hash
    script = (tmp_path / "final_script.py").read_text()
    assert "'Cub'" not in script
    assert (tmp_path / "kept.blend").stat().st_size > 10_000


def test_unseeded_randomness_is_told(tmp_path: Path) -> None:
    """A script that gives another scene each time does not replay, and the verdict says where."""
    verdict = judged(tmp_path, ["import bpy, random\nbpy.data.objects['Cube'].location.x = 1 + random.random()"])
    assert [problem.code for problem in verdict.problems] == ["does_not_replay"]
    assert not verdict.ok
    assert "location" in "\n".join(verdict.replay_changes)
    assert verdict.saved_hash == verdict.state_hash != verdict.replay_hash


def test_a_scene_that_nobody_touched_fails(tmp_path: Path) -> None:
    """Handing in the start scene is no work."""
    assert [problem.code for problem in judged(tmp_path, ["1 / 0"]).problems] == ["nothing_done"]


def test_a_start_file_is_opened_by_the_script(tmp_path: Path) -> None:
    """The final script opens the start file, which lies beside it, and replays from there."""
    with StepSession(tmp_path, SETTINGS) as maker:
        maker.step("import bpy\nbpy.data.objects['Cube'].name = 'Box'")
        start = maker.save("start.blend")
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/start.blend").write_bytes(start.read_bytes())
    steps = ["import bpy\nbpy.data.objects['Box'].scale.z = 3"]
    verdict = judged(tmp_path, steps, StepStart(kind="file", file="start.blend"), start)
    assert verdict.problems == ()
    assert "start.blend" in (tmp_path / "final_script.py").read_text()


def test_a_script_that_leans_on_leftover_files_fails(tmp_path: Path) -> None:
    """What an earlier, failed step needed is gone; so is what was never part of the script."""
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace/size.txt").write_text("3")
    verdict = judged(tmp_path, ["import bpy\nbpy.data.objects['Cube'].scale.x = float(open('size.txt').read())"])
    assert [problem.code for problem in verdict.problems] == ["final_script_fails"]
    assert "size.txt" in verdict.problems[0].message


def test_the_file_has_to_stand_alone(tmp_path: Path) -> None:
    """What a step links from a library in the workspace is not handed in."""
    link = """
import bpy, os
everything = bpy.data.objects.new('Everything', bpy.data.meshes['Cube'].copy())
bpy.data.libraries.write(os.path.abspath('lib.blend'), {everything})
bpy.data.objects.remove(everything)
with bpy.data.libraries.load(os.path.abspath('lib.blend'), link=True) as (there, here):
    here.objects = there.objects
bpy.context.scene.collection.objects.link(here.objects[0])
"""
    (problem,) = judged(tmp_path, [link]).problems
    assert (problem.code, problem.severity) == ("saved_scene_differs", "error")
    assert "lib.blend" in problem.message
    assert "append" in problem.fix


def test_a_save_that_leaves_something_out_fails(tmp_path: Path) -> None:
    """The file has to hold the scene that was built, whatever a step did to the operator that writes it."""
    patch = """
import bpy
class Quiet:
    def __getattr__(self, name):
        return getattr(real, name)
    class wm:
        def save_as_mainfile(**options):
            bpy.data.objects.remove(bpy.data.objects['Cube'])
            return real.wm.save_as_mainfile(**options)
real, bpy.ops = bpy.ops, Quiet()
"""
    verdict = judged(tmp_path, ["import bpy\nbpy.data.objects['Cube'].location.z = 1", patch])
    assert "saved_scene_differs" in [problem.code for problem in verdict.problems]
    assert not verdict.ok
