"""Opens a .blend of any origin: scripts in it stay off, and what Blender opened is the file that was meant."""

import os

_MAX_ERROR = 500


class NotOpened(Exception):
    """Blender cannot open the file; the text says why."""


def open_untrusted(scene_file: str) -> None:
    """Make the file's scene the current one. Raises NotOpened."""
    import bpy

    bpy.context.preferences.filepaths.use_scripts_auto_execute = False
    try:
        bpy.ops.wm.open_mainfile(filepath=scene_file, load_ui=False, use_scripts=False)
    except RuntimeError as error:
        raise NotOpened(str(error)[:_MAX_ERROR]) from error
    if os.path.realpath(bpy.data.filepath) != os.path.realpath(scene_file) or not bpy.data.scenes:
        raise NotOpened("Blender opened no scene from it")
    bpy.context.preferences.system.use_gpu_subdivision = False
