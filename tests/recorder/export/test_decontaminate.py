"""One shared run of eight words is an overlap; less is none."""

from pathlib import Path

import pytest

from recorder.errors import CorruptEpisode
from recorder.export.decontaminate import HeldOut

LIST = HeldOut(["Put a green glass bottle on the edge of a shelf, then light it.", "a blue cube"])


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("Now: put a GREEN glass bottle, on the edge!", "put a green glass bottle on the edge"),
        ("Put a green glass bottle on an edge of a shelf then light it", ""),
        ("Make A  Blue cube.", "a blue cube"),
        ("Make a blue cubes", ""),
        ("", ""),
    ],
)
def test_overlap(text: str, shared: str) -> None:
    """Case and punctuation do not matter; a short text has to be there whole."""
    assert LIST.overlap(text) == shared


def test_a_list_is_lines_or_json_lines(tmp_path: Path) -> None:
    """Strings, or objects with a brief, prompt or text."""
    (tmp_path / "l.txt").write_text("a blue cube\n\na red cone\n")
    assert HeldOut.read(tmp_path / "l.txt").overlap("one a red cone") == "a red cone"
    (tmp_path / "l.jsonl").write_text('"a blue cube"\n{"brief": "a red cone"}\n{"text": "t u"}\n')
    assert HeldOut.read(tmp_path / "l.jsonl").overlap("say t u") == "t u"


@pytest.mark.parametrize("line", ["{", "{}", "3", '{"text": 3}'])
def test_a_bad_line_is_named(tmp_path: Path, line: str) -> None:
    """By its number."""
    (tmp_path / "l.jsonl").write_text(f'"a"\n{line}\n')
    with pytest.raises(CorruptEpisode, match=r"l.jsonl, line 2: "):
        HeldOut.read(tmp_path / "l.jsonl")
