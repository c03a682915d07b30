"""The files of an episode's `renders/` and `verification/` folders, as models. Not here: `integrity.json` (`files.py`)
and `decision.json` (`decisions.py`). What they come to together: `verified.py`.

Each says by hash what it is about: once that changes, the file is stale. None holds a time: verifying the same scene
again gives the same bytes, and leaves a decision standing (a film, whose pixels are compared by lot, not always).
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from harness.checks.file_findings import FileFinding
from harness.checks.report import JudgedCheck, score_of_checks
from harness.checks.score import Score
from harness.replay_diff import Sameness
from recorder.records import SCHEMA_VERSION, Record

About = dict[str, str]
"""Name of each file of the episode that it rests on -> its SHA-256 (`subject.py`)."""
MAX_CHANGES = 200

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
    problem: str = ""
    """Why nothing could be drawn of a scene that holds something to draw; '' else."""


class ChecksFile(Record):
    """`verification/checks.json`: the task's checks on the scene that was handed in."""

    schema_version: int = SCHEMA_VERSION
    about: About
    source: Literal["task", "given", "none"]
    """Whose checks: those pinned with the task, those of a file that was given, or there are none."""
    checks: list[dict[str, Any]]
    """A copy of them, in the form of a checks file."""
    scene_sha256: str
    """Of the .blend that was opened: the episode's, or for a video the one that its script left when it was run again.
    '' where there was none."""
    error: str
    """Why the scene could not be judged; '' where it could."""
    blender_version: tuple[int, int, int] | None
    """Of the Blender that saved it."""
    findings: list[FileFinding]
    """What the file brings along, whatever the checks ask."""
    results: list[JudgedCheck]
    isolation: str

    @property
    def score(self) -> Score | None:
        """None where no checks are declared."""
        return score_of_checks(self.results) if self.results else None

    @property
    def is_strict_pass(self) -> bool:
        """The scene could be judged, and every required check passes."""
        return not self.error and all(result.outcome == "pass" for result in self.results if result.required)


class StateChange(Record):
    """One path at which the replayed scene differs."""

    path: str
    kind: Literal["added", "removed", "changed"]
    before: Any
    """As recorded; long values are cut, as text."""
    after: Any
    """As replayed."""
    magnitude: float | None
    """Largest absolute difference of a number in it."""


class WorstNumber(Record):
    """Where two scenes differ most in numbers."""

    path: str
    magnitude: float


class StateDiff(Record):
    """The recorded scene beside the one that its final script makes."""

    recorded_hash: str
    replayed_hash: str
    tolerance: float
    """Relative difference of two floats that counts as none."""
    n_changes: int
    changes: Annotated[list[StateChange], Field(max_length=MAX_CHANGES)]
    """The first of them."""
    worst: WorstNumber | None


class WorstBlock(Record):
    """A block of pixels of a film's frame."""

    frame: int
    """From 0."""
    left: int
    top: int
    difference: float
    """Root mean square over its pixels, 0..255 grey levels."""


class FilmDiff(Record):
    """The recorded film beside the one that its final script renders, decoded."""

    n_frames: tuple[int, int]
    """Recorded, replayed."""
    worst_block: WorstBlock | None
    worst_frame: int
    """The frame that differs most as a whole, from 0."""
    worst_frame_difference: float | None
    """0..255 grey levels. None, as the block, where counts or shapes differ: see `message`."""
    message: str


class ReplayDiffFile(Record):
    """`verification/replay_diff.json`: final_script.py, run whole in a clean Blender, beside what was handed in."""

    schema_version: int = SCHEMA_VERSION
    about: About
    kind: Literal["scene", "video"]
    verdict: Literal[Sameness, "failed"]
    """`failed`: there was nothing to compare, see `error`."""
    error: str = ""
    problems: list[str] = Field(default_factory=list)
    """Codes of the errors that a video's final check finds now."""
    state: StateDiff | None = None
    film: FilmDiff | None = None
    first_different_step: int | None = None
    """Of a scene that differs: the first recorded step that does not come out as recorded."""
    note: str = ""
    """What that tells, in words."""
    isolation: str = ""

    @property
    def is_good(self) -> bool:
        return self.verdict in ("identical", "within_tolerance") and not self.problems
