"""The scene states of an episode, made again out of its recorded patches, beside those of now.

They begin at the start state of the one who replays: what differs from the start on is in both, and told by nobody.
Does not cover episodes whose good steps have no patch, or not all of them: there is nothing to make then.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agent_plugin.recorded_episode import RecordedEpisode
from harness.state_diff import Change, diff
from harness.state_patch import BLANK, patched
from recorder.errors import CorruptEpisode
from recorder.records import FileReference

Place = tuple[int, int]
"""A step's number, and the position of a call in it from 0."""


@dataclass(frozen=True)
class _Link:
    """A call whose state was measured."""

    place: Place
    line: int
    """Of the trajectory."""
    reference: FileReference | None


class RecordedStates:
    """Ask for them in the order of the record: each is made out of the one before."""

    def __init__(self, episode: RecordedEpisode, clean: Callable[[Any], Any]) -> None:
        """`clean` takes secrets and host paths out, as the writer of the record did; both sides are cleaned by it."""
        self._episode, self._clean = episode, clean
        self._links = _links(episode)
        self._start: dict[str, Any] | None = None
        self._made: dict[str, Any] = dict(BLANK)
        self._n_made = 0

    def begin(self, start: dict[str, Any]) -> None:
        """Tell the state of the session that replays, before its first step."""
        self._start = self._made = self._clean(start)
        self._n_made = 0

    def before(self, number: int) -> dict[str, Any] | None:
        """The recorded state before step `number`; None where it is not known."""
        return self._after(sum(link.place < (number, 0) for link in self._links))

    def changes(self, place: Place, now: dict[str, Any] | None) -> list[Change] | None:
        """What differs between the state recorded after a call and that of now, noise left out.

        None where one of them is not known. Raises CorruptEpisode for a patch that is damaged.
        """
        position = next((i for i, link in enumerate(self._links) if link.place == place), None)
        recorded = None if position is None or now is None else self._after(position + 1)
        if position is None or recorded is None or now is None:
            return None
        if recorded["version"] != now["version"]:
            return [Change("version", "changed", recorded["version"], now["version"], None, "version")]
        try:
            # as a rule nothing has to be cleaned, which costs more than to compare
            return diff(recorded, now) and diff(recorded, self._clean(now))
        except Exception as error:  # the record may hold anything, and a step's code could forge a state
            why = f"gives a state that cannot be compared ({type(error).__name__}: {error})"
            raise self._corrupt(self._links[position], why) from error

    def _after(self, n_links: int) -> dict[str, Any] | None:
        """The start with the first patches."""
        if self._start is None or any(link.reference is None for link in self._links[:n_links]):
            return None
        if n_links < self._n_made:
            self._made, self._n_made = self._start, 0
        for link in self._links[self._n_made : n_links]:
            assert link.reference is not None
            patch = self._episode.state_patch(link.reference, link.line)
            try:
                self._made = patched(self._made, self._clean(patch))
            except (ValueError, RecursionError) as error:
                raise self._corrupt(link, str(error)) from error
            self._n_made += 1
        return self._made

    def _corrupt(self, link: _Link, why: str) -> CorruptEpisode:
        assert link.reference is not None
        return CorruptEpisode(self._episode.paths.root / link.reference.path, None, why)


def _links(episode: RecordedEpisode) -> list[_Link]:
    return [
        _Link((step.step, position), step.seq + 1, execution.state_patch)
        for step in episode.steps
        for position, execution in enumerate(step.executions)
        if episode.is_scene and (execution.blender or {}).get("state_hash")
    ]
