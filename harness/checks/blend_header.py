"""What the first bytes of a file say it is. Not read further: everything else is Blender's, in the sandbox."""

import re
import stat
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Packing = Literal["none", "gzip", "zstd"]
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_OLD = re.compile(rb"BLENDER[-_][vV](\d)(\d\d)")
"""Up to 4.x: pointer size, byte order, three digits of version."""
_NEW = re.compile(rb"BLENDER\d\d-\d\dv(\d\d)(\d\d)")
"""5.0 and later: length of the header, file format, four digits of version."""
_ELSE = {
    b"PK\x03\x04": "a zip archive: give the .blend that is in it",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive: give the .blend that is in it",
    b"Rar!": "a rar archive: give the .blend that is in it",
    b"\xfd7zXZ\x00": "an xz file: unpack it first",
    b"BZh": "a bzip2 file: unpack it first",
    b"version https://git-lfs": "a Git LFS pointer: fetch the file that it stands for",
}
"""How what is often named .blend begins instead."""


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
    if start.startswith(_ZSTD):
        return BlendHeader("zstd", None)
    if start.startswith(_GZIP):
        inside = _gunzip(start)
        if inside.startswith((_GZIP, _ZSTD)):
            raise NotABlend("compressed twice: unpack it once")
        return BlendHeader("gzip", _version(inside))
    for beginning, what in _ELSE.items():
        if start.startswith(beginning):
            raise NotABlend(what)
    if start[257:262] == b"ustar":
        raise NotABlend("a tar archive: give the .blend that is in it")
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
