"""Where things are, and where a camera has to stand so that they fill the picture."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

from harness.in_blender.views.grouping import ENDLESS, Box, group, size_of

LENS_DEGREES = 40.0
_MARGIN = 1.06
_MARGIN_PARALLEL = 1.12
_SMALLEST = 1e-5
DRAWN_TYPES = {"MESH", "CURVE", "SURFACE", "FONT", "META", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL"}
_MAX_INSTANCES = 20_000
_MAX_NAMES = 2
_MAX_NAME = 28


@dataclass(frozen=True)
class Extent:
    """What is drawn at one frame."""

    boxes: list[Box] = field(default_factory=list)
    """Of what is framed, instances included; the largest first."""
    outsized: list[Box] = field(default_factory=list)
    """Of a ground or sky far larger than the rest."""
    far: list[Box] = field(default_factory=list)
    """Of what is small and far from the rest."""
    endless: list[str] = field(default_factory=list)
    """Names of what has coordinates that are no finite numbers, or absurdly large."""

    @property
    def corners(self) -> list[np.ndarray]:
        return [corners for _, corners in self.boxes]

    @property
    def outsized_names(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.outsized))

    @property
    def far_names(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in self.far))

    @property
    def without(self) -> str:
        """What a label ends with: '' where nothing is left out for being far away."""
        return f", without {quoted(self.far_names)}, far away" if self.far else ""


def measure_extent() -> Extent:
    """Measured in the evaluated scene of the context. Meshes without a face count only where there is nothing else."""
    faced: list[Box] = []
    bare: list[Box] = []
    endless: list[str] = []
    for number, instance in enumerate(bpy.context.evaluated_depsgraph_get().object_instances):
        if number > _MAX_INSTANCES:
            break
        o = instance.object
        if o.type in DRAWN_TYPES and instance.show_self and not o.hide_render:
            matrix = instance.matrix_world
            corners = np.array([matrix @ Vector(corner) for corner in o.bound_box])
            if reach := _hair_length(o):
                corners += np.sign(corners - corners.mean(axis=0)) * reach
            if np.isfinite(corners).all() and np.abs(corners).max() <= ENDLESS:
                has_faces = o.type != "MESH" or reach or len(o.data.polygons) > 0
                (faced if has_faces else bare).append((o.name, corners))
            else:
                endless.append(o.name)
    grouping = group(faced or bare)
    return Extent(grouping.framed, grouping.outsized, grouping.far, list(dict.fromkeys(endless)))


def _hair_length(o: bpy.types.Object) -> float:
    """How far the strands of particle systems may reach out of the object's box."""
    systems = [system.settings for system in o.particle_systems]
    return max((s.hair_length for s in systems if s.type == "HAIR" and s.render_type == "PATH"), default=0.0)


def quoted(names: list[str]) -> str:
    """The first names, shortened, and how many more there are. Whoever shows them makes them plain."""
    more = f" and {n} more" if (n := len(names) - _MAX_NAMES) > 0 else ""
    return ", ".join(map(_quoted, names[:_MAX_NAMES])) + more


def _quoted(name: str) -> str:
    return f"'{name}'" if len(name) <= _MAX_NAME else f"'{name[: _MAX_NAME - 3]}...'"


def add_camera(scene: bpy.types.Scene) -> bpy.types.Object:
    """A camera of our own, which the scene then uses."""
    data = bpy.data.cameras.new("view")
    data.angle = math.radians(LENS_DEGREES)
    scene.camera = bpy.data.objects.new("view", data)
    scene.collection.objects.link(scene.camera)
    return scene.camera


def place(camera: bpy.types.Object, corners: np.ndarray, direction: Vector, aspect: float) -> None:
    """As near as all corners are in view, with a margin; `direction` leads from them to the camera.

    In the camera's own axes each corner (x, y, z) asks for |x - camera x| <= slope * (camera z - z), and the same in y.
    The strictest corner on either side gives the place between them, and how far back the camera has to be.
    """
    rotation = direction.to_track_quat("Z", "Y").to_matrix()
    center, (x, y, z) = _seen_from(corners, rotation)
    slope_x, slope_y = _slopes(camera, aspect)
    right, left = (slope_x * z + x).max(), (slope_x * z - x).max()
    upper, lower = (slope_y * z + y).max(), (slope_y * z - y).max()
    back = max((right + left) / (2 * slope_x), (upper + lower) / (2 * slope_y))
    _stand(camera, corners, rotation, center, ((right - left) / 2, (upper - lower) / 2, back), z)


def distance_around(
    camera: bpy.types.Object, corners: np.ndarray, directions: Sequence[Vector], aspect: float
) -> float:
    """How far from the middle of the corners a camera has to be to see all of them from each direction."""
    slope_x, slope_y = _slopes(camera, aspect)
    distances = []
    for direction in directions:
        _, (x, y, z) = _seen_from(corners, direction.to_track_quat("Z", "Y").to_matrix())
        distances.append(float(max((z + np.abs(x) / slope_x).max(), (z + np.abs(y) / slope_y).max())))
    return max(distances)


def place_at(camera: bpy.types.Object, corners: np.ndarray, direction: Vector, distance: float) -> None:
    """Look at the middle of the corners from this distance."""
    rotation = direction.to_track_quat("Z", "Y").to_matrix()
    center, (_, _, z) = _seen_from(corners, rotation)
    _stand(camera, corners, rotation, center, (0.0, 0.0, distance), z)


def place_parallel(camera: bpy.types.Object, corners: np.ndarray, direction: Vector, aspect: float) -> float:
    """Give an orthographic camera all corners to see; how many units its picture is wide."""
    # seen from the top, the front is below, as on a plan
    is_top = direction.z > 1 - _SMALLEST
    rotation = Matrix.Identity(3) if is_top else direction.to_track_quat("Z", "Y").to_matrix()
    center, (x, y, z) = _seen_from(corners, rotation)
    margin = 2 * _MARGIN_PARALLEL
    width = margin * max(np.abs(x).max(), np.abs(y).max() * aspect, _SMALLEST)
    camera.data.ortho_scale = max(width, width / aspect)
    _stand(camera, corners, rotation, center, (0.0, 0.0, 0.0), z)
    return float(width)


def _seen_from(corners: np.ndarray, rotation: Matrix) -> tuple[np.ndarray, np.ndarray]:
    """The middle of the corners, and their places [3, n] about it in the axes of a camera."""
    center = (corners.min(axis=0) + corners.max(axis=0)) / 2
    return center, ((corners - center) @ np.array(rotation)).T


def _slopes(camera: bpy.types.Object, aspect: float) -> tuple[float, float]:
    """Half of the picture's width and height at distance 1, less the margin: the angle is that of the longer side."""
    slope = math.tan(camera.data.angle / 2) / _MARGIN
    return slope * min(1.0, aspect), slope / max(1.0, aspect)


def _stand(
    camera: bpy.types.Object, corners: np.ndarray, rotation: Matrix, center: np.ndarray, at: Any, z: np.ndarray
) -> None:
    """Put the camera at `at` (in its own axes, from the middle), and have it see from before the first corner on."""
    size = max(size_of(corners), _SMALLEST)
    back = max(at[2], z.max() + size / 2)
    point = Vector(center) + rotation @ Vector((at[0], at[1], back))
    camera.data.clip_start, camera.data.clip_end = max((back - z.max()) / 10, 1e-6), back - z.min() + 100 * size
    camera.matrix_world = Matrix.Translation(point) @ rotation.to_4x4()
