"""The pictures of one frame: hero, the scene's cameras, closer and from above and below, elevations, turntable."""

from dataclasses import dataclass

import bpy
import numpy as np
from mathutils import Vector

from harness.in_blender.renders.painter import Painter
from harness.in_blender.renders.viewpoints import (
    clearest,
    densest_part,
    depth_of,
    direction_of,
    hidden,
    is_edge_on,
    side_of,
)
from harness.in_blender.views.framing import (
    Extent,
    add_camera,
    distance_around,
    place,
    place_at,
    place_parallel,
    quoted,
)
from harness.in_blender.views.grouping import size_of, together

_HERO_ELEVATION = 25.0
_CORNERS = (-35.0, 35.0, 145.0, -145.0)
"""Azimuths from which the whole is looked at, the first that shows most."""
_TURNTABLE_ELEVATION, _RAISED = 20.0, 50.0
"""The second over walls that hide most of what is there."""
_HIGH, _LOW = 60.0, 4.0
_ELEVATIONS = {
    "front": ("from the front (-Y)", Vector((0, -1, 0))),
    "right": ("from the right (+X)", Vector((1, 0, 0))),
    "top": ("from the top (+Z)", Vector((0, 0, 1))),
}
_MAX_MORE_CAMERAS = 3
_LEAST_PARTS = 3
"""Of fewer things there is no closer picture: the others show each of them large."""
_AROUND = 0.2
_MOSTLY = 0.4
"""Of what is there; where less shows from outside, the scene is cut open as well."""
_WHOLE = "the whole scene"
_WIDE = 50.0
"""What is far away is not shown with a scene that would be smaller than the picture by this factor."""
_WIDEST = 4.0
"""Sides of a picture are to each other at most so."""


@dataclass(frozen=True)
class Sizes:
    """Of pictures, in pixels."""

    hero: tuple[int, int]
    shot: tuple[int, int]
    turntable: tuple[int, int]
    aspect: float
    """Width to height of what the scene's own cameras show."""

    @classmethod
    def of(cls, scene: bpy.types.Scene, width: int) -> "Sizes":
        """All 4:3, of these shares of the hero's width, but for the scene's own cameras."""
        render = scene.render
        aspect = render.resolution_x * render.pixel_aspect_x / (render.resolution_y * render.pixel_aspect_y)
        hero, shot, turntable = ((_even(width * share), _even(width * share * 0.75)) for share in (1.0, 0.625, 0.5))
        return cls(hero, shot, turntable, aspect=min(max(aspect, 1 / _WIDEST), _WIDEST))

    def within(self, size: tuple[int, int]) -> tuple[int, int]:
        """The size of what the scene's cameras show, as wide or as high as `size`."""
        width, height = size
        if self.aspect > width / height:
            return width, _even(width / self.aspect)
        return _even(height * self.aspect), height


def _even(x: float) -> int:
    return max(16, 2 * round(x / 2))


