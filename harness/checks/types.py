"""Every type of check, by group: the table of contents."""

from typing import Any

from harness.checks import contact, existence, mesh_measures, mesh_quality, naming, placement, relations
from harness.checks.check_type import CheckType

_TYPES: tuple[type[CheckType[Any]], ...] = (
    existence.ObjectExists,
    existence.ObjectCount,
    existence.ForbiddenObject,
    existence.InstanceCount,
    existence.DistinctMeshes,
    naming.NamePattern,
    naming.NoDefaultNames,
    naming.CollectionMembership,
    naming.ParentOf,
    naming.CustomProperty,
    placement.Dimensions,
    placement.Location,
    placement.Rotation,
    placement.ScaleApplied,
    placement.OnGround,
    placement.SceneBounds,
    relations.RelativePosition,
    relations.ArraySpacing,
    relations.Symmetry,
    contact.ContactGap,
    contact.NoIntersection,
    contact.ConnectedAssembly,
    mesh_measures.TriangleBudget,
    mesh_quality.Manifold,
    mesh_quality.LooseGeometry,
    mesh_quality.NormalsConsistent,
    mesh_quality.DegenerateFaces,
    mesh_quality.DuplicateVertices,
    mesh_quality.NgonRatio,
    mesh_quality.SelfIntersection,
    mesh_quality.FiniteGeometry,
    mesh_measures.Volume,
    mesh_measures.SurfaceArea,
    mesh_measures.Shading,
)

CHECK_TYPES: dict[str, type[CheckType[Any]]] = {each.name: each for each in _TYPES}
