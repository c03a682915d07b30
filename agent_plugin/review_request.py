"""What a judge is sent: the criteria, the harness's pictures, each after its caption, and what the harness noted of
them. Nothing else of an episode.

Which pictures, where a request cannot hold all: of each kind in turn, the kinds that tell most first, spread over the
kind. They are sent in the order of `renders.json`. Everything is in one user message, which takes pictures on every
route, and captions are numbered, since some routes send a message's pictures as a list beside its text.
"""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, StrictUndefined

from agent_plugin.models.request import RequestPolicy
from agent_plugin.models.window import apply_window
from agent_plugin.places import read_prompt
from harness.plain_text import plain
from recorder.rubric import Rubric
from recorder.rubric_review import PICTURES, ReviewedRender, SentImage

PROMPT = "review"
MAX_LABEL = 120
"""Characters of a label that a judge reads."""
MAX_NOTE, MAX_NOTES = 240, 20
"""Characters of a note that a judge reads, and how many notes."""
_QUOTES = str.maketrans({'"': "'", "“": "'", "”": "'", "`": "'", "<": "(", ">": ")", "{": "(", "}": ")"})
_MEDIA_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"))


@dataclass(frozen=True)
class Picture:
    """A render with its bytes."""

    render: ReviewedRender
    content: bytes


def prompt_sha256() -> str:
    """Of the template that every question is made from."""
    return hashlib.sha256(read_prompt(PROMPT).encode()).hexdigest()


def media_type(content: bytes) -> str:
    """Of a picture that every provider takes, by its first bytes; '' for any other file."""
    return next((name for head, name in _MEDIA_TYPES if content.startswith(head)), "")


def image_limit(policy: RequestPolicy) -> int | None:
    """Pictures that one request may hold; all are in one message. None: no limit is known."""
    limits = [policy.window.max_images, policy.window.max_images_per_message]
    return min((limit for limit in limits if limit is not None), default=None)


def chosen(renders: Sequence[ReviewedRender], limit: int | None) -> list[ReviewedRender]:
    """The renders that are sent, in their order."""
    if limit is None or len(renders) <= limit:
        return list(renders)
    of_kind = {kind: [n for n, render in enumerate(renders) if render.kind == kind] for kind in PICTURES}
    share = dict.fromkeys(PICTURES, 0)
    while sum(share.values()) < limit:
        for kind in PICTURES:
            if share[kind] < len(of_kind[kind]) and sum(share.values()) < limit:
                share[kind] += 1
    kept = {n for kind in PICTURES for n in _spread(of_kind[kind], share[kind])}
    return [render for n, render in enumerate(renders) if n in kept]


def caption(number: int, n_pictures: int, render: ReviewedRender) -> str:
    """One line before a picture. Its label may hold an object's name, which the scene's maker chose."""
    moment = f", frame {render.frame} of the animation" if render.kind == "frame" and render.frame is not None else ""
    return f'Picture {number} of {n_pictures} ({render.kind}{moment}): "{label_text(render.label)}"\n'


def label_text(label: str, most: int = MAX_LABEL) -> str:
    """A label on one line, without what could end its quotes, be seen by a model alone, or fill the prompt."""
    visible = "".join(character if character.isprintable() else " " for character in plain(label))
    line = " ".join(visible.translate(_QUOTES).split())
    return line if len(line) <= most else f"{line[: most - 3].rstrip()}..."


def note_texts(notes: Sequence[str]) -> list[str]:
    """The harness's notes, each as harmless as a label: they name objects too. The first of them, and how many more."""
    more = [f"and {n} more notes"] if (n := len(notes) - MAX_NOTES) > 0 else []
    return [f'"{label_text(note, MAX_NOTE)}"' for note in notes[:MAX_NOTES]] + more


def messages_for(
    rubric: Rubric, pictures: Sequence[Picture], engine: str, notes: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The question, as mini-swe-agent's messages; `notes` are those of `renders.json`."""
    texts = _texts(rubric, engine, note_texts(notes))
    parts = [_text(texts["before"])]
    for number, picture in enumerate(pictures, start=1):
        parts += [_text(caption(number, len(pictures), picture.render)), _image(picture.content)]
    parts.append(_text(texts["after"]))
    return [{"role": "system", "content": texts["system"]}, {"role": "user", "content": parts}]


def images_sent(
    messages: Sequence[dict[str, Any]], pictures: Sequence[Picture], policy: RequestPolicy
) -> list[SentImage]:
    """Which of the pictures of a question were in the request that was made of it, under the policy it had."""
    asked, shown = (list(_images(found)) for found in (messages, apply_window(messages, policy.window)))
    return [
        SentImage(file=picture.render.file, sha256=picture.render.sha256)
        for picture, place in zip(pictures, asked, strict=True)
        if place in shown
    ]


def _images(messages: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
    """Where pictures are: (message, part)."""
    return [
        (number, position)
        for number, message in enumerate(messages)
        if isinstance(message["content"], list)
        for position, part in enumerate(message["content"])
        if part["type"] == "image_url"
    ]


def _texts(rubric: Rubric, engine: str, notes: Sequence[str]) -> dict[str, str]:
    """The blocks of the template, filled in."""
    environment = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string(read_prompt(PROMPT))
    context = {"criteria": rubric.criteria, "engine": engine, "notes": notes}
    return {
        name: "".join(block(template.new_context(context))).strip() + "\n" for name, block in template.blocks.items()
    }


def _spread(numbers: Sequence[int], n: int) -> list[int]:
    """`n` of them, evenly, the first one among them."""
    return [numbers[k * len(numbers) // n] for k in range(n)]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _image(content: bytes) -> dict[str, Any]:
    data = base64.b64encode(content).decode()
    return {"type": "image_url", "image_url": {"url": f"data:{media_type(content)};base64,{data}"}}
