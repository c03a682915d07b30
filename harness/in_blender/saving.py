"""Writes the scene to a file that stands alone: pictures packed, paths relative, no script's handlers run."""

import struct
import zlib
from typing import Any

import bpy
import numpy as np

_DEPTH_WITHOUT_ALPHA = 24
"""Bits a pixel of an 8-bit picture."""


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
        is_painted = image.is_dirty and image.source == "GENERATED"  # which pack_all leaves out
        if is_painted or image.packed_file:
            is_kept = _keep_alpha(image)
            if is_painted and not is_kept:
                image.pack()


def _keep_alpha(image: Any) -> bool:
    """Pack it here, if it needs to be: Blender packs a picture that was made without alpha as a file without it, though
    its pixels may have it and are drawn so. The script may have packed it so itself."""
    if image.depth != _DEPTH_WITHOUT_ALPHA or not image.has_data or image.source not in {"GENERATED", "FILE"}:
        return False
    pixels = _bytes(image)
    if pixels[..., 3].min(initial=255) == 255:
        return False
    packed = png(pixels)
    image.pack(data=packed, data_len=len(packed))
    image.source = "FILE"
    return True


def _bytes(image: Any) -> np.ndarray:
    """(rows from the top, columns, RGBA)."""
    pixels = np.empty(len(image.pixels), dtype=np.float32)
    image.pixels.foreach_get(pixels)
    return np.rint(pixels * 255).astype(np.uint8).reshape(image.size[1], image.size[0], 4)[::-1]


def png(pixels: np.ndarray) -> bytes:
    """8-bit RGBA, (rows from the top, columns, 4), as a PNG file."""
    height, width, _ = pixels.shape
    unfiltered = np.zeros((height, 1), np.uint8)  # each row begins with the number of its filter
    rows = np.hstack([unfiltered, pixels.reshape(height, -1)]).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)  # 8 bits, with colours and alpha
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )
