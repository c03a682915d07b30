"""Type of check -> the function that measures it, and whether it does so for each object that the target selects."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from harness.in_blender.checks import (
    camera,
    contact,
    existence,
    geometry_nodes,
    hygiene,
    lighting,
    materials,
    mesh_quality,
    modifiers,
    motion,
    naming,
    physics,
    placement,
    rendering,
    rigging,
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
    motion: ("keyframes", "interpolation", "cyclic", "value_at_frame", "moves", "driver_valid"),
    rigging: ("constraint", "armature", "skinning", "shape_key"),
    physics: ("rigid_body", "sim_result", "physics_modifier", "cache_baked"),
    geometry_nodes: ("gn_modifier", "gn_nodes", "gn_input", "gn_output", "gn_responds"),
}
_WHOLE: dict[ModuleType, tuple[str, ...]] = {
    existence: ("object_count", "forbidden_object"),
    placement: ("array_spacing", "scene_bounds"),
    naming: ("no_default_names",),
    contact: ("no_intersection", "connected_assembly"),
    materials: ("material_count",),
    lighting: ("world",),
    camera: ("active_camera", "camera_not_inside"),
    motion: ("frame_range",),
    rendering: ("render_setting", "output_path", "render_not_blank"),
    hygiene: (
        "no_external_files",
        "images_packed",
        "no_orphans",
        "scene_layout",
        "no_embedded_code",
        "file",
    ),
}

MEASURES: dict[str, tuple[Callable[..., Any], bool]] = {
    **{name: (getattr(module, name), True) for module, names in _PER_OBJECT.items() for name in names},
    **{name: (getattr(module, name), False) for module, names in _WHOLE.items() for name in names},
}
