"""A mesh as arrays in world space, and what is computed from them alone."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class MeshArrays:
    """Points [n, 3] in the world, edges [m, 2], faces as corners; triangles [t, 3] with the face of each."""

    points: np.ndarray
    edges: np.ndarray
    corners: np.ndarray
    """Vertex of each face corner."""
    starts: np.ndarray
    sizes: np.ndarray
    triangles: np.ndarray
    triangle_faces: np.ndarray
    materials: np.ndarray
    """Material index of each face."""
    smooth: np.ndarray
    """Whether each face is shaded smooth."""
    sharp: np.ndarray
    """Whether each edge is marked sharp."""
    uvs: dict[str, np.ndarray]
    """UV layer -> [corners, 2]."""
    render_uv: str
    """The layer that is rendered, or ''."""
    corner_triangles: np.ndarray
    """The face corners of each triangle, [t, 3]."""
    is_mirrored: bool = False
    """The world matrix turns the mesh inside out; Blender draws it as if it did not."""

    @classmethod
    def empty(cls) -> "MeshArrays":
        pairs, triples = np.zeros((0, 2), dtype=np.int32), np.zeros((0, 3), dtype=np.int32)
        none = np.zeros(0, dtype=np.int32)
        return cls(np.zeros((0, 3)), pairs, none, none, none, triples, none, none, none, none, {}, "", triples)

    def moved(self, matrix: np.ndarray) -> "MeshArrays":
        """The same mesh under another world matrix."""
        is_mirrored = bool(np.linalg.det(matrix[:3, :3]) < 0)
        return replace(self, points=self.points @ matrix[:3, :3].T + matrix[:3, 3], is_mirrored=is_mirrored)

    @property
    def is_finite(self) -> bool:
        return bool(np.isfinite(self.points).all() and (np.abs(self.points) < 1e30).all())

    @property
    def n_faces(self) -> int:
        return len(self.sizes)

    @property
    def diagonal(self) -> float:
        """Of its bounding box in the world."""
        return float(np.linalg.norm(self.points.max(axis=0) - self.points.min(axis=0))) if len(self.points) else 0.0

    @cached_property
    def corner_faces(self) -> np.ndarray:
        """The face of each corner."""
        return np.repeat(np.arange(self.n_faces), self.sizes)

    @cached_property
    def half_edges(self) -> np.ndarray:
        """(from, to) of each face corner, around its face, [corners, 2]."""
        following = np.arange(1, len(self.corners) + 1)
        following[self.starts + self.sizes - 1] = self.starts
        return np.stack([self.corners, self.corners[following]], axis=1)

    @cached_property
    def face_keys(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(undirected edges [k, 2], how many faces use each, how many go from low to high vertex) of all face edges."""
        pairs = self.half_edges
        ordered = np.sort(pairs, axis=1)
        edges, inverse, counts = np.unique(ordered, axis=0, return_inverse=True, return_counts=True)
        upward = np.bincount(inverse.reshape(-1), weights=pairs[:, 0] < pairs[:, 1], minlength=len(edges))
        return edges, counts, upward.astype(int)

    @cached_property
    def triangle_crosses(self) -> np.ndarray:
        """Cross products of the triangles' edges: twice the area along the normal, [t, 3]."""
        a, b, c = (self.points[self.triangles[:, i]] for i in range(3))
        return np.asarray(np.cross(b - a, c - a))

    @cached_property
    def face_areas(self) -> np.ndarray:
        """World area of each face."""
        areas = np.linalg.norm(self.triangle_crosses, axis=1) / 2
        return np.bincount(self.triangle_faces, weights=areas, minlength=self.n_faces)

    @cached_property
    def face_centers(self) -> np.ndarray:
        """Mean of each face's corners, [faces, 3]."""
        sums = np.stack(
            [
                np.bincount(self.corner_faces, weights=self.points[self.corners, i], minlength=self.n_faces)
                for i in range(3)
            ],
            axis=1,
        )
        return np.asarray(sums / np.maximum(self.sizes, 1)[:, np.newaxis])

    @property
    def volume(self) -> float:
        """Signed: positive where the faces look outwards as Blender draws them. Means something if it is closed."""
        if not len(self.triangles):
            return 0.0
        middle = self.points.mean(axis=0)
        a = self.points[self.triangles[:, 0]] - middle
        signed = float((a * self.triangle_crosses).sum() / 6)
        return -signed if self.is_mirrored else signed

    @property
    def is_closed(self) -> bool:
        """Every edge of a face belongs to exactly two."""
        return self.n_faces > 0 and bool((self.face_keys[1] == 2).all())

    @cached_property
    def shells(self) -> np.ndarray:
        """The number of the connected piece of each vertex, from 0."""
        return components(len(self.points), self.edges)


