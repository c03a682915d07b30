"""Checks of where things are and how large: from evaluated vertices in world space."""

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from harness.checks.check_type import (
    AtFrame,
    CheckType,
    Count,
    Length,
    Parameters,
    Row,
    check_bounds,
    wanted,
)
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, Vector, failed, finding, number, passed, vector

Axis = Literal["x", "y", "z"]
Anchor = Literal["origin", "center", "bottom", "top"]
AXES: tuple[Axis, ...] = ("x", "y", "z")


class BoxRow(Row):
    """An axis-aligned box around the evaluated vertices."""

    low: Vector
    high: Vector

    @property
    def size(self) -> Vector:
        """Along x, y, z."""
        x, y, z = (high - low for low, high in zip(self.low, self.high, strict=True))
        return x, y, z


class AxisBounds(Parameters):
    """Bounds along one axis."""

    min: Length | None = None
    """Least size."""
    max: Length | None = None
    """Greatest size."""

    @model_validator(mode="after")
    def _is_a_question(self) -> Self:
        check_bounds(self.min, self.max)
        return self


class Dimensions(CheckType[BoxRow], AtFrame):
    """The size of each target object: its bounding box from evaluated vertices, in the world or along its own axes.

    The box of `Object.dimensions` would come from eight rotated corners (2.83 for a ball of 2.0 turned by 45°)."""

    name: ClassVar[str] = "dimensions"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = BoxRow
    target: Selector
    x: AxisBounds | None = None
    """Bounds along x, in Blender units."""
    y: AxisBounds | None = None
    """Bounds along y."""
    z: AxisBounds | None = None
    """Bounds along z."""
    largest: AxisBounds | None = None
    """Bounds of the largest of the three, whatever its direction."""
    space: Literal["world", "local"] = "world"
    """`local`: along the object's own axes, its scale included."""
    include_instances: bool = False
    """With what it instances."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if not (self.x or self.y or self.z or self.largest):
            raise ValueError("give bounds for x, y, z or largest")
        return self

    def judge_row(self, row: BoxRow) -> Finding:
        sizes: dict[str, float] = {**dict(zip(AXES, row.size, strict=True)), "largest": max(row.size)}
        bad = []
        for axis, size in sizes.items():
            bounds: AxisBounds | None = getattr(self, axis)
            if bounds and not ((bounds.min or 0) <= size <= (math.inf if bounds.max is None else bounds.max)):
                bad.append(f"{axis} is {number(size)}, wanted {wanted(bounds.min, bounds.max)}")
        text = f"'{row.object}' measures {vector(row.size)}"
        return failed(f"{text}: {'; '.join(bad)}", row.size) if bad else passed(text, row.size)


class PlaceRow(Row):
    """A world position."""

    place: Vector


class Location(CheckType[PlaceRow], AtFrame):
    """The world position of an anchor of each target object lies within `tolerance` of the expected one."""

    name: ClassVar[str] = "location"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = PlaceRow
    target: Selector
    x: float | None = None
    """Expected coordinate; without it any will do."""
    y: float | None = None
    """Likewise."""
    z: float | None = None
    """Likewise."""
    tolerance: Length = 0.01
    """Greatest distance along each given axis, in Blender units."""
    anchor: Anchor = "center"
    """`center`, `bottom` and `top` of the evaluated bounding box; `origin` may lie anywhere in an object."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.x is None and self.y is None and self.z is None:
            raise ValueError("give x, y or z")
        return self

    def judge_row(self, row: PlaceRow) -> Finding:
        bad = [
            f"{axis} is {number(at)}, wanted {number(expected)} ± {number(self.tolerance)}"
            for axis, at in zip(AXES, row.place, strict=True)
            if (expected := getattr(self, axis)) is not None and abs(at - expected) > self.tolerance
        ]
        text = f"The {self.anchor} of '{row.object}' is at {vector(row.place)}"
        return failed(f"{text}: {'; '.join(bad)}", row.place) if bad else passed(text, row.place)


class DirectionRow(Row):
    """Where an object's own axis points in the world."""

    direction: Vector


