"""What a wire format has to do. One module a format; `WIRE_FORMATS` in `formats` is their list."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from agent_plugin.loopback.answer import Answer
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import Refused
from agent_plugin.loopback.request import Request
from agent_plugin.scripted_file import ScriptedTurn

Json = dict[str, Any]


@dataclass(frozen=True)
class Wording:
    """An error in a provider's own shape."""

    status: int
    body: Json
    headers: dict[str, str] = field(default_factory=dict)


class WireFormat(Protocol):
    """Reads requests, says what is wrong with them, writes replies and errors. Holds no state."""

    def read(self, path: str, body: Json, provider: Provider) -> Request:
        """The request in neutral form. Raises Refused, or what Python raises for JSON of another shape."""

    def check(
        self, request: Request, body: Json, provider: Provider, played: "tuple[ScriptedTurn | None, ...]"
    ) -> None:
        """Raises Refused for what the true service refuses.

        `played`: the scripted turn behind each reply in the request, None where that is not known.
        """

    def write(self, answer: Answer, request: Request, provider: Provider) -> Json:
        """The body of a reply."""

    def word(self, refused: Refused, provider: Provider) -> Wording:
        """The error."""
