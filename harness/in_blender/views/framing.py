"""Where things are, and where a camera has to stand so that they fill the picture."""

import math
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
from mathutils import Matrix, Vector

LENS_DEGREES = 40.0
_MARGIN = 1.06
_SMALLEST = 1e-5
DRAWN_TYPES = {"MESH", "CURVE", "SURFACE", "FONT", "META", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL"}
_MAX_INSTANCES = 20_000
_OUTSIZED = 8.0
"""A ground or sky this many times larger than all the rest together is not framed, and the label says so."""
_MAX_NAMES = 2


@dataclass(frozen=True)
class Extent:
    """What is drawn at one frame."""

    boxes: list[tuple[str, np.ndarray]] = field(default_factory=list)
    """Object name and the corners [8, 3] of its box in the world, instances included; the largest first."""
    outsized: list[str] = field(default_factory=list)
    """Names of what is left out as far larger than the rest."""
    endless: list[str] = field(default_factory=list)
    """Names of what has coordinates that are no finite numbers."""

    @property
    def corners(self) -> list[np.ndarray]:
        return [corners for _, corners in self.boxes]


def measure_extent() -> Extent:
    """Measured in the evaluated scene of the context."""
    found = Extent()
    for number, instance in enumerate(bpy.context.evaluated_depsgraph_get().object_instances):
        if number > _MAX_INSTANCES:
            break
        o = instance.object
        if o.type in DRAWN_TYPES and instance.show_self and not o.hide_render:
            matrix = instance.matrix_world
            corners = np.array([matrix @ Vector(corner) for corner in o.bound_box])
            if np.isfinite(corners).all():
                found.boxes.append((o.name, corners))
            else:
                found.endless.append(o.name)
    boxes = found.boxes
    boxes.sort(key=lambda named: size_of(named[1]), reverse=True)
    while len(boxes) > 1 and size_of(boxes[0][1]) > _OUTSIZED * size_of(together(boxes[1:])) > 0:
        found.outsized.append(boxes.pop(0)[0])
    return found


def together(boxes: list[tuple[str, np.ndarray]]) -> np.ndarray:
    """All their corners [n, 3]."""
    return np.concatenate([corners for _, corners in boxes])


def size_of(corners: np.ndarray) -> float:
    """The diagonal of their box."""
    return float(np.linalg.norm(np.ptp(corners, axis=0)))


def too_large(outsized: list[str]) -> str:
    """What a label adds where something is not framed, or ''."""
    if not outsized:
        return ""
    more = f" and {n} more" if (n := len(outsized) - _MAX_NAMES) > 0 else ""
    return f"; too large for it: {', '.join(map(repr, outsized[:_MAX_NAMES]))}{more}"


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
    place_at = Vector(center) + rotation @ Vector((at[0], at[1], back))
    camera.data.clip_start, camera.data.clip_end = max((back - z.max()) / 10, 1e-6), back - z.min() + 100 * size
    camera.matrix_world = Matrix.Translation(place_at) @ rotation.to_4x4()
