"""Values of the canonical scene state: floats to a stated tolerance, long columns as hashes with bounds.

Single floats keep 6 significant digits, and nothing finer than 1e-6. In hashed arrays a float keeps 17 bits of
its mantissa (about 5 digits), and nothing finer than 1e-6. A difference below that is no difference, except
where a value lies within it of the border of two cells: noise in the last bit of a float32 then shows about once in a
hundred values that are not round. Deterministic scripts have no such noise (measured; normals have, and are left out).
"""

import hashlib
import math

import numpy as np

Value = object
"""What json can hold."""

MAX_INLINE = 48
"""Arrays up to so many numbers are written out; longer ones become hash and bounds."""
_FINEST = 1e-6
_DROPPED_BITS = 7


def rounded(number: float) -> float | str:
    """`number` to the tolerance of the state; NaN and infinities as words, which JSON lacks."""
    if not math.isfinite(number):
        return str(number)
    if -1 < number < 1:
        return round(number, 6) + 0.0
    return float(f"{number:.6g}")


def digest(*parts: bytes | np.ndarray) -> str:
    """96 bits of SHA-256, the fastest hash here where the processor has instructions for it."""
    together = hashlib.sha256()
    for part in parts:
        together.update(np.ascontiguousarray(part).data if isinstance(part, np.ndarray) else part)
    return together.hexdigest()[:24]


def array_value(array: np.ndarray, *, inline: bool = True) -> Value:
    """A column of numbers, shape (n,) or (n, width): written out when short, else n, hash and bounds."""
    if inline and array.size <= MAX_INLINE:
        return _listed(array.tolist())
    return {**array_extent(array), "hash": digest(quantised(array) if array.dtype.kind == "f" else array)}


def array_extent(array: np.ndarray) -> dict[str, Value]:
    """How many rows, and for floats the bounds and mean of each column."""
    extent: dict[str, Value] = {"n": len(array)}
    if len(array) and array.dtype.kind == "f":
        columns = array.reshape(len(array), -1)
        for name, measure in (("low", np.min), ("high", np.max)):
            extent[name] = [rounded(float(measure(columns[:, i]))) for i in range(columns.shape[1])]
        extent["mean"] = [rounded(float(np.mean(columns[:, i], dtype=np.float64))) for i in range(columns.shape[1])]
    return extent


def quantised(array: np.ndarray) -> np.ndarray:
    """The same numbers, equal when they were equal within the tolerance (see the module)."""
    array = np.ascontiguousarray(array, dtype=np.float32)
    bits = (array.view(np.uint32) + np.uint32(1 << (_DROPPED_BITS - 1))) & ~np.uint32((1 << _DROPPED_BITS) - 1)
    coarse = bits.view(np.float32)
    is_small = np.abs(array) < 0.125
    coarse = np.where(is_small, np.rint(array * np.float32(1 / _FINEST)) * np.float32(_FINEST), coarse)
    coarse[np.isnan(array)] = np.nan
    return coarse + np.float32(0)


def _listed(value: object) -> Value:
    if isinstance(value, list):
        return [_listed(item) for item in value]
    return rounded(value) if isinstance(value, float) else value
