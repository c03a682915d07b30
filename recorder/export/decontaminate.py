"""Drops samples whose brief overlaps a held-out list: one shared run of 8 words is enough.

The list: a text file with one held-out text a line, or JSON lines of objects with a `brief`, `prompt` or `text`, or of
strings. Words are compared in lower case without punctuation. A held-out text of less than 8 words matches where the
whole of it stands in a brief. The method and the 8 are those of huggingface/open-r1 `scripts/decontaminate.py`.
"""

import json
import re
from pathlib import Path
from typing import Any

from recorder.errors import CorruptEpisode

N_WORDS = 8
_KEYS = ("brief", "prompt", "text")


class HeldOut:
    """A held-out list, as the runs of words in it."""

    def __init__(self, texts: list[str]) -> None:
        self._runs: dict[str, str] = {}
        self._short: list[str] = []
        for text in texts:
            words = _words(text)
            if len(words) < N_WORDS:
                self._short += [" ".join(words)] if words else []
            for run in _runs(words):
                self._runs.setdefault(run, text)

    @classmethod
    def read(cls, path: Path) -> "HeldOut":
        """Raises CorruptEpisode, naming the line, for a list that cannot be read."""
        try:
            lines = path.read_text(encoding="utf-8").split("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise CorruptEpisode(path, None, f"cannot be read ({error})") from error
        return cls([_text(path, number, line) for number, line in enumerate(lines, start=1) if line.strip()])

    def overlap(self, text: str) -> str:
        """The first run of words that a text shares with the list, else ''."""
        words = _words(text)
        whole = f" {' '.join(words)} "
        shared = next((run for run in _runs(words) if run in self._runs), "")
        return shared or next((short for short in self._short if f" {short} " in whole), "")


def _text(path: Path, number: int, line: str) -> str:
    if path.suffix not in (".jsonl", ".json"):
        return line
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CorruptEpisode(path, number, f"not valid JSON ({error})") from error
    if isinstance(value, dict):
        value = next((value[key] for key in _KEYS if key in value), None)
    if not isinstance(value, str):
        raise CorruptEpisode(path, number, f"holds no text: give a string, or an object with {', '.join(_KEYS)}")
    return value


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _runs(words: list[str]) -> list[str]:
    return [" ".join(words[start : start + N_WORDS]) for start in range(len(words) - N_WORDS + 1)]
