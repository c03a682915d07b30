"""A live Blender tells each step's change of the scene exactly, and a rebuild is judged by difference, not by hash."""

from pathlib import Path

import pytest

from harness.state_patch import patched
from tests.harness.sessions import RENUMBERED, good, open_session

pytestmark = pytest.mark.blender

LOSE = "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nwhile True: pass"


def test_patches_lead_from_the_start_to_every_state(workspace: Path) -> None:
    """Exactly; a failed step has none, and one that changed nothing an empty one."""
    with open_session(workspace) as session:
        state = session.state
        for code in [
            "import bpy\nbpy.data.objects['Cube'].location.z = 1",
            "bpy.data.objects.remove(bpy.data.objects[0])",
        ]:
            patch = good(session, code).state_patch
            state = patched(state, patch)
            assert state == session.state
        failed = session.step("bpy.data.objects[0].location.x = 5\n1 / 0")
        assert failed.state_patch is None
        empty = good(session, "pass").state_patch
        assert empty == {"version": 1, "scene": "Scene", "blocks": {}, "evaluated": {}}


def test_a_rebuild_does_not_shift_the_chain(workspace: Path) -> None:
    """The mesh has other bits after it: the same scene, and the next patch leads on from what was recorded."""
    with open_session(workspace) as session:
        state = patched(session.state, good(session, RENUMBERED).state_patch)
        assert state == session.state
        assert session.step(LOSE).state_patch is None
        after = good(session, "ball.location.z = 2")
        assert (after.rebuilt, after.rebuilt_differs) == (True, False)
        state = patched(state, after.state_patch)
        assert state == session.state


def test_what_could_not_be_measured_has_no_patch(workspace: Path) -> None:
    """The next one that can be leads on from the last that could."""
    kill = "bpy.app.handlers.frame_change_pre.append(lambda *_: os.kill(-1, 9))"
    with open_session(workspace) as session:
        state = patched(session.state, good(session, "import bpy, os").state_patch)
        unmeasured = good(session, f"{kill}\nbpy.data.objects['Cube'].location.x = 3")
        assert (unmeasured.state_hash, unmeasured.state_patch) == (None, None)
        patch = good(session, "bpy.app.handlers.frame_change_pre.clear()").state_patch
        state = patched(state, patch)
        assert state == session.state
        assert state["blocks"]["Object/Cube"]["location"] == [3.0, 0.0, 0.0]
