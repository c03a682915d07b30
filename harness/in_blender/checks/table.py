"""Type of check -> the function that measures it, and whether it does so for each object that the target selects."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from harness.in_blender.checks import (
    camera,
    contact,
    existence,
    lighting,
    materials,
    mesh_quality,
    modifiers,
    naming,
    placement,
    uv,
)

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
    modifiers: ("modifier_exists", "modifier_param", "modifier_effective", "no_unapplied_modifiers"),
    materials: ("material_assigned", "base_color", "principled_param", "shader_node", "texture_image"),
    uv: ("uv_exists", "uv_bounds", "uv_overlap", "uv_stretch"),
    lighting: ("light", "light_aims_at"),
    camera: ("in_frame", "frame_fill", "visible_from_camera"),
}
_WHOLE: dict[ModuleType, tuple[str, ...]] = {
    existence: ("object_count", "forbidden_object"),
    placement: ("array_spacing", "scene_bounds"),
    naming: ("no_default_names",),
    contact: ("no_intersection", "connected_assembly"),
    materials: ("material_count",),
    lighting: ("world",),
    camera: ("active_camera", "camera_not_inside"),
}

MEASURES: dict[str, tuple[Callable[..., Any], bool]] = {
    **{name: (getattr(module, name), True) for module, names in _PER_OBJECT.items() for name in names},
    **{name: (getattr(module, name), False) for module, names in _WHOLE.items() for name in names},
}
