"""What Blender says of the pictures it drew is taken in its exact form, or left aside."""

from typing import Any

import pytest

from harness.render_messages import MAX_FILM, Told

HERO = {
    "kind": "render",
    "render_kind": "hero",
    "label": "all",
    "file": "hero.png",
    "frame": 1,
    "width": 8,
    "height": 6,
}
FILM = {
    "kind": "render",
    "render_kind": "animation",
    "label": "film",
    "files": ["frame_0001.png", "frame_0002.png"],
    "fps": 24.0,
    "width": 8,
    "height": 6,
}
FRONT = {**HERO, "render_kind": "elevation", "file": "front.png", "units_per_pixel": 0.01, "width": 800, "height": 600}


def test_honest_messages_become_jobs() -> None:
    """A picture stays as it is; an elevation gets a strip with a scale bar; a film knows its pictures."""
    told = Told([HERO, FRONT, FILM, {"kind": "render_scene", "unit_system": "METRIC", "scale_length": 1.0}])
    hero, front = told.jobs()
    assert (hero.raw, hero.file, hero.strip, hero.bar) == ("hero.png", "hero.png", "", None)
    assert front.strip == "all"
    assert front.bar
    assert front.bar[0] == "1 m"
    assert front.bar[1] == pytest.approx(100)
    film = told.film_job("animation.mp4")
    assert film
    assert (film.raws, film.fps) == (("frame_0001.png", "frame_0002.png"), 24.0)


def test_only_a_scene_that_is_said_to_be_empty_is() -> None:
    """By a message without anything else in it."""
    assert Told([{"kind": "render_nothing"}]).is_empty
    assert not Told([{"kind": "render_nothing", "text": ""}, HERO]).is_empty


WRONG: dict[str, dict[str, Any]] = {
    "a name that leads out": {**HERO, "file": "../hero.png"},
    "a path": {**HERO, "file": "/etc/passwd"},
    "another kind of file": {**HERO, "file": "hero.svg"},
    "no name": {**HERO, "file": ""},
    "an unknown kind": {**HERO, "render_kind": "sheet"},
    "an unknown key": {**HERO, "sha256": "0"},
    "a number as text": {**HERO, "width": "8"},
    "no size": {**HERO, "width": 0},
    "a scale of nothing": {**FRONT, "units_per_pixel": 0.0},
    "an endless scale": {**FRONT, "units_per_pixel": float("inf")},
    "a film of one picture": {**FILM, "files": ["frame_0001.png"]},
    "a film of too many": {**FILM, "files": ["frame_0001.png"] * (MAX_FILM + 1)},
    "a film that leads out": {**FILM, "files": ["frame_0001.png", "../x.png"]},
    "no speed": {**FILM, "fps": 0.0},
    "another message": {"kind": "measured", "rows": []},
}


@pytest.mark.parametrize("name", WRONG)
def test_other_forms_are_left_aside(name: str) -> None:
    """They give no job, and an honest message beside them does."""
    told = Told([WRONG[name], HERO])
    assert [job.file for job in told.jobs()] == ["hero.png"]
    assert told.film is None


def test_a_name_is_taken_once() -> None:
    """The first message of a name counts."""
    told = Told([HERO, {**HERO, "label": "another"}])
    assert [job.caption for job in told.jobs()] == ["hero: all"]


def test_a_scale_that_cannot_be_drawn_gives_no_bar() -> None:
    """Sizes beyond numbers do not stop the picture."""
    tiny = {"kind": "render_scene", "unit_system": "METRIC", "scale_length": 5e-324}
    (front,) = Told([{**FRONT, "units_per_pixel": 1e-300}, tiny]).jobs()
    assert front.bar is None
