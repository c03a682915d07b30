"""Checks of what makes things move: animation curves and drivers. That something moves is `moves`' question."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.checks.check_type import AtFrame, CheckType, Count, Frame, Row
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, Record, failed, finding, plural

On = Literal["object", "data", "shape_keys", "material", "nodes"]
Interpolation = Literal[
    "CONSTANT", "LINEAR", "BEZIER", "SINE", "QUAD", "CUBIC", "QUART", "QUINT", "EXPO", "CIRC", "BACK", "BOUNCE",
    "ELASTIC",
]  # fmt: skip


class Curve(Record):
    """One animation curve that has a say."""

    path: Name
    index: int
    frames: Annotated[list[float], Field(max_length=500)]
    n_keys: Count
    interpolations: Annotated[list[Name], Field(max_length=20)]
    """The kinds between its keys, each once."""
    is_cyclic: bool
    spread: float
    """Greatest difference of its keys' values."""


class CurvesRow(Row):
    """The curves of an object: of the slot that its action is assigned by, and of unmuted NLA strips."""

    curves: Annotated[list[Curve], Field(max_length=500)]
    note: Name = ""
    """Why an action has no say, where it has none."""


class OnCurves(AtFrame):
    """A check of animation curves."""

    target: Selector
    on: On = "object"
    """Whose animation: the object's, its data's, its shape keys', its materials' or their node trees'."""
    data_path: str | None = None
    """Blender's path, as `location`; without it, all curves."""
    index: Annotated[int, Field(ge=0)] | None = None
    """Channel: 0 is x."""

    def chosen(self, row: CurvesRow) -> list[Curve]:
        """The curves that are meant."""
        return [c for c in row.curves if self.data_path in (None, c.path) and self.index in (None, c.index)]

    @property
    def what(self) -> str:
        """The curves in words."""
        return f"{self.data_path or 'any'}{'' if self.index is None else f'[{self.index}]'}"


class Keyframes(OnCurves, CheckType[CurvesRow]):
    """Each target object has keyframes that have a say: those of the assigned slot of its action (an action without one
    moves nothing), or of NLA strips. Whether it really moves is `moves`' question."""

    name: ClassVar[str] = "keyframes"
    group: ClassVar[str] = "animation"
    row: ClassVar[type[Row]] = CurvesRow
    min: Annotated[int, Field(ge=1)] = 2
    """Least number of keys on one curve."""
    at: tuple[Frame, ...] = ()
    """Frames at which one of the curves has to have a key."""
    must_change: bool = True
    """The keys of one curve have to hold different values."""

    def judge_row(self, row: CurvesRow) -> Finding:
        curves = self.chosen(row)
        keys = max((c.n_keys for c in curves), default=0)
        text = f"'{row.object}' has {plural(keys, 'key')} on {self.what}"
        measured = {f"{c.path}[{c.index}]": c.n_keys for c in curves[:20]}
        if keys < self.min:
            note = f" ({row.note})" if row.note else ""
            return failed(f"{text}{note}; wanted: at least {self.min}", measured)
        keyed = {round(frame, 3) for c in curves for frame in c.frames}
        missing = [frame for frame in self.at if frame not in keyed]
        if missing:
            return failed(f"{text}, none at frame {missing[0]}", measured)
        if self.must_change and not any(c.spread > 1e-6 for c in curves):
            return failed(f"{text}, all of one value", measured)
        return finding(True, text, measured)


class InterpolationIs(OnCurves, CheckType[CurvesRow]):
    """The keys of each target object's curves are joined in one way (Blender's own is BEZIER)."""

    name: ClassVar[str] = "interpolation"
    group: ClassVar[str] = "animation"
    row: ClassVar[type[Row]] = CurvesRow
    mode: Interpolation
    """Blender's name of it."""

    def judge_row(self, row: CurvesRow) -> Finding:
        curves = self.chosen(row)
        found = sorted({mode for c in curves for mode in c.interpolations})
        if not curves:
            return failed(f"'{row.object}' has no curves on {self.what}")
        text = f"The keys of '{row.object}' on {self.what} are joined by {', '.join(found)}; wanted: {self.mode}"
        return finding(found == [self.mode], text, found)


class Cyclic(OnCurves, CheckType[CurvesRow]):
    """The curves of each target object repeat: they have a Cycles modifier that is on."""

    name: ClassVar[str] = "cyclic"
    group: ClassVar[str] = "animation"
    row: ClassVar[type[Row]] = CurvesRow

    def judge_row(self, row: CurvesRow) -> Finding:
        curves = self.chosen(row)
        if not curves:
            return failed(f"'{row.object}' has no curves on {self.what}")
        n = sum(c.is_cyclic for c in curves)
        return finding(n == len(curves), f"{n} of {plural(len(curves), 'curve')} of '{row.object}' repeat", n)


class DriverFacts(Record):
    """One driver."""

    path: Name
    expression: Annotated[str, Field(max_length=300)]
    is_valid: bool
    needs_python: bool
    """Its expression is more than Blender's own calculator does: with scripts off it may do nothing."""
    n_broken: Count
    """Variables without their target."""


class DriversRow(Row):
    """The drivers of an object."""

    drivers: Annotated[list[DriverFacts], Field(max_length=500)]


class DriverValid(CheckType[DriversRow], AtFrame):
    """Each target object has a driver that works: valid, its variables have their targets, and it does without Python
    (which is off where files are judged or opened by others)."""

    name: ClassVar[str] = "driver_valid"
    group: ClassVar[str] = "animation"
    row: ClassVar[type[Row]] = DriversRow
    target: Selector
    on: On = "object"
    """Whose driver."""
    data_path: str | None = None
    """Path of the driven property; without it, all drivers have to work, at least one there."""
    contains: str | None = None
    """Text that the expression has to hold."""
    allow_python: bool = False
    """An expression that needs Python will do."""

    def judge_row(self, row: DriversRow) -> Finding:
        chosen = [d for d in row.drivers if self.data_path in (None, d.path)]
        if not chosen:
            return failed(f"'{row.object}' has no driver on {self.data_path or 'anything'}")
        measured = {d.path: d.expression for d in chosen[:20]}
        for driver in chosen:
            words = f"The driver of '{row.object}' on {driver.path}"
            if driver.n_broken:
                return failed(f"{words} has {plural(driver.n_broken, 'variable')} without a target", measured)
            if driver.needs_python and not self.allow_python:
                return failed(f"{words} needs Python, which is off: '{driver.expression}'", measured)
            if not driver.is_valid:
                return failed(f"{words} is not valid: '{driver.expression}'", measured)
            if self.contains is not None and self.contains not in driver.expression:
                return failed(f"{words} is '{driver.expression}', without '{self.contains}'", measured)
        return finding(True, f"{plural(len(chosen), 'driver')} of '{row.object}' work", measured)
