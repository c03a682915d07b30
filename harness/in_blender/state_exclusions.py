"""What the canonical scene state leaves out, and why. Everything else that RNA offers is in it.

Beside the table, by rule: read-only numbers and read-only yes/no values (computed from the rest, and stale until
Blender evaluates), hidden properties, properties that are never saved, and data-blocks no scene leads to
(orphans, also those kept by a fake user: nothing in a scene shows them).
"""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

EXCLUDED: tuple[tuple[str, str, str], ...] = (
    # type, property, reason
    ("*", "rna_type", "reflection"),
    ("*", "bl_*", "what a class says of itself; bl_idname is kept by KEPT"),
    ("*", "select", "selection"),
    ("*", "select_*", "selection"),
    ("*", "is_selected", "selection"),
    ("*", "active", "which item the interface works on"),
    ("*", "active_*", "which item the interface works on"),
    ("*", "show_expanded*", "fold state of a panel"),
    ("*", "is_expanded", "fold state of a panel"),
    ("*", "show_in_editmode", "editing view only"),
    ("*", "show_on_cage", "editing view only"),
    ("ID", "name", "part of the block's key"),
    ("ID", "name_full", "part of the block's key"),
    ("ID", "id_type", "part of the block's key"),
    ("ID", "session_uid", "a number of this process"),
    ("ID", "users", "counted from the rest; the interface counts too"),
    ("ID", "use_extra_user", "book-keeping"),
    ("ID", "is_runtime_data", "book-keeping"),
    ("ID", "tag", "scratch"),
    ("ID", "original", "the block itself"),
    ("ID", "preview", "thumbnail made by the interface"),
    ("ID", "library_weak_reference", "where a block was appended from; a path of the machine"),
    ("Object", "mode", "mode"),
    ("Object", "matrix_world", "stale until evaluated; the evaluated one is kept"),
    ("Object", "matrix_local", "computed from location, rotation, scale and parent"),
    ("Object", "matrix_basis", "computed from location, rotation and scale"),
    ("Object", "dimensions", "computed from evaluated bounds"),
    ("Object", "use_shape_key_edit_mode", "editing view only"),
    ("Object", "motion_path", "drawn by the interface, computed"),
    ("Object", "selection_sets", "selection"),
    ("Object", "animation_visualization", "drawn by the interface"),
    ("Pose", "animation_visualization", "drawn by the interface"),
    ("FieldSettings", "seed", "Blender sets it from the clock"),
    ("Camera", "angle*", "computed from the lens and the sensor"),
    ("ColorManagedViewSettings", "white_balance_whitepoint", "computed from temperature and tint"),
    ("View3DShading", "selected_studio_light", "studio_light names it"),
    ("View3DShading", "wireframe_color_type", "of the interface's viewports"),
    ("PoseBone", "matrix*", "computed from location, rotation and scale"),
    ("PoseBone", "motion_path", "drawn by the interface, computed"),
    ("PoseBone", "child", "the other end of parent"),
    ("Bone", "children", "the other end of parent"),
    ("BoneCollection", "bones", "the other end of Bone.collections"),
    ("Armature", "collections", "collections_all holds them"),
    ("Scene", "tool_settings", "brushes, snapping, selection modes: tools, not scene"),
    ("Scene", "transform_orientation_slots", "tools"),
    ("Scene", "cursor", "tools"),
    ("Scene", "frame_float", "frame_current and frame_subframe hold it"),
    ("Scene", "keying_sets*", "tools"),
    ("Scene", "use_audio_scrub", "playback in the interface"),
    ("Scene", "sync_mode", "playback in the interface"),
    ("Scene", "show_keys_from_selected_only", "interface"),
    ("Scene", "objects", "collections hold them"),
    ("ViewLayer", "objects", "collections hold them"),
    ("ViewLayer", "depsgraph", "computed"),
    ("ViewLayer", "aov", "computed"),
    ("Collection", "all_objects", "objects and children hold them"),
    ("RenderSettings", "use_lock_interface", "interface"),
    ("RenderSettings", "threads", "processors of the machine, where threads_mode is AUTO"),
    ("SequenceEditor", "strips_all", "strips and their children hold them"),
    ("SequenceEditor", "sequences*", "old name of strips"),
    ("MetaStrip", "sequences", "old name of strips"),
    ("Mesh", "vertices", "attribute 'position'"),
    ("Mesh", "edges", "'topology'"),
    ("Mesh", "loops", "'topology'"),
    ("Mesh", "polygons", "'topology', 'vertex_weights' and attributes"),
    ("Mesh", "*normals", "computed; the last bit differs between processes"),
    ("Mesh", "loop_triangle*", "computed"),
    ("Mesh", "attributes", "kept by 'state_mesh', which does without the order of elements"),
    ("Mesh", "uv_layer*", "attributes"),
    ("Mesh", "vertex_colors", "attributes"),
    ("Mesh", "color_attributes", "attributes"),
    ("Mesh", "auto_texspace", "old name of use_auto_texspace"),
    ("Mesh", "texspace_*", "computed when automatic"),
    ("MetaBall", "texspace_*", "computed when automatic"),
    ("Curve", "texspace_*", "computed when automatic"),
    ("Curves", "curves", "attributes and 'curve_offset_data'"),
    ("Curves", "points", "attributes"),
    ("Curves", "*normals", "computed"),
    ("PointCloud", "points", "attributes"),
    ("PointCloud", "color_attributes", "attributes"),
    ("GreasePencilDrawing", "color_attributes", "attributes"),
    ("ByteColorAttributeValue", "color_srgb", "color holds it"),
    ("FloatColorAttributeValue", "color_srgb", "color holds it"),
    ("MeshUVLoop", "pin_uv", "editing"),
    ("ShapeKey", "points", "data holds them"),
    ("Keyframe", "co_ui", "co holds it"),
    ("Action", "fcurves", "the first channel bag holds them"),
    ("Action", "groups", "the first channel bag holds them"),
    ("Action", "curve_frame_range", "computed from keyframes"),
    ("Action", "frame_range", "computed from keyframes"),
    ("ActionGroup", "channels", "FCurve.group is the other end"),
    ("AnimData", "action_suitable_slots", "choices offered by the interface"),
    ("AnimData", "use_tweak_mode", "mode"),
    ("FCurve", "color", "drawn in the interface"),
    ("FCurve", "color_mode", "drawn in the interface"),
    ("FCurve", "is_valid", "set while evaluating"),
    ("Driver", "is_valid", "set while evaluating"),
    ("Modifier", "execution_time", "measured"),
    ("NodesModifier", "node_warnings", "set while evaluating"),
    ("NodesModifier", "bake_directory", "a path of the machine"),
    ("NodesModifier", "panels", "fold state of panels"),
    ("NodesModifier", "open_*", "fold state of panels"),
    ("GeometryNodeClosureInput", "paired_output", "reading it crashes Blender 4.5 when there is none"),
    ("Node", "internal_links", "computed"),
    ("Node", "location_absolute", "location and parent hold it"),
    ("Node", "width*", "drawn in the node editor"),
    ("Node", "height", "drawn in the node editor"),
    ("Node", "show_*", "drawn in the node editor"),
    ("Node", "color", "drawn in the node editor"),
    ("Node", "color_tag", "drawn in the node editor"),
    ("Node", "use_custom_color", "drawn in the node editor"),
    ("NodeSocket", "links", "NodeTree.links holds them"),
    ("NodeSocket", "node", "part of the path"),
    ("NodeSocket", "identifier", "part of the path"),
    ("NodeSocket", "is_output", "part of the path"),
    ("NodeSocket", "type", "bl_idname holds it"),
    ("NodeSocket", "enabled", "computed from the node's settings"),
    ("NodeSocket", "description", "of the socket's type"),
    ("NodeSocket", "label", "of the socket's type"),
    ("NodeSocket", "hide*", "drawn in the node editor"),
    ("NodeSocket", "link_limit", "of the socket's type"),
    ("NodeSocket", "show_*", "drawn in the node editor"),
    ("NodeSocket", "display_shape", "drawn in the node editor"),
    ("NodeSocket", "*_direction", "drawn in the node editor"),
    ("NodeSocket", "pin_gizmo", "drawn in the node editor"),
    ("NodeTree", "view_center", "drawn in the node editor"),
    ("NodeTree", "grease_pencil", "notes in the node editor"),
    ("NodeTree", "annotation", "notes in the node editor"),
    ("NodeTree", "debug_*", "drawn in the node editor"),
    ("NodeTreeInterfacePanel", "interface_items", "NodeTreeInterface.items_tree holds them"),
    ("MaterialSlot", "name", "material names it"),
    ("Material", "texture_paint_*", "tools"),
    ("Material", "paint_*", "tools"),
    ("TextureSlot", "output_node", "computed"),
    ("Image", "packed_file*", "saving packs; the pixels are kept"),
    ("Image", "type", "saving turns generated images into files"),
    ("Image", "pixels", "kept as a hash, see state_extras"),
    ("Image", "source", "saving turns generated images into files; other sources are kept, see state_extras"),
    ("Image", "filepath*", "packing changes it; the pixels are kept, or the file's name, see state_extras"),
    ("Image", "generated_*", "the pixels are kept; saving a painted one makes it a file"),
    ("Image", "use_generated_float", "the pixels are kept; saving a painted one makes it a file"),
    ("Image", "file_format", "packing sets it"),
    ("Image", "resolution", "computed"),
    ("Image", "render_slots", "results"),
    ("Image", "tiles", "of tiled images only the first is known before loading"),
    ("VectorFont", "packed_file", "saving packs"),
    ("Sound", "packed_file", "saving packs"),
    ("Volume", "packed_file", "saving packs"),
    ("Library", "packed_file", "saving packs"),
    ("Library", "users_id", "book-keeping"),
    ("ParticleSettings", "trail_count", "opening a file turns 0 into 1"),
    ("ParticleSystem", "particles", "simulated; their evaluated places are kept"),
    ("ParticleSystem", "child_particles", "simulated"),
    ("PointCache*", "info", "a status line"),
    ("PointCache*", "name", "a file name on the machine"),
    ("PointCache", "point_caches", "further caches of one system; their content is in the evaluated geometry"),
    ("ClothModifier", "solver_result", "set while evaluating"),
    ("RigidBodyWorld", "point_cache", "its content is in the evaluated places"),
    ("TextCurve", "edit_format", "what the interface types next"),
)
"""A property is left out where the pattern of one of its classes and its own name fit."""

