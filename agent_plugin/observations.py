"""Makes the messages that answer tool calls, and puts pictures where the provider's route can take them.

The history keeps each picture behind its caption in the tool message that it belongs to. Only the request is
rearranged (`place_images`), never the history.
"""

import base64
from collections.abc import Sequence
from typing import Any, Literal

from harness.execution import ExecutionResult
from harness.report import caption, report_text
from harness.step_report import step_text, view_caption
from harness.step_result import StepResult

ImagePlacement = Literal["auto", "native", "followup", "drop"]

DROPPED = "[this frame cannot be shown on this model's route]\n"


def content_of(output: dict[str, Any]) -> list[dict[str, Any]]:
    """What a model sees of an action's output, whichever kind it is."""
    if output.get("error"):
        return error_content(output["error"])
    if output.get("blender") is not None:
        return blender_content(output["blender"])
    if output.get("step") is not None:
        return step_content(output["step"])
    return bash_content(output.get("output", ""), output.get("returncode"), output.get("exception_info", ""))


def blender_content(result: ExecutionResult) -> list[dict[str, Any]]:
    """The observation of a run: the report, then each frame after its caption. No tags, so none to forge."""
    parts = [_text(report_text(result))]
    for frame in result.preview_frames:
        parts += [_text(f"{caption(frame)}\n"), _picture(frame.jpeg)]
    return parts


def step_content(result: StepResult) -> list[dict[str, Any]]:
    """The observation of a step: its report, then each view after its caption."""
    parts = [_text(step_text(result))]
    for number, view in enumerate(result.views, start=1):
        parts += [_text(f"{view_caption(number, view)}\n"), _picture(view.jpeg)]
    return parts


def bash_content(output: str, returncode: int | None, exception: str) -> list[dict[str, Any]]:
    """The observation of a bash command."""
    note = f"<exception>{exception}</exception>\n" if exception else ""
    return [_text(f"{note}<returncode>{returncode}</returncode>\n<output>\n{output}</output>\n")]


def error_content(error: str) -> list[dict[str, Any]]:
    """The observation of a call that was not run."""
    return [_text(f"<error>{error}</error>\n")]


def place_images(messages: Sequence[dict[str, Any]], placement: ImagePlacement) -> list[dict[str, Any]]:
    """The messages as they are sent.

    `followup`: after each run of tool messages one user message holds their frames, caption before picture, because
    most routes refuse or lose pictures in a tool message. Captions are numbered there: some routes send a message's
    pictures as a list beside its text. `drop`: a line says that there was a picture.
    """
    if placement == "native":
        return list(messages)
    if placement == "drop":
        return [_with_content(m, [_dropped(p) for p in m["content"]]) if _has_images(m) else m for m in messages]
    placed: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    for message in messages:
        if message.get("role") != "tool" and waiting:
            placed.append({"role": "user", "content": _numbered(waiting)})
            waiting = []
        if message.get("role") == "tool" and _has_images(message):
            text, frames = _split(message["content"])
            n = sum(part["type"] == "image_url" for part in frames)
            name = f"result {_tool_number(placed)}"
            text.append(_text(f"The frames of this run ({n}) follow in the next message, under '{name}'.\n"))
            waiting += [_text(f"Frames of {name}:\n"), *frames]
            message = _with_content(message, text)
        placed.append(message)
    if waiting:
        placed.append({"role": "user", "content": _numbered(waiting)})
    return placed


def count_images(messages: Sequence[dict[str, Any]]) -> int:
    """Pictures in these messages."""
    return sum(
        part["type"] == "image_url" for m in messages if isinstance(m.get("content"), list) for part in m["content"]
    )


def _split(parts: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """(text before the first caption, captions and pictures): a picture's caption is the part before it."""
    first = next(i for i, part in enumerate(parts) if part["type"] == "image_url")
    return parts[: max(0, first - 1)], parts[max(0, first - 1) :]


def _numbered(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts, with 'Image k of n:' before each picture's caption."""
    numbered = list(parts)
    pictures = [position for position, part in enumerate(parts) if part["type"] == "image_url"]
    for number, position in enumerate(pictures, start=1):
        caption_part = parts[position - 1]
        text = f"Image {number} of {len(pictures)}: {caption_part['text']}"
        numbered[position - 1] = caption_part | {"text": text}
    return numbered


def _tool_number(placed: Sequence[dict[str, Any]]) -> int:
    """Which tool message this is, counted from 1 (a tool_call_id may hold signatures and does not belong into text)."""
    return len([message for message in placed if message.get("role") == "tool"]) + 1


def _has_images(message: dict[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(part["type"] == "image_url" for part in content)


def _with_content(message: dict[str, Any], content: list[dict[str, Any]]) -> dict[str, Any]:
    return message | {"content": content}


def _dropped(part: dict[str, Any]) -> dict[str, Any]:
    return _text(DROPPED) if part["type"] == "image_url" else part


def _text(text: str) -> dict[str, Any]:
    # every part ends in a newline: some routes join parts without one; file names can hold what UTF-8 cannot
    return {"type": "text", "text": text.encode(errors="replace").decode()}


def _picture(jpeg: bytes) -> dict[str, Any]:
    picture = base64.b64encode(jpeg).decode()
    return {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{picture}"}}
