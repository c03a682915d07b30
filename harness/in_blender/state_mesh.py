"""A mesh without the order of its elements.

Blender's own operators number faces, edges and sometimes vertices by where they happened to lie in memory: the same
`primitive_uv_sphere_add()` gives another order in each process (measured). So an element is known by the places of
its vertices, and a mesh is the bag of its elements: each gets a 64-bit key, and a bag is the sum and the exclusive
or of well-mixed keys. Two vertices in one place cannot be told apart; their bag is the same all the same.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import bpy
import numpy as np

from harness.in_blender import state_exclusions as exclusions
from harness.in_blender.state_rna import column
from harness.in_blender.state_values import Value, array_extent, digest, quantised

_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_NEXT, _PREVIOUS, _COLUMN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)

_MOST_KNOWN = 64
_PART = 1 << 13

_FIELDS = {
    "FLOAT": ("value", "FLOAT", 1), "INT": ("value", "INT", 1), "INT8": ("value", "INT", 1),
    "BOOLEAN": ("value", "BOOLEAN", 1), "FLOAT2": ("vector", "FLOAT", 2), "FLOAT_VECTOR": ("vector", "FLOAT", 3),
    "FLOAT_COLOR": ("color", "FLOAT", 4), "BYTE_COLOR": ("color", "FLOAT", 4), "QUATERNION": ("value", "FLOAT", 4),
    "FLOAT4X4": ("value", "FLOAT", 16), "INT16_2D": ("value", "INT", 2), "INT32_2D": ("value", "INT", 2),
}  # fmt: skip
"""Attribute type -> the property of its items, its kind, its width."""


def parts(n: int) -> Iterator[slice]:
    """Slices of 0..n so short that what is computed between them stays in the processor's cache.

    In a fresh fork each new page of memory costs 12 microseconds: whole columns of intermediate values cost more than
    all the computing.
    """
    for start in range(0, n, _PART):
        yield slice(start, start + _PART)


def mix(keys: np.ndarray) -> np.ndarray:
    """Spread 64-bit keys evenly (the finaliser of SplitMix64, Steele et al. 2014). For short arrays."""
    keys = keys ^ (keys >> np.uint64(30))
    keys = keys * _MIX_1
    keys = keys ^ (keys >> np.uint64(27))
    keys = keys * _MIX_2
    return np.asarray(keys ^ (keys >> np.uint64(31)))


def row_keys(values: np.ndarray) -> np.ndarray:
    """A key for each row; floats to the state's tolerance. For short arrays."""
    if not len(values):
        return np.zeros(0, dtype=np.uint64)
    rows = values.reshape(len(values), -1)
    rows = quantised(rows).view(np.uint32) if rows.dtype.kind == "f" else rows
    keys = np.zeros(len(rows), dtype=np.uint64)
    for i in range(rows.shape[1]):
        keys = keys * _COLUMN + rows[:, i].astype(np.int64).view(np.uint64)
    return mix(keys)


class Bag:
    """What keys, each well mixed, are together, whatever their order."""

    def __init__(self) -> None:
        self._sum, self._xor = 0, 0

    def add(self, keys: np.ndarray) -> None:
        self._sum += int(keys.sum(dtype=np.uint64))
        self._xor ^= int(np.bitwise_xor.reduce(keys, initial=np.uint64(0)))

    def __str__(self) -> str:
        return f"{self._sum % 2**64:016x}{self._xor:016x}"


def bag(*keys: np.ndarray) -> str:
    """Those of several arrays as one bag."""
    together = Bag()
    for array in keys:
        together.add(array)
    return str(together)


def bag_with(elements: np.ndarray, values: np.ndarray) -> str:
    """The bag of elements that each carry a row of `values`."""
    together = Bag()
    for part in parts(len(elements)):
        together.add(mix(elements[part] + row_keys(values[part])))
    return str(together)


_WAVES = np.array(
    [[0.9, 0.3, 0.2], [-0.4, 1.1, 0.5], [0.7, -0.8, 1.0], [0.2, 0.6, -1.3],
     [1.7, 0.4, -0.9], [-1.2, 1.5, 0.8], [2.3, -1.9, 1.1], [0.5, 2.1, 2.6]]
)  # fmt: skip
"""Directions and lengths of the waves of a print, in radians a unit of size; no two alike, none along an axis."""


def wave_print(positions: np.ndarray) -> list[float]:
    """Eight sums of cosines over the places, which hardly change when each place does by its last bit.

    Modifiers add up in the order of elements, so that two runs may differ there (measured for Subdivision on a UV
    sphere). Whoever compares allows `n`-dependent noise, see `harness.state_diff`.
    """
    largest = float(np.abs(positions).max(initial=0.0))
    # a power of two, whose border no usual size lies on: it must not follow the noise
    size = 2.0 ** np.floor(np.log2(largest) + 0.37) if largest > 0 else 1.0
    waves, sums = _WAVES.T / size, np.zeros(len(_WAVES))
    for part in parts(len(positions)):
        sums += np.cos(positions[part].astype(np.float64) @ waves).sum(axis=0)
    return [round(float(value), 5) + 0.0 for value in sums]


