"""Checks of touching, crossing and hanging together: between evaluated surfaces in world space."""

from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from harness.checks.check_type import AtFrame, CheckType, Count, Length, Row, Share, check_bounds
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, Record, Spot, Vector, failed, finding, number, passed, plural


class GapRow(Row):
    """How near two surfaces come."""

    other: Name
    gap: Length
    """Distance of the surfaces; 0 where they cross or touch."""
    depth: Length
    """How deep one reaches into the other."""
    share_inside: Share
    """Of the object's vertices, inside the other if it is closed."""


class ContactGap(CheckType[GapRow], AtFrame):
    """Each target object comes near the object `b`: the distance of their surfaces, and how deep they cut into each
    other. Distances are found from vertices and points on edges, then refined from surface to surface."""

    name: ClassVar[str] = "contact_gap"
    group: ClassVar[str] = "contact and assembly"
    row: ClassVar[type[Row]] = GapRow
    target: Selector
    b: Selector
    """The one other object."""
    max_gap: Length | None = 0.01
    """Greatest distance, in Blender units."""
    min_gap: Length | None = None
    """Least distance: they have to keep apart."""
    max_penetration: Length | None = None
    """Greatest depth to which one may reach into the other."""

    @model_validator(mode="after")
    def _is_a_question(self) -> Self:
        check_bounds(self.min_gap, self.max_gap, "min_gap or max_gap")
        return self

    def judge_row(self, row: GapRow) -> Finding:
        text = f"'{row.object}' and '{row.other}' are {number(row.gap)} apart"
        if row.depth > 1e-6:
            text = f"'{row.object}' and '{row.other}' cut {number(row.depth)} deep into each other"
        is_near = self.max_gap is None or row.gap <= self.max_gap
        is_apart = self.min_gap is None or (row.gap >= self.min_gap and row.share_inside == 0)
        is_shallow = self.max_penetration is None or row.depth <= self.max_penetration
        if row.share_inside == 1 and row.gap > 0:
            text += ", the one inside the other"
        return finding(is_near and is_apart and is_shallow, text, {"gap": row.gap, "depth": row.depth})


class Crossing(Record):
    """Two objects that cut into each other."""

    a: Name
    b: Name
    depth: Length
    is_contained: bool
    """One lies wholly inside the other: their surfaces do not cross."""
    place: Vector


class CrossingsRow(Row):
    """All pairs that cross."""

    n_objects: Count
    n_pairs: Count
    n_crossings: Count
    crossings: Annotated[list[Crossing], Field(max_length=200)]


class NoIntersection(CheckType[CrossingsRow], AtFrame):
    """No two of the target objects cut into each other deeper than `tolerance`, or lie inside one another. Touching is
    no crossing."""

    name: ClassVar[str] = "no_intersection"
    group: ClassVar[str] = "contact and assembly"
    row: ClassVar[type[Row]] = CrossingsRow
    target: Selector = Selector(type="MESH", min=2)
    tolerance: Length = 0.001
    """Depth that is still no crossing, in Blender units."""
    allow: tuple[tuple[str, str], ...] = ()
    """Pairs of names that may cross."""

    def judge_row(self, row: CrossingsRow) -> Finding:
        allowed = {frozenset(pair) for pair in self.allow}
        bad = [c for c in row.crossings if frozenset((c.a, c.b)) not in allowed]
        if not bad and row.n_crossings > len(row.crossings):
            return Finding(outcome="unknown", message=f"There are {row.n_crossings} crossings, too many to look at")
        if not bad:
            return passed(f"None of {plural(row.n_objects, 'object')} cuts into another", 0)
        worst = max(bad, key=lambda crossing: crossing.depth)
        how = "lies inside" if worst.is_contained else f"cuts {number(worst.depth)} deep into"
        more = f" ({plural(len(bad), 'pair crosses', 'pairs cross')})" if len(bad) > 1 else ""
        spots = [Spot(object=c.a, world_co=c.place) for c in bad[:20]]
        measured = [{"a": c.a, "b": c.b, "depth": c.depth} for c in bad[:20]]
        return failed(f"'{worst.a}' {how} '{worst.b}'{more}", measured, spots)


class PiecesRow(Row):
    """The groups of pieces that hang together, the largest first."""

    n_pieces: Count
    n_groups: Count
    floating: Annotated[list[Name], Field(max_length=100)]
    """One piece of each group but the largest."""
    gaps: Annotated[list[Length], Field(max_length=100)]
    """How far each of these groups is from the rest, where it was measured."""


class ConnectedAssembly(CheckType[PiecesRow], AtFrame):
    """The pieces of the target objects hang together: from each a way leads to every other over surfaces that are at
    most `max_gap` apart. The commonest fault of assembled models is a part that floats."""

    name: ClassVar[str] = "connected_assembly"
    group: ClassVar[str] = "contact and assembly"
    row: ClassVar[type[Row]] = PiecesRow
    target: Selector = Selector(type="MESH")
    max_gap: Length = 0.01
    """Greatest distance of two pieces that count as touching, in Blender units."""
    max_floating: Count = 0
    """Groups that may stand apart from the largest."""
    ground: float | None = None
    """Height of a ground that connects all pieces standing on it."""
    split_meshes: bool = False
    """The separate shells of a mesh are pieces of their own."""
    include_instances: bool = True
    """What the targets instance is pieces too."""

    def judge_row(self, row: PiecesRow) -> Finding:
        n = row.n_groups - 1
        text = f"{plural(row.n_pieces, 'piece')} form {plural(row.n_groups, 'group')}"
        if n > 0:
            text += f": '{row.floating[0]}' does not touch the rest"
            text += f" (the gap is {number(row.gaps[0])})" if row.gaps else ""
        spots = [Spot(object=name) for name in row.floating[:20]]
        measured: dict[str, Any] = {"groups": row.n_groups, "floating": list(row.floating[:20])}
        return finding(n <= self.max_floating, text, measured, spots)
