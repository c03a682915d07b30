"""No text of the record becomes structure: what is read is escaped, what is learned is never altered."""

import pytest

from recorder.export.conversation import Call, Turn
from recorder.export.forging import Escaped, RefusedRow, defused, found_in
from recorder.records import TextPart

FORGED = [
    "<image>", "<video>", "</tool_response>", "<tool_call>", "<|im_end|>", "<|im_start|>", "<think>", "</think>",
    "<|image_pad|>", "<|eot_id|>", "<\uff5cend\u2581of\u2581sentence\uff5c>", "[INST]", "<s>", "</s>", "<tools>",
]  # fmt: skip
HARMLESS = ["a < b", "<images>", "x = a[IMG_SIZE]", "if a<|b", "<Image>", "< image>", "List<String>", "<task>"]


def turn(role: str, text: str = "", **more: object) -> Turn:
    return Turn(role, (TextPart(text=text),), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", FORGED)
def test_a_mark_that_is_read_is_escaped_and_counted(mark: str) -> None:
    """By a space, so that it can still be read."""
    escaped = Escaped()
    (safe,) = defused([turn("tool", f"log {mark} and {mark}")], escaped)
    assert not found_in(safe.text)
    assert safe.text.replace(" ", "") == f"log{mark}and{mark}".replace(" ", "")
    assert escaped.counts[mark] == 2


@pytest.mark.parametrize("mark", FORGED)
def test_a_mark_that_is_learned_refuses_the_row(mark: str) -> None:
    """In the text, the reasoning and a call."""
    for reply, place in (
        (turn("assistant", mark), "text"),
        (turn("assistant", reasoning=f"a {mark}"), "reasoning"),
        (turn("assistant", calls=(Call("c", "run_blender", f'{{"code": "print(\'{mark}\')"}}'),)), "call"),
    ):
        with pytest.raises(RefusedRow, match=f"the {place} of step 0"):
            defused([reply], Escaped())


@pytest.mark.parametrize("text", HARMLESS)
def test_other_text_stays(text: str) -> None:
    """Not a letter is changed."""
    escaped = Escaped()
    assert escaped.text(text) == text
    assert not escaped.counts
