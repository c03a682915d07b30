"""Makes text that untrusted code wrote harmless to store and to show: valid UTF-8, no terminal tricks."""

import re
from typing import Any

_ESCAPE_SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b.?")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def plain(text: str) -> str:
    """`text` without escape sequences, control characters (line ends and tabs stay) and half surrogate pairs."""
    if text.isascii() and text.isprintable():  # nearly all text; a scene state holds thousands of names
        return text
    text = text.encode("utf-8", "replace").decode("utf-8")
    return _CONTROL.sub(_REPLACEMENT, _ESCAPE_SEQUENCES.sub("", text))


def one_line(text: str) -> str:
    """The same without line ends and tabs."""
    return " ".join(plain(text).split())


def plain_values(value: Any) -> Any:
    """A JSON value with every string in it made plain."""
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(str(key)): plain_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_values(item) for item in value]
    return value
