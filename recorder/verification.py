"""The files of an episode's `renders/` and `verification/` folders, as models. Not here: `integrity.json` and
`decision.json` (`files.py`).

Each says by hash what it is about: once that changes, the file is stale.
"""

from typing import Annotated, Literal

from pydantic import Field

from recorder.records import SCHEMA_VERSION, Record

RenderKind = Literal["hero", "turntable", "shot", "elevation", "frame", "animation", "sheet"]
"""hero: the one picture that shows the scene; turntable: views around it; shot: composed cameras, the scene's own among
them; elevation: orthographic front, right, top with a scale bar; frame: a moment of what moves; animation: a film of
it; sheet: all of them on one picture."""


class Render(Record):
    """One picture or film."""

    file: str
    """Its name in the folder."""
    kind: RenderKind
    label: str
    """What it shows, in words for a person or a model."""
    frame: int | None = None
    """Of the scene; None for what shows several."""
    width: Annotated[int, Field(ge=1)]
    height: Annotated[int, Field(ge=1)]
    sha256: str
    units_per_pixel: float | None = None
    """Of an elevation: how many of the scene's units one of its pixels is wide and high."""
    fps: float | None = None
    """Of the animation, as `n_frames`; it takes as long as in the scene."""
    n_frames: int | None = None


class RendersFile(Record):
    """`renders/renders.json`: what was drawn of the saved scene."""

    schema_version: int = SCHEMA_VERSION
    scene_sha256: str
    """Of the .blend that was drawn."""
    engine: Literal["workbench", "cycles"]
    renders: list[Render]
    notes: list[str]
    """Why something is not there or shows less than the whole: an empty scene, a ground too large to frame."""
