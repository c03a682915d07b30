"""A mesh without the order of its elements.

Blender's own operators number faces, edges and sometimes vertices by where they happened to lie in memory: the same
`primitive_uv_sphere_add()` gives another order in each process (measured). So an element is known by the places of
its vertices, and a mesh is the bag of its elements: each gets a 64-bit key, and a bag is the sum and the exclusive
or of well-mixed keys. Two vertices in one place cannot be told apart; their bag is the same all the same.
"""

import bpy
import numpy as np

from harness.in_blender import state_exclusions as exclusions
from harness.in_blender.state_rna import column
from harness.in_blender.state_values import Value, array_value, digest, quantised

_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_NEXT, _PREVIOUS, _COLUMN = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9)

_MOST_KNOWN = 64

_FIELDS = {
    "FLOAT": ("value", "FLOAT", 1), "INT": ("value", "INT", 1), "INT8": ("value", "INT", 1),
    "BOOLEAN": ("value", "BOOLEAN", 1), "FLOAT2": ("vector", "FLOAT", 2), "FLOAT_VECTOR": ("vector", "FLOAT", 3),
    "FLOAT_COLOR": ("color", "FLOAT", 4), "BYTE_COLOR": ("color", "FLOAT", 4), "QUATERNION": ("value", "FLOAT", 4),
    "FLOAT4X4": ("value", "FLOAT", 16), "INT16_2D": ("value", "INT", 2), "INT32_2D": ("value", "INT", 2),
}  # fmt: skip
"""Attribute type -> the property of its items, its kind, its width."""


def mix(keys: np.ndarray) -> np.ndarray:
    """Spread 64-bit keys evenly (the finaliser of SplitMix64, Steele et al. 2014)."""
    keys = keys ^ (keys >> np.uint64(30))
    keys = keys * _MIX_1
    keys = keys ^ (keys >> np.uint64(27))
    keys = keys * _MIX_2
    return np.asarray(keys ^ (keys >> np.uint64(31)))


def row_keys(values: np.ndarray) -> np.ndarray:
    """A key for each row; floats to the state's tolerance."""
    if not len(values):
        return np.zeros(0, dtype=np.uint64)
    rows = values.reshape(len(values), -1)
    rows = quantised(rows).view(np.uint32) if rows.dtype.kind == "f" else rows
    keys = np.zeros(len(rows), dtype=np.uint64)
    for i in range(rows.shape[1]):
        keys = keys * _COLUMN + rows[:, i].astype(np.int64).view(np.uint64)
    return mix(keys)


def bag(keys: np.ndarray) -> str:
    """What these keys, each well mixed, are together, whatever their order."""
    return f"{int(keys.sum(dtype=np.uint64)):016x}{int(np.bitwise_xor.reduce(keys, initial=np.uint64(0))):016x}"


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
    sums = np.cos(positions.astype(np.float64) @ (_WAVES.T / size)).sum(axis=0)
    return [round(float(value), 5) + 0.0 for value in sums]


class MeshKeys:
    """A key for each vertex, edge, corner and face of a mesh, made of the places of its vertices."""

    def __init__(self, mesh: bpy.types.Mesh) -> None:
        self.positions = column(mesh.vertices, "co", "FLOAT", 3)
        self.print = wave_print(self.positions)
        self.vertex = row_keys(self.positions)
        ends = self.vertex[column(mesh.edges, "vertices", "INT", 2)]
        self.edge = mix(ends.sum(axis=1, dtype=np.uint64)) if len(ends) else ends.reshape(0)
        self.corner, self.face = self._faces(mesh)

    def _faces(self, mesh: bpy.types.Mesh) -> tuple[np.ndarray, np.ndarray]:
        corners = self.vertex[column(mesh.loops, "vertex_index", "INT", 1)]
        if not len(corners):
            return corners, np.zeros(0, dtype=np.uint64)
        starts = column(mesh.polygons, "loop_start", "INT", 1)
        last = np.append(starts[1:], len(corners)) - 1
        following, before = np.roll(corners, -1), np.roll(corners, 1)
        following[last], before[starts] = corners[starts], corners[last]
        keys = mix(corners + following * _NEXT + before * _PREVIOUS)
        return keys, mix(np.add.reduceat(keys, starts))

    def of(self, domain: str) -> np.ndarray | None:
        """Keys of a domain by its RNA name."""
        return {"POINT": self.vertex, "EDGE": self.edge, "CORNER": self.corner, "FACE": self.face}.get(domain)


_known: dict[str, MeshKeys] = {}


def keys_of(mesh: bpy.types.Mesh) -> MeshKeys:
    """The keys of a mesh; a mesh and what evaluation makes of it are often the same, and are read once."""
    parts = (
        column(mesh.vertices, "co", "FLOAT", 3),
        column(mesh.loops, "vertex_index", "INT", 1),
        column(mesh.polygons, "loop_start", "INT", 1),
        column(mesh.edges, "vertices", "INT", 2),
    )
    name = digest(b"".join(part.tobytes() for part in parts))
    if name not in _known:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[name] = MeshKeys(mesh)
    return _known[name]


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
    keys = elements if is_place else mix(elements + row_keys(values))
    summary = array_value(values, inline=False)
    assert isinstance(summary, dict)
    return {**summary, "hash": bag(keys)}
