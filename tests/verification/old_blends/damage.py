"""Damages a .blend in many ways, the same ones for the same seed."""

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable

import pyarrow as pa

_ZSTD = b"\x28\xb5\x2f\xfd"


def unpacked(content: bytes) -> bytes:
    """What Blender has compressed, as it was: gzip up to 2.93, zstd from 3.0 on."""
    if content.startswith(b"\x1f\x8b"):
        return gzip.decompress(content)
    if content.startswith(_ZSTD):
        return bytes(pa.CompressedInputStream(pa.BufferReader(content), "zstd").read())
    return content


def block_starts(content: bytes) -> list[int]:
    """Where the blocks of an unpacked file of 64 bit begin."""
    is_new = content.startswith(b"BLENDER17-01v")
    at, form, length = (17, "<4sIqqq", 3) if is_new else (12, "<4sIqII", 1)
    starts = []
    while at + struct.calcsize(form) <= len(content):
        head = struct.unpack_from(form, content, at)
        starts.append(at)
        if head[0] == b"ENDB":
            break
        at += struct.calcsize(form) + head[length]
    return starts


def cut_anywhere(content: bytes, dice: random.Random) -> bytes:
    """The beginning of the file as it is stored."""
    return content[: dice.randrange(len(content))]


def cut_at_a_block(content: bytes, dice: random.Random) -> bytes:
    """Unpacked, and cut within 24 bytes of where a block begins."""
    raw = unpacked(content)
    return raw[: max(0, dice.choice(block_starts(raw)) + dice.randint(-24, 24))]


def flip_stored_bits(content: bytes, dice: random.Random) -> bytes:
    """1 to 40 bits of the file as it is stored, compressed for the most part."""
    return _flipped(content, 0, len(content), dice)


def flip_bits(content: bytes, dice: random.Random) -> bytes:
    """1 to 40 bits of the unpacked file."""
    raw = unpacked(content)
    return _flipped(raw, 12, len(raw), dice)


def flip_block_heads(content: bytes, dice: random.Random) -> bytes:
    """1 to 40 bits of what says how long blocks are, of which type, how many."""
    raw = unpacked(content)
    start = dice.choice(block_starts(raw))
    return _flipped(raw, start, start + 24, dice)


def flip_type_table(content: bytes, dice: random.Random) -> bytes:
    """Bits of the last block, which says what all the others hold."""
    raw = unpacked(content)
    return _flipped(raw, block_starts(raw)[-2], len(raw), dice)


def overwrite(content: bytes, dice: random.Random) -> bytes:
    """Up to 4 KiB of the unpacked file with zeros, ones or noise."""
    raw = unpacked(content)
    start, n = dice.randrange(12, len(raw)), dice.randint(1, 4096)
    filled = dice.choice([bytes(n), b"\xff" * n, dice.randbytes(n)])
    return raw[:start] + filled + raw[start + n :]


def without_a_block(content: bytes, dice: random.Random) -> bytes:
    """One block is missing: what points to it points nowhere."""
    raw = unpacked(content)
    starts = block_starts(raw)
    n = dice.randrange(len(starts) - 1)
    return raw[: starts[n]] + raw[starts[n + 1] :]


def another_header(content: bytes, dice: random.Random) -> bytes:
    """Of 32 bit, of the other byte order, of versions that do not exist."""
    heads = [b"BLENDER_v249", b"BLENDER-V304", b"BLENDER_V100", b"BLENDER-v999", b"BLENDER-v000", b"BLENDER17-01v9999"]
    return dice.choice(heads) + unpacked(content)[12:]


def packed_otherwise(content: bytes, dice: random.Random) -> bytes:
    """Compressed or archived by something else, once or twice."""
    ways: list[Callable[[bytes], bytes]] = [_zip, _tar, gzip.compress, lzma.compress, bz2.compress, _zstd, _gzip_twice]
    return dice.choice(ways)(content)


def rewritten_as_text(content: bytes, dice: random.Random) -> bytes:
    """What mail, version control and editors make of a binary file."""
    raw = unpacked(content)
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 84932\n"
    return dice.choice([raw.replace(b"\n", b"\r\n"), raw.decode("latin-1").encode(), b"\xef\xbb\xbf" + raw, pointer])


DAMAGES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    cut_anywhere,
    cut_at_a_block,
    flip_stored_bits,
    flip_bits,
    flip_block_heads,
    flip_type_table,
    overwrite,
    without_a_block,
    another_header,
    packed_otherwise,
    rewritten_as_text,
)


def _flipped(content: bytes, first: int, end: int, dice: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(dice.choice([1, 4, 40])):
        changed[dice.randrange(first, min(end, len(changed)))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _zip(content: bytes) -> bytes:
    with io.BytesIO() as made:
        with zipfile.ZipFile(made, "w") as archive:
            archive.writestr("scene.blend", content)
        return made.getvalue()


def _tar(content: bytes) -> bytes:
    with io.BytesIO() as made:
        with tarfile.open(fileobj=made, mode="w") as archive:
            entry = tarfile.TarInfo("scene.blend")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        return made.getvalue()


def _zstd(content: bytes) -> bytes:
    with pa.BufferOutputStream() as made:
        with pa.CompressedOutputStream(made, "zstd") as packed:
            packed.write(unpacked(content))
        return bytes(made.getvalue())


def _gzip_twice(content: bytes) -> bytes:
    return gzip.compress(gzip.compress(unpacked(content)))
