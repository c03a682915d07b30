"""Checks of how objects lie to each other: relations, even spacing, symmetry."""

import itertools
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.checks.check_type import AtFrame, CheckType, Count, Length, Row, Share, wanted
from harness.checks.placement import AXES, Axis
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, Vector, failed, finding, number, unsure


class PairRow(Row):
    """Two boxes, and whether the one lies inside the other's surface."""

    other: Name
    low: Vector
    high: Vector
    other_low: Vector
    other_high: Vector
    share_inside: Share | None = None
    """Of the object's sampled vertices; None where the other is not closed."""


Relation = Literal["above", "below", "left_of", "right_of", "in_front_of", "behind", "inside", "aligned"]
_DIRECTIONS: dict[str, tuple[int, int]] = {
    "above": (2, 1), "below": (2, -1), "right_of": (0, 1), "left_of": (0, -1), "behind": (1, 1), "in_front_of": (1, -1),
}  # fmt: skip


class RelativePosition(CheckType[PairRow], AtFrame):
    """How each object of `a` lies to the one `b`, by their bounding boxes in the world: +X is right, -Y is in front (as
    Blender's front view sees it), +Z is above. `inside` tests vertices against b's closed surface."""

    name: ClassVar[str] = "relative_position"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = PairRow
    target: Selector
    b: Selector
    """The one object that it is seen from."""
    relation: Relation
    """`aligned`: the centres agree along `axes`."""
    min_gap: float = 0.0
    """Least distance between the two boxes along the direction; negative lets them overlap by so much."""
    max_gap: float | None = None
    """Greatest distance between the two boxes along the direction."""
    must_overlap: bool = False
    """Seen along the direction, the boxes have to overlap: "above" is then really over it."""
    axes: tuple[Axis, ...] = ("x", "y")
    """Axes of `aligned`."""
    tolerance: Length = 0.01
    """Greatest difference of the centres for `aligned`, in Blender units."""

    def judge_row(self, row: PairRow) -> Finding:
        if self.relation == "inside":
            return self._judge_inside(row)
        if self.relation == "aligned":
            return self._judge_aligned(row)
        axis, sign = _DIRECTIONS[self.relation]
        gap = row.low[axis] - row.other_high[axis] if sign > 0 else row.other_low[axis] - row.high[axis]
        words = self.relation.replace("_", " ")
        text = f"'{row.object}' lies {number(gap)} {words} '{row.other}'"
        is_over = all(row.low[i] < row.other_high[i] and row.other_low[i] < row.high[i] for i in range(3) if i != axis)
        if self.must_overlap and not is_over:
            return failed(f"{text}, but beside it", gap)
        is_good = gap >= self.min_gap - 1e-6 and (self.max_gap is None or gap <= self.max_gap + 1e-6)
        return finding(is_good, f"{text}; wanted: {wanted(self.min_gap, self.max_gap)}", gap)

    def _judge_inside(self, row: PairRow) -> Finding:
        if row.share_inside is None:
            return unsure(f"'{row.other}' has no closed surface, so that nothing is inside or outside of it")
        text = f"{number(row.share_inside * 100)} % of the vertices of '{row.object}' lie inside '{row.other}'"
        return finding(row.share_inside == 1, text, row.share_inside)

    def _judge_aligned(self, row: PairRow) -> Finding:
        distances = {
            axis: abs(row.low[i] + row.high[i] - row.other_low[i] - row.other_high[i]) / 2
            for i, axis in enumerate(AXES)
            if axis in self.axes
        }
        text = ", ".join(f"{number(distance)} along {axis}" for axis, distance in distances.items())
        is_good = all(distance <= self.tolerance for distance in distances.values())
        return finding(is_good, f"The centres of '{row.object}' and '{row.other}' differ by {text}", distances)


class CentersRow(Row):
    """Centres of the targets' boxes, sorted along the axis."""

    centers: Annotated[list[Vector], Field(max_length=2000)]
    labels: Annotated[list[Name], Field(max_length=2000)]


class ArraySpacing(CheckType[CentersRow], AtFrame):
    """The centres of the target objects, sorted along an axis, are evenly spaced (by `step`, if it is given) and do not
    stray sideways. `include_instances` takes what the targets instance in their stead."""

    name: ClassVar[str] = "array_spacing"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = CentersRow
    target: Selector
    axis: Axis = "x"
    """Along which they stand."""
    step: Annotated[float, Field(gt=0)] | None = None
    """Distance of neighbours; without it, the mean one."""
    tolerance: Length = 0.01
    """Greatest difference of a distance from the step, and of a centre from the line, in Blender units."""
    min_count: Annotated[int, Field(ge=2)] = 3
    """Least number of them."""
    include_instances: bool = False
    """Look at the instances that the targets draw."""

    def judge_row(self, row: CentersRow) -> Finding:
        n = len(row.centers)
        if n < self.min_count:
            return failed(f"There are {n} of them, wanted: at least {self.min_count}", n)
        along = AXES.index(self.axis)
        places = sorted(row.centers, key=lambda center: center[along])
        steps = [b[along] - a[along] for a, b in itertools.pairwise(places)]
        step = self.step if self.step is not None else sum(steps) / len(steps)
        worst = max(abs(one - step) for one in steps)
        stray = max(
            max(center[i] for center in places) - min(center[i] for center in places) for i in range(3) if i != along
        )
        text = f"{n} stand along {self.axis} with steps of {number(min(steps))} to {number(max(steps))}"
        text += f" and stray {number(stray)} sideways; wanted: {number(step)} ± {number(self.tolerance)}"
        is_good = worst <= self.tolerance and stray <= self.tolerance and step > self.tolerance
        return finding(is_good, text, {"steps": [round(one, 6) for one in steps[:50]], "stray": stray})


class SymmetryRow(Row):
    """How far the mirrored vertices lie from the next vertex."""

    n_vertices: Count
    n_unmatched: Count
    diagonal: float


class Symmetry(CheckType[SymmetryRow], AtFrame):
    """Each target's evaluated vertices have a mirrored partner across a plane of the world, or of its own origin."""

    name: ClassVar[str] = "symmetry"
    group: ClassVar[str] = "placement"
    row: ClassVar[type[Row]] = SymmetryRow
    target: Selector
    axis: Axis = "x"
    """The plane's normal."""
    plane: Literal["origin", "center", "world"] = "origin"
    """The plane goes through the object's origin, the centre of its box, or the world's origin; `origin` mirrors along
    the object's own axis, the others along the world's."""
    tolerance: Share = 0.001
    """Greatest distance of partners, as a share of the object's diagonal."""
    max_unmatched: Share = 0.0
    """Greatest share of vertices without a partner."""

    def judge_row(self, row: SymmetryRow) -> Finding:
        share = row.n_unmatched / row.n_vertices if row.n_vertices else 1.0
        text = f"{row.n_unmatched} of {row.n_vertices} vertices of '{row.object}' have no mirrored partner across"
        return finding(share <= self.max_unmatched, f"{text} {self.axis} ({self.plane})", share)
