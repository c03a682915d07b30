"""What is wrong with a record on disk. Imports nothing, so that a command can name it without loading the reader."""

from pathlib import Path


class CorruptEpisode(Exception):
    """A file of an episode is not what it has to be."""

    def __init__(self, path: Path, line: int | None, why: str) -> None:
        self.path, self.line, self.why = path, line, why
        super().__init__(f"{path}{f', line {line}' if line else ''}: {why}")
