"""What a .blend brings along besides its scene, told whatever the checks ask."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from harness.checks.verdict import Name, Record

Text = Annotated[str, Field(max_length=2000)]
LARGE_FILE_MB = 64
"""From here on a file is worth a word: samples are shipped by the thousand."""


class Code(Record):
    """Python, or shader code, that the file would run if scripts were allowed; or a node that writes files."""

    kind: Name
    name: Name
    detail: Text


class External(Record):
    """A file that the scene needs and does not hold."""

    kind: Name
    name: Name
    path: Text
    is_absolute: bool


class FileFacts(Record):
    """What `in_blender/checks/file_facts.py` reads. Claims."""

    version: tuple[int, int, int]
    """Of the Blender that saved it."""
    reader: tuple[int, int, int]
    """Of the one that opened it."""
    seconds: float
    code: Annotated[list[Code], Field(max_length=40)]
    external: Annotated[list[External], Field(max_length=40)]
    writers: Annotated[list[Code], Field(max_length=40)]
    n_code: int
    n_external: int
    n_writers: int


class FileFinding(Record):
    """One finding: a code for machines, a sentence for people."""

    code: Name
    message: Text


_CODE_WORDS = {
    "registered_text": "text block '{name}' is set to run when the file is opened",
    "scripted_driver": "a driver of '{name}' needs Python: {detail}",
    "freestyle_script": "text block '{name}' is a Freestyle script",
    "osl_script": "'{name}' holds a script node ({detail})",
    "file_output_node": "a File Output node of '{name}' writes to '{detail}' when the scene is rendered",
}


def findings_of(facts: FileFacts) -> list[FileFinding]:
    """Findings about an opened file."""
    return list(_findings(facts))


def size_finding(size_mb: float, most_mb: float) -> list[FileFinding]:
    """A finding for a file that is large."""
    if size_mb <= LARGE_FILE_MB:
        return []
    return [FileFinding(code="large_file", message=f"The file has {size_mb:.0f} MiB (opened up to {most_mb:.0f} MiB)")]


def _findings(facts: FileFacts) -> Iterator[FileFinding]:
    (major, minor), (ours, ours_minor) = facts.version[:2], facts.reader[:2]
    if (major, minor) > (ours, ours_minor):
        what = f"Blender {major}.{minor} saved it; {ours}.{ours_minor}, which opened it, may have dropped what is newer"
        yield FileFinding(code="newer_version", message=what)
    for code in (*facts.code, *facts.writers):
        words = _CODE_WORDS.get(code.kind, "'{name}': {detail}")
        yield FileFinding(code=code.kind, message=words.format(name=code.name, detail=code.detail))
    for file in facts.external:
        kind = "absolute_path" if file.is_absolute else "external_file"
        where = "an absolute path" if file.is_absolute else "a file beside it"
        code_ = "linked_library" if file.kind == "library" else kind
        yield FileFinding(code=code_, message=f"{file.kind} '{file.name}' is not in the file: {where}, '{file.path}'")
    left_out = facts.n_code + facts.n_external + facts.n_writers
    left_out -= len(facts.code) + len(facts.external) + len(facts.writers)
    if left_out > 0:
        yield FileFinding(code="more", message=f"{left_out} more such findings are not listed")
