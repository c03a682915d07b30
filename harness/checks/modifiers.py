"""Checks of modifiers: there, set up, and above all with an effect."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from harness.checks.check_type import AtFrame, CheckType, Row
from harness.checks.conditions import Condition, Path, shown
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, Record, failed, finding, names, passed, unsure

ModifierType = Literal[
    "ARMATURE", "ARRAY", "BEVEL", "BOOLEAN", "BUILD", "CAST", "CLOTH", "COLLISION", "CORRECTIVE_SMOOTH", "CURVE",
    "DATA_TRANSFER", "DECIMATE", "DISPLACE", "DYNAMIC_PAINT", "EDGE_SPLIT", "EXPLODE", "FLUID", "HOOK",
    "LAPLACIANDEFORM", "LAPLACIANSMOOTH", "LATTICE", "MASK", "MESH_CACHE", "MESH_DEFORM", "MESH_SEQUENCE_CACHE",
    "MESH_TO_VOLUME", "MIRROR", "MULTIRES", "NODES", "NORMAL_EDIT", "OCEAN", "PARTICLE_INSTANCE", "PARTICLE_SYSTEM",
    "REMESH", "SCREW", "SHRINKWRAP", "SIMPLE_DEFORM", "SKIN", "SMOOTH", "SOFT_BODY", "SOLIDIFY", "SUBSURF",
    "SURFACE_DEFORM", "TRIANGULATE", "UV_PROJECT", "UV_WARP", "VERTEX_WEIGHT_EDIT", "VERTEX_WEIGHT_MIX",
    "VERTEX_WEIGHT_PROXIMITY", "VOLUME_DISPLACE", "VOLUME_TO_MESH", "WARP", "WAVE", "WEIGHTED_NORMAL", "WELD",
    "WIREFRAME",
]  # fmt: skip
"""Those of Blender 4.5 that act on what can have a mesh."""


class StackItem(Record):
    """One modifier."""

    name: Name
    type: Name
    show_viewport: bool
    show_render: bool


class StackRow(Row):
    """An object's modifiers, in order."""

    stack: Annotated[list[StackItem], Field(max_length=200)]


class ModifierExists(CheckType[StackRow]):
    """Each target object has a modifier of a type, turned on, and in its place in the stack. Whether it does anything
    is `modifier_effective`'s question."""

    name: ClassVar[str] = "modifier_exists"
    group: ClassVar[str] = "modifiers"
    row: ClassVar[type[Row]] = StackRow
    target: Selector
    modifier: ModifierType
    """Blender's type."""
    min: Annotated[int, Field(ge=1)] = 1
    """Least number of them."""
    on: Literal["both", "viewport", "render", "any"] = "both"
    """Where they have to be turned on."""
    before: ModifierType | None = None
    """All have to stand above every modifier of this type."""

    def judge_row(self, row: StackRow) -> Finding:
        places = [i for i, item in enumerate(row.stack) if item.type == self.modifier]
        active = [i for i in places if self._is_on(row.stack[i])]
        text = f"'{row.object}' has {len(active)} {self.modifier}"
        if len(places) > len(active):
            text += f" (and {len(places) - len(active)} turned off)"
        if len(active) < self.min:
            return failed(f"{text}; wanted: at least {self.min}", [item.type for item in row.stack])
        later = [i for i, item in enumerate(row.stack) if item.type == self.before]
        is_in_order = not later or max(active) < min(later)
        order = "" if is_in_order else f", but below {self.before}"
        return finding(is_in_order, f"{text}{order}", [item.type for item in row.stack])

    def _is_on(self, item: StackItem) -> bool:
        viewport, render = self.on in ("any", "render"), self.on in ("any", "viewport")
        return (item.show_viewport or viewport) and (item.show_render or render)


class ValuesRow(Row):
    """The values of a property, one a modifier of the type."""

    labels: Annotated[list[Name], Field(max_length=200)]
    values: Annotated[list[Any], Field(max_length=200)]


