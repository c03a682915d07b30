"""Finds texts that are the same or nearly so, by MinHash over word shingles.

Exact: equal after lower-casing and joining runs of white space. Near: the estimated Jaccard similarity of the sets of
5-word shingles is at least 0.8. The estimate is from 128 hash functions (standard error at most 0.045); pairs to look
at come from 32 bands of 4 rows, which miss a pair of similarity 0.8 with a chance of about 5e-8.
Sources: A. Broder, "On the resemblance and containment of documents" (1997); bands: J. Leskovec, A. Rajaraman,
J. Ullman, "Mining of Massive Datasets", section 3.4. Kept in memory: some kilobytes a text.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

SHINGLE_WORDS = 5
N_HASHES = 128
N_BANDS = 32
NEAR = 0.8
_PRIME = np.uint64((1 << 31) - 1)
"""A Mersenne prime: products of two numbers below it fit 64 bits."""
_CHUNK = 4096
"""Shingles hashed at once, 4 MiB."""
_random = np.random.default_rng(2026)
_A = _random.integers(1, int(_PRIME), N_HASHES, dtype=np.uint64)
_B = _random.integers(0, int(_PRIME), N_HASHES, dtype=np.uint64)

Signature = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Pair:
    """Two texts that are alike."""

    first: str
    second: str
    similarity: float
    """1.0 for texts that are equal once normalised; else the estimate."""


@dataclass
class Duplicates:
    """Texts by name; `pairs` fills as they are added. A text is paired with the first of each of its likes."""

    pairs: list[Pair] = field(default_factory=list)
    _exact: dict[str, str] = field(default_factory=dict)
    _bands: dict[tuple[int, bytes], list[str]] = field(default_factory=dict)
    _signatures: dict[str, Signature] = field(default_factory=dict)

    def add(self, name: str, text: str) -> None:
        """Compare a text with those before it, and keep it."""
        words = normalised(text)
        digest = hashlib.sha256(" ".join(words).encode()).hexdigest()
        if digest in self._exact:
            self.pairs.append(Pair(self._exact[digest], name, 1.0))
            return
        self._exact[digest] = name
        signature = minhash(words)
        candidates: dict[str, None] = {}
        for key in _keys(signature):
            candidates |= dict.fromkeys(self._bands.get(key, ()))
            self._bands.setdefault(key, []).append(name)
        for other in candidates:
            similarity = float(np.mean(signature == self._signatures[other]))
            if similarity >= NEAR:
                self.pairs.append(Pair(other, name, round(similarity, 2)))
        self._signatures[name] = signature


def normalised(text: str) -> list[str]:
    """The words of a text (letters, digits and `_`; other signs stand alone), in lower case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


def minhash(words: list[str]) -> Signature:
    """The signature of a text's shingles. A text shorter than a shingle is one shingle."""
    hashes = np.fromiter((_hash(shingle) for shingle in shingles(words, SHINGLE_WORDS)), dtype=np.uint64)
    least = np.full(N_HASHES, _PRIME, dtype=np.uint64)
    for start in range(0, len(hashes), _CHUNK):
        some = hashes[start : start + _CHUNK] % _PRIME
        least = np.minimum(least, ((_A[:, None] * some[None, :] + _B[:, None]) % _PRIME).min(axis=1))
    return least.astype(np.uint32)


def shingles(words: list[str], n: int) -> Iterator[str]:
    """Every run of `n` words."""
    for start in range(max(1, len(words) - n + 1)):
        yield " ".join(words[start : start + n])


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _keys(signature: Signature) -> Iterator[tuple[int, bytes]]:
    rows = N_HASHES // N_BANDS
    for band in range(N_BANDS):
        yield band, signature[band * rows : (band + 1) * rows].tobytes()
