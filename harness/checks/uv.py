"""Checks of UV maps: there, in bounds, without overlap and stretch. Of evaluated meshes: modifiers may lose a layer."""

from typing import Annotated, ClassVar

from pydantic import Field

from harness.checks.check_type import AtFrame, CheckType, Count, Row, Share
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, failed, finding, names, number, unsure

Point2 = tuple[float, float]


class OnLayer(AtFrame):
    """A check of one UV layer of each target."""

    target: Selector = Selector(type="MESH")
    layer: str | None = None
    """Name of the UV layer; without it, the one that is rendered."""


class LayerRow(Row):
    """The layer, if it is there, and how much of the mesh it really unwraps."""

    layers: Annotated[list[Name], Field(max_length=50)]
    layer: Name | None
    unwrapped: Share
    """Share of the area whose faces have an area in the layer."""


class UvExists(CheckType[LayerRow], OnLayer):
    """Each target mesh has a UV layer, and its faces have an area in it."""

    name: ClassVar[str] = "uv_exists"
    group: ClassVar[str] = "UV maps"
    row: ClassVar[type[Row]] = LayerRow
    min_layers: Annotated[int, Field(ge=1)] = 1
    """Least number of layers."""
    min_unwrapped: Share = 0.99
    """Least share of the mesh's area whose faces are no points or lines in the layer."""

    def judge_row(self, row: LayerRow) -> Finding:
        found = names(list(row.layers)) or "none"
        if row.layer is None or len(row.layers) < self.min_layers:
            wanted = f"'{self.layer}'" if self.layer else f"at least {self.min_layers}"
            return failed(f"The UV layers of '{row.object}' are: {found}; wanted: {wanted}", list(row.layers))
        text = f"{number(100 * row.unwrapped)} % of the area of '{row.object}' is unwrapped in '{row.layer}'"
        return finding(row.unwrapped >= self.min_unwrapped, text, row.unwrapped)


class BoxRow(Row):
    """The bounds of a layer."""

    layer: Name
    low: Point2
    high: Point2


class UvBounds(CheckType[BoxRow], OnLayer):
    """The UV coordinates of each target mesh lie within bounds. Tiling textures may exceed 0..1."""

    name: ClassVar[str] = "uv_bounds"
    group: ClassVar[str] = "UV maps"
    row: ClassVar[type[Row]] = BoxRow
    low: Point2 = (0.0, 0.0)
    """Least U and V."""
    high: Point2 = (1.0, 1.0)
    """Greatest U and V; as many UDIM tiles as there are."""
    tolerance: Annotated[float, Field(ge=0)] = 1e-4
    """How far outside is still inside."""

    def judge_row(self, row: BoxRow) -> Finding:
        is_good = all(row.low[i] >= self.low[i] - self.tolerance for i in (0, 1))
        is_good = is_good and all(row.high[i] <= self.high[i] + self.tolerance for i in (0, 1))
        u, v = (f"{number(row.low[i])} to {number(row.high[i])}" for i in (0, 1))
        return finding(is_good, f"'{row.object}' spans U {u} and V {v} in '{row.layer}'", [row.low, row.high])


class OverlapRow(Row):
    """Of a raster over the layer's bounds."""

    layer: Name
    n_covered: Count
    n_doubled: Count


class UvOverlap(CheckType[OverlapRow], OnLayer):
    """Faces of each target mesh do not lie over each other in UV space: counted in a fixed raster of 512 x 512 cells
    over the layer's bounds."""

    name: ClassVar[str] = "uv_overlap"
    group: ClassVar[str] = "UV maps"
    row: ClassVar[type[Row]] = OverlapRow
    max_ratio: Share = 0.01
    """Greatest share of the covered cells that are covered more than once."""

    def judge_row(self, row: OverlapRow) -> Finding:
        if not row.n_covered:
            return unsure(f"'{row.object}' has no area in '{row.layer}'")
        ratio = row.n_doubled / row.n_covered
        text = f"{number(100 * ratio)} % of the UV area of '{row.object}' is covered more than once"
        return finding(ratio <= self.max_ratio, text, ratio)


class StretchRow(Row):
    """How evenly the layer covers the mesh."""

    layer: Name
    stretched: Share
    """Share of the mesh's area whose faces have much more, or less, UV area than their due."""
    worst: float


class UvStretch(CheckType[StretchRow], OnLayer):
    """Faces of each target mesh have UV area in proportion to their area in the world."""

    name: ClassVar[str] = "uv_stretch"
    group: ClassVar[str] = "UV maps"
    row: ClassVar[type[Row]] = StretchRow
    max_factor: Annotated[float, Field(gt=1)] = 3.0
    """Up to this factor above or below the mean, a face is not stretched."""
    max_ratio: Share = 0.1
    """Greatest share of the mesh's area that is stretched."""

    def judge_row(self, row: StretchRow) -> Finding:
        text = f"{number(100 * row.stretched)} % of the area of '{row.object}' is stretched"
        text += f" by more than {number(self.max_factor)} in '{row.layer}'"
        return finding(row.stretched <= self.max_ratio, text, {"stretched": row.stretched, "worst": row.worst})
