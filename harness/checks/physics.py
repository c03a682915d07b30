"""Checks of physics: set up, and above all what comes of it when every frame is stepped."""

import math
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from harness.checks.check_type import AtFrame, CheckType, Frame, Length, Measured, Row, wanted
from harness.checks.placement import AXES
from harness.checks.selectors import Selector
from harness.checks.verdict import (
    Finding,
    Name,
    Record,
    Spot,
    Vector,
    Verdict,
    failed,
    finding,
    number,
    passed,
    plural,
    vector,
)


class BodyRow(Row):
    """An object's rigid body."""

    exists: bool
    type: Name = ""
    mass: float = 0
    shape: Name = ""
    is_in_world: bool = False
    is_enabled: bool = False


Shape = Literal["BOX", "SPHERE", "CAPSULE", "CYLINDER", "CONE", "CONVEX_HULL", "MESH", "COMPOUND"]


class RigidBody(CheckType[BodyRow], AtFrame):
    """Each target object is a rigid body of the scene's rigid body world: without that it never falls."""

    name: ClassVar[str] = "rigid_body"
    group: ClassVar[str] = "physics"
    row: ClassVar[type[Row]] = BodyRow
    target: Selector
    body: Literal["ACTIVE", "PASSIVE"] | None = None
    """Its kind."""
    shape: Shape | None = None
    """Its collision shape."""
    min_mass: Length | None = None
    """Least mass in kg."""
    max_mass: Length | None = None
    """Greatest mass in kg."""

    def judge_row(self, row: BodyRow) -> Finding:
        if not row.exists:
            return failed(f"'{row.object}' is no rigid body")
        if not row.is_in_world:
            return failed(f"'{row.object}' is a rigid body, but the scene's rigid body world does not hold it")
        text = f"'{row.object}' is a rigid body ({row.type}, {row.shape}, {number(row.mass)} kg)"
        if row.type == "ACTIVE" and not row.is_enabled:
            return failed(f"{text}, turned off")
        is_good = self.body in (None, row.type) and self.shape in (None, row.shape)
        is_good = is_good and (self.min_mass or 0) <= row.mass <= (math.inf if self.max_mass is None else self.max_mass)
        return finding(is_good, text, {"type": row.type, "shape": row.shape, "mass": row.mass})


class PlaceRow(Row):
    """Where an object is."""

    place: Vector


class SimResult(CheckType[PlaceRow]):
    """Where each target object ends up in a frame after every frame from the start was stepped: the centre of its
    evaluated vertices. A jump to the frame would simulate nothing, and `location` never changes."""

    name: ClassVar[str] = "sim_result"
    group: ClassVar[str] = "physics"
    row: ClassVar[type[Row]] = PlaceRow
    target: Selector
    frame: Frame
    """The frame."""
    x: float | None = None
    """Expected coordinate; without it, any will do."""
    y: float | None = None
    """Likewise."""
    z: float | None = None
    """Likewise."""
    tolerance: Length = 0.1
    """Greatest distance along each given axis, in Blender units."""
    min_distance: Length | None = None
    """Least distance from where it is in the scene's first frame."""
    max_distance: Length | None = None
    """Greatest distance from there."""

    @model_validator(mode="after")
    def _asks(self) -> Self:
        given = (self.x, self.y, self.z, self.min_distance, self.max_distance)
        if all(value is None for value in given):
            raise ValueError("give x, y, z, min_distance or max_distance")
        return self

    def frames(self) -> list[int] | dict[str, int | None]:
        return {"from": None, "to": self.frame, "samples": 2}

    def judge(self, measured: Measured[PlaceRow]) -> Verdict:
        if wrong := self.count_verdict(measured):
            return wrong
        if measured.unmeasured:
            first = measured.unmeasured[0]
            return Verdict(outcome="unknown", message=f"'{first.object}' in frame {first.frame}: {first.unknown}")
        last = [row for row in measured.rows if row.frame == self.frame]
        first_frame = min((row.frame for row in measured.rows), default=self.frame)
        starts = {row.object: row.place for row in measured.rows if row.frame == first_frame}
        found = [(row, self._judge_end(row, math.dist(row.place, starts[row.object]))) for row in last]
        if not found:
            return Verdict(outcome="unknown", message=f"Frame {self.frame} was not measured")
        bad = [(row, one) for row, one in found if one.outcome == "fail"]
        more = f" (and {len(bad) - 1} more such)" if len(bad) > 1 else ""
        return Verdict(
            outcome="fail" if bad else "pass",
            message=f"{(bad or found)[0][1].message}{more}.",
            measured={row.object: row.place for row, _ in found[:20]},
            evidence=[Spot(object=row.object, world_co=row.place) for row, _ in bad[:20]],
        )

    def _judge_end(self, row: PlaceRow, distance: float) -> Finding:
        text = f"'{row.object}' is at {vector(row.place)} in frame {row.frame}, {number(distance)} from its start"
        bad = [
            f"{axis} {number(expected)} ± {number(self.tolerance)}"
            for axis, at in zip(AXES, row.place, strict=True)
            if (expected := getattr(self, axis)) is not None and abs(at - expected) > self.tolerance
        ]
        if not (self.min_distance or 0) <= distance <= (math.inf if self.max_distance is None else self.max_distance):
            bad.append(f"{wanted(self.min_distance, self.max_distance)} far")
        return failed(f"{text}; wanted: {', '.join(bad)}") if bad else passed(text)


