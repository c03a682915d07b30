"""Checks of what there is: objects, their number, instances, meshes of their own."""

from typing import Annotated, ClassVar

from pydantic import Field

from harness.checks.check_type import AtFrame, CheckType, Count, CountBounds, Measured, Parameters, Row, wanted
from harness.checks.selectors import ObjectType, Selector
from harness.checks.verdict import Finding, Name, Spot, Verdict, failed, finding, names, passed, plural


class NamedRow(Row):
    """An object that is there."""

    type: Name
    problem: Name = ""
    """Why there is nothing of it to see, or ''."""


class ObjectExists(CheckType[NamedRow], Parameters):
    """An object that the target means is in the scene and shown; `target.min` and `target.max` say how many. What
    stands for an object of a missing library is not there, and a surface that is scaled to nothing (and not animated)
    is not shown."""

    name: ClassVar[str] = "object_exists"
    group: ClassVar[str] = "existence"
    row: ClassVar[type[Row]] = NamedRow
    target: Selector

    def judge_row(self, row: NamedRow) -> Finding:
        text = f"'{row.object}' is in the scene ({row.type})"
        return failed(f"{text}, but {row.problem}", row.type) if row.problem else passed(text, row.type)


class CountRow(Row):
    """How many objects match, and which."""

    n: Count
    matching: Annotated[list[Name], Field(max_length=50)]


class ObjectCount(CheckType[CountRow], CountBounds):
    """The number of matching objects lies within bounds. Instances do not count (see `instance_count`)."""

    name: ClassVar[str] = "object_count"
    group: ClassVar[str] = "existence"
    row: ClassVar[type[Row]] = CountRow
    among: Selector = Selector(min=0)
    """The objects to count; its own min and max are not looked at."""

    def judge_row(self, row: CountRow) -> Finding:
        text = f"{plural(row.n, 'object matches', 'objects match')} {self.among}; wanted: {wanted(self.min, self.max)}"
        return finding(self.holds(row.n), text, row.n, [Spot(object=name) for name in row.matching[:20]])


class ForbiddenObject(CheckType[CountRow]):
    """No object matches: the default cube is gone, no helper is left over. Hidden ones count by default."""

    name: ClassVar[str] = "forbidden_object"
    group: ClassVar[str] = "existence"
    row: ClassVar[type[Row]] = CountRow
    forbidden: Selector
    """What must not be there; its min and max are not looked at."""
    also_hidden: bool = True
    """Hidden objects must not be there either."""

    def judge_row(self, row: CountRow) -> Finding:
        text = f"{plural(row.n, 'object matches', 'objects match')} {self.forbidden}, none may"
        if row.n:
            text += f": {names(list(row.matching))}"
        return finding(row.n == 0, text, row.n, [Spot(object=name) for name in row.matching[:20]])


class InstanceRow(Row):
    """How many instances the target draws."""

    n: Count


class InstanceCount(CheckType[InstanceRow], AtFrame, CountBounds):
    """The number of instances that each target object draws: by collections, geometry nodes, faces, vertices or
    particles. Only shown instances are there."""

    name: ClassVar[str] = "instance_count"
    group: ClassVar[str] = "existence"
    row: ClassVar[type[Row]] = InstanceRow
    target: Selector
    source: str | None = None
    """Count only instances of this object."""

    def judge_row(self, row: InstanceRow) -> Finding:
        of = f" of '{self.source}'" if self.source else ""
        text = f"'{row.object}' draws {plural(row.n, 'instance')}{of}; wanted: {wanted(self.min, self.max)}"
        return finding(self.holds(row.n), text, row.n)


class MeshRow(Row):
    """Which mesh an object has."""

    type: ObjectType
    mesh: Name
    shape: Name
    """A hash of its evaluated geometry in its own space."""


class DistinctMeshes(CheckType[MeshRow], AtFrame):
    """The target objects have at least `min` different shapes: evaluated geometry, compared in each object's own space,
    so that renamed copies are one shape and scaled ones too."""

    name: ClassVar[str] = "distinct_meshes"
    group: ClassVar[str] = "existence"
    row: ClassVar[type[Row]] = MeshRow
    target: Selector
    min: Annotated[int, Field(ge=2)]
    """Least number of different shapes."""

    def judge(self, measured: Measured[MeshRow]) -> Verdict:
        wrong_count = self.count_verdict(measured)
        if wrong_count:
            return wrong_count
        shapes = {row.shape for row in measured.rows}
        text = f"{plural(len(measured.rows), 'object has', 'objects have')} {plural(len(shapes), 'different shape')}"
        if len(shapes) < self.min and measured.unmeasured:
            return Verdict(outcome="unknown", message=f"{text}, and {measured.unmeasured[0].unknown}")
        is_good = len(shapes) >= self.min
        return Verdict(
            outcome="pass" if is_good else "fail",
            message=f"{text}; wanted: at least {self.min}.",
            measured=len(shapes),
            evidence=[] if is_good else [Spot(object=row.object) for row in measured.rows[:20]],
        )
