"""What a person reads of a failed call is one line, without a traceback."""

import pytest

from agent_plugin.models.failure_text import MAX_TEXT, one_line, shortened

TRACEBACK = (
    "litellm.APIConnectionError: APIConnectionError: OpenAIException - Invalid response object "
    "Traceback (most recent call last):\n"
    '  File "/opt/x/litellm/convert.py", line 833, in convert\n    a = b["choices"]\n'
    "KeyError: 'choices'\n\n\nreceived_args={'response_object': {}}"
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("slow\n  down", "ValueError: slow down"),
        ("litellm.BadRequestError: OpenAIException - no such model", "ValueError: no such model"),
        (TRACEBACK, "ValueError: Invalid response object: KeyError: 'choices'"),
        ('Traceback (most recent call last):\n  File "/a/b.py", line 1\nOSError: gone', "ValueError: OSError: gone"),
        ('it failed in File "/a/b.py", line 3, in f', "ValueError: it failed in [a file]"),
        ("see https://h/v1/chat and /a/b/c.py", "ValueError: see https://h/v1/chat and [a file]"),
    ],
)
def test_one_line_says_what_happened(said: str, told: str) -> None:
    """The type once, what was said, and what a traceback ended with."""
    assert one_line(ValueError(said)) == told


def test_a_long_text_is_cut() -> None:
    """A line stays readable, and says that it goes on."""
    assert shortened("x" * MAX_TEXT) == "x" * MAX_TEXT
    assert shortened("x" * (MAX_TEXT + 1)) == "x" * (MAX_TEXT - 3) + "..."
