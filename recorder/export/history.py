"""What the export saw of each episode, for the card and the report: all attempts, also those that are left out."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from recorder.errors import CorruptEpisode
from recorder.export.duplicates import NEAR, Duplicates
from recorder.export.formats import Outcome
from recorder.export.sample import RefusedEpisode
from recorder.files import Label

Fate = Literal["exported", "left out", "corrupt", "refused", "contaminated"]
"""exported; left out: not asked for; corrupt: damaged; refused: it holds a secret; contaminated: it overlaps the
held-out list."""


@dataclass(frozen=True)
class Seen:
    """One episode and what became of it."""

    episode: str
    name: str
    fate: Fate
    label: Label | None
    reason: str
    model: str = ""
    n_steps: int = 0
    score: float | None = None
    """Weighted, of the declared checks; None where there are none, or none could be judged."""
    cost_usd: float | None = None
    """None: unknown."""
    versions: tuple[tuple[str, str], ...] = ()


@dataclass
class History:
    """All of an export, as it goes on."""

    seen: list[Seen] = field(default_factory=list)
    briefs: Duplicates = field(default_factory=Duplicates)
    scripts: Duplicates = field(default_factory=Duplicates)
    tasks: dict[str, str] = field(default_factory=dict)
    """SHA-256 of a task -> its name in `briefs`: attempts at one task are no duplicates."""
    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def exported(self) -> list[Seen]:
        return [one for one in self.seen if one.fate == "exported"]

    @property
    def damaged(self) -> list[Seen]:
        """What the user has to look at."""
        return [one for one in self.seen if one.fate in ("corrupt", "refused")]


def report(history: History, output: Path) -> str:
    """What a person reads at the end."""
    lines = [f"{len(history.exported)} of {len(history.seen)} episodes exported to {output}"]
    lines += [f"  {one.fate}: {one.episode}: {one.reason}" for one in history.seen if one.fate != "exported"]
    for outcome in history.outcomes:
        files = ", ".join(f"{name} ({n})" for name, n in sorted(outcome.files.items())[:6])
        more = f", and {n} more files" if (n := len(outcome.files) - 6) > 0 else ""
        lines.append(f"{outcome.name}: {outcome.n_rows} rows. {files}{more}")
        lines += [f"  escaped {n} times: {mark}" for mark, n in sorted(outcome.escaped.counts.items())]
        lines += [f"  refused: {name}: {why}" for name, why in outcome.refused.items()]
    lines += duplicate_lines(history)
    return "\n".join(lines)


def duplicate_lines(history: History) -> Sequence[str]:
    """Each pair of likes on a line."""
    found = []
    for what, duplicates in (("briefs", history.briefs), ("scripts", history.scripts)):
        for pair in duplicates.pairs:
            how = "the same" if pair.similarity == 1.0 else f"alike (about {pair.similarity:.2f}, from {NEAR} on)"
            found.append(f"{what} {how}: {pair.first}, {pair.second}")
    return found


def fate_of(error: CorruptEpisode | RefusedEpisode) -> Fate:
    """How an episode that cannot be exported is listed."""
    return "corrupt" if isinstance(error, CorruptEpisode) else "refused"
