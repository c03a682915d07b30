"""Checks of animation by its outcome: what moves, what a property is in a frame, how long it all takes."""

import itertools
import math
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from harness.checks.check_type import CheckType, Count, Frame, Length, Measured, Row, check_bounds, wanted
from harness.checks.conditions import Condition, Path, shown
from harness.checks.placement import angle
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Spot, Vector, Verdict, finding, number, unsure


class ValueRow(Row):
    """A property's value in the frame."""

    value: Any


class ValueAtFrame(CheckType[ValueRow], Condition):
    """A property of each target object has a value in a frame, evaluated: keys, drivers, constraints and simulation
    have done their work. Besides Blender's own paths (`data.energy`, `pose.bones["Arm"].rotation_euler`) there are
    `world_location`, `world_scale` and `world_rotation_degrees` (XYZ Euler), and `.x`, `.y`, `.z` of them."""

    name: ClassVar[str] = "value_at_frame"
    group: ClassVar[str] = "animation"
    row: ClassVar[type[Row]] = ValueRow
    target: Selector
    frame: Frame
    """The frame."""
    path: Path
    """The property."""

    def judge_row(self, row: ValueRow) -> Finding:
        value = self._turned(row.value) if self.path.startswith("world_rotation_degrees") else row.value
        text = f"{self.path} of '{row.object}' is {shown(value)} in frame {self.frame}; wanted: {self.wanted}"
        verdict = self.holds(value)
        return unsure(f"{text} cannot be compared", row.value) if verdict is None else finding(verdict, text, row.value)

    def _turned(self, value: Any) -> Any:
        """Angles as near as full turns bring them to the wanted ones: 180 is -180."""
        if isinstance(value, list) and isinstance(self.value, tuple) and len(value) == len(self.value):
            return [nearest_turn(a, b) for a, b in zip(value, self.value, strict=True)]
        return nearest_turn(value, self.value)


def nearest_turn(degrees: Any, wanted: Any) -> Any:
    """The same direction, as few degrees from `wanted` as can be."""
    if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in (degrees, wanted)):
        return degrees
    return wanted + (degrees - wanted + 180) % 360 - 180


class PoseRow(Row):
    """Where an object is in one frame."""

    place: Vector
    x_axis: Vector
    z_axis: Vector


