"""The files that an episode's lines name: pictures, state patches, the pinned task, the final script of a scene."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from harness.final_script import StepStart, final_script
from recorder.documents import read_document
from recorder.errors import CorruptEpisode
from recorder.files import PINNED_FILES, Finding, PinnedTask
from recorder.plain_files import NotPlain, hash_plain, list_plain, read_plain
from recorder.records import End, FileReference, Header, ImagePart, Step

_NAMES = (re.compile(r"images/([0-9a-f]{64})\.[a-z]{1,8}"), re.compile(r"states/([0-9a-f]{64})\.json\.gz"))
_REMOVED = re.compile(r"\\\[removed:\\ (?:secret|key)\\\]|<workspace>|<episode>|<project>|<home>")
"""What redaction writes, as `re.escape` leaves it."""


def check_references(root: Path, header: Header | None, steps: Sequence[tuple[int, Step]]) -> Iterator[Finding]:
    """Each picture and state patch is there, under its hash, and none is there that no line names."""
    named: set[str] = set()
    for line, reference in _references(header, steps):
        if reference.path not in named:
            yield from _check_reference(root, line, reference)
        named.add(reference.path)
    for folder in ("images", "states"):
        for name in list_plain(root, folder):
            if name not in named and not name.endswith(".tmp"):
                yield Finding(code="unlisted", file=name, message="no line of the trajectory names this file")


def _references(
    header: Header | None, steps: Sequence[tuple[int, Step]]
) -> Iterator[tuple[int, ImagePart | FileReference]]:
    for prompt in header.prompts if header else []:
        for image in prompt.images:
            yield 1, image
    for line, step in steps:
        for message in step.observations:
            for image in message.images:
                yield line, image
        for execution in step.executions:
            if execution.state_patch:
                yield line, execution.state_patch


def _check_reference(root: Path, line: int, reference: ImagePart | FileReference) -> Iterator[Finding]:
    name = next((match for pattern in _NAMES if (match := pattern.fullmatch(reference.path))), None)
    if name is None or name[1] != reference.sha256:
        why = f"'{reference.path}' is not the name of a file with the hash {reference.sha256[:12]}…"
        yield Finding(code="reference", file="trajectory.jsonl", line=line, message=why)
        return
    try:
        digest, size = hash_plain(root, reference.path)
    except NotPlain as error:
        yield Finding(code="missing", file="trajectory.jsonl", line=line, message=str(error))
        return
    if digest != reference.sha256 or size != reference.n_bytes:
        why = f"not what line {line} refers to: its SHA-256 is {digest[:12]}…, {size} bytes"
        yield Finding(code="hash", file=reference.path, message=why)


def check_pinned_task(root: Path, header: Header) -> Iterator[Finding]:
    """The task's files are those that the header's hash names."""
    file = "task/task.json"
    try:
        raw: Any = json.loads(read_plain(root, file))
        read_document(root / file, PinnedTask)
        brief = read_plain(root, "task/brief.md").decode("utf-8")
        hashes = {key: hash_plain(root, f"task/{name}")[0] for key in PINNED_FILES if (name := raw.get(key))}
    except (NotPlain, ValueError, AttributeError, CorruptEpisode) as error:
        why = error.why if isinstance(error, CorruptEpisode) else str(error)
        yield Finding(code="task", file=file, message=f"the pinned task cannot be read: {why}")
        return
    # of what is written there, not of a model: that may know more keys
    hashed = {"start_file": None} | {key: value for key, value in raw.items() if key != "sha256"} | hashes
    found = hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()
    if found != header.task_sha256:
        why = f"not the task that was worked on: hash {found[:12]}…, recorded {header.task_sha256[:12]}…"
        yield Finding(code="task", file=file, message=why)
    if brief != f"{raw.get('brief')}\n":
        yield Finding(code="task", file="task/brief.md", message="not the brief of task.json")


def check_script(root: Path, header: Header, steps: Sequence[tuple[int, Step]], end: End | None) -> Iterator[Finding]:
    """The final script of a scene is what its good steps make, byte for byte."""
    if header.task_kind != "scene" or not (root / "final_script.py").exists():
        return
    try:
        found = read_plain(root, "final_script.py").decode("utf-8")
        task = read_document(root / "task/task.json", PinnedTask)
        start = StepStart(kind="file", file=task.start_file) if task.start_file else StepStart(kind=task.start)  # type: ignore[arg-type]
    except (NotPlain, ValueError, CorruptEpisode) as error:
        yield Finding(code="script", file="final_script.py", message=f"cannot be compared with the steps: {error}")
        return
    good = good_steps([step for _, step in steps])
    expected = final_script(start, good)
    if found == expected or (end and sum(end.redactions.values()) and _matches_redacted(expected, found)):
        return
    line = next(
        (n for n, (a, b) in enumerate(zip(found.splitlines(), expected.splitlines(), strict=False), 1) if a != b),
        min(len(found.splitlines()), len(expected.splitlines())) + 1,
    )
    why = f"not the {len(good)} steps that took effect, concatenated: it differs from here on"
    yield Finding(code="script", file="final_script.py", line=line, message=why)


def good_steps(steps: Sequence[Step]) -> list[tuple[int, str]]:
    """(number, code) of what took effect, in order, without the steps that were lost again later."""
    good: dict[int, str] = {}
    for step in steps:
        for action, execution in zip(step.actions, step.executions, strict=False):
            facts = execution.blender or {}
            lost, number, code = facts.get("steps_lost"), facts.get("number"), action.arguments.get("code")
            for one in lost if isinstance(lost, list) else ():
                good.pop(one, None)
            if facts.get("outcome") == "ok" and isinstance(code, str) and isinstance(number, int):
                good[number] = code
    return list(good.items())


def _matches_redacted(expected: str, found: str) -> bool:
    """Whether the script is what the record holds but for what was taken out of the record."""
    pattern = _REMOVED.sub(r"[^\\n]*?", re.escape(expected))
    return re.fullmatch(pattern, found) is not None
