"""What a launch tells those who watch it: a person's terminal, or a machine's log."""

from dataclasses import dataclass
from pathlib import Path

from agent_plugin.breaker import Pause
from agent_plugin.episode import EpisodeKey
from agent_plugin.losses import LossClass
from recorder.records import EpisodeSummary


@dataclass(frozen=True)
class EpisodeOutcome:
    """How one planned episode ended in this launch."""

    key: EpisodeKey
    summary: EpisodeSummary | None
    error: str = ""
    """Set when the machine or the provider failed, or the run was stopped: the episode has no result."""
    ended_as: str = ""
    """The same in a word."""
    folder: Path | None = None
    """Where its record is; None where nothing was recorded."""
    is_from_before: bool = False
    loss: LossClass | None = None
    """Why it was lost; None where it has a result, was stopped or not begun."""


class Watcher:
    """Told what happens, for progress. Called from several threads. Inherit it: what you leave out is not told you."""

    def started(self, key: EpisodeKey) -> None:
        """An episode begins; after `retry`, once more."""

    def step(self, key: EpisodeKey, number: int, what: str) -> None:
        """It goes on with this: `model`, a tool's name, or `final execution`."""

    def waiting(self, key: EpisodeKey, what: str) -> None:
        """It waits for this machine or its provider: `what` says for what; '' when it goes on."""

    def retry(self, lost: EpisodeOutcome, number: int, wait_seconds: float) -> None:
        """It was lost, and is played again: for the `number`-th time, in `wait_seconds` at the earliest.

        `lost.loss` is the class. This is not its end: `ended` follows, once, when it is.
        """

    def ended(self, outcome: EpisodeOutcome) -> None:
        """How it ended in this launch; of each episode of the plan once, those that are never begun left out."""

    def paused(self, pause: Pause) -> None:
        """Nothing more begins of what `pause` names; told again after each episode that tried in vain."""

    def resumed(self, pause: Pause) -> None:
        """That pause is over."""