KEPT: frozenset[tuple[str, str]] = frozenset(
    {
        ("Node", "bl_idname"),
        ("NodeSocket", "bl_idname"),
        ("NodeTree", "bl_idname"),
        ("Bone", "matrix_local"),
        ("Bone", "use_connect"),
    }
)
"""What the table or the rules would leave out, and stays."""

DIRECTORY_SUBTYPES = frozenset({"DIR_PATH"})
"""Folders are places on a machine, not part of the scene. Of files the last part of the path is kept."""

NOT_FOLLOWED = frozenset({"WindowManager", "Screen", "WorkSpace", "Brush", "Palette", "PaintCurve", "Library"})
"""Kinds of data-blocks that are named where something points to them, and not read."""


BUILT_IN_ADDONS = frozenset({"cycles", "cycles_curves", "cycles_custom", "cycles_visibility"})
"""Properties that add-ons of every Blender register. What a script registers is read as the custom properties in
which Blender keeps it: in another process the registration is gone, and they are still there."""

NOT_CUSTOM = BUILT_IN_ADDONS | {"_RNA_UI"}
"""Custom properties that are none: those of add-ons, which saving also adds for older versions, and descriptions."""

EXCLUDED_ITEMS: tuple[tuple[str, str, str], ...] = (
    # collection, item, reason
    ("attributes", ".select*", "selection"),
    ("attributes", ".uv_select*", "selection"),
    ("attributes", ".[vep][sn].*", "selection and pinning in the UV editor"),
    ("attributes", ".hide_*", "hidden in edit mode only"),
    ("attributes", ".corner_edge", "computed from the topology"),
)
"""Items of collections that are left out by name."""

