"""How far several answers to the same questions agree. Pure: a question is the list of the verdicts that it got.

- *Pairs that agree*: of all pairs of verdicts on one question, the share that is equal; None for fewer than two.
- *Kappa*: Fleiss' kappa, (P - E) / (1 - E): P is the mean share of pairs that agree, E is what chance alone would give,
  the sum of the squared shares of each verdict among all (J. L. Fleiss: Measuring nominal scale agreement among many
  raters. Psychological Bulletin 76, 1971, pages 378-382). 1: all agree; 0: no better than chance; below: worse. Where
  questions have different numbers of verdicts (one was not scored), each still counts once in P and each verdict once
  in E; those with fewer than two are left out. None where there are no pairs, or all verdicts are one and the same:
  then nothing tells agreement from a judge who always says that.
"""

from collections import Counter
from collections.abc import Sequence


def pairs_that_agree(verdicts: Sequence[str]) -> float | None:
    """In 0..1."""
    n = len(verdicts)
    if n < 2:
        return None
    return sum(count * (count - 1) for count in Counter(verdicts).values()) / (n * (n - 1))


def fleiss_kappa(questions: Sequence[Sequence[str]]) -> float | None:
    """Of several questions, each with its verdicts; in -1..1."""
    asked = [verdicts for verdicts in questions if len(verdicts) >= 2]
    if not asked:
        return None
    observed = sum(share for verdicts in asked if (share := pairs_that_agree(verdicts)) is not None) / len(asked)
    counts = Counter(verdict for verdicts in asked for verdict in verdicts)
    if len(counts) < 2:
        return None
    chance = sum((count / counts.total()) ** 2 for count in counts.values())
    return (observed - chance) / (1 - chance)
