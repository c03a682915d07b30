"""The lines of a result pipe: what is taken as a message, and that its texts are harmless."""

import json

import pytest

from harness.blender import parse_messages


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Cube.001", "Cube.001"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("Würfel", "Würfel"),
        ("\x7f", "\N{REPLACEMENT CHARACTER}"),
        ("\x1b[31mred", "red"),
        ("\u202eevil", "\N{REPLACEMENT CHARACTER}evil"),
        ("\ud800", "?"),
    ],
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_texts_are_plain(text: str, shown: str, is_ascii: bool) -> None:
    """Values and keys, however the sender has written them."""
    line = json.dumps({"kind": "k", "value": [text], text: 1}, ensure_ascii=is_ascii).encode("utf-8", "surrogatepass")
    assert list(parse_messages(line)) == [{"kind": "k", "value": [shown], shown: 1}]


def test_what_is_no_message_is_passed_over() -> None:
    """Half lines, raw control characters, other JSON, and nesting without end."""
    lines = [
        b'{"kind": "half',
        b'{"kind": "k", "s": "\x1b"}',
        b"[1]",
        b'{"no": "kind"}',
        b"[" * 100_000,
        b'{"kind": "k"}',
    ]
    assert list(parse_messages(b"\n".join(lines))) == [{"kind": "k"}]