OFF: dict[str, Callable[[Any], bool]] = {
    "CollectionObject": lambda link: link.light_linking.link_state == "INCLUDE",
    "CollectionChild": lambda link: link.light_linking.link_state == "INCLUDE",
    "FieldSettings": lambda field: field.type == "NONE",
    "CollisionSettings": lambda collision: not collision.use,
    "SequenceEditor": lambda editor: not len(editor.strips),
}
"""Structs that are there without doing anything: only that they are off is kept. Blender makes them when one looks."""


def is_excluded(classes: Sequence[str], name: str) -> bool:
    """Whether the property `name` of a struct whose classes (own first, bases after) are given stays out."""
    kinds = _kinds_without(name)
    if not kinds or any((c, name) in KEPT for c in classes):
        return False
    return any(kind == "*" or any(fnmatchcase(c, kind) for c in classes) for kind in kinds)


@cache
def _kinds_without(name: str) -> tuple[str, ...]:
    """The classes that a property of this name is left out of."""
    return tuple(kind for kind, pattern, _ in (*_EXACT.get(name, ()), *_WILD) if fnmatchcase(name, pattern))


def is_excluded_item(collection: str, name: str) -> bool:
    return any(collection == wanted and fnmatchcase(name, pattern) for wanted, pattern, _ in EXCLUDED_ITEMS)


def is_off(kind: str, struct: Any) -> bool:
    return kind in OFF and OFF[kind](struct)


_WILD = tuple(row for row in EXCLUDED if "*" in row[1])
_EXACT: dict[str, tuple[tuple[str, str, str], ...]] = {
    name: tuple(row for row in EXCLUDED if row[1] == name) for name in {row[1] for row in EXCLUDED} if "*" not in name
}
"""The table again, by name: it is asked for 10,000 properties."""
