"""Draws one picture after the other into a folder, and tells of each; what fails or comes too late is told too."""

import os
import time
from collections.abc import Callable
from typing import Any

import bpy

from harness.in_blender.views.neutral import set_size

Send = Callable[..., None]
_MAX_ERROR = 300


class Painter:
    """The folder, the time that is left, and what did not come to be drawn."""

    def __init__(self, scene: bpy.types.Scene, folder: str, send: Send, seconds: float) -> None:
        self.scene, self._folder, self._send, self._seconds = scene, folder, send, seconds
        self._deadline = time.monotonic() + seconds
        self._late: list[str] = []

    @property
    def seconds_left(self) -> float:
        return self._deadline - time.monotonic()

    def note(self, text: str) -> None:
        self._send("render_note", text=text)

    def tell(self, kind: str, label: str, **content: Any) -> None:
        """A render is there, of the size that was drawn last."""
        render = self.scene.render
        size = {"width": render.resolution_x, "height": render.resolution_y}
        self._send("render", render_kind=kind, label=label, **size, **content)

    def path(self, file: str) -> str:
        return os.path.join(self._folder, file)

    def draw(
        self, file: str, kind: str, label: str, camera: bpy.types.Object, size: tuple[int, int], **content: Any
    ) -> bool:
        """Draw the scene as it is and tell of it. False: not drawn, and noted why."""
        if not self.draw_quietly(file, camera, size):
            return False
        self.tell(kind, label, file=file, frame=self.scene.frame_current, **content)
        return True

    def draw_quietly(self, file: str, camera: bpy.types.Object, size: tuple[int, int]) -> bool:
        if self.seconds_left <= 0:
            self._late.append(file)
            return False
        set_size(self.scene, *size)
        self.scene.camera = camera
        self.scene.render.filepath = self.path(file)
        try:
            bpy.ops.render.render(write_still=True)
        except RuntimeError as error:
            words = " ".join(str(error).split()).replace(self._folder, "").removeprefix("Error: ")
            self.note(f"{file} is missing: {words[:_MAX_ERROR]}")
            return False
        if not os.path.exists(self.path(file)):
            self.note(f"{file} is missing: Blender wrote no picture")
            return False
        return True

    def finish(self) -> None:
        """Tell what the time did not suffice for."""
        if self._late:
            names = ", ".join(dict.fromkeys(self._late))
            self.note(f"left out, because drawing took more than {self._seconds:g} s: {names}")
