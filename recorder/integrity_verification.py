"""The folders `renders/` and `verification/` of an episode: can their files be read, is each render the one listed?

What they say of the episode, and whether that still holds, is `verified.py`'s.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from recorder.decision_file import Decision
from recorder.documents import read_plain_document
from recorder.errors import CorruptEpisode
from recorder.files import Finding, IntegrityFile
from recorder.plain_files import NotPlain, hash_plain, list_plain
from recorder.rubric_review import RubricReviewFile
from recorder.subject import hashes_of
from recorder.verification import ChecksFile, RendersFile, ReplayDiffFile

FILES: dict[str, type[BaseModel]] = {
    "checks.json": ChecksFile,
    "replay_diff.json": ReplayDiffFile,
    "integrity.json": IntegrityFile,
    "decision.json": Decision,
    "rubric_review.json": RubricReviewFile,
}
"""Everything that `verification/` may hold."""


def check_verification(root: Path) -> Iterator[Finding]:
    """Each file of `verification/` is one of ours and can be read, and `renders/` holds what it lists."""
    if fault := _folder_fault(root, "verification"):
        yield fault
    else:
        for name in _listed(root, "verification"):
            yield from _check_document(root, name)
    yield from check_renders(root)


def check_renders(root: Path) -> Iterator[Finding]:
    """Each picture that renders.json lists is there, under its hash, and no other."""
    if fault := _folder_fault(root, "renders"):
        yield fault
        return
    there = set(_listed(root, "renders"))
    if not there:
        return
    try:
        listed = read_plain_document(root, "renders/renders.json", RendersFile)
    except CorruptEpisode as error:
        yield Finding(code="document", file="renders/renders.json", message=error.why)
        return
    yield from _check_anchor(root)
    for render in listed.renders:
        name = f"renders/{render.file}"
        try:
            if hash_plain(root, name)[0] != render.sha256:
                yield Finding(code="hash", file=name, message="not what was drawn: renders.json has another SHA-256")
        except NotPlain as error:
            yield Finding(code="missing", file=name, message=str(error))
    for name in sorted(there - {"renders/renders.json"} - {f"renders/{render.file}" for render in listed.renders}):
        yield Finding(code="unlisted", file=name, message="renders.json does not list this file")


def anchored_renders(root: Path) -> str | None:
    """SHA-256 of renders.json as the verification drew it; '' where it drew none, None where that is not known."""
    try:
        return read_plain_document(root, "verification/integrity.json", IntegrityFile).renders_sha256
    except CorruptEpisode:
        return None


def _check_anchor(root: Path) -> Iterator[Finding]:
    """Pictures swapped together with their list."""
    anchor = anchored_renders(root)
    if anchor is not None and hashes_of(root, ["renders/renders.json"]).get("renders/renders.json", anchor) != anchor:
        why = "not the list of what was drawn: verification/integrity.json has another SHA-256"
        yield Finding(code="hash", file="renders/renders.json", message=why)


def _check_document(root: Path, name: str) -> Iterator[Finding]:
    model = FILES.get(name.removeprefix("verification/"))
    if model is None:
        yield Finding(code="unlisted", file=name, message="no file of a verification")
        return
    try:
        read_plain_document(root, name, model)
    except CorruptEpisode as error:
        yield Finding(code="document", file=name, message=error.why)


def _folder_fault(root: Path, name: str) -> Finding | None:
    """What else than a folder has this name."""
    try:
        mode = os.lstat(root / name).st_mode
    except OSError:
        return None
    if stat.S_ISDIR(mode):
        return None
    return Finding(code="missing", file=name, message=f"'{name}' is no folder, or a link: links are not followed")


def _listed(root: Path, folder: str) -> list[str]:
    """Files and what else is none, but what a writer that was killed left."""
    return [name for name in list_plain(root, folder) if not name.endswith(".tmp")]
