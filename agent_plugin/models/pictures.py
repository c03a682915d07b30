"""Counts the pictures in a request, whatever its shape. Pure."""

from typing import Any

_HEADS = ("data:image/", "/9j/", "iVBORw0KGgo", "UklGR")
"""A data URL, or the base64 of a JPEG, PNG or WebP."""
_PROSE = ("text", "content", "arguments", "output")
"""Fields that hold what a person, a model or a program wrote."""


def count_pictures(body: Any) -> int:
    """Strings in a body that are pictures. What somebody wrote is never one, whatever it begins with."""
    if isinstance(body, dict):
        return sum(count_pictures(value) for key, value in body.items() if not _is_prose(key, value))
    if isinstance(body, list | tuple):
        return sum(count_pictures(item) for item in body)
    return int(isinstance(body, str) and body.startswith(_HEADS))


def _is_prose(key: str, value: Any) -> bool:
    return isinstance(value, str) and key in _PROSE
