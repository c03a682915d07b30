"""Agreement of several verdicts, by hand and by the example that everybody checks Fleiss' kappa with."""

import pytest

from recorder.agreement import fleiss_kappa, pairs_that_agree

FOURTEEN_RATERS = (
    "0 0 0 0 14", "0 2 6 4 2", "0 0 3 5 6", "0 3 9 2 0", "2 2 8 1 1",
    "7 7 0 0 0", "3 2 6 3 0", "2 5 3 2 2", "6 5 2 1 0", "0 2 2 3 7",
)  # fmt: skip
"""Ten subjects in five categories: how many raters chose each."""


@pytest.mark.parametrize(
    ("verdicts", "share"),
    [("", None), ("a", None), ("aa", 1.0), ("ab", 0.0), ("aab", 1 / 3), ("aaab", 0.5), ("aabb", 1 / 3), ("abc", 0.0)],
)
def test_pairs(verdicts: str, share: float | None) -> None:
    """Equal ones of all; None for fewer than two verdicts."""
    assert pairs_that_agree(list(verdicts)) == (share if share is None else pytest.approx(share))


def test_kappa_of_the_textbook() -> None:
    """0.210 to three places."""
    questions = [
        [category for category, n in zip("abcde", row.split(), strict=True) for _ in range(int(n))]
        for row in FOURTEEN_RATERS
    ]
    assert fleiss_kappa(questions) == pytest.approx(0.2099, abs=1e-4)


@pytest.mark.parametrize(
    ("questions", "kappa"),
    [
        ([], None),
        (["a", "b"], None),
        (["aaa", "aaa"], None),
        (["aaa", "bbb"], 1.0),
        (["ab", "ab"], -1.0),
        (["aaa", "bbb", "a", ""], 1.0),
        (["aa", "bbbb"], 1.0),
    ],
)
def test_kappa_at_its_ends(questions: list[str], kappa: float | None) -> None:
    """Unequal numbers of verdicts are taken; one verdict on everything tells nothing."""
    found = fleiss_kappa([list(question) for question in questions])
    assert found == (kappa if kappa is None else pytest.approx(kappa))