@dataclass(frozen=True)
class MeshColumns:
    """What a mesh is made of, read once."""

    positions: np.ndarray
    """(vertices, 3) float32."""
    edges: np.ndarray
    """(edges, 2) int32, numbers of vertices."""
    corners: np.ndarray
    """(corners,) int32, numbers of vertices, face after face."""
    starts: np.ndarray
    """(faces,) int32, the first corner of each."""

    @classmethod
    def of(cls, mesh: bpy.types.Mesh) -> "MeshColumns":
        return cls(
            _fast_column(mesh, "position", mesh.vertices, "co", 3),
            _fast_column(mesh, ".edge_verts", mesh.edges, "vertices", 2),
            _fast_column(mesh, ".corner_vert", mesh.loops, "vertex_index", 1),
            column(mesh.polygons, "loop_start", "INT", 1),
        )

    def digest(self) -> str:
        return digest(self.positions, self.edges, self.corners, self.starts)


def _fast_column(
    mesh: bpy.types.Mesh, attribute: str, items: bpy.types.bpy_prop_collection, name: str, width: int
) -> np.ndarray:
    """The attribute that stores a property of `items`: reading the property itself asks for each item (100 times
    slower, measured). In edit mode, and in a mesh without such items, there is none."""
    found = mesh.attributes.get(attribute)
    if found is None or len(found.data) != len(items):
        return column(items, name, "FLOAT" if name == "co" else "INT", width)
    field, kind, _ = _FIELDS[found.data_type]
    return column(found.data, field, kind, width)


def _filled(n: int, keys: Callable[[slice], np.ndarray]) -> np.ndarray:
    filled = np.empty(n, dtype=np.uint64)
    for part in parts(n):
        filled[part] = keys(part)
    return filled


class MeshKeys:
    """A key for each vertex, edge, corner and face of a mesh, made of the places of its vertices."""

    def __init__(self, columns: MeshColumns) -> None:
        self.positions = columns.positions
        self.print = wave_print(self.positions)
        self.vertex = _filled(len(self.positions), lambda part: row_keys(self.positions[part]))
        self.edge = _filled(
            len(columns.edges), lambda part: mix(self.vertex[columns.edges[part]].sum(axis=1, dtype=np.uint64))
        )
        self.corner, self.face = self._faces(columns)

    def _faces(self, columns: MeshColumns) -> tuple[np.ndarray, np.ndarray]:
        """A corner's key holds its neighbours' in the face, a face's the sum of its corners'."""
        n_corners, n_faces = len(columns.corners), len(columns.starts)
        corner, face = np.empty(n_corners, dtype=np.uint64), np.empty(n_faces, dtype=np.uint64)
        for part in parts(n_faces):
            begin = int(columns.starts[part.start])
            end = int(columns.starts[part.stop]) if part.stop < n_faces else n_corners
            starts = columns.starts[part] - begin
            last = np.append(starts[1:], end - begin) - 1
            corners = self.vertex[columns.corners[begin:end]]
            following, before = np.roll(corners, -1), np.roll(corners, 1)
            following[last], before[starts] = corners[starts], corners[last]
            keys = mix(corners + following * _NEXT + before * _PREVIOUS)
            corner[begin:end], face[part] = keys, mix(np.add.reduceat(keys, starts))
        return corner, face

    def of(self, domain: str) -> np.ndarray | None:
        """Keys of a domain by its RNA name."""
        return {"POINT": self.vertex, "EDGE": self.edge, "CORNER": self.corner, "FACE": self.face}.get(domain)


_known: dict[str, MeshKeys] = {}


def keys_of(mesh: bpy.types.Mesh) -> MeshKeys:
    """The keys of a mesh; a mesh and what evaluation makes of it are often the same, and are computed once."""
    columns = MeshColumns.of(mesh)
    name = columns.digest()
    if name not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[name] = MeshKeys(columns)
    return _known[name]


def material_indexes(mesh: bpy.types.Mesh) -> np.ndarray:
    """(faces,) int32."""
    found = mesh.attributes.get("material_index")
    if found is None or len(found.data) != len(mesh.polygons):
        return np.zeros(len(mesh.polygons), dtype=np.int32)
    return column(found.data, "value", "INT", 1)


def mesh_attributes(mesh: bpy.types.Mesh, keys: MeshKeys) -> dict[str, Value]:
    """Topology and every attribute, each bound to the elements that it belongs to."""
    found: dict[str, Value] = {
        "topology": {"edges": bag(keys.edge), "faces": bag(keys.face)},
    }
    for attribute in mesh.attributes:
        elements = keys.of(attribute.domain)
        if elements is None or _is_left_out(attribute.name):
            continue
        field, kind, width = _FIELDS.get(attribute.data_type, ("", "", 0))
        name = f"attributes[{attribute.name}].data.{field or 'value'}"
        if not field or len(attribute.data) != len(elements):
            found[name] = f"<{attribute.data_type}>"
            continue
        values = column(attribute.data, field, kind, width)
        if attribute.name != "position":
            found[name] = _bound(values, elements)
        else:
            found[name] = {**_bound(values, elements, is_place=True), "print": keys.print}
        found[f"attributes[{attribute.name}].domain"] = [attribute.domain, attribute.data_type]
    return found


def _is_left_out(name: str) -> bool:
    return name in {".corner_vert", ".edge_verts"} or exclusions.is_excluded_item("attributes", name)


def _bound(values: np.ndarray, elements: np.ndarray, *, is_place: bool = False) -> dict[str, Value]:
    """Count, hash in no order, and for floats their bounds and mean."""
    return {**array_extent(values), "hash": bag(elements) if is_place else bag_with(elements, values)}
