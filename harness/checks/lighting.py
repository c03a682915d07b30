"""Checks of lights and the world."""

import fnmatch
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from harness.checks.check_type import AtFrame, CheckType, CountBounds, Length, Measured, Row, wanted
from harness.checks.materials import Color, ImageFacts
from harness.checks.placement import angle
from harness.checks.selectors import Selector
from harness.checks.verdict import (
    Finding,
    Name,
    Spot,
    Vector,
    Verdict,
    failed,
    finding,
    number,
    passed,
    plural,
    unsure,
    vector,
)

LightType = Literal["POINT", "SUN", "SPOT", "AREA"]


class LightRow(Row):
    """One shown light."""

    type: LightType
    energy: float
    color: Vector
    has_shadow: bool

    @property
    def given(self) -> float:
        """What it gives in its strongest channel: a black light gives nothing, whatever its energy."""
        return self.energy * max(self.color)


class Light(CheckType[LightRow], AtFrame, CountBounds):
    """The number of shown lights that are as wanted lies within bounds. Energy is in watts, of a sun in watts a square
    metre, times the strongest channel of the colour; meshes that emit light are none."""

    name: ClassVar[str] = "light"
    group: ClassVar[str] = "lights and world"
    row: ClassVar[type[Row]] = LightRow
    target: Selector = Selector(type="LIGHT", min=0)
    light: LightType | None = None
    """Its type."""
    min_energy: Length | None = None
    """Least energy."""
    max_energy: Length | None = None
    """Greatest energy."""
    color: Color | None = None
    """Linear RGB."""
    tolerance: Length = 0.1
    """Greatest difference in each channel of the colour."""
    shadow: bool | None = None
    """Whether it casts shadows."""

    def judge(self, measured: Measured[LightRow]) -> Verdict:
        good = [row for row in measured.rows if self._is_wanted(row)]
        if measured.unmeasured:
            return Verdict(outcome="unknown", message=measured.unmeasured[0].unknown)
        text = f"{plural(len(good), 'light is', 'lights are')} as wanted, of {len(measured.rows)} shown"
        return Verdict(
            outcome="pass" if self.holds(len(good)) else "fail",
            message=f"{text}; wanted: {wanted(self.min, self.max)}.",
            measured=[{"light": r.object, "type": r.type, "energy": r.given} for r in measured.rows[:20]],
            evidence=[Spot(object=row.object) for row in measured.rows[:20]],
        )

    def _is_wanted(self, row: LightRow) -> bool:
        return (
            self.light in (None, row.type)
            and (self.min_energy is None or row.given >= self.min_energy)
            and (self.max_energy is None or row.given <= self.max_energy)
            and (self.shadow in (None, row.has_shadow))
            and _is_near(row.color, self.color, self.tolerance)
        )


class AimRow(Row):
    """Where a light points."""

    type: LightType
    direction: Vector
    to_target: Vector
    other: Name


class LightAimsAt(CheckType[AimRow], AtFrame):
    """Each target light points at the centre of an object (its -Z axis does). A point light points nowhere."""

    name: ClassVar[str] = "light_aims_at"
    group: ClassVar[str] = "lights and world"
    row: ClassVar[type[Row]] = AimRow
    target: Selector = Selector(type="LIGHT")
    at: Selector
    """The one object that it has to point at."""
    max_degrees: Annotated[float, Field(ge=0, le=180)] = 10.0
    """Greatest angle between its axis and the way to the object's centre."""

    def judge_row(self, row: AimRow) -> Finding:
        if row.type == "POINT":
            return unsure(f"'{row.object}' is a point light, which shines everywhere")
        degrees = angle(row.direction, row.to_target)
        text = f"'{row.object}' points {number(degrees)}° past '{row.other}'; allowed: {number(self.max_degrees)}°"
        return finding(degrees <= self.max_degrees, text, degrees)


class WorldRow(Row):
    """The world of the scene."""

    world: Name | None
    color: Vector | None
    """Of the Background node at the output; None where nodes give it."""
    strength: float | None
    images: Annotated[list[ImageFacts], Field(max_length=20)]
    nodes: Annotated[list[Name], Field(max_length=100)]


class World(CheckType[WorldRow], AtFrame):
    """The scene has a world, with the background that is wanted: colour, strength, an environment image that is packed,
    or a node that has a say in it (`ShaderNodeTexSky`)."""

    name: ClassVar[str] = "world"
    group: ClassVar[str] = "lights and world"
    row: ClassVar[type[Row]] = WorldRow
    color: Color | None = None
    """Linear RGB of the background."""
    tolerance: Length = 0.05
    """Greatest difference in each channel."""
    min_strength: Length | None = None
    """Least strength."""
    max_strength: Length | None = None
    """Greatest strength."""
    image: bool = False
    """An environment image with pixels has to be packed into the file."""
    node: str | None = None
    """Pattern (* ?) of a node's `bl_idname` that has to have a say in the background."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_strength is not None and self.max_strength is not None and self.min_strength > self.max_strength:
            raise ValueError("min_strength is greater than max_strength")
        return self

    def judge_row(self, row: WorldRow) -> Finding:
        if row.world is None:
            return failed("The scene has no world")
        findings = [*self._judge_color(row), *self._judge_strength(row), *self._judge_nodes(row)]
        for outcome in ("fail", "unknown"):
            for one in findings:
                if one.outcome == outcome:
                    return one
        color = "from nodes" if row.color is None else vector(row.color)
        text = f"World '{row.world}': colour {color}, strength {row.strength}"
        return passed(text, {"color": row.color, "strength": row.strength})

    def _judge_color(self, row: WorldRow) -> list[Finding]:
        if self.color is None:
            return []
        if row.color is None:
            return [unsure(f"The background of world '{row.world}' has no single colour")]
        text = f"The background of world '{row.world}' is {vector(row.color)}; wanted: {vector(self.color)}"
        return [finding(_is_near(row.color, self.color, self.tolerance), text, row.color)]

    def _judge_strength(self, row: WorldRow) -> list[Finding]:
        if self.min_strength is None and self.max_strength is None:
            return []
        if row.strength is None:
            return [unsure(f"The strength of world '{row.world}' comes from nodes")]
        is_good = row.strength >= (self.min_strength or 0)
        is_good = is_good and (self.max_strength is None or row.strength <= self.max_strength)
        text = f"The strength of world '{row.world}' is {number(row.strength)}"
        return [finding(is_good, f"{text}; wanted: {wanted(self.min_strength, self.max_strength)}", row.strength)]

    def _judge_nodes(self, row: WorldRow) -> list[Finding]:
        found = []
        if self.image:
            is_there = any(image.has_data and image.is_packed for image in row.images)
            what = "no image" if not row.images else f"image '{row.images[0].name}', not packed or without pixels"
            found.append(finding(is_there, f"World '{row.world}' has {what if not is_there else 'a packed image'}"))
        if self.node is not None:
            is_there = any(fnmatch.fnmatchcase(name, self.node) for name in row.nodes)
            words = "has a say" if is_there else "has no say"
            found.append(finding(is_there, f"A node '{self.node}' {words} in world '{row.world}'", list(row.nodes)))
        return found


def _is_near(found: Vector, expected: Vector | None, tolerance: float) -> bool:
    return expected is None or all(abs(a - b) <= tolerance for a, b in zip(found, expected, strict=True))
