"""Checks of names, collections, parents and custom properties."""

import fnmatch
import re
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from harness.checks.check_type import CheckType, Row
from harness.checks.selectors import Selector
from harness.checks.verdict import Finding, Name, Spot, failed, finding, names, passed, plural

_DEFAULT_NAMES = re.compile(
    r"(Cube|Plane|Circle|Cone|Cylinder|Icosphere|Sphere|Torus|Grid|Suzanne|Mesh|Mball|BezierCurve|BezierCircle|"
    r"B\u00e9zierCurve|B\u00e9zierCircle|NurbsCurve|NurbsCircle|NurbsPath|Curve|SurfCurve|SurfPatch|SurfSphere|"
    r"SurfTorus|SurfCylinder|SurfCircle|Surface|Text|Empty|Armature|Lattice|Light|Point|Spot|Area|Sun|Camera|Object|"
    r"Material|Collection|Curves|PointCloud|Volume|GPencil|Stroke|GreasePencil)(\.\d{3,})?"
)
"""What Blender calls new things in English, and nodes' or scripts' own fallbacks."""


class NameRow(Row):
    """Whether the name matches. Blender's side tries it: an expression may take for ever, and only there time is
    limited."""

    is_match: bool


class NamePattern(CheckType[NameRow]):
    """The name of each target object matches a regular expression as a whole. Blender cuts names at 63 bytes and
    numbers equal ones (`.001`)."""

    name: ClassVar[str] = "name_pattern"
    group: ClassVar[str] = "names and collections"
    row: ClassVar[type[Row]] = NameRow
    target: Selector
    regex: str
    """Has to match the whole name."""

    @field_validator("regex")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"not a regular expression ({error})") from error
        return value

    def judge_row(self, row: NameRow) -> Finding:
        words = "matches" if row.is_match else "does not match"
        return finding(row.is_match, f"The name '{row.object}' {words} '{self.regex}'", row.object)


Named = Literal["objects", "meshes", "materials", "collections"]


class NamesRow(Row):
    """The names of one kind."""

    kind: Named
    all_names: Annotated[list[Name], Field(max_length=20_000)]


class NoDefaultNames(CheckType[NamesRow]):
    """Nothing bears the name that Blender gives (`Cube.001`, `Material`): objects of the view layer, materials in use,
    collections of the scene."""

    name: ClassVar[str] = "no_default_names"
    group: ClassVar[str] = "names and collections"
    row: ClassVar[type[Row]] = NamesRow
    kinds: tuple[Named, ...] = ("objects", "materials")
    """Whose names are looked at."""
    ignore: tuple[str, ...] = ("Camera", "Light", "Sun")
    """Patterns (* ?) of names that are fine all the same."""

    def judge_row(self, row: NamesRow) -> Finding:
        bad = [
            name
            for name in row.all_names
            if _DEFAULT_NAMES.fullmatch(name) and not any(fnmatch.fnmatchcase(name, glob) for glob in self.ignore)
        ]
        if bad:
            spots = [Spot(object=name) for name in bad[:20]] if row.kind == "objects" else []
            return failed(f"{plural(len(bad), 'default name')} among the {row.kind}: {names(bad)}", bad[:20], spots)
        return passed(f"None of {plural(len(row.all_names), 'name')} of {row.kind} is a default one", [])


class MemberRow(Row):
    """The collections of the scene that hold an object."""

    direct: Annotated[list[Name], Field(max_length=500)]
    through: Annotated[list[Name], Field(max_length=500)]
    """Directly, or by collections inside them."""


class CollectionMembership(CheckType[MemberRow]):
    """Each target object is in a collection of the scene."""

    name: ClassVar[str] = "collection_membership"
    group: ClassVar[str] = "names and collections"
    row: ClassVar[type[Row]] = MemberRow
    target: Selector
    collection: str
    """Its name; `Scene Collection` is the scene's own."""
    recursive: bool = True
    """A collection inside it will do."""
    exclusive: bool = False
    """The object may be in no other collection directly."""

    def judge_row(self, row: MemberRow) -> Finding:
        where = row.through if self.recursive else row.direct
        is_good = self.collection in where and (not self.exclusive or len(row.direct) == 1)
        text = f"'{row.object}' is in {names(list(row.direct)) or 'no collection'}"
        return finding(is_good, f"{text}; wanted: {'only ' if self.exclusive else ''}'{self.collection}'", row.direct)


class ParentRow(Row):
    """The chain of parents, nearest first."""

    parents: Annotated[list[Name], Field(max_length=200)]
    bone: Name
    """That it hangs on, or ''."""


class ParentOf(CheckType[ParentRow]):
    """Each target object has a parent, directly or further up."""

    name: ClassVar[str] = "parent_of"
    group: ClassVar[str] = "names and collections"
    row: ClassVar[type[Row]] = ParentRow
    target: Selector
    parent: str
    """The parent's name."""
    direct: bool = True
    """False: a parent's parent will do."""
    bone: str | None = None
    """The bone of the parent that it has to hang on."""

    def judge_row(self, row: ParentRow) -> Finding:
        is_good = self.parent in (row.parents[:1] if self.direct else row.parents)
        chain = " → ".join(f"'{name}'" for name in row.parents[:5]) or "none"
        on = f", bone '{row.bone}'" if row.bone else ""
        wanted = f"'{self.parent}'" + (f", bone '{self.bone}'" if self.bone is not None else "")
        is_good = is_good and self.bone in (None, row.bone)
        return finding(is_good, f"The parent of '{row.object}' is {chain}{on}; wanted: {wanted}", list(row.parents))


class PropertyRow(Row):
    """A custom property."""

    exists: bool
    value: Any = None
    """Numbers, text, yes/no and lists of them; else None."""
    is_plain: bool


class CustomProperty(CheckType[PropertyRow]):
    """Each target object has a custom property, with a value if one is given. Types count: 1 is not true."""

    name: ClassVar[str] = "custom_property"
    group: ClassVar[str] = "names and collections"
    row: ClassVar[type[Row]] = PropertyRow
    target: Selector
    key: Annotated[str, Field(min_length=1)]
    """The property's name."""
    value: bool | int | float | str | tuple[float, ...] | None = None
    """What it has to be."""
    tolerance: Annotated[float, Field(ge=0)] = 1e-6
    """Greatest difference of a number."""

    def judge_row(self, row: PropertyRow) -> Finding:
        if not row.exists:
            return failed(f"'{row.object}' has no custom property '{self.key}'")
        text = f"The property '{self.key}' of '{row.object}' is {row.value!r}"
        if self.value is None:
            return passed(text, row.value)
        if not row.is_plain:
            return Finding(outcome="unknown", message=f"The property '{self.key}' of '{row.object}' is no plain value")
        return finding(_equal(row.value, self.value, self.tolerance), f"{text}; wanted: {self.value!r}", row.value)


def _equal(found: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(found, bool) or isinstance(expected, bool):
        return found is expected
    if isinstance(found, int | float) and isinstance(expected, int | float):
        return abs(found - expected) <= tolerance
    if isinstance(found, list) and isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(
            _equal(a, b, tolerance) for a, b in zip(found, expected, strict=True)
        )
    return bool(found == expected)