class Moves(CheckType[PoseRow]):
    """Each target object moves between two frames, however that is made. Sampled positions are evaluated ones; physics
    is stepped."""

    name: ClassVar[str] = "moves"
    group: ClassVar[str] = "animation"
    row: ClassVar[type[Row]] = PoseRow
    target: Selector
    start: Frame | None = None
    """First frame; without it, the scene's."""
    end: Frame | None = None
    """Last frame; without it, the scene's."""
    samples: Annotated[int, Field(ge=2, le=32)] = 9
    """Evenly spaced frames looked at."""
    of: Literal["origin", "center"] = "origin"
    """`center` of the evaluated vertices, which a pose or shape keys move too."""
    min_distance: Length | None = None
    """Least length of the sampled way, in Blender units."""
    max_distance: Length | None = None
    """Greatest length: 0 for what has to stand still."""
    min_degrees: Length | None = None
    """Least angle by which it turns away from its first position, at any sampled frame."""
    direction: Vector | None = None
    """Where it has to end up, seen from its first place (within 30°)."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.min_degrees is None and self.direction is None:
            check_bounds(self.min_distance, self.max_distance, "min_distance, max_distance, min_degrees or direction")
        if self.start is not None and self.end is not None and self.start >= self.end:
            raise ValueError(f"start ({self.start}) is not before end ({self.end})")
        if self.direction is not None and math.hypot(*self.direction) < 1e-9:
            raise ValueError("direction has no length")
        return self

    def frames(self) -> list[int] | dict[str, int | None]:
        return {"from": self.start, "to": self.end, "samples": self.samples}

    def judge(self, measured: Measured[PoseRow]) -> Verdict:
        if wrong := self.count_verdict(measured):
            return wrong
        if measured.unmeasured:
            first = measured.unmeasured[0]
            return Verdict(outcome="unknown", message=f"'{first.object}' in frame {first.frame}: {first.unknown}")
        if measured.n_frames < 2:
            return Verdict(outcome="unknown", message="The range holds a single frame, in which nothing can move")
        ways: dict[str, list[PoseRow]] = {}
        for row in measured.rows:
            ways.setdefault(row.object, []).append(row)
        if not ways:
            return Verdict(outcome="unknown", message="Nothing was measured.")
        found = {name: self._judge_way(name, sorted(rows, key=lambda r: r.frame)) for name, rows in ways.items()}
        bad = [name for name, one in found.items() if one.outcome == "fail"]
        telling = found[bad[0]] if bad else next(iter(found.values()))
        more = f" (and {len(bad) - 1} more such)" if len(bad) > 1 else ""
        return Verdict(
            outcome="fail" if bad else "pass",
            message=f"{telling.message}{more}.",
            measured={name: one.measured for name, one in list(found.items())[:20]},
            evidence=[Spot(object=name, world_co=ways[name][-1].place) for name in bad[:20]],
        )

    def _judge_way(self, name: str, rows: list[PoseRow]) -> Finding:
        way = sum(math.dist(a.place, b.place) for a, b in itertools.pairwise(rows))
        first = rows[0]
        # to what the arc cosine of single-precision matrices is worth
        turn = round(max(max(angle(first.x_axis, r.x_axis), angle(first.z_axis, r.z_axis)) for r in rows), 3)
        x, y, z = (b - a for a, b in zip(first.place, rows[-1].place, strict=True))
        text = f"'{name}' goes {number(way)} and turns by {number(turn)}°"
        text += f" between frames {first.frame} and {rows[-1].frame}"
        measured = {"distance": way, "degrees": turn, "displacement": [x, y, z]}
        is_far = (
            (self.min_distance or 0) <= way <= (math.inf if self.max_distance is None else self.max_distance + 1e-5)
        )
        is_turned = self.min_degrees is None or turn >= self.min_degrees - 1e-3
        bounds = [f"{wanted(self.min_distance, self.max_distance)} far"] if not is_far else []
        bounds += [f"a turn of at least {self.min_degrees:g}°"] if not is_turned and self.min_degrees else []
        if self.direction is not None and (math.hypot(x, y, z) < 1e-6 or angle((x, y, z), self.direction) > 30):
            bounds.append(f"towards {shown(self.direction)}")
        return finding(not bounds, f"{text}{'; wanted: ' if bounds else ''}{', '.join(bounds)}", measured)


class RangeRow(Row):
    """The scene's time."""

    start: int
    end: int
    step: int
    fps: float


class FrameRange(CheckType[RangeRow]):
    """The scene's frame range and rate."""

    name: ClassVar[str] = "frame_range"
    group: ClassVar[str] = "animation"
    row: ClassVar[type[Row]] = RangeRow
    start: Frame | None = None
    """First frame."""
    end: Frame | None = None
    """Last frame."""
    min_frames: Count | None = None
    """Least number of frames from first to last."""
    fps: Annotated[float, Field(gt=0)] | None = None
    """Frames a second, `fps_base` included (within 0.01)."""
    step: Annotated[int, Field(ge=1)] = 1
    """Step between rendered frames."""

    def judge_row(self, row: RangeRow) -> Finding:
        n = row.end - row.start + 1
        is_good = (
            self.start in (None, row.start)
            and self.end in (None, row.end)
            and (self.min_frames is None or n >= self.min_frames)
            and (self.fps is None or abs(row.fps - self.fps) <= 0.01)
            and row.step == self.step
        )
        text = f"The scene runs from frame {row.start} to {row.end} at {number(row.fps)} a second, step {row.step}"
        return finding(is_good, text, {"start": row.start, "end": row.end, "fps": row.fps, "step": row.step})
