"""What a Blender that draws says of its pictures: claims, taken in their exact form or not at all."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.clean_renders import FilmJob, PictureJob
from harness.plain_text import one_line
from harness.scale_bar import scale_bar

MAX_FILM = 600
_NAME = r"^[a-z][a-z0-9_-]{0,60}\.png$"
_MAX_RENDERS, _MAX_NOTES, _MAX_TEXT = 200, 60, 300
_LABELLED = ("elevation", "frame")
"""Kinds whose pictures have a strip with their label."""

Pixels = Annotated[int, Field(ge=1, le=8192)]
Name = Annotated[str, Field(pattern=_NAME)]


class _Said(BaseModel):
    """A message from Blender, a claim."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class SaidRender(_Said):
    kind: Literal["render"]
    render_kind: Literal["hero", "turntable", "shot", "elevation", "frame"]
    label: str
    file: Name
    frame: int
    width: Pixels
    height: Pixels
    units_per_pixel: Annotated[float, Field(gt=0)] | None = None


class SaidFilm(_Said):
    kind: Literal["render"]
    render_kind: Literal["animation"]
    label: str
    files: Annotated[list[Name], Field(min_length=2, max_length=MAX_FILM)]
    width: Pixels
    height: Pixels
    fps: Annotated[float, Field(gt=0.001, le=1000)]


class _SaidNote(_Said):
    kind: Literal["render_note"]
    text: str


class _SaidScene(_Said):
    kind: Literal["render_scene"]
    unit_system: str = "NONE"
    scale_length: Annotated[float, Field(gt=0)] = 1.0


class _SaidNothing(_Said):
    kind: Literal["render_nothing"]


_FORMS: tuple[type[_Said], ...] = (SaidRender, SaidFilm, _SaidNote, _SaidScene, _SaidNothing)


class Told:
    """The messages that have their form, each file once."""

    def __init__(self, messages: Sequence[dict[str, Any]]) -> None:
        self.scene = _SaidScene(kind="render_scene")
        self.renders: list[SaidRender] = []
        self.film: SaidFilm | None = None
        self.notes: list[str] = []
        self.is_empty = False
        """Whether the scene holds nothing to draw."""
        for said in filter(None, map(_parse, messages)):
            if isinstance(said, _SaidScene):
                self.scene = said
            elif isinstance(said, SaidFilm):
                self.film = said
            elif isinstance(said, _SaidNothing):
                self.is_empty = True
            elif isinstance(said, _SaidNote) and len(self.notes) < _MAX_NOTES:
                self.notes.append(short_line(said.text))
            elif isinstance(said, SaidRender) and len(self.renders) < _MAX_RENDERS and not self._knows(said.file):
                self.renders.append(said)

    def _knows(self, file: str) -> bool:
        return file in [render.file for render in self.renders]

    def jobs(self) -> list[PictureJob]:
        """What is to be made of the pictures."""
        return [self._job(render) for render in self.renders]

    def film_job(self, file: str) -> FilmJob | None:
        return FilmJob(tuple(self.film.files), file, self.film.fps) if self.film else None

    def _job(self, render: SaidRender) -> PictureJob:
        label = short_line(render.label)
        caption = f"{render.file.removesuffix('.png')}: {label}"
        strip = label if render.render_kind in _LABELLED else ""
        return PictureJob(
            render.file, render.file, caption, strip, self._bar(render), may_be_empty=render.render_kind == "frame"
        )

    def _bar(self, render: SaidRender) -> tuple[str, float] | None:
        if render.units_per_pixel is None:
            return None
        try:
            bar = scale_bar(render.units_per_pixel, render.width, self.scene.unit_system, self.scene.scale_length)
        except (ValueError, OverflowError, ZeroDivisionError):
            return None
        return bar.label, bar.n_pixels


def _parse(message: dict[str, Any]) -> _Said | None:
    for form in _FORMS:
        try:
            return form.model_validate(message)
        except ValidationError:
            continue
    return None


def short_line(text: str) -> str:
    """What a scene may have named: on one line, and no more of it than fits."""
    return one_line(text)[:_MAX_TEXT]
