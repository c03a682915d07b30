"""Type of check -> the function that measures it, and whether it does so for each object that the target selects."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from harness.in_blender.checks import contact, existence, mesh_quality, naming, placement

_PER_OBJECT: dict[ModuleType, tuple[str, ...]] = {
    existence: ("object_exists", "instance_count", "distinct_meshes"),
    placement: ("dimensions", "location", "rotation", "scale_applied", "on_ground", "symmetry", "relative_position"),
    naming: ("name_pattern", "collection_membership", "parent_of", "custom_property"),
    contact: ("contact_gap",),
    mesh_quality: (
        "triangle_budget",
        "manifold",
        "loose_geometry",
        "normals_consistent",
        "degenerate_faces",
        "duplicate_vertices",
        "ngon_ratio",
        "self_intersection",
        "volume",
        "surface_area",
        "finite_geometry",
        "shading",
    ),
}
_WHOLE: dict[ModuleType, tuple[str, ...]] = {
    existence: ("object_count", "forbidden_object"),
    placement: ("array_spacing", "scene_bounds"),
    naming: ("no_default_names",),
    contact: ("no_intersection", "connected_assembly"),
}

MEASURES: dict[str, tuple[Callable[..., Any], bool]] = {
    **{name: (getattr(module, name), True) for module, names in _PER_OBJECT.items() for name in names},
    **{name: (getattr(module, name), False) for module, names in _WHOLE.items() for name in names},
}
