"""Which objects a check is about: by name, pattern, collection or type, in the active scene's view layer."""

import re
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

ObjectType = Literal[
    "MESH", "CURVE", "SURFACE", "META", "FONT", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL", "ARMATURE",
    "LATTICE", "EMPTY", "LIGHT", "LIGHT_PROBE", "CAMERA", "SPEAKER",
]  # fmt: skip


class Selector(BaseModel):
    """All conditions have to hold; no condition selects every shown object. A plain string means `name`.

    Shown is what stands in the active scene's view layer and is hidden neither in viewports (by itself or a collection)
    nor in renders. Objects that no scene shows are never selected.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    name: str | None = None
    """Exact name."""
    glob: str | None = None
    """Pattern with * ? [] (case counts)."""
    regex: str | None = None
    """Regular expression that has to match the whole name."""
    collection: str | None = None
    """Name of a collection that holds the object, also through collections inside it."""
    type: ObjectType | None = None
    """Blender's type of object."""
    min: Annotated[int, Field(ge=0)] = 1
    """Least number of objects that have to match, else the check fails. With 0, a check of nothing is unknown."""
    max: Annotated[int, Field(ge=0)] | None = None
    """Greatest number of objects that may match."""
    include_hidden: bool = False
    """Select hidden objects of the scene too, and those in collections that the view layer leaves out."""

    @model_validator(mode="before")
    @classmethod
    def _a_string_is_a_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if self.regex is not None:
            try:
                re.compile(self.regex)
            except re.error as error:
                raise ValueError(f"regex '{self.regex}' is not a regular expression ({error})") from error
        if self.max is not None and self.max < self.min:
            raise ValueError(f"max ({self.max}) is less than min ({self.min})")
        return self

    def allows(self, n: int) -> bool:
        """Whether so many matches are right."""
        return n >= self.min and (self.max is None or n <= self.max)

    @property
    def wanted(self) -> str:
        """How many matches are right, in words."""
        if self.max is None:
            return f"at least {self.min}"
        return f"exactly {self.min}" if self.min == self.max else f"{self.min} to {self.max}"

    def __str__(self) -> str:
        words = [
            f"'{self.name}'" if self.name is not None else "",
            f"the pattern '{self.glob}'" if self.glob is not None else "",
            f"the expression '{self.regex}'" if self.regex is not None else "",
            f"collection '{self.collection}'" if self.collection is not None else "",
            f"type {self.type}" if self.type is not None else "",
        ]
        return " and ".join(word for word in words if word) or "what is asked for"
