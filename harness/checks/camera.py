"""Checks of the camera and of what it sees. Seen is what would be rendered: hidden objects are not in the way."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from harness.checks.check_type import AtFrame, CheckType, Count, Length, Row, Share, check_bounds, wanted
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, failed, finding, number, passed, unsure

CameraType = Literal["PERSP", "ORTHO", "PANO"]


class CameraRow(Row):
    """The camera that renders the frame."""

    camera: Name | None
    type: CameraType | None = None
    lens: float = 0
    sensor: float = 0
    clip_start: float = 0
    clip_end: float = 0
    has_dof: bool = False


class ActiveCamera(CheckType[CameraRow], AtFrame):
    """The scene has a camera in that frame (markers may bind others), of the kind that is wanted."""

    name: ClassVar[str] = "active_camera"
    group: ClassVar[str] = "camera and visibility"
    row: ClassVar[type[Row]] = CameraRow
    camera: str | None = None
    """Its name."""
    type: CameraType | None = None
    """Its projection."""
    min_lens: Length | None = None
    """Least focal length in mm."""
    max_lens: Length | None = None
    """Greatest focal length in mm."""
    depth_of_field: bool | None = None
    """Whether depth of field is on."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_lens is not None and self.max_lens is not None:
            check_bounds(self.min_lens, self.max_lens)
        return self

    def judge_row(self, row: CameraRow) -> Finding:
        if row.camera is None:
            return failed("The scene has no active camera")
        text = f"The camera is '{row.camera}' ({row.type}, {number(row.lens)} mm)"
        bad = [f"wanted: '{self.camera}'"] if self.camera not in (None, row.camera) else []
        bad += [f"wanted: {self.type}"] if self.type not in (None, row.type) else []
        if not (self.min_lens or 0) <= row.lens <= (self.max_lens if self.max_lens is not None else 1e9):
            bad.append(f"wanted: {wanted(self.min_lens, self.max_lens)} mm")
        if self.depth_of_field not in (None, row.has_dof):
            bad.append(f"depth of field is {'on' if row.has_dof else 'off'}")
        return failed(f"{text}; {'; '.join(bad)}", row.camera) if bad else passed(text, row.camera)


class FrameRow(Row):
    """How an object lies in the picture."""

    share_inside: Share
    share_behind: Share
    fill: float | None
    """Share of the picture that its outline covers; None where part of it is behind the camera or clipped."""
    unseen: Name = ""
    """Why no camera sees anything of it, or ''."""


class InFrame(CheckType[FrameRow], AtFrame):
    """The evaluated vertices of each target object, as a final render has them, project into the picture; the camera
    may see it at all."""

    name: ClassVar[str] = "in_frame"
    as_rendered: ClassVar[bool] = True
    group: ClassVar[str] = "camera and visibility"
    row: ClassVar[type[Row]] = FrameRow
    target: Selector
    min_share: Share = 1.0
    """Least share of its vertices that do."""
    margin: Annotated[float, Field(ge=0, lt=0.5)] = 0.0
    """Border that does not count, as a share of width and height."""
    include_instances: bool = False
    """With what it instances."""

    def judge_row(self, row: FrameRow) -> Finding:
        if row.unseen:
            return failed(f"No camera sees '{row.object}': {row.unseen}", 0.0)
        text = f"{number(100 * row.share_inside)} % of the vertices of '{row.object}' are in the picture"
        if row.share_behind:
            text += f", {number(100 * row.share_behind)} % behind the camera or clipped"
        return finding(row.share_inside >= self.min_share - 1e-9, text, row.share_inside)