class Rotation(CheckType[DirectionRow], AtFrame):
    """An axis of each target object points in a direction of the world. Directions are compared, not Euler angles: many
    angles mean one rotation."""

    name: ClassVar[str] = "rotation"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = DirectionRow
    target: Selector
    axis: Literal["x", "y", "z", "-x", "-y", "-z"] = "z"
    """The object's own axis."""
    direction: Vector
    """Where it has to point, in the world; any length."""
    tolerance_degrees: Annotated[float, Field(ge=0, le=180)] = 1.0
    """Greatest angle between the two."""
    either_way: bool = False
    """The opposite direction is as good."""

    @model_validator(mode="after")
    def _has_length(self) -> Self:
        if math.hypot(*self.direction) < 1e-9:
            raise ValueError("direction has no length")
        return self

    def judge_row(self, row: DirectionRow) -> Finding:
        degrees = angle(row.direction, self.direction)
        degrees = min(degrees, 180 - degrees) if self.either_way else degrees
        text = f"The {self.axis} axis of '{row.object}' points {number(degrees)}° away from {vector(self.direction)}"
        return finding(
            degrees <= self.tolerance_degrees, f"{text} (allowed: {number(self.tolerance_degrees)}°)", degrees
        )


def angle(a: Vector, b: Vector) -> float:
    """Between two directions, in degrees."""
    cosine = sum(p * q for p, q in zip(a, b, strict=True)) / (math.hypot(*a) * math.hypot(*b))
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


class ScaleRow(Row):
    """An object's scale in the world."""

    scale: Vector
    is_mirrored: bool


class ScaleApplied(CheckType[ScaleRow], AtFrame):
    """The world scale of each target object is 1 along all axes, parents and delta scale included, and not mirrored."""

    name: ClassVar[str] = "scale_applied"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = ScaleRow
    target: Selector
    tolerance: Length = 0.001
    """Greatest difference from 1."""

    def judge_row(self, row: ScaleRow) -> Finding:
        is_good = not row.is_mirrored and all(abs(s - 1) <= self.tolerance for s in row.scale)
        mirrored = ", mirrored" if row.is_mirrored else ""
        return finding(is_good, f"'{row.object}' has the world scale {vector(row.scale)}{mirrored}", row.scale)


class LowestRow(Row):
    """The lowest evaluated vertex."""

    lowest: float


class OnGround(CheckType[LowestRow], AtFrame):
    """The lowest evaluated vertex of each target object touches the ground, or does not lie under it."""

    name: ClassVar[str] = "on_ground"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = LowestRow
    target: Selector
    z: float = 0.0
    """Height of the ground."""
    tolerance: Length = 0.01
    """Greatest gap, and greatest depth under it."""
    mode: Literal["touching", "not_below"] = "touching"
    """`not_below`: it may also hang in the air."""
    include_instances: bool = False
    """With what it instances."""

    def judge_row(self, row: LowestRow) -> Finding:
        gap = row.lowest - self.z
        is_good = gap >= -self.tolerance and (self.mode == "not_below" or gap <= self.tolerance)
        where = "above" if gap > 0 else "below"
        return finding(
            is_good, f"The lowest point of '{row.object}' is {number(abs(gap))} {where} the ground", row.lowest
        )


class SceneBoxRow(BoxRow):
    """The box around all shown geometry."""

    n_parts: Count
    farthest: Name


class SceneBounds(CheckType[SceneBoxRow], AtFrame):
    """All shown geometry, instances included, lies within bounds: a scene of sensible size near the origin."""

    name: ClassVar[str] = "scene_bounds"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = SceneBoxRow
    min_extent: Length | None = None
    """Least length of the longest side of the box."""
    max_extent: Length | None = None
    """Greatest length of the longest side."""
    max_distance: Length | None = None
    """Greatest distance of any vertex from the world's origin, by the box's corners."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.max_distance is None:
            check_bounds(self.min_extent, self.max_extent, "min_extent, max_extent or max_distance")
        return self

    def judge_row(self, row: SceneBoxRow) -> Finding:
        extent = max(row.size)
        distance = math.hypot(*(max(abs(low), abs(high)) for low, high in zip(row.low, row.high, strict=True)))
        is_good = (self.min_extent or 0) <= extent <= (math.inf if self.max_extent is None else self.max_extent)
        is_near = self.max_distance is None or distance <= self.max_distance
        text = f"The scene measures {vector(row.size)} and reaches {number(distance)} from the origin"
        text += f" (the outermost object is '{row.farthest}')"
        return finding(is_good and is_near, text, {"size": row.size, "distance": distance})
