"""Checks of how much mesh there is: counts, volume, area, shading."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from harness.checks.check_type import Bounds, CheckType, Count, CountBounds, Length, Measured, Row, Share, wanted
from harness.checks.mesh_quality import OnMesh
from harness.checks.verdict import Finding, Verdict, finding, number, plural, unsure


class BudgetRow(Row):
    """How much there is of a mesh."""

    n_triangles: Count
    n_faces: Count
    n_vertices: Count


class TriangleBudget(CheckType[BudgetRow], OnMesh, CountBounds):
    """The number of triangles, faces or vertices of the target objects lies within bounds, after modifiers as shown in
    viewports."""

    name: ClassVar[str] = "triangle_budget"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = BudgetRow
    which: Literal["triangles", "faces", "vertices"] = "triangles"
    """What is counted."""
    each: bool = False
    """Each object has to keep the bounds by itself, not all together."""
    include_instances: bool = False
    """With what the targets instance, each instance counted."""

    def judge_row(self, row: BudgetRow) -> Finding:
        n = getattr(row, f"n_{self.which}")
        text = f"'{row.object}' has {n} {self.which}; wanted: {wanted(self.min, self.max)}"
        return finding(self.holds(n), text, n)

    def judge(self, measured: Measured[BudgetRow]) -> Verdict:
        wrong_count = self.count_verdict(measured)
        if self.each or wrong_count or measured.unmeasured or not measured.rows:
            return wrong_count or super().judge(measured)
        n = sum(getattr(row, f"n_{self.which}") for row in measured.rows)
        text = f"{plural(len(measured.rows), 'object has', 'objects have')} {n} {self.which}"
        text += f"; wanted: {wanted(self.min, self.max)}."
        return Verdict(outcome="pass" if self.holds(n) else "fail", message=text, measured=n)


class SolidRow(Row):
    """A volume and an area in the world."""

    volume: float
    area: Length
    is_closed: bool


class Volume(CheckType[SolidRow], OnMesh, Bounds):
    """The volume of each target mesh, in cubic Blender units. Only a closed mesh has one; it is negative where the
    faces look inwards."""

    name: ClassVar[str] = "volume"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = SolidRow

    def judge_row(self, row: SolidRow) -> Finding:
        if not row.is_closed:
            return unsure(f"'{row.object}' is not closed, so that it has no volume")
        text = f"'{row.object}' has a volume of {number(row.volume)}; wanted: {wanted(self.min, self.max)}"
        return finding(self.holds(row.volume), text, row.volume)


class SurfaceArea(CheckType[SolidRow], OnMesh, Bounds):
    """The area of all faces of each target mesh, in square Blender units."""

    name: ClassVar[str] = "surface_area"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = SolidRow

    def judge_row(self, row: SolidRow) -> Finding:
        text = f"'{row.object}' has an area of {number(row.area)}; wanted: {wanted(self.min, self.max)}"
        return finding(self.holds(row.area), text, row.area)


class ShadingRow(Row):
    """How a mesh is shaded."""

    n_faces: Count
    n_smooth: Count
    n_sharp_edges: Count


class Shading(CheckType[ShadingRow], OnMesh):
    """The share of smooth faces of each target mesh, and whether it has sharp edges (marked, or made by Smooth by
    Angle: Blender 4.1 and later have no auto smooth)."""

    name: ClassVar[str] = "shading"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = ShadingRow
    min_smooth: Share | None = None
    """Least share of smooth faces."""
    max_smooth: Share | None = None
    """Greatest share of smooth faces."""
    sharp_edges: bool | None = None
    """Whether it has to have sharp edges, or may have none."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        if self.min_smooth is None and self.max_smooth is None and self.sharp_edges is None:
            raise ValueError("give min_smooth, max_smooth or sharp_edges")
        return self

    def judge_row(self, row: ShadingRow) -> Finding:
        if row.n_faces == 0:
            return unsure(f"'{row.object}' has no faces")
        share = row.n_smooth / row.n_faces
        is_good = (self.min_smooth or 0) <= share <= (1 if self.max_smooth is None else self.max_smooth)
        is_good = is_good and self.sharp_edges in (None, row.n_sharp_edges > 0)
        text = f"{number(100 * share)} % of the faces of '{row.object}' are smooth"
        text += f", {plural(row.n_sharp_edges, 'edge is', 'edges are')} sharp"
        return finding(is_good, text, {"smooth": share, "sharp_edges": row.n_sharp_edges})
