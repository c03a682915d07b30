"""Every type of check, by group: the table of contents."""

from typing import Any

from harness.checks import existence, placement, relations
from harness.checks.check_type import CheckType

_TYPES: tuple[type[CheckType[Any]], ...] = (
    existence.ObjectExists,
    existence.ObjectCount,
    existence.ForbiddenObject,
    existence.InstanceCount,
    existence.DistinctMeshes,
    placement.Dimensions,
    placement.Location,
    placement.Rotation,
    placement.ScaleApplied,
    placement.OnGround,
    placement.SceneBounds,
    relations.RelativePosition,
    relations.ArraySpacing,
    relations.Symmetry,
)

CHECK_TYPES: dict[str, type[CheckType[Any]]] = {each.name: each for each in _TYPES}
