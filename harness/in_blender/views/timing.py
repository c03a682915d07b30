"""What of a scene changes over time, and how to get from one frame to another."""

import time
from collections.abc import Callable, Iterator

import bpy

from harness.in_blender.node_time import has_timed_nodes, simulates

_SIMULATIONS = {"CLOTH", "SOFT_BODY", "FLUID", "DYNAMIC_PAINT"}


def frames_to_show(scene: bpy.types.Scene, n_frames: int) -> list[int]:
    """The current frame, or frames over the range where something is animated."""
    start, end = scene.frame_start, scene.frame_end
    if end <= start or n_frames < 2 or not (is_animated(scene) or is_simulated(scene)):
        return [scene.frame_current]
    return sorted({start + round(i * (end - start) / (n_frames - 1)) for i in range(n_frames)})


def is_animated(scene: bpy.types.Scene) -> bool:
    handlers = bpy.app.handlers
    return (
        any(action.users for action in bpy.data.actions)
        or any((o.animation_data and o.animation_data.drivers) or has_timed_nodes(o) for o in scene.objects)
        or any(handlers.frame_change_pre)
        or any(handlers.frame_change_post)
    )


def is_simulated(scene: bpy.types.Scene) -> bool:
    world = scene.rigidbody_world
    return bool(world and world.enabled and world.collection and world.collection.objects) or any(
        _simulates(modifier) for o in scene.objects for modifier in o.modifiers
    )


def _simulates(modifier: bpy.types.Modifier) -> bool:
    if modifier.type == "NODES":
        return simulates(modifier)
    if modifier.type == "PARTICLE_SYSTEM":
        return bool(modifier.particle_system.settings.type == "EMITTER")
    return modifier.type in _SIMULATIONS


def run_through(scene: bpy.types.Scene, frames: list[int], seconds: float) -> Iterator[int]:
    """Bring the scene to each frame; a simulation needs all between, and ends early after so many `seconds`."""
    deadline = time.monotonic() + seconds
    takes_each = len(frames) > 1 and is_simulated(scene)
    now = frames[0]
    for frame in frames:
        for between in range(now + 1, frame) if takes_each else ():
            if time.monotonic() > deadline:
                return
            scene.frame_set(between)
        scene.frame_set(frame)
        now = frame
        yield frame


def release_cameras(scene: bpy.types.Scene) -> Callable[[int], bpy.types.Object | None]:
    """Markers that bind a camera put it back whenever a frame is drawn: afterwards none does.

    Returns what gives a frame's camera: that of the last marker before it (or of the first), else the scene's.
    """
    own = scene.camera
    bound = sorted(((m.frame, m.camera) for m in scene.timeline_markers if m.camera), key=lambda cut: cut[0])
    for marker in scene.timeline_markers:
        marker.camera = None

    def camera_at(frame: int) -> bpy.types.Object | None:
        cameras = [camera for _, camera in bound]
        return next((c for at, c in reversed(bound) if at <= frame), cameras[0] if cameras else own)

    return camera_at
