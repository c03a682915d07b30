"""Reads what a task keeps from its agent: checks and rubric, which are given as content or as the name of a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_plugin.faults import BadInput, Fault, bad_input, read_json
from agent_plugin.tasks import HIDDEN

_MAX_BYTES = 4 << 20
_MAX_KEPT = 256


class HiddenFiles:
    """Those of one task list. A file that many tasks name is read once, and content that many repeat examined once."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, Path], Any] = {}
        self._good: dict[tuple[str, str], Any] = {}
        """(key, content as JSON) -> the content, which such tasks share."""

    def contents(self, raw: dict[str, Any], file: str, place: str, folder: Path) -> tuple[dict[str, Any], list[Fault]]:
        """The content of each that the raw task gives, as pure JSON values (None for a faulty one), and all faults."""
        found: dict[str, Any] = {}
        faults: list[Fault] = []
        for key in HIDDEN:
            given = raw.get(key)
            if given is None:
                continue
            where = f"{place}.{key}".lstrip(".")
            try:
                if isinstance(given, str):
                    found[key] = self._of_file(key, folder / given, file, where)
                else:
                    found[key] = self._checked(key, given, file, where)
            except BadInput as error:
                found[key] = None
                faults += error.faults
        return found, faults

    def _of_file(self, key: str, path: Path, file: str, where: str) -> Any:
        """Raises BadInput: for a file that is missing at the place that names it, else at the place in the file.

        None for a file whose faults have been told already.
        """
        if not _is_file(path):
            raise bad_input(f"there is no file '{str(path)[:300]}'", file=file, place=where)
        if (key, path) not in self._read:
            self._read[key, path] = None
            self._read[key, path] = self._checked(key, read_json(path, _MAX_BYTES), str(path), "")
        return self._read[key, path]

    def _checked(self, key: str, value: Any, file: str, place: str) -> Any:
        """The value as JSON holds it, if it is what belongs to this key."""
        try:
            text = json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
            text.encode()  # half a surrogate pair is no text
        except (TypeError, ValueError, RecursionError) as error:
            raise bad_input(f"holds what JSON cannot ({error})", file=file, place=place) from error
        if (key, text) not in self._good:
            content = json.loads(text)
            _parser(key)(content, file, place)
            if len(self._good) >= _MAX_KEPT:
                self._good.clear()
            self._good[key, text] = content
        return self._good[key, text]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long: content that was given as a text
        return False


def _parser(key: str) -> Callable[[Any, str, str], object]:
    """Imported where a task declares checks: their types take a second, and most lists have none."""
    if key == "checks":
        from agent_plugin.checks_file import parse_checks

        return parse_checks
    from agent_plugin.rubric_file import parse_rubric

    return parse_rubric
