"""Makes the requests of a recorded episode again, and says whether they are the ones that were sent.

What the model saw is nowhere stored twice: an episode holds its history once, each step holds the policy of its request
and the digest. Texts that were cleaned of secrets or of this machine's paths give another digest; so does a version of
blendscribe that words or places things differently.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_plugin.models.request import digest, recorded_policy, request_messages
from agent_plugin.recorded_episode import RecordedEpisode


@dataclass(frozen=True)
class RebuiltRequest:
    """One request."""

    messages: list[dict[str, Any]]
    """As they were handed to the provider's client."""
    sha256: str
    recorded_sha256: str

    @property
    def is_the_recorded_one(self) -> bool:
        return self.sha256 == self.recorded_sha256


def rebuilt_requests(episode: RecordedEpisode) -> Iterator[tuple[int, RebuiltRequest]]:
    """(step, its request) for every step that sent one.

    Raises CorruptEpisode for a picture that is missing or another, ValueError for a record that is too old.
    """
    for step in episode.steps:
        if step.request is None:
            continue
        policy = recorded_policy(step.request, episode.header.tools)
        messages = request_messages(episode.conversation_before(step.step), policy)
        yield step.step, RebuiltRequest(messages, digest(messages), step.request.sha256)