class FrameFill(CheckType[FrameRow], AtFrame):
    """The outline of each target object (the convex hull of its projected vertices) covers a share of the picture."""

    name: ClassVar[str] = "frame_fill"
    as_rendered: ClassVar[bool] = True
    group: ClassVar[str] = "camera and visibility"
    row: ClassVar[type[Row]] = FrameRow
    target: Selector
    min: Share | None = None
    """Least share."""
    max: Share | None = None
    """Greatest share."""
    include_instances: bool = False
    """With what it instances."""

    @model_validator(mode="after")
    def _is_a_question(self) -> Self:
        check_bounds(self.min, self.max)
        return self

    def judge_row(self, row: FrameRow) -> Finding:
        if row.unseen:
            return failed(f"No camera sees '{row.object}': {row.unseen}", 0.0)
        if row.fill is None:
            return unsure(f"Part of '{row.object}' lies behind the camera or is clipped, so that it has no outline")
        text = f"'{row.object}' covers {number(100 * row.fill)} % of the picture"
        is_good = (self.min or 0) <= row.fill <= (1 if self.max is None else self.max)
        return finding(is_good, f"{text}; wanted: {wanted(self.min, self.max)}", row.fill)


class VisibleRow(Row):
    """How much of an object's surface the camera sees."""

    n_samples: Count
    n_in_frame: Count
    n_facing: Count
    n_visible: Count
    blocker: Name
    """What hides it most often, or ''."""
    unseen: Name = ""
    """Why no camera sees anything of it, or ''."""


class VisibleFromCamera(CheckType[VisibleRow], AtFrame):
    """The camera sees each target object: of points on its surface that face the camera and lie in the picture, a share
    is hit first by a ray. Glass hides what is behind it; what a final render would not show is not seen and hides
    nothing: objects and modifiers that are off in renders, fully transparent materials, what is off for cameras."""

    name: ClassVar[str] = "visible_from_camera"
    as_rendered: ClassVar[bool] = True
    group: ClassVar[str] = "camera and visibility"
    row: ClassVar[type[Row]] = VisibleRow
    target: Selector
    min_share: Share = 0.5
    """Least share of these points that nothing hides."""
    samples: Annotated[int, Field(ge=10, le=2000)] = 200
    """Points tried on each object; the same in every run."""
    min_in_frame: Share = 0.25
    """Least share of all its points that lie in the picture."""

    def judge_row(self, row: VisibleRow) -> Finding:
        if row.unseen:
            return failed(f"No camera sees '{row.object}': {row.unseen}", 0.0)
        in_frame = row.n_in_frame / row.n_samples if row.n_samples else 0.0
        if in_frame < self.min_in_frame or not row.n_facing:
            return failed(f"Only {number(100 * in_frame)} % of '{row.object}' lies in the picture", 0.0)
        share = row.n_visible / row.n_facing
        text = f"{number(100 * share)} % of the side of '{row.object}' towards the camera is seen"
        text += f"; '{row.blocker}' hides it" if row.blocker else ""
        return finding(share >= self.min_share, text, share)


class InsideRow(Row):
    """What the camera is inside of."""

    camera: Name
    inside: Name
    """The closed object around it, or ''."""
    nearest: float | None
    nearest_object: Name
    clip_start: float


class CameraNotInside(CheckType[InsideRow], AtFrame):
    """The camera is inside no closed object, and no surface is nearer than its near clipping distance."""

    name: ClassVar[str] = "camera_not_inside"
    as_rendered: ClassVar[bool] = True
    group: ClassVar[str] = "camera and visibility"
    row: ClassVar[type[Row]] = InsideRow
    ignore: tuple[str, ...] = ()
    """Patterns (* ?) of objects that may be around it: rooms, skies."""

    def judge_row(self, row: InsideRow) -> Finding:
        if row.inside:
            return failed(f"The camera '{row.camera}' is inside '{row.inside}'", row.inside)
        if row.nearest is not None and row.nearest < row.clip_start:
            text = f"'{row.nearest_object}' is {number(row.nearest)} from the camera '{row.camera}'"
            return failed(f"{text}, nearer than its clipping at {number(row.clip_start)}", row.nearest)
        return passed(f"Nothing is around the camera '{row.camera}'", row.nearest)