class Stills:
    """Draws them from the scene as it is evaluated now."""

    def __init__(self, painter: Painter, extent: Extent, sizes: Sizes, camera: bpy.types.Object | None) -> None:
        self._painter, self._extent, self._sizes, self._own = painter, extent, sizes, camera
        self._corners = together(extent.boxes)
        if extent.outsized:
            painter.note(f"not framed, since far larger than the rest: {quoted(extent.outsized_names)}")
        if extent.far:
            painter.note(f"left out, since small or alone and far from the rest: {quoted(extent.far_names)}")
        self._perspective, self._parallel = add_camera(painter.scene), _parallel_camera(painter.scene)
        corners = sorted(_CORNERS, key=lambda azimuth: self._away_from_camera(azimuth))
        directions = [direction_of(azimuth, _HERO_ELEVATION) for azimuth in corners]
        best, self._seen = clearest(extent, directions, extent.corners)
        self._azimuth, self._direction = corners[best], directions[best]

    def _away_from_camera(self, azimuth: float) -> float:
        """How far a corner is from the side on which the scene's own camera stands."""
        if self._own is None:
            return 0.0
        side = np.array(self._own.matrix_world.translation)[:2] - self._corners.mean(axis=0)[:2]
        flat = np.array(direction_of(azimuth, 0.0))[:2]
        return -float(side @ flat)

    def trial(self) -> str:
        """Where a small picture of the whole scene lies, by which its light can be judged; '' where there is none."""
        width, height = self._sizes.turntable
        size = (width // 4, height // 4)
        place(self._perspective, self._corners, self._direction, width / height)
        is_drawn = self._painter.draw_quietly("trial.png", self._perspective, size)
        return self._painter.path("trial.png") if is_drawn else ""

    def draw(self, n_turntable: int) -> None:
        """All of them, what tells most first."""
        label = f"{_WHOLE} from the {side_of(self._azimuth)}"
        self._look("hero", self._corners, self._direction, label, kind="hero", size=self._sizes.hero)
        self._painter.attempt("the scene's cameras", self._draw_cameras)
        self._painter.attempt("a closer picture", self._draw_closeup)
        self._painter.attempt("other shots", self._draw_shots)
        self._painter.attempt("elevations", self._draw_elevations)
        self._painter.attempt("the turntable", lambda: self._draw_turntable(n_turntable))

    def _look(
        self,
        name: str,
        corners: np.ndarray,
        direction: Vector,
        label: str,
        *,
        kind: str = "shot",
        size: tuple[int, int] | None = None,
        cut: float | None = None,
        is_all: bool = False,
    ) -> None:
        """`cut`: what is farther than this from the middle of the corners, towards the camera, is left out."""
        size = size or self._sizes.shot
        place(self._perspective, corners, direction, size[0] / size[1])
        if cut is not None:
            center = (corners.min(axis=0) + corners.max(axis=0)) / 2
            back = float((np.array(self._perspective.matrix_world.translation) - center) @ np.array(direction))
            self._perspective.data.clip_start = max(self._perspective.data.clip_start, back - cut * 1.001)
            label += ", cut open: what stands before it is left out"
        label += "" if is_all else self._extent.without
        self._painter.draw(f"{name}.png", kind, label, self._perspective, size)

    def _draw_cameras(self) -> None:
        scene = self._painter.scene
        views = (self._perspective, self._parallel)
        cameras = [o for o in scene.objects if o.type == "CAMERA" and o not in views and o != self._own]
        if self._own:
            self._draw_camera("shot_camera", self._own, f"the scene's camera '{self._own.name}'")
        for number, camera in enumerate(cameras[:_MAX_MORE_CAMERAS], 2):
            self._draw_camera(f"shot_camera_{number}", camera, f"another camera of the scene, '{camera.name}'")
        if len(cameras) > _MAX_MORE_CAMERAS:
            self._painter.note(f"of {len(cameras)} more cameras the first {_MAX_MORE_CAMERAS} are shown")

    def _draw_camera(self, name: str, camera: bpy.types.Object, label: str) -> None:
        if camera.type == "CAMERA" and camera.data.type == "PANO" and self._painter.scene.render.engine != "CYCLES":
            self._painter.note(f"{name}.png shows the panoramic camera '{camera.name}' as one with a plain lens")
        self._painter.draw(f"{name}.png", "shot", label, camera, self._sizes.within(self._sizes.shot))

    def _draw_closeup(self) -> None:
        part = densest_part(self._extent) if len(self._extent.boxes) >= _LEAST_PARTS else None
        if part:
            directions = [direction_of(self._azimuth + turn, 22.0) for turn in (0, 40, -40, 80, -80, 180)]
            best, seen = clearest(self._extent, directions, [part.corners])
            beside = _AROUND * size_of(part.corners)  # things that reach out of the part are not cut in two
            cut = None if all(seen) else beside + depth_of(part.corners, part.corners, directions[best])
            self._look("shot_closeup", part.corners, directions[best], f"closer, around {part.owners}", cut=cut)

    def _draw_shots(self) -> None:
        self._look("shot_high", self._corners, direction_of(self._azimuth, _HIGH), f"{_WHOLE} from high above")
        low = next(a for a in (0.0, self._azimuth, 90.0) if a == 90.0 or self._shows(direction_of(a, _LOW)))
        self._look("shot_low", self._corners, direction_of(low, _LOW), f"{_WHOLE} from the {side_of(low)}, low")
        self._draw_everything()
        if self._seen and sum(self._seen) < _MOSTLY * len(self._seen):
            direction = direction_of(0.0, 35.0)
            cut = max(
                (depth_of(box, self._corners, direction) for box in hidden(self._extent, direction)), default=None
            )
            self._look("shot_section", self._corners, direction, f"{_WHOLE} from the front", cut=cut)

    def _draw_everything(self) -> None:
        """Together with what is not framed elsewhere, as far as the whole scene could then be seen."""
        far, others = self._extent.far, list(self._extent.outsized)
        near = [*self._extent.boxes, *others]
        shows_far = size_of(together([*near, *far])) < _WIDE * size_of(together(near))
        others += far if shows_far else []
        if others:
            names = quoted(list(dict.fromkeys(name for name, _ in others)))
            label = f"everything, with {names}, from the {side_of(self._azimuth)}"
            corners = together([*self._extent.boxes, *others])
            self._look("shot_everything", corners, self._direction, label, is_all=shows_far)

    def _shows(self, direction: Vector) -> bool:
        return not is_edge_on(self._corners, direction)

    def _draw_elevations(self) -> None:
        size = self._sizes.shot
        for name, (words, direction) in _ELEVATIONS.items():
            width = place_parallel(self._parallel, self._corners, direction, size[0] / size[1])
            label = f"{words}, orthographic{self._extent.without}"
            per_pixel = width / size[0]
            self._painter.draw(f"{name}.png", "elevation", label, self._parallel, size, units_per_pixel=per_pixel)

    def _draw_turntable(self, n: int) -> None:
        size = self._sizes.turntable
        if not n:
            return
        azimuths = [360.0 * i / n for i in range(n)]
        elevations = [self._elevation_from(azimuth) for azimuth in azimuths]
        directions = [direction_of(*angles) for angles in zip(azimuths, elevations, strict=True)]
        distance = distance_around(self._perspective, self._corners, directions, size[0] / size[1])
        for number, (azimuth, direction) in enumerate(zip(azimuths, directions, strict=True)):
            place_at(self._perspective, self._corners, direction, distance)
            raised = ", from higher up" if elevations[number] == _RAISED else ""
            label = f"from the {side_of(azimuth)}, at {azimuth:g} degrees{raised}{self._extent.without}"
            self._painter.draw(f"turntable_{number}.png", "turntable", label, self._perspective, size)

    def _elevation_from(self, azimuth: float) -> float:
        """Of the turntable's camera, in degrees."""
        low, high = (direction_of(azimuth, elevation) for elevation in (_TURNTABLE_ELEVATION, _RAISED))
        _, seen = clearest(self._extent, [low], self._extent.corners)
        if not seen or sum(seen) >= _MOSTLY * len(seen):
            return _TURNTABLE_ELEVATION
        return (_TURNTABLE_ELEVATION, _RAISED)[clearest(self._extent, [low, high], self._extent.corners)[0]]


def _parallel_camera(scene: bpy.types.Scene) -> bpy.types.Object:
    camera = add_camera(scene)
    camera.data.type = "ORTHO"
    return camera