PhysicsKind = Literal["CLOTH", "SOFT_BODY", "FLUID", "PARTICLE_SYSTEM", "COLLISION", "DYNAMIC_PAINT", "RIGID_BODY"]


class System(Record):
    """One simulation of an object."""

    kind: PhysicsKind
    name: Name
    is_on: bool
    has_cache: bool
    is_baked: bool
    start: int
    end: int
    is_external: bool
    """Its cache lies beside the file."""


class SystemsRow(Row):
    """The simulations of an object."""

    systems: Annotated[list[System], Field(max_length=100)]


class PhysicsModifier(CheckType[SystemsRow], AtFrame):
    """Each target object has a simulation of a kind, turned on."""

    name: ClassVar[str] = "physics_modifier"
    group: ClassVar[str] = "physics"
    row: ClassVar[type[Row]] = SystemsRow
    target: Selector
    kind: PhysicsKind
    """What is simulated."""
    min: Annotated[int, Field(ge=1)] = 1
    """Least number of them."""

    def judge_row(self, row: SystemsRow) -> Finding:
        n = sum(system.kind == self.kind and system.is_on for system in row.systems)
        text = f"'{row.object}' has {plural(n, f'{self.kind} simulation')} that {'is' if n == 1 else 'are'} on"
        return finding(n >= self.min, f"{text}; wanted: at least {self.min}", [s.kind for s in row.systems])


class CacheBaked(CheckType[SystemsRow], AtFrame):
    """The simulations of each target object are baked into the file, over the frames that are wanted. A cache beside
    the file is lost with it."""

    name: ClassVar[str] = "cache_baked"
    group: ClassVar[str] = "physics"
    row: ClassVar[type[Row]] = SystemsRow
    target: Selector
    kind: PhysicsKind | None = None
    """Only this kind; a rigid body's cache is the world's."""
    until: Frame | None = None
    """Last frame that has to be baked."""
    allow_external: bool = False
    """A cache beside the file will do."""

    def judge_row(self, row: SystemsRow) -> Finding:
        systems = [s for s in row.systems if s.has_cache and self.kind in (None, s.kind)]
        measured = {system.name: system.is_baked for system in systems}
        if not systems:
            return failed(f"'{row.object}' has no {self.kind or 'simulation'} that could be baked", measured)
        for system in systems:
            words = f"{system.kind} '{system.name}' of '{row.object}'"
            if not system.is_baked:
                return failed(f"{words} is not baked", measured)
            if self.until is not None and system.end < self.until:
                return failed(f"{words} is baked up to frame {system.end}, wanted {self.until}", measured)
            if system.is_external and not self.allow_external:
                return failed(f"{words} keeps its cache beside the file", measured)
        return passed(
            f"{plural(len(systems), 'simulation')} of '{row.object}' {'is' if len(systems) == 1 else 'are'} baked"
        )