def components(n: int, links: np.ndarray) -> np.ndarray:
    """The number of the connected component of each of `n` nodes, from 0; `links` [m, 2]."""
    parents = np.arange(n)
    while len(links):
        before = parents.copy()
        low = np.minimum(parents[links[:, 0]], parents[links[:, 1]])
        for side in (0, 1):
            np.minimum.at(parents, parents[links[:, side]], low)
            np.minimum.at(parents, links[:, side], low)
        parents = parents[parents]
        if (before == parents).all():
            break
    return np.asarray(np.unique(parents, return_inverse=True)[1].reshape(-1))


def shells_of(mesh: MeshArrays) -> list[MeshArrays]:
    """The connected pieces of a mesh that have faces."""
    shells = mesh.shells
    if not len(shells) or shells.max() == 0:
        return [mesh]
    return [part for number in range(int(shells.max()) + 1) if len((part := _part(mesh, shells == number)).triangles)]


def _part(mesh: MeshArrays, chosen: np.ndarray) -> MeshArrays:
    """The vertices chosen [n] with their edges and faces; no face may be half chosen."""
    new = np.cumsum(chosen) - 1
    faces = chosen[mesh.corners[mesh.starts]]
    corners = chosen[mesh.corners]
    triangles = chosen[mesh.triangles[:, 0]]
    sizes = mesh.sizes[faces]
    return replace(
        mesh,
        points=mesh.points[chosen],
        edges=new[mesh.edges[chosen[mesh.edges[:, 0]]]],
        corners=new[mesh.corners[corners]],
        starts=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(int) if len(sizes) else mesh.starts[:0],
        sizes=sizes,
        triangles=new[mesh.triangles[triangles]],
        triangle_faces=(np.cumsum(faces) - 1)[mesh.triangle_faces[triangles]],
        materials=mesh.materials[faces],
        smooth=mesh.smooth[faces],
        sharp=mesh.sharp[chosen[mesh.edges[:, 0]]],
        uvs={name: uv[corners] for name, uv in mesh.uvs.items()},
        corner_triangles=(np.cumsum(corners) - 1)[mesh.corner_triangles[triangles]],
    )


def column(items: Any, name: str, kind: type, width: int = 1) -> np.ndarray:
    """One property of all items of a Blender collection."""
    values: np.ndarray = np.zeros(len(items) * width, dtype=kind)
    items.foreach_get(name, values)
    return values.reshape(-1, width) if width > 1 else values


def read_mesh(mesh: Any, matrix: np.ndarray) -> MeshArrays:
    """The arrays of a Blender mesh under a world matrix."""
    if not len(mesh.loop_triangles):
        mesh.calc_loop_triangles()
    local = MeshArrays(
        points=column(mesh.vertices, "co", np.float32, 3).astype(np.float64),
        edges=column(mesh.edges, "vertices", np.int32, 2),
        corners=column(mesh.loops, "vertex_index", np.int32),
        starts=column(mesh.polygons, "loop_start", np.int32),
        sizes=column(mesh.polygons, "loop_total", np.int32),
        triangles=column(mesh.loop_triangles, "vertices", np.int32, 3),
        triangle_faces=column(mesh.loop_triangles, "polygon_index", np.int32),
        materials=column(mesh.polygons, "material_index", np.int32),
        smooth=column(mesh.polygons, "use_smooth", bool),
        sharp=column(mesh.edges, "use_edge_sharp", bool),
        uvs={layer.name: column(layer.uv, "vector", np.float32, 2) for layer in mesh.uv_layers},
        render_uv=next((layer.name for layer in mesh.uv_layers if layer.active_render), ""),
        corner_triangles=column(mesh.loop_triangles, "loops", np.int32, 3),
    )
    return local.moved(matrix)
