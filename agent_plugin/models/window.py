"""Which pictures of a long history are still sent. Decides from the history alone, so a reader can decide it again.

The history is never edited. A picture that is not sent leaves a line in its place; its caption and the result's text
stay. What was decided for a history's beginning holds until a whole chunk is taken out: prompt caches live on that.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

NO_LONGER_SHOWN = "[this frame is no longer shown]\n"

Message = dict[str, Any]
_Frame = tuple[int, int]  # position of the message, position of the part


@dataclass(frozen=True)
class ImageWindow:
    """What a request may hold."""

    keep: int = 0
    """Results whose pictures stay. 0: all."""
    slack: int = 1
    """Results that are taken out at once: up to `keep + slack - 1` are sent."""
    max_images: int | None = None
    max_images_per_message: int | None = None


def apply_window(messages: Sequence[Message], window: ImageWindow) -> list[Message]:
    """The messages, with a line in place of each picture that is outside of the window."""
    shown = _shown(messages, window)
    return [_without(message, number, shown) for number, message in enumerate(messages)]


def _shown(messages: Sequence[Message], window: ImageWindow) -> set[_Frame]:
    """The pictures that are sent. Goes through the history turn by turn, as it grew."""
    kept: list[list[_Frame]] = []
    for turn in _turns(messages):
        new = [frames for number in turn if (frames := _frames(messages[number], number))]
        if window.max_images_per_message:  # several routes put a turn's results into one message
            new = _fit(new, window.max_images_per_message)
        kept += new
        is_full = bool(window.keep) and len(kept) >= window.keep + window.slack
        is_over = window.max_images is not None and _count(kept) > window.max_images
        if new and (is_full or is_over) and window.keep:
            kept = kept[-max(window.keep, len(new)) :]
        if window.max_images is not None:
            kept = _fit(kept, window.max_images)
    return {frame for frames in kept for frame in frames}


def _turns(messages: Sequence[Message]) -> list[list[int]]:
    """The runs of messages between two replies; the prompts before the first one count as a turn."""
    turns: list[list[int]] = [[]]
    for number, message in enumerate(messages):
        if message.get("role") == "assistant":
            turns.append([])
        else:
            turns[-1].append(number)
    return turns


def _frames(message: Message, number: int) -> list[_Frame]:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    return [(number, position) for position, part in enumerate(parts) if part["type"] == "image_url"]


def _fit(results: list[list[_Frame]], limit: int) -> list[list[_Frame]]:
    """The newest results that fit; where the newest alone does not, frames spread evenly over it."""
    while len(results) > 1 and _count(results) > limit:
        results = results[1:]
    if results and len(results[0]) > limit:
        return [_spread(results[0], limit), *results[1:]]
    return results


def _spread(frames: list[_Frame], n: int) -> list[_Frame]:
    """`n` of the frames, evenly, the last one among them."""
    return [frames[len(frames) - 1 - (k * len(frames)) // n] for k in range(n)][::-1]


def _count(results: list[list[_Frame]]) -> int:
    return sum(len(frames) for frames in results)


def _without(message: Message, number: int, shown: set[_Frame]) -> Message:
    frames = _frames(message, number)
    if all(frame in shown for frame in frames):
        return message
    gone = {position for frame in frames if frame not in shown for position in (frame[1],)}
    stub = {"type": "text", "text": NO_LONGER_SHOWN}
    return message | {"content": [stub if i in gone else part for i, part in enumerate(message["content"])]}
