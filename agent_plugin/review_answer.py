"""Reads a judge's answer: text from anywhere, in which one JSON object is looked for and then held to its form. Pure.

Tolerant in what stands around the object (prose, a fence, `<think>…</think>`), strict in the object itself. Whatever
is not as it was asked for leaves the answer, or the criterion, unscored with the reason; nothing is guessed, and
nothing counts as a fail.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, ValidationError

from harness.plain_text import one_line, plain
from recorder.rubric_review import CriterionVerdict, Judgement

MAX_TEXT = 200_000
"""Characters of a reply that are looked at; a longer one is no review."""
MAX_ENTRIES = 1_000
_BRACES_IN_PROSE = re.compile(r"""\{[^{}"']*\}""")
"""They hold no object."""
_MAX_SHOWN = 80


@dataclass(frozen=True)
class ReadAnswer:
    """What an answer says."""

    fault: str = ""
    """Why nothing of it is scored."""
    verdicts: list[CriterionVerdict] = field(default_factory=list)
    """In the order of the rubric."""
    unscored: dict[str, str] = field(default_factory=dict)
    """Criterion -> why it has no verdict."""
    unknown_ids: list[str] = field(default_factory=list)


def _plain(value: Any) -> Any:
    """JSON can spell what no text file can hold."""
    return plain(value) if isinstance(value, str) else value


class _Entry(BaseModel):
    """One member of the list; unknown keys are refused, as one could say the opposite."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str
    reason: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1), BeforeValidator(_plain)]
    verdict: Judgement


class _Form(BaseModel):
    """The object."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    criteria: Annotated[list[Any], Field(max_length=MAX_ENTRIES)]


class _Unreadable(Exception):
    """Nothing of the answer can be scored; the text says why."""


def read_answer(text: str, criteria: Sequence[str]) -> ReadAnswer:
    """What `text` says of the criteria with these ids."""
    try:
        entries = _entries(_said(text))
    except _Unreadable as why:
        return ReadAnswer(fault=str(why))
    except RecursionError:
        return ReadAnswer(fault="an object of the reply is nested too deep")
    ids = [_id_of(entry) for entry in entries]
    verdicts, unscored = [], {}
    for criterion in criteria:
        own = [entry for entry, id in zip(entries, ids, strict=True) if id == criterion]
        try:
            verdicts.append(_verdict(criterion, own))
        except _Unreadable as why:
            unscored[criterion] = str(why)
    unknown = dict.fromkeys(_short(id) for id in ids if id and id not in criteria)
    return ReadAnswer("", verdicts, unscored, list(unknown))


def _said(text: str) -> str:
    """Without the reasoning that some servers leave in the text: drafts stand in it."""
    if len(text) > MAX_TEXT:
        raise _Unreadable(f"the reply is too long for a review: {len(text)} characters, of {MAX_TEXT} at most")
    _, _, said = text.rpartition("</think>")
    if not said.strip() or said.lstrip().startswith("<think>"):
        raise _Unreadable("the reply holds reasoning alone" if text.strip() else "the reply holds no text")
    return said


def _entries(text: str) -> list[Any]:
    """The list in the one object of the text that has the key `criteria`."""
    named = [one for one in _objects(text) if "criteria" in one.value]
    if not named:
        raise _Unreadable("the reply holds no JSON object with the key 'criteria'")
    if any(one.value != named[0].value for one in named):
        raise _Unreadable(f"the reply holds {len(named)} objects with the key 'criteria', and they differ")
    if named[0].doubled:
        raise _Unreadable(f"a key stands twice in an object of the reply: '{_short(named[0].doubled)}'")
    try:
        return _Form.model_validate(named[0].value).criteria
    except ValidationError as error:
        raise _Unreadable(f"the object has not the form that was asked for: {_told(error)}") from error


@dataclass(frozen=True)
class _Object:
    value: dict[str, Any]
    doubled: str
    """A key that stands twice in it, or in an object within."""


def _objects(text: str) -> Iterator[_Object]:
    """Every JSON object of the text that does not lie in another one.

    One that cannot be read spoils the answer: what stands inside it could be taken for the answer, such as words of a
    picture that the judge repeats in a reason without escaping their quotes.
    """
    position = text.find("{")
    while position >= 0:
        if prose := _BRACES_IN_PROSE.match(text, position):
            end = prose.end()
        else:
            doubled: list[str] = []
            value, end = _decoded(text, position, doubled)
            yield _Object(value, next(iter(doubled), ""))
        position = text.find("{", end)


def _decoded(text: str, position: int, doubled: list[str]) -> tuple[dict[str, Any], int]:
    """(the object that begins there, where it ends); `doubled` gets the keys that stand twice in it."""
    try:
        return json.JSONDecoder(object_pairs_hook=_noting(doubled)).raw_decode(text, position)
    except ValueError as error:
        told = error.msg if isinstance(error, json.JSONDecodeError) else "a number in it is too long"
        raise _Unreadable(f"an object of the reply is not valid JSON: {told}") from error


def _noting(doubled: list[str]) -> Any:
    """Makes a dict of JSON's pairs, as usual, and notes a key that hides another one."""

    def made(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        counts = Counter(key for key, _ in pairs)
        doubled.extend(key for key, count in counts.items() if count > 1)
        return dict(pairs)

    return made


def _id_of(entry: Any) -> str:
    """'' where it has none."""
    id = entry.get("id") if isinstance(entry, dict) else None
    return id if isinstance(id, str) else ""


def _verdict(criterion: str, own: list[Any]) -> CriterionVerdict:
    if not own:
        raise _Unreadable("the answer does not hold it")
    if len(own) > 1:
        raise _Unreadable(f"the answer holds it {len(own)} times")
    try:
        entry = _Entry.model_validate(own[0])
    except ValidationError as error:
        raise _Unreadable(_told(error)) from error
    return CriterionVerdict(id=criterion, reason=entry.reason, verdict=entry.verdict)


def _told(error: ValidationError) -> str:
    """pydantic's first complaint on one line, with the value where it is short."""
    first = error.errors()[0]
    place = ".".join(_short(str(part)) for part in first["loc"])
    value = first["input"]
    shown = f" (it is {_short(repr(value))})" if isinstance(value, str | int | float | None) else ""
    return f"{place}: {first['msg']}{shown}"


def _short(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= _MAX_SHOWN else f"{text[: _MAX_SHOWN - 3]}..."
