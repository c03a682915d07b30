"""What the scene state needs and RNA's properties do not hold: pixels, face sizes, vertex weights, hidden objects."""

import hashlib
import os
import stat
from functools import partial

import bpy
import numpy as np

from harness.in_blender.state_mesh import MeshKeys, bag_with, keys_of, mesh_attributes, mix
from harness.in_blender.state_plans import file_name
from harness.in_blender.state_rna import column
from harness.in_blender.state_values import Value, array_extent, array_value, digest, quantised

MAX_WHOLE_PIXELS = 16_000_000
"""Larger images have a hash of their pixels and no bounds."""
MAX_PIXELS = 8192 * 8192
"""1 GiB in floats. Larger images are told apart by size and by their files."""
MAX_FILE_BYTES = 1 << 28
"""Larger files are told apart by how large they are."""
_PIECE = 1 << 20


def extras(block: bpy.types.ID, grouped: set[int]) -> dict[str, Value]:
    """`grouped`: what `meshes_with_groups` found."""
    if isinstance(block, bpy.types.Mesh):
        keys = keys_of(block)
        weights = vertex_weights(block, keys) if block.as_pointer() in grouped else None
        more = {} if weights is None else {"vertex_weights": weights}
        return {**mesh_extras(block), **mesh_attributes(block, keys), **more}
    if isinstance(block, bpy.types.Image):
        return image_extras(block)
    if isinstance(block, bpy.types.Scene):
        return {
            f"view_layers[{layer.name}].hidden_objects": names
            for layer in block.view_layers
            if (names := hidden(layer))
        }
    if isinstance(block, bpy.types.Curves):
        return {"curve_offset_data": array_value(column(block.curve_offset_data, "value", "INT", 1))}
    return {}


def meshes_with_groups() -> set[int]:
    """Addresses of meshes that may have vertex weights: an object names their groups."""
    return {o.data.as_pointer() for o in bpy.data.objects if o.type == "MESH" and len(o.vertex_groups)}


def hidden(layer: bpy.types.ViewLayer) -> list[str]:
    """Objects hidden in this view layer by the eye."""
    return sorted(o.name for o in layer.objects if o.hide_get(view_layer=layer))


def mesh_extras(mesh: bpy.types.Mesh) -> dict[str, Value]:
    found: dict[str, Value] = {
        "n_vertices": len(mesh.vertices),
        "n_edges": len(mesh.edges),
        "n_faces": len(mesh.polygons),
        "uv_map_for_render": next((layer.name for layer in mesh.uv_layers if layer.active_render), None),
        "color_for_render": mesh.attributes.default_color_name,
    }
    if not mesh.use_auto_texspace:
        found["texspace"] = [round(x, 6) for x in (*mesh.texspace_location, *mesh.texspace_size)]
    return found


def vertex_weights(mesh: bpy.types.Mesh, keys: MeshKeys) -> Value | None:
    """(vertex, group, weight) of every assignment. A Python loop, the only one over vertices: RNA has no faster way."""
    rows = [(i, g.group, g.weight) for i, vertex in enumerate(mesh.vertices) for g in vertex.groups]
    if not rows:
        return None
    table = np.array(rows, dtype=np.float64)
    weights = table[:, 2].astype(np.float32)
    owners = mix(keys.vertex[table[:, 0].astype(np.int64)] + table[:, 1].astype(np.uint64))
    return {**array_extent(weights), "hash": bag_with(owners, weights)}


def image_extras(image: bpy.types.Image) -> dict[str, Value]:
    if image.type not in {"IMAGE", "UV_TEST", "MULTILAYER"} or image.source not in {"FILE", "GENERATED"}:
        return {"source": image.source, "file": file_name(image.filepath), "files": _files(image)}
    width, height = image.size
    found: dict[str, Value] = {"size": [width, height]}
    if not 0 < width * height <= MAX_PIXELS:
        return {**found, "file": file_name(image.filepath), "files": _files(image)}
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    if width * height > MAX_WHOLE_PIXELS:
        return {**found, "pixels": {"n": width * height, "hash": _digest_in_pieces(pixels, image.is_float)}}
    return {**found, "pixels": array_value(pixels.reshape(-1, max(1, image.channels)), inline=False)}


def _digest_in_pieces(values: np.ndarray, is_float: bool) -> str:
    """Rounding all at once would take as much memory again, several times."""
    together = hashlib.sha256()
    for start in range(0, len(values), _PIECE):
        piece = values[start : start + _PIECE]
        together.update((quantised(piece) if is_float else np.rint(piece * 255).astype(np.uint8)).data)
    return together.hexdigest()[:24]


def _files(image: bpy.types.Image) -> Value:
    """Tile -> digest of its file, packed or not: the same before and after saving, which packs. A single file is 0."""
    is_tiled = image.source == "TILED"
    if image.packed_files:
        packed = {f.tile_number if is_tiled else 0: f.packed_file for f in image.packed_files if f.packed_file}
        return {str(tile): _too_large(f.size) or digest(f.data) for tile, f in sorted(packed.items())}
    tiles = sorted(tile.number for tile in image.tiles) if is_tiled else [0]
    return {str(tile): _file_digest(_tile_path(image, tile)) for tile in tiles}


def _tile_path(image: bpy.types.Image, tile: int) -> str:
    path: str = bpy.path.abspath(image.filepath, library=image.library)
    u, v = (tile - 1001) % 10 + 1, (tile - 1001) // 10 + 1
    return path.replace("<UDIM>", str(tile)).replace("<UVTILE>", f"u{u}_v{v}")


def _file_digest(path: str) -> str | None:
    """None where there is no such plain file."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                return None
            if too_large := _too_large(status.st_size):
                return too_large
            return digest(*iter(partial(file.read, _PIECE), b""))
    except (OSError, ValueError):
        return None


def _too_large(n_bytes: int) -> str | None:
    return f"{n_bytes} bytes" if n_bytes > MAX_FILE_BYTES else None
