"""Draws all pictures of a saved scene, in a process that ends afterwards and whose scene may be changed in memory.

Through `send` come `render_scene` (units), one `render` for each picture or film that is there, `render_note` for each
that is not or shows less, `render_nothing` where there is nothing to show, and `renders_finished`. The pictures are
raw: whoever publishes them makes them anew.
"""

from collections.abc import Mapping
from typing import Any

import bpy

from harness.in_blender.renders import cycles
from harness.in_blender.renders.motion import CameraAt, Clock, Motion, moves
from harness.in_blender.renders.painter import Painter, Send
from harness.in_blender.renders.stage import SIMPLE_LEVELS, bring_near, make_ready, show_true_colors
from harness.in_blender.renders.stills import Sizes, Stills
from harness.in_blender.views.framing import measure_extent
from harness.in_blender.views.timing import release_cameras

_SIMULATING_SHARE = 0.3
_N_STILLS = 18


def draw_renders(request: Mapping[str, Any], folder: str, send: Send) -> None:
    """Draw what the request asks for (`harness.renders.RenderRequest` as JSON) into the empty `folder`.

    The scene is that of the context, freshly opened. Never raises: what goes wrong is a note.
    """
    scene = bpy.context.scene
    painter = Painter(scene, folder, send, request["seconds"])
    painter.attempt("the scene", lambda: _draw_all(painter, request, send))
    painter.finish()
    send("renders_finished")


def _draw_all(painter: Painter, request: Mapping[str, Any], send: Send) -> None:
    scene = painter.scene
    units = scene.unit_settings
    send("render_scene", unit_system=units.system, scale_length=units.scale_length)
    if len(bpy.data.scenes) > 1:
        painter.note(f"of {len(bpy.data.scenes)} scenes, '{scene.name}' is drawn")
    sizes, is_moving, camera_at = Sizes.of(scene, request["width"]), moves(scene), release_cameras(scene)
    is_something_hidden = make_ready(scene, painter.note, simplify=request["simplify"])
    if request["simplify"]:
        painter.note(f"drawn with subdivision of at most {SIMPLE_LEVELS} levels")
    clock = Clock(scene, _SIMULATING_SHARE * request["seconds"])
    frame = min(max(scene.frame_current, scene.frame_start), scene.frame_end) if is_moving else scene.frame_current
    if not clock.go(frame):
        painter.note(f"drawn is frame {scene.frame_current}: simulating takes too long to get to frame {frame} in time")
    extent = measure_extent()
    if extent.boxes:
        painter.attempt("stills", lambda: _draw_stills(painter, request, sizes, camera_at))
    elif not is_moving:
        painter.note("the scene holds nothing that a render would show")
    is_empty = not extent.boxes
    if is_moving:
        show_true_colors(scene)
        motion = Motion(painter, clock, camera_at, sizes)
        painter.attempt("what moves", lambda: motion.draw(request["n_frames"], request["n_film_frames"]))
        is_empty = is_empty and motion.is_empty
    if is_empty and not is_something_hidden:
        send("render_nothing")


def _draw_stills(painter: Painter, request: Mapping[str, Any], sizes: Sizes, camera_at: CameraAt) -> None:
    scene = painter.scene
    extent = bring_near(scene, measure_extent())
    uses_cycles = request["engine"] == "cycles"
    if uses_cycles:
        cycles.use_cycles(scene, request["samples"], request["seconds"] / _N_STILLS)
    else:
        show_true_colors(scene)
    stills = Stills(painter, extent, sizes, camera_at(scene.frame_current))
    if uses_cycles and (trial := stills.trial()) and cycles.is_dark(trial):
        cycles.add_light(scene)
        painter.note("next to no light falls on the scene: two suns were added")
    stills.draw(request["n_turntable"])
