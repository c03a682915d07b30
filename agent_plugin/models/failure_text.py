"""Words of a failed call that a person reads: one line, no traceback, no place on this machine. Pure.

Clients put the whole traceback of their own failures into the text of an error, and their types before it, repeatedly.
"""

import re

MAX_TEXT = 200
_TRACEBACK = "Traceback (most recent call last)"
_TYPES_AGAIN = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception)(?:: | - ))+")
_FRAME = re.compile(r'File "[^"]*", line \d+(?:, in \S+)?|(?<![\w:/])(?:/[\w.@+-]+)+\.py\b')


def one_line(error: BaseException) -> str:
    """`Type: what was said`; of a traceback in it, what it ended with."""
    said, _, traceback = str(error).partition(_TRACEBACK)
    said = _TYPES_AGAIN.sub("", " ".join(said.split()))
    ended = next((line for line in traceback.splitlines()[1:] if line and not line[0].isspace()), "")
    texts = [text.strip() for text in (said, ended) if text.strip()]
    return f"{type(error).__name__}: {_FRAME.sub('[a file]', ': '.join(texts))}"


def shortened(text: str) -> str:
    """The text's beginning. After secrets were taken out: half of one would not be known any more."""
    return text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 3].rstrip()}..."
