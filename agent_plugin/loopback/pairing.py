"""Tool calls and their results: which call has no result, which result no call. Each wire format words it itself."""

from dataclasses import dataclass
from typing import Literal

from agent_plugin.loopback.request import Request


@dataclass(frozen=True)
class Mismatch:
    """The first fault of a request."""

    kind: Literal["unanswered", "unexpected"]
    message: int
    """Index of the message with the calls, or with the result that answers nothing."""
    call_ids: tuple[str, ...]


def mismatch(request: Request) -> Mismatch | None:
    """The first call that is not answered right after its message, or result that answers no call there."""
    waiting: list[str] = []
    asked_in = 0
    for number, message in enumerate(request.messages):
        for result in message.results:
            if result.call_id not in waiting:
                return Mismatch("unexpected", number, (result.call_id,))
            waiting.remove(result.call_id)
        if waiting and message.role != "tool":
            return Mismatch("unanswered", asked_in, tuple(waiting))
        if message.calls:
            waiting, asked_in = [call.id for call in message.calls], number
    return Mismatch("unanswered", asked_in, tuple(waiting)) if waiting else None
