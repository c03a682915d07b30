"""What a request says, in one form for every wire format: messages, parts in order, pictures and where they are."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

Role = Literal["system", "user", "assistant", "tool"]
Place = Literal["tool result", "user message", "elsewhere"]


@dataclass(frozen=True)
class Text:
    """Words."""

    text: str


@dataclass(frozen=True)
class Image:
    """A picture, without its bytes."""

    sha256: str
    media_type: str
    """As the sender declared it; empty where the format has no place for it (Ollama)."""
    true_type: str
    """As its first bytes say."""
    n_bytes: int
    size: tuple[int, int]
    """Width and height, pixels."""


@dataclass(frozen=True)
class Call:
    """A tool call that the model is said to have made."""

    id: str
    name: str
    arguments: str
    """JSON text."""
    signature: str = ""
    """Gemini's thoughtSignature."""
    item_id: str = ""
    """The Responses API's id of the item, apart from the call's."""


@dataclass(frozen=True)
class Result:
    """The answer to a call."""

    call_id: str
    parts: "tuple[Text | Image, ...]"


@dataclass(frozen=True)
class Reasoning:
    """What the model thought, with the provider's seal on it."""

    text: str
    seal: str = ""
    item_id: str = ""


Part = Text | Image | Call | Result | Reasoning


@dataclass(frozen=True)
class Message:
    """One message. Tool results of Anthropic, Bedrock and Gemini stand in user messages, as on the wire."""

    role: Role
    parts: tuple[Part, ...]

    @property
    def calls(self) -> list[Call]:
        """Its tool calls, in order."""
        return [part for part in self.parts if isinstance(part, Call)]

    @property
    def results(self) -> list[Result]:
        """Its tool results, in order."""
        return [part for part in self.parts if isinstance(part, Result)]

    @property
    def reasoning(self) -> list[Reasoning]:
        """Its reasoning, in order."""
        return [part for part in self.parts if isinstance(part, Reasoning)]

    @property
    def text(self) -> str:
        """Its words, those in tool results too, without reasoning and calls."""
        return "".join(part.text for parts in self.containers() for part in parts if isinstance(part, Text))

    def containers(self) -> "Iterator[tuple[Part, ...]]":
        """The message's own parts without results, then each result's parts."""
        yield tuple(part for part in self.parts if not isinstance(part, Result))
        for result in self.results:
            yield result.parts


@dataclass(frozen=True)
class SeenImage:
    """A picture, where it was, and the words right before it."""

    image: Image
    message: int
    """Index of its message, counted from 0, the system message included."""
    place: Place
    call_id: str
    """The call whose result holds it, or empty."""
    caption: str
    """The text part right before it in the same message or result; empty where something else is before it."""


@dataclass(frozen=True)
class Request:
    """One request to a model."""

    model: str
    messages: tuple[Message, ...]
    tools: tuple[str, ...] = ()
    """Names of the tools that it may call."""
    n_cache_marks: int = 0
    parameters: dict[str, Any] = field(default_factory=dict)
    """Everything else at the top of the body."""

    @property
    def n_replies(self) -> int:
        """Replies of the model that it holds."""
        return sum(message.role == "assistant" for message in self.messages)

    @property
    def brief(self) -> str:
        """Text of the first user message."""
        return next((message.text for message in self.messages if message.role == "user"), "")

    @property
    def answers(self) -> tuple[Message, ...]:
        """The messages since the last reply."""
        last = max((i for i, message in enumerate(self.messages) if message.role == "assistant"), default=-1)
        return self.messages[last + 1 :]

    @property
    def images(self) -> list[SeenImage]:
        """Every picture, in order."""
        return [seen for number, message in enumerate(self.messages) for seen in _seen(message, number)]

    @property
    def new_images(self) -> list[SeenImage]:
        """The pictures since the last reply."""
        first = len(self.messages) - len(self.answers)
        return [seen for seen in self.images if seen.message >= first]


def _seen(message: Message, number: int) -> Iterator[SeenImage]:
    own: Place = "user message" if message.role == "user" else "elsewhere"
    before: Part | None = None
    for part in message.parts:
        if isinstance(part, Image):
            yield SeenImage(part, number, own, "", _caption(before))
        if isinstance(part, Result):
            inner: Part | None = None
            for inside in part.parts:
                if isinstance(inside, Image):
                    yield SeenImage(inside, number, "tool result", part.call_id, _caption(inner))
                inner = inside
        before = part


def _caption(before: Part | None) -> str:
    return before.text if isinstance(before, Text) else ""
