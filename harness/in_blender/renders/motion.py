"""What moves: a film over the scene's range, and some of its frames to look at one by one.

Both come from the same pictures. Through the scene's own camera; without one from a fixed place that sees all that
the sampled frames show.
"""

import filecmp
import math
import time
from collections.abc import Callable

import bpy
import numpy as np

from harness.in_blender.renders.painter import Painter
from harness.in_blender.renders.stills import Sizes
from harness.in_blender.renders.viewpoints import direction_of
from harness.in_blender.views.framing import add_camera, measure_extent, place
from harness.in_blender.views.timing import is_animated, is_simulated

CameraAt = Callable[[int], bpy.types.Object | None]
_PROBE = 0.37
"""A place in the range that no even division of it hits: what turns around by then looks different there."""


class Clock:
    """Brings the scene to a frame. A simulation knows only the frames that it was stepped through."""

    def __init__(self, scene: bpy.types.Scene, seconds: float) -> None:
        self.scene, self.is_simulated = scene, is_simulated(scene)
        self._seconds_left, self._reached = seconds, min(scene.frame_start, scene.frame_current)
        if self.is_simulated:
            scene.frame_set(self._reached)

    def go(self, frame: int) -> bool:
        """False where the time for simulating does not suffice; the scene is then where it got to."""
        begun = time.monotonic()
        if self.is_simulated:
            for between in range(self._reached + 1, frame):
                if time.monotonic() - begun > self._seconds_left:
                    return False
                self.scene.frame_set(between)
                self._reached = between
            self._seconds_left -= time.monotonic() - begun
        self.scene.frame_set(frame)
        self._reached = max(self._reached, frame)
        return True


def moves(scene: bpy.types.Scene) -> bool:
    """Whether the scene says that something changes over its range."""
    cuts = {marker.camera for marker in scene.timeline_markers if marker.camera}
    return scene.frame_end > scene.frame_start and (is_animated(scene) or is_simulated(scene) or len(cuts) > 1)


def film_frames(scene: bpy.types.Scene, most: int) -> list[int]:
    """The scene's frames, or every k-th of them where they are more than `most`."""
    n = scene.frame_end - scene.frame_start + 1
    step = max(scene.frame_step, math.ceil(n / most))
    return list(range(scene.frame_start, scene.frame_end + 1, step))


class Motion:
    """Draws a film and its frames."""

    def __init__(self, painter: Painter, clock: Clock, camera_at: CameraAt, sizes: Sizes) -> None:
        self._painter, self._clock, self._camera_at, self._sizes = painter, clock, camera_at, sizes
        self._framing: bpy.types.Object | None = None
        self._drawn: set[int] = set()
        self._without = ""
        self.is_empty = False
        """Whether no sampled frame holds anything to show."""

    def draw(self, n_frames: int, n_film: int) -> None:
        """`n_frames` frames to look at, and a film of at most `n_film`."""
        scene = self._painter.scene
        scene.display.shading.cavity_type = "SCREEN"  # a fifth less to compute
        film = film_frames(scene, n_film)
        shown = sorted({film[round(i * (len(film) - 1) / max(1, n_frames - 1))] for i in range(n_frames)})
        probe = film[round(_PROBE * (len(film) - 1))]
        if not self._frame_all(film, sorted({*shown, probe})):
            return
        shown = [frame for frame in shown if self._draw_frame(frame)]
        if len(shown) < 2:
            return
        if self._draw_frame(probe) and self._are_alike([*shown, probe]):
            self._painter.note("no film and no frames: something is animated, but no change shows in the picture")
            return
        for frame in shown:
            label = f"frame {frame} of {scene.frame_start} to {scene.frame_end}, {self._seen_by(frame)}"
            self._painter.tell("frame", label, file=_name(frame), frame=frame)
        self._draw_film(film)

    def _frame_all(self, film: list[int], frames: list[int]) -> bool:
        """Run through these frames once. Simulations are then known, and the framing camera is placed."""
        corners = []
        for frame in frames:
            if not self._clock.go(frame):
                self._painter.note(
                    f"no film and no frames: simulating takes too long to get to frame {film[-1]} in time"
                )
                return False
            extent = measure_extent()
            corners += extent.corners
            self._without = self._without or extent.without
        self.is_empty = not corners
        if any(self._camera_at(frame) is None for frame in frames):
            if not corners:
                self._painter.note("no film and no frames: none of the sampled frames holds anything to show")
                return False
            self._framing = add_camera(self._painter.scene)
            place(self._framing, np.concatenate(corners), direction_of(-35.0, 25.0), 4 / 3)
        return True

    def _draw_frame(self, frame: int) -> bool:
        """Draw it unless it was drawn already."""
        if frame in self._drawn:
            return True
        if not self._clock.go(frame):
            return False
        camera = self._framing or self._camera_at(frame)
        size = self._sizes.turntable if self._framing else self._sizes.within(self._sizes.turntable)
        if self._painter.draw_quietly(_name(frame), camera, size):
            self._drawn.add(frame)
        return frame in self._drawn

    def _are_alike(self, frames: list[int]) -> bool:
        first, *others = (self._painter.path(_name(frame)) for frame in frames)
        return all(filecmp.cmp(first, other, shallow=False) for other in others)

    def _seen_by(self, frame: int) -> str:
        camera = None if self._framing else self._camera_at(frame)
        return f"camera '{camera.name}'" if camera else f"from the front left{self._without}"

    def _draw_film(self, film: list[int]) -> None:
        scene = self._painter.scene
        for n_drawn, frame in enumerate(film):
            if not self._draw_frame(frame):
                self._painter.note(f"the film ends at frame {film[n_drawn - 1]} of {film[-1]}, for lack of time")
                film = film[:n_drawn]
                break
        if len(film) < 2:
            return
        step = film[1] - film[0]
        if step > 1:
            self._painter.note(f"the film shows one frame in {step}, at the true speed")
        fps = scene.render.fps / scene.render.fps_base / step
        label = f"frames {film[0]} to {film[-1]}, {self._seen_by(film[0])}"
        self._painter.tell("animation", label, files=[_name(frame) for frame in film], fps=fps)


def _name(frame: int) -> str:
    return f"frame_{frame:04d}.png"
