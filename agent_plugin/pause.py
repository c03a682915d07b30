"""What watchers need to know of a pause."""

from typing import Protocol


class Held(Protocol):
    """Episodes that are held back. Its text is one line for a person."""

    @property
    def model(self) -> str:
        """Whose; '' for those of every model."""

    @property
    def loss(self) -> str: ...
    @property
    def error(self) -> str: ...
