"""Faults to inject: which, when, how often. Counted for each conversation, so that many episodes at once do not mix."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from time import time
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_plugin.faults import BadInput, bad_input, faults_of, read_yaml
from agent_plugin.loopback.refused import RefusalKind

ErrorKind = RefusalKind
"""Faults that are an error of the provider, in its own shape."""
AnswerFault = Literal["refusal", "empty", "length"]
"""Faults in what is said: declined, nothing at all, cut by the output limit in the middle of the last call."""
DeliveryFault = Literal["drip", "stall", "cut", "malformed"]
"""Faults of the connection: a byte at a time, no answer at all, closed in mid-body, JSON that breaks off."""
FaultKind = Literal[ErrorKind, AnswerFault, DeliveryFault]
ANSWER_FAULTS = get_args(AnswerFault)
DELIVERY_FAULTS = get_args(DeliveryFault)

_MAX_CONVERSATIONS = 10_000


class InjectedFault(BaseModel):
    """One fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: FaultKind
    turn: Annotated[int, Field(ge=1)] | None = None
    """Only at this turn of a conversation, counted from 1."""
    request: Annotated[int, Field(ge=1)] | None = None
    """Only from this request of a conversation on, counted from 1."""
    times: Annotated[int, Field(ge=1)] = 1
    """How often in each conversation."""
    conversation: str = ""
    """Only where this text is in the first user message."""
    route: str = ""
    """Only for this provider (`openai`, `anthropic`, …)."""
    retry_after: float | None = None
    """Seconds of a Retry-After header."""
    retry_after_as_date: bool = False
    """The same as an HTTP date (whole seconds)."""
    seconds: Annotated[float, Field(gt=0)] = 0.5
    """`drip`: between two bytes."""
    message: str = ""
    """Instead of the provider's text."""

    def headers(self) -> dict[str, str]:
        """Retry-After, if wanted."""
        if self.retry_after is None:
            return {}
        date = formatdate(time() + self.retry_after, usegmt=True)
        return {"Retry-After": date if self.retry_after_as_date else f"{self.retry_after:g}"}


class FaultsFile(BaseModel):
    """A file of faults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    faults: list[InjectedFault]


def load_faults(path: Path) -> list[InjectedFault]:
    """The faults of a YAML file. Raises BadInput."""
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise bad_input("has to be a mapping with the key 'faults'", file=str(path))
    try:
        return FaultsFile.model_validate(content).faults
    except ValidationError as error:
        raise BadInput(faults_of(error, FaultsFile, file=str(path))) from error


@dataclass
class _Conversation:
    """What happened in one conversation."""

    n_requests: int = 0
    played: dict[int, int] = field(default_factory=dict)
    """Index of a fault -> how often it was played."""
    spoiled: set[int] = field(default_factory=set)
    """Replies (index) that were a fault instead of a turn of the script."""


class FaultPlan:
    """Deals out faults. Safe to use from many threads."""

    def __init__(self, faults: Sequence[InjectedFault] = ()) -> None:
        self._faults = tuple(faults)
        self._lock = threading.Lock()
        self._conversations: OrderedDict[str, _Conversation] = OrderedDict()

    def replace(self, faults: Sequence[InjectedFault]) -> None:
        """Other faults from now on; every count begins anew."""
        with self._lock:
            self._faults = tuple(faults)
            for conversation in self._conversations.values():
                conversation.n_requests, conversation.played = 0, {}

    def n_turns(self, key: str, n_replies: int) -> int:
        """Turns of the script among the replies so far: a reply that was a fault is none."""
        with self._lock:
            spoiled = self._conversation(key).spoiled
            return n_replies - sum(index < n_replies for index in spoiled)

    def spoiled(self, key: str) -> frozenset[int]:
        """Replies that were a fault."""
        with self._lock:
            return frozenset(self._conversation(key).spoiled)

    def take(self, key: str, brief: str, route: str, n_replies: int, turn: int) -> InjectedFault | None:
        """The fault for a conversation's next request, if one is due. It counts the request.

        `turn`: the turn that is asked for, from 1. `n_replies`: the replies in the request.
        """
        with self._lock:
            conversation = self._conversation(key)
            conversation.n_requests += 1
            for index, fault in enumerate(self._faults):
                n_played = conversation.played.get(index, 0)
                if n_played < fault.times and _is_due(fault, brief, route, turn, conversation.n_requests):
                    conversation.played[index] = n_played + 1
                    if fault.kind in ANSWER_FAULTS:
                        conversation.spoiled.add(n_replies)
                    return fault
            conversation.spoiled.discard(n_replies)
            return None

    def _conversation(self, key: str) -> _Conversation:
        conversation = self._conversations.setdefault(key, _Conversation())
        self._conversations.move_to_end(key)
        if len(self._conversations) > _MAX_CONVERSATIONS:
            self._conversations.popitem(last=False)
        return conversation


def _is_due(fault: InjectedFault, brief: str, route: str, turn: int, n_requests: int) -> bool:
    return (
        fault.conversation in brief
        and fault.route in ("", route)
        and fault.turn in (None, turn)
        and n_requests >= (fault.request or 1)
    )
