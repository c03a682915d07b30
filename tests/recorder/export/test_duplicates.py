"""Likes are found, others are not taken for likes."""

import numpy as np
import pytest

from recorder.export.duplicates import NEAR, Duplicates, minhash, normalised, shingles

BRIEF = "Make a red ball that lies on a wooden table in the evening sun, seen from above, with a soft long shadow. " * 2


def found(*texts: str) -> list[tuple[str, str, float]]:
    """The pairs among texts named 0, 1, …"""
    duplicates = Duplicates()
    for number, text in enumerate(texts):
        duplicates.add(f"{number}", text)
    return [(pair.first, pair.second, pair.similarity) for pair in duplicates.pairs]


def test_the_same_text_is_found() -> None:
    """Whatever its case and white space; the third is paired with the first."""
    assert found(BRIEF, BRIEF.upper(), "  ".join(BRIEF.split())) == [("0", "1", 1.0), ("0", "2", 1.0)]


def test_nearly_the_same_text_is_found() -> None:
    """One word of forty is another."""
    ((first, second, similarity),) = found(BRIEF * 3, BRIEF * 2 + BRIEF.replace("red", "blue", 1))
    assert (first, second) == ("0", "1")
    assert NEAR <= similarity < 1.0


@pytest.mark.parametrize("other", ["", "A lamp.", "A wooden table in the sun, seen from above.", "x " * 1000])
def test_another_text_is_not(other: str) -> None:
    """Also an empty one, and one that shares words."""
    assert found(BRIEF, other) == []


def test_the_estimate_is_near_the_similarity() -> None:
    """Within three standard errors over texts of known similarity."""
    random = np.random.default_rng(1)
    for share in (0.2, 0.5, 0.8):
        words = [f"w{n}" for n in random.integers(0, 10**6, 3000)]
        other = [*words[: int(3000 * share)], *(f"v{n}" for n in random.integers(0, 10**6, 3000 - int(3000 * share)))]
        one, two = (set(shingles(text, 5)) for text in (words, other))
        similarity = len(one & two) / len(one | two)
        assert abs(float(np.mean(minhash(words) == minhash(other))) - similarity) < 3 * 0.045


def test_signs_are_words() -> None:
    """So that scripts are compared by their code."""
    assert normalised("Bpy.ops(x)\n") == ["bpy", ".", "ops", "(", "x", ")"]
