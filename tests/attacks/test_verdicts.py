"""Forged videos are caught, and no honest script is called a cheat. Numbers are printed (`-s`)."""

import re
from pathlib import Path

import pytest

from harness.report import report_text
from harness.settings import HarnessSettings
from harness.video_verdict import VideoVerdict, difference_text, judge_video
from tests.attacks import honest
from tests.attacks.forgeries import FORGERIES
from tests.conftest import RENDER

pytestmark = pytest.mark.blender
SETTINGS = HarnessSettings(
    resolution=(160, 90), frame_count=8, exec_timeout=60, preview_frames=2, content_samples=8, summary_samples=3
)
ACCUSATIONS = {
    "not_a_render_of_the_scene", "footage_in_scene", "pictures_fill_frame", "scene_not_saved", "scene_not_rendered",
}  # fmt: skip
PATIENCE = {"an end, and a loop": 10}
"""Seconds that a script may take which is stopped in any case; else those of SETTINGS."""
N_VARIED = 12
"""In the suite; `python -m tests.bench.honest_renders` judges 100."""


def judged(folder: Path, script: str, settings: HarnessSettings = SETTINGS) -> VideoVerdict:
    workspace = folder / "workspace"
    workspace.mkdir()
    (workspace / "main.py").write_text(script)
    return judge_video("main.py", workspace, settings, keep_video=folder / "output.mp4")


def worst(verdict: VideoVerdict) -> str:
    comparison = verdict.render.comparison if verdict.render else None
    return difference_text(comparison) if comparison else "nothing to compare"


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_caught(tmp_path: Path, name: str) -> None:
    """The video does not pass, for the right reason."""
    script, code = FORGERIES[name]
    settings = SETTINGS.model_copy(update={"exec_timeout": PATIENCE.get(name, SETTINGS.exec_timeout)})
    verdict = judged(tmp_path, script, settings)
    pictures = verdict.render.pictures if verdict.render else None
    share = f", pictures fill {pictures.share:.0%} of a frame" if pictures and pictures.n else ""
    print(f"{name}: {worst(verdict)}{share}: {code}")
    assert not verdict.result.ok
    assert code in [problem.code for problem in verdict.result.problems], report_text(verdict.result)


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("another scene is active at the end", "The scene that was rendered is not the one that is active at the end."),
        ("a scene rendered by its name", "The scene that was rendered is not the one that is active at the end."),
        ("frame range changed after the render", "The frame range changed after the render."),
        (
            "pixel aspect changed after the render",
            "The scene's size, pixel aspect, colours or encoder changed after the render",
        ),
        ("animated by a frame handler", "The animation lives in a frame handler or a driver function"),
    ],
)
def test_the_cause_is_named(tmp_path: Path, name: str, cause: str) -> None:
    """What is known of the run tells why the film is not a render of the scene."""
    verdict = judged(tmp_path, FORGERIES[name][0])
    assert cause in verdict.result.problems[-1].message


@pytest.mark.parametrize("name", ["camera moved after the render", "a small tint"])
def test_one_frame_is_named(tmp_path: Path, name: str) -> None:
    """Place and message name the same one, and the message has two decimals."""
    problem = judged(tmp_path, FORGERIES[name][0]).result.problems[-1]
    assert f"a block of {problem.where} (" in problem.message
    assert re.search(r"differs by \d+\.\d\d grey levels", problem.message)


def test_a_scene_that_was_not_rendered_is_the_first_cause(tmp_path: Path) -> None:
    """Not the size of the one that is active in its place."""
    script = FORGERIES["another scene is active at the end"][0].replace("'resolution_x', 'resolution_y', ", "")
    problem = judged(tmp_path, script).result.problems[-1]
    assert problem.code == "scene_not_rendered"
    assert problem.message.startswith("The scene that was rendered is not the one that is active at the end.")
    assert "pixels a frame" in problem.message


@pytest.mark.parametrize("name", honest.ODDITIES)
def test_an_honest_oddity_passes(tmp_path: Path, name: str) -> None:
    """Odd, and still a render of its scene."""
    verdict = judged(tmp_path, honest.script(name))
    print(f"{name}: {worst(verdict)}")
    assert verdict.result.ok, report_text(verdict.result)
    assert verdict.render is not None
    assert verdict.render.comparison is not None


@pytest.mark.parametrize("seed", range(N_VARIED))
def test_an_ordinary_animation_passes(tmp_path: Path, seed: int) -> None:
    """Varied scenes, at every quality of the encoder."""
    verdict = judged(tmp_path, honest.varied(seed))
    print(f"varied {seed}: {worst(verdict)}")
    accused = ACCUSATIONS.intersection(problem.code for problem in verdict.result.problems)
    assert not accused, report_text(verdict.result)
    assert verdict.render is not None


def test_full_high_definition_passes(tmp_path: Path) -> None:
    """1920x1080, at the encoder's lowest quality."""
    large = "scene.render.resolution_x, scene.render.resolution_y = 1920, 1080\nscene.frame_end = 3\n"
    large += "scene.render.ffmpeg.constant_rate_factor = 'LOWEST'\n"
    settings = SETTINGS.model_copy(update={"resolution": (1920, 1080), "frame_count": 3})
    verdict = judged(tmp_path, f"{honest.FILM}{large}{RENDER}", settings)
    print(f"1080p: {worst(verdict)}")
    assert verdict.result.ok, report_text(verdict.result)
