"""Checks of constraints, armatures, skinning and shape keys."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from harness.checks.check_type import AtFrame, CheckType, Count, Length, Row, Share
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, Record, failed, finding, names, number, plural, unsure

ConstraintType = Literal[
    "ACTION", "ARMATURE", "CAMERA_SOLVER", "CHILD_OF", "CLAMP_TO", "COPY_LOCATION", "COPY_ROTATION", "COPY_SCALE",
    "COPY_TRANSFORMS", "DAMPED_TRACK", "FLOOR", "FOLLOW_PATH", "FOLLOW_TRACK", "IK", "LIMIT_DISTANCE",
    "LIMIT_LOCATION", "LIMIT_ROTATION", "LIMIT_SCALE", "LOCKED_TRACK", "MAINTAIN_VOLUME", "OBJECT_SOLVER", "PIVOT",
    "SHRINKWRAP", "SPLINE_IK", "STRETCH_TO", "TRACK_TO", "TRANSFORM", "TRANSFORM_CACHE",
]  # fmt: skip


class ConstraintFacts(Record):
    """One constraint of the type."""

    name: Name
    bone: Name
    target: Name | None
    """The object, '' where it has none; None where the type has no target."""
    influence: float
    is_on: bool
    is_valid: bool
    """As Blender says after evaluation."""
    effect: Length | None
    """How far turning it off moves the object's world matrix (greatest difference of its numbers)."""


class ConstraintsRow(Row):
    """The constraints of the type."""

    constraints: Annotated[list[ConstraintFacts], Field(max_length=200)]


class Constraint(CheckType[ConstraintsRow], AtFrame):
    """Each target object (or a bone of it) has a constraint that is on, valid, and aimed at the right object."""

    name: ClassVar[str] = "constraint"
    group: ClassVar[str] = "rigging"
    row: ClassVar[type[Row]] = ConstraintsRow
    changes_scene: ClassVar[bool] = True
    target: Selector
    constraint: ConstraintType
    """Blender's type."""
    to: str | None = None
    """Name of the object that it has to aim at."""
    bone: str | None = None
    """Bone that has it; without it, the object itself."""
    min_influence: Share = 0.001
    """Least influence."""
    effective: bool = False
    """Turning it off has to change the object's, or the bone's, matrix in this frame."""

    def judge_row(self, row: ConstraintsRow) -> Finding:
        where = f"bone '{self.bone}' of '{row.object}'" if self.bone is not None else f"'{row.object}'"
        faults = [self._fault(one) for one in row.constraints]
        measured = [{"name": c.name, "target": c.target, "influence": c.influence} for c in row.constraints[:20]]
        if not row.constraints:
            return failed(f"{where} has no {self.constraint}", measured)
        if all(faults):
            return failed(f"{self.constraint} '{row.constraints[0].name}' of {where} {faults[0]}", measured)
        good = row.constraints[faults.index("")]
        return finding(True, f"{self.constraint} '{good.name}' of {where} is on and valid", measured)

    def _fault(self, one: ConstraintFacts) -> str:
        """What is wrong with it, or ''."""
        if not one.is_on:
            return "is turned off"
        if one.target == "":
            return "has no target"
        if self.to is not None and one.target != self.to:
            return f"aims at '{one.target}', wanted '{self.to}'"
        if one.influence < self.min_influence:
            return f"has an influence of {number(one.influence)}, wanted at least {number(self.min_influence)}"
        if not one.is_valid:
            return "is not valid"
        return "changes nothing" if self.effective and (one.effect or 0.0) < 1e-5 else ""


class Bone(Record):
    """One bone."""

    name: Name
    parent: Name
    is_deform: bool
    length: float


class BonesRow(Row):
    """The bones of an armature."""

    bones: Annotated[list[Bone], Field(max_length=2000)]


class Armature(CheckType[BonesRow]):
    """Each target armature has its bones, in their hierarchy."""

    name: ClassVar[str] = "armature"
    group: ClassVar[str] = "rigging"
    row: ClassVar[type[Row]] = BonesRow
    target: Selector = Selector(type="ARMATURE")
    min_bones: Annotated[int, Field(ge=1)] = 1
    """Least number of bones."""
    min_deform: Count = 0
    """Least number of bones that deform."""
    bones: tuple[str, ...] = ()
    """Names that have to be there."""
    parents: dict[str, str] = Field(default={})
    """Bone -> the bone that has to be its parent ('' for none)."""

    def judge_row(self, row: BonesRow) -> Finding:
        found = {bone.name: bone for bone in row.bones}
        n_deform = sum(bone.is_deform for bone in row.bones)
        text = f"'{row.object}' has {plural(len(found), 'bone')}, {n_deform} that deform"
        missing = [name for name in (*self.bones, *self.parents) if name not in found]
        if missing:
            return failed(f"{text}, but no {names(missing)}", list(found)[:50])
        for child, parent in self.parents.items():
            if found[child].parent != parent:
                has = f"'{found[child].parent}'" if found[child].parent else "none"
                return failed(f"The parent of bone '{child}' is {has}, wanted: '{parent}'", list(found)[:50])
        is_good = len(found) >= self.min_bones and n_deform >= self.min_deform
        return finding(is_good, text, list(found)[:50])


