"""Checks of a mesh's soundness: closed, clean, facing outwards, finite."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.checks.check_type import AtFrame, CheckType, Count, Row, Share
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, finding, number, plural, unsure

Which = Literal["evaluated", "base"]


class OnMesh(AtFrame):
    """A check of each target's mesh."""

    target: Selector = Selector(type="MESH")
    mesh: Which = "evaluated"
    """`evaluated`: as the modifiers leave it (with their viewport settings); `base`: without modifiers."""


class ManifoldRow(Row):
    """Edges and vertices by how faces meet at them."""

    n_boundary: Count
    n_wire: Count
    n_crowded: Count
    """Edges with more than two faces."""
    n_pinched: Count
    """Vertices where separate fans of faces meet."""


class Manifold(CheckType[ManifoldRow], OnMesh):
    """Each target mesh is a closed surface: every edge has two faces, faces meet in one fan at every vertex. A plane or
    a grid is open by nature: raise `max_boundary` for those."""

    name: ClassVar[str] = "manifold"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = ManifoldRow
    max_boundary: Count | None = 0
    """Greatest number of edges with one face; null: any number."""
    max_bad: Count = 0
    """Greatest number of edges without a face or with more than two, and of pinched vertices."""

    def judge_row(self, row: ManifoldRow) -> Finding:
        bad = row.n_wire + row.n_crowded + row.n_pinched
        is_good = bad <= self.max_bad and (self.max_boundary is None or row.n_boundary <= self.max_boundary)
        text = f"'{row.object}' has {plural(row.n_boundary, 'boundary edge')}, {row.n_wire} without a face"
        text += f", {row.n_crowded} with more than two, {plural(row.n_pinched, 'pinched vertex', 'pinched vertices')}"
        return finding(is_good, text, {"boundary": row.n_boundary, "bad": bad}, list(row.spots))


class LooseRow(Row):
    """What hangs on no face."""

    n_vertices: Count
    n_edges: Count
    n_shells: Count


class LooseGeometry(CheckType[LooseRow], OnMesh):
    """Each target mesh has no vertices without edges, no edges without faces, and not too many separate shells."""

    name: ClassVar[str] = "loose_geometry"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = LooseRow
    max_vertices: Count = 0
    """Greatest number of vertices without an edge."""
    max_edges: Count = 0
    """Greatest number of edges without a face."""
    max_shells: Count | None = None
    """Greatest number of separate pieces."""

    def judge_row(self, row: LooseRow) -> Finding:
        is_good = row.n_vertices <= self.max_vertices and row.n_edges <= self.max_edges
        is_good = is_good and (self.max_shells is None or row.n_shells <= self.max_shells)
        loose = f"{plural(row.n_vertices, 'loose vertex', 'loose vertices')}, {plural(row.n_edges, 'loose edge')}"
        text = f"'{row.object}' has {loose} and {plural(row.n_shells, 'shell')}"
        measured = {"vertices": row.n_vertices, "edges": row.n_edges, "shells": row.n_shells}
        return finding(is_good, text, measured, list(row.spots))


class NormalsRow(Row):
    """How the faces are turned."""

    n_flipped: Count
    """Edges whose two faces are turned against each other."""
    is_closed: bool
    n_inward: Count
    """Closed shells that look inwards, cavities left out."""


class NormalsConsistent(CheckType[NormalsRow], OnMesh):
    """Neighbouring faces of each target mesh are turned the same way, and closed ones outwards. As Blender draws it: a
    negative object scale does not turn a mesh inside out (`scale_applied` sees it)."""

    name: ClassVar[str] = "normals_consistent"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = NormalsRow
    outward: bool = True
    """They have to look outwards too; unknown for an open mesh."""
    max_flipped: Count = 0
    """Greatest number of edges between faces turned against each other."""

    def judge_row(self, row: NormalsRow) -> Finding:
        text = f"'{row.object}' has {plural(row.n_flipped, 'edge')} between faces turned against each other"
        measured = {"flipped": row.n_flipped, "inward": row.n_inward}
        if row.n_flipped > self.max_flipped:
            return finding(False, text, measured, list(row.spots))
        if not self.outward:
            return finding(True, text, measured)
        if not row.is_closed:
            return unsure(f"'{row.object}' is open: no side of it is the outer one", measured)
        text += f" and {plural(row.n_inward, 'shell looks', 'shells look')} inwards"
        return finding(row.n_inward == 0, text, measured)


class FlawsRow(Row):
    """How many elements are flawed, of how many."""

    n: Count
    of: Count
    noun: Annotated[str, Field(max_length=40)] = ""


class Flaws(OnMesh):
    """A count of flaws that may not be exceeded."""

    max: Count = 0
    """Greatest number of them."""

    def judge_row(self, row: FlawsRow) -> Finding:
        """Good up to `max`."""
        text = f"'{row.object}' has {row.n} {row.noun} (of {row.of}); allowed: {self.max}"
        return finding(row.n <= self.max, text, row.n, list(row.spots))


class DegenerateFaces(Flaws, CheckType[FlawsRow]):
    """No target mesh has faces without area or edges without length, in the world's scale."""

    name: ClassVar[str] = "degenerate_faces"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = FlawsRow
    tolerance: Share = 1e-6
    """Length that counts as none, as a share of the object's diagonal; an area as none below its square."""


class DuplicateVertices(Flaws, CheckType[FlawsRow]):
    """No target mesh has vertices in one place with another."""

    name: ClassVar[str] = "duplicate_vertices"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = FlawsRow
    tolerance: Share = 1e-5
    """Distance that counts as none, as a share of the object's diagonal."""


class SelfIntersection(Flaws, CheckType[FlawsRow]):
    """No faces of a target mesh cut through others of it. Faces that share a corner's place are neighbours."""

    name: ClassVar[str] = "self_intersection"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = FlawsRow


class FiniteGeometry(Flaws, CheckType[FlawsRow]):
    """All coordinates of each target mesh are numbers of sensible size, and Blender's own validation has nothing to
    mend in it (tried on a copy)."""

    name: ClassVar[str] = "finite_geometry"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = FlawsRow


class NgonRow(Row):
    """Faces by their number of corners."""

    n_triangles: Count
    n_quads: Count
    n_ngons: Count


class NgonRatio(CheckType[NgonRow], OnMesh):
    """Each target mesh is made mainly of faces with few corners."""

    name: ClassVar[str] = "ngon_ratio"
    group: ClassVar[str] = "mesh quality"
    row: ClassVar[type[Row]] = NgonRow
    max_ratio: Share = 0.0
    """Greatest share of faces with more than four corners."""
    min_quads: Share = 0.0
    """Least share of faces with four."""
    ignore_flat: bool = False
    """Flat faces with many corners (caps of cylinders) are left out."""

    def judge_row(self, row: NgonRow) -> Finding:
        n = row.n_triangles + row.n_quads + row.n_ngons
        if n == 0:
            return unsure(f"'{row.object}' has no faces")
        ngons, quads = row.n_ngons / n, row.n_quads / n
        text = f"'{row.object}' has {number(100 * ngons)} % n-gons and {number(100 * quads)} % quads"
        is_good = ngons <= self.max_ratio and quads >= self.min_quads
        return finding(is_good, text, {"ngons": ngons, "quads": quads}, list(row.spots))
