"""Where something moves there are a film and single frames; where nothing does there are none."""

from pathlib import Path

import numpy as np
import pytest

from harness.renders import RenderRequest
from tests.verification.drawing import SMALL, Drawn, draw_many

pytestmark = pytest.mark.blender

KEY_FAR = (
    "for f, x in ((1, -6), (40, 6)):\n    o.location = (1e6 + x, 0, 0)\n    o.keyframe_insert('location', frame=f)\n"
)
KEY_HIDE = (
    "for f, h in ((1, True), (20, False)):\n    o.hide_render = h\n    o.keyframe_insert('hide_render', frame=f)\n"
)
CUBE = "bpy.ops.mesh.primitive_cube_add()\no = bpy.context.object\nS = bpy.context.scene\nS.frame_end = 40\n"
CAMERA = "bpy.ops.object.camera_add(location=(0, -30, 0), rotation=(1.5708, 0, 0))\nS.camera = bpy.context.object\n"
MOVES = "for f, x in ((1, -6), (40, 6)):\n    o.location.x = x\n    o.keyframe_insert('location', frame=f)\n"
CASES = {
    "keyframes": CUBE + MOVES + "S.frame_set(40)",
    "keyframes and a camera": CUBE + MOVES + CAMERA,
    "a long range": CUBE + MOVES + "S.frame_end = 1000\nS.render.fps = 30",
    "a driver": CUBE + "o.driver_add('location', 0).driver.expression = 'frame * 0.3'",
    "nothing changes": CUBE + "o.keyframe_insert('location', frame=1)\no.keyframe_insert('location', frame=40)",
    "far away": CUBE + KEY_FAR,
    "appears later": CUBE + KEY_HIDE,
    "still": CUBE,
    "falls": (
        CUBE + "o.location.z = 9\nbpy.ops.rigidbody.object_add()\nbpy.ops.mesh.primitive_plane_add(size=6)\n"
        "bpy.ops.rigidbody.object_add(type='PASSIVE')"
    ),
    "no time": CUBE + MOVES,
    "simulating takes too long": (
        CUBE + "S.frame_end = 100_000\nbpy.ops.rigidbody.object_add()\nbpy.ops.mesh.primitive_plane_add(size=6)\n"
        "bpy.ops.rigidbody.object_add(type='PASSIVE')"
    ),
}
REQUESTS = {
    "no time": SMALL.model_copy(update={"seconds": 1e-6}),
    "simulating takes too long": RenderRequest(width=128, n_turntable=0, seconds=3),
}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Drawn]:
    folder: Path = tmp_path_factory.mktemp("motion")
    return draw_many(CASES, folder, REQUESTS)


def frames(pictures: Drawn) -> list[str]:
    return [file for file in pictures.files if file.startswith("frame")]


def places(pictures: Drawn) -> list[float]:
    """Where the figure is in each of the film's pictures, from the left, in shares of the width."""
    assert pictures.film
    found = []
    for file in pictures.film["files"]:
        columns = np.flatnonzero(pictures.figure(file).any(axis=0))
        found.append(float(columns.mean()) / pictures.figure(file).shape[1])
    return found


@pytest.mark.parametrize("name", ["keyframes", "keyframes and a camera", "a driver", "far away"])
def test_a_film_shows_the_motion(drawn: dict[str, Drawn], name: str) -> None:
    """The figure goes from left to right, as a whole in the picture, seen from one place."""
    pictures = drawn[name]
    assert places(pictures) == sorted(places(pictures))
    assert places(pictures)[-1] - places(pictures)[0] > 0.25
    assert pictures.film
    assert not any(pictures.is_cut(file) for file in pictures.film["files"])
    by = "camera 'Camera'" if name == "keyframes and a camera" else "from the front left"
    assert pictures.film["label"] == f"frames 1 to 37, {by}"


def test_frames_are_evenly_spaced_and_of_the_film(drawn: dict[str, Drawn]) -> None:
    """As many frames as asked for, the first and the last of the film among them."""
    pictures = drawn["keyframes"]
    assert frames(pictures) == ["frame_0001.png", "frame_0017.png", "frame_0037.png"]
    assert pictures.film
    assert len(pictures.film["files"]) == 10
    assert pictures.label("frame_0017.png") == "frame 17 of 1 to 40, from the front left"


def test_stills_are_of_the_saved_frame(drawn: dict[str, Drawn]) -> None:
    """The scene was saved at its last frame: so it is shown, large."""
    pictures = drawn["keyframes"]
    assert {m["frame"] for m in pictures.messages if m.get("file") == "hero.png"} == {40}
    assert pictures.span("hero.png") > 0.5


def test_a_long_range_is_stepped_through_at_its_true_speed(drawn: dict[str, Drawn]) -> None:
    """A thousand frames are shown by at most twelve, which last as long."""
    pictures = drawn["a long range"]
    assert pictures.film
    assert len(pictures.film["files"]) == 12
    assert pictures.film["fps"] == pytest.approx(30 / 84)
    assert "one frame in 84" in pictures.notes


@pytest.mark.parametrize("name", ["still", "nothing changes"])
def test_no_film_of_what_stands_still(drawn: dict[str, Drawn], name: str) -> None:
    """Nor frames; where keyframes change nothing, that is told."""
    assert drawn[name].film is None
    assert frames(drawn[name]) == []
    assert ("no change shows in the picture" in drawn[name].notes) == (name == "nothing changes")
    assert "hero.png" in drawn[name].files


def test_what_appears_later_is_in_the_film(drawn: dict[str, Drawn]) -> None:
    """At the saved frame nothing is there, so that there are no stills; the film shows it come."""
    pictures = drawn["appears later"]
    assert "hero.png" not in pictures.files
    assert [bool(pictures.figure(file).any()) for file in frames(pictures)] == [False, False, True]


def test_a_simulation_is_run_through(drawn: dict[str, Drawn]) -> None:
    """A cube falls from frame to frame, and lies in the end."""
    pictures = drawn["falls"]
    assert pictures.film
    tops = [int(np.flatnonzero(pictures.figure(f).any(axis=1))[0]) for f in pictures.film["files"]]
    assert tops[0] < tops[3] < tops[6]
    assert tops[-1] == pytest.approx(tops[-2], abs=2)


def test_a_simulation_that_takes_too_long_is_told(drawn: dict[str, Drawn]) -> None:
    """There are stills of its start, no film, and the reason."""
    pictures = drawn["simulating takes too long"]
    assert "hero.png" in pictures.files
    assert pictures.film is None
    assert "simulating takes too long" in pictures.notes


def test_what_the_time_does_not_suffice_for_is_named(drawn: dict[str, Drawn]) -> None:
    """Without time there are no pictures, and each is named."""
    pictures = drawn["no time"]
    assert pictures.files == []
    assert "hero.png" in pictures.notes
    assert "turntable_1.png" in pictures.notes
    assert "left out, because drawing took more than" in pictures.notes