class SkinRow(Row):
    """How a mesh hangs on its armature."""

    armature: Name
    """Of the modifier that is on, or ''."""
    n_vertices: Count
    n_unweighted: Count
    """Vertices without weight on any deforming bone."""
    max_influences: Count
    n_bones: Count
    """Deforming bones with a vertex group that weighs something."""
    moved: Length | None
    """How far the farthest vertex goes when bones are turned, as a share of the diagonal; None if there is nothing to
    turn."""


class Skinning(CheckType[SkinRow], AtFrame):
    """Each target mesh follows its armature: its vertices have weights on bones that deform, and turning such bones in
    the opened copy moves it."""

    name: ClassVar[str] = "skinning"
    group: ClassVar[str] = "rigging"
    row: ClassVar[type[Row]] = SkinRow
    changes_scene: ClassVar[bool] = True
    target: Selector
    armature: str | None = None
    """Name of the armature object."""
    max_unweighted: Share = 0.0
    """Greatest share of vertices without weight."""
    max_influences: Annotated[int, Field(ge=1)] | None = None
    """Most bones that pull at one vertex (games take 4)."""
    min_bones: Annotated[int, Field(ge=1)] = 1
    """Least number of bones with weight."""
    deforms: bool = True
    """Turning bones has to move it."""

    def judge_row(self, row: SkinRow) -> Finding:
        measured = {"armature": row.armature, "unweighted": row.n_unweighted, "bones": row.n_bones, "moved": row.moved}
        if not row.armature:
            return failed(f"'{row.object}' has no armature modifier that is on and has an armature", measured)
        if self.armature not in (None, row.armature):
            return failed(f"'{row.object}' hangs on '{row.armature}', wanted: '{self.armature}'", measured)
        text = f"'{row.object}' has weights on {plural(row.n_bones, 'bone')} of '{row.armature}'"
        text += f"; {row.n_unweighted} of {plural(row.n_vertices, 'vertex', 'vertices')} have none"
        is_good = row.n_bones >= self.min_bones and row.n_unweighted <= self.max_unweighted * row.n_vertices
        if self.max_influences is not None and row.max_influences > self.max_influences:
            return failed(f"{text}; {row.max_influences} bones pull at one vertex", measured)
        if is_good and self.deforms and row.moved is None:
            return unsure(f"{text}, and no bone could be turned", measured)
        if is_good and self.deforms and (row.moved or 0.0) < 1e-4:
            return failed(f"{text}, but turning them does not move it", measured)
        return finding(is_good, text, measured)


class Key(Record):
    """One shape key."""

    name: Name
    value: float
    is_muted: bool
    moved: Length
    """How far it takes the farthest vertex from what it is relative to, in local units."""


class KeysRow(Row):
    """The shape keys of an object, the basis left out."""

    keys: Annotated[list[Key], Field(max_length=500)]
    has_basis: bool


class ShapeKey(CheckType[KeysRow], AtFrame):
    """Each target object has shape keys that differ from their basis."""

    name: ClassVar[str] = "shape_key"
    group: ClassVar[str] = "rigging"
    row: ClassVar[type[Row]] = KeysRow
    target: Selector
    keys: tuple[str, ...] = ()
    """Names that have to be there and differ from the basis."""
    min_keys: Annotated[int, Field(ge=1)] = 1
    """Least number of keys that do."""
    min_value: float | None = None
    """Least value, in the frame, of one of the keys that are meant."""

    def judge_row(self, row: KeysRow) -> Finding:
        working = {key.name: key for key in row.keys if key.moved > 1e-6 and not key.is_muted}
        measured = {key.name: {"value": key.value, "moved": key.moved} for key in row.keys[:50]}
        text = f"'{row.object}' has {plural(len(row.keys), 'shape key')}, {len(working)} with an effect"
        missing = [name for name in self.keys if name not in working]
        if missing:
            return failed(f"{text}; {names(missing)} {'is' if len(missing) == 1 else 'are'} not among these", measured)
        values = [working[name].value for name in (self.keys or working)]
        if self.min_value is not None and max(values, default=0.0) < self.min_value - 1e-6:
            return failed(f"{text}; the greatest value is {number(max(values, default=0.0))}", measured)
        return finding(len(working) >= self.min_keys, text, measured)