class ModifierParam(CheckType[ValuesRow], AtFrame, Condition):
    """A setting of a modifier of each target object is as wanted; one such modifier will do. Its path is that of
    Blender's Python: `levels`, `count`, `object` (compared by name), `use_axis[0]`."""

    name: ClassVar[str] = "modifier_param"
    group: ClassVar[str] = "modifiers"
    row: ClassVar[type[Row]] = ValuesRow
    target: Selector
    modifier: ModifierType
    """Blender's type."""
    path: Path
    """The setting."""

    def judge_row(self, row: ValuesRow) -> Finding:
        if not row.values:
            return failed(f"'{row.object}' has no {self.modifier}")
        verdicts = [self.holds(value) for value in row.values]
        text = f"{self.path} of {names(list(row.labels))} on '{row.object}' is "
        text += f"{' and '.join(shown(value) for value in row.values[:3])}; wanted: {self.wanted}"
        if not any(verdicts) and None in verdicts:
            return unsure(f"{text} cannot be compared", row.values)
        return finding(any(verdicts), text, row.values)


class Effect(Record):
    """What turning one modifier off changes."""

    name: Name
    type: Name
    is_on: bool
    """In viewports."""
    is_rendered: bool
    """On in renders."""
    changes: Annotated[list[Name], Field(max_length=10)]
    """What of the geometry: vertices, faces, positions, materials, uvs, shading, instances."""
    is_visible_kind: bool
    """Whether an effect of its type can be seen in these at all."""


class EffectRow(Row):
    """Every modifier of the type."""

    effects: Annotated[list[Effect], Field(max_length=100)]


class ModifierEffective(CheckType[EffectRow], AtFrame):
    """The modifier is on in renders, and turning it off changes the evaluated geometry: no
    boolean without an object, no bevel of width 0, no array of one. Each modifier of the type is tried alone, in the
    opened copy."""

    name: ClassVar[str] = "modifier_effective"
    group: ClassVar[str] = "modifiers"
    row: ClassVar[type[Row]] = EffectRow
    changes_scene: ClassVar[bool] = True
    target: Selector
    modifier: ModifierType | None = None
    """Blender's type; without it, all modifiers."""

    def judge_row(self, row: EffectRow) -> Finding:
        what = self.modifier or "modifier"
        if not row.effects:
            return failed(f"'{row.object}' has no {what}", [])
        measured = {effect.name: list(effect.changes) for effect in row.effects}
        unrendered = next((effect for effect in row.effects if not effect.is_rendered), None)
        if unrendered:
            return failed(f"{unrendered.type} '{unrendered.name}' of '{row.object}' is turned off in renders", measured)
        idle = [effect for effect in row.effects if not effect.changes]
        if [effect for effect in idle if effect.is_visible_kind or not effect.is_on]:
            off = "; it is turned off" if not idle[0].is_on else ""
            return failed(f"{idle[0].type} '{idle[0].name}' of '{row.object}' changes nothing{off}", measured)
        if idle:
            return unsure(f"{idle[0].type} '{idle[0].name}' changes what is not compared (normals, weights)", measured)
        first = row.effects[0]
        return passed(f"{first.type} '{first.name}' of '{row.object}' changes its {', '.join(first.changes)}", measured)


class NoUnappliedModifiers(CheckType[StackRow]):
    """No target object has modifiers but the allowed ones: for files that are exported."""

    name: ClassVar[str] = "no_unapplied_modifiers"
    group: ClassVar[str] = "modifiers"
    row: ClassVar[type[Row]] = StackRow
    target: Selector = Selector(type="MESH")
    allow: tuple[ModifierType, ...] = ()
    """Types that may stay."""

    def judge_row(self, row: StackRow) -> Finding:
        left = [item.name for item in row.stack if item.type not in self.allow]
        found = f"still has {names(left)}" if left else "has no modifiers to apply"
        return finding(not left, f"'{row.object}' {found}", left)
