"""The routes that the episode takes. Imports neither litellm nor mini-swe-agent: `table.py` prints a page."""

from dataclasses import dataclass

from agent_plugin.loopback.routes import ROUTES
from agent_plugin.models.routes import Family


@dataclass(frozen=True)
class Way:
    """A route, and the class where the name alone does not choose it."""

    provider: str
    """Of the loopback server."""
    family: Family | None = None

    @property
    def name(self) -> str:
        return f"{self.provider}, {self.family}" if self.family else self.provider


WAYS = [
    *(Way(name) for name in ROUTES),
    Way("openai", "responses"),
    Way("openrouter", "chat"),
    Way("openrouter", "openrouter_responses"),
    Way("vllm", "text"),
    Way("anthropic", "text"),
]
