"""What the first bytes of a file say it is. Not read further: everything else is Blender's, in the sandbox."""

import re
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Packing = Literal["none", "gzip", "zstd"]
_OLD = re.compile(rb"BLENDER[-_][vV](\d)(\d\d)")
"""Up to 4.x: pointer size, byte order, three digits of version."""
_NEW = re.compile(rb"BLENDER\d\d-\d\dv(\d\d)(\d\d)")
"""5.0 and later: length of the header, file format, four digits of version."""


class NotABlend(Exception):
    """What the file is instead; for a person."""


@dataclass(frozen=True)
class BlendHeader:
    """What the file says of itself. A claim."""

    packing: Packing
    version: tuple[int, int] | None
    """Of the Blender that saved it; None where the packing hides it."""


def read_header(path: Path) -> BlendHeader:
    """Raises FileNotFoundError, or NotABlend where it is clear that Blender cannot read it."""
    state = path.stat()
    if stat.S_ISDIR(state.st_mode):
        raise NotABlend("a folder")
    if not stat.S_ISREG(state.st_mode):
        raise NotABlend("not a plain file")
    if state.st_size == 0:
        raise NotABlend("an empty file")
    with path.open("rb") as file:
        start = file.read(4096)
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return BlendHeader("zstd", None)
    if start.startswith(b"\x1f\x8b"):
        return BlendHeader("gzip", _version(_gunzip(start)))
    if start.startswith(b"PK\x03\x04"):
        raise NotABlend("a zip archive: give the .blend that is in it")
    return BlendHeader("none", _version(start))


def _gunzip(start: bytes) -> bytes:
    try:
        return zlib.decompressobj(wbits=31).decompress(start, 64)
    except zlib.error as error:
        raise NotABlend(f"a damaged gzip file ({error})") from error


def _version(start: bytes) -> tuple[int, int]:
    match = _OLD.match(start) or _NEW.match(start)
    if match is None:
        raise NotABlend("no .blend file: it does not begin with BLENDER")
    return int(match[1]), int(match[2])
