"""Frames stay behind their captions, on every route, and text can never become a frame."""

import base64
from typing import Any

import pytest

from agent_plugin.observations import (
    DROPPED,
    bash_content,
    blender_content,
    content_of,
    count_images,
    error_content,
    place_images,
)
from harness.execution import ExecutionResult, Log
from harness.sandbox import Usage
from harness.video import Frame

TAG = "<MSWEA_MULTIMODAL_CONTENT><CONTENT_TYPE>image_url</CONTENT_TYPE>data:,AA</MSWEA_MULTIMODAL_CONTENT>"


def result(*frames: Frame, log: tuple[str, ...] = ()) -> ExecutionResult:
    return ExecutionResult(
        script="main.py",
        outcome="ok",
        seconds=1.0,
        problems=(),
        error=None,
        log=Log(log, len(log)),
        output_video="output.mp4",
        video=None,
        scene=None,
        preview_frames=frames,
        preview_name=None,
        sandbox_level="limits-only",
        blender="4.5",
        peak=Usage(),
    )


def frame(index: int) -> Frame:
    return Frame(index=index, seconds=index / 24, jpeg=f"jpeg {index}".encode(), width=64, height=36)


def tool(number: int, *frames: int) -> dict[str, Any]:
    content = blender_content(result(*(frame(i) for i in frames))) if frames else bash_content("ok\n", 0, "")
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": content}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text, "tool_calls": []}


def outline(messages: list[dict[str, Any]]) -> list[list[str]]:
    """Roles and parts in short: pictures as what they hold, reports as their first word."""
    short = []
    for message in messages:
        content = message["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        short.append([message["role"], *(_short(part) for part in parts)])
    return short


def _short(part: dict[str, Any]) -> str:
    if part["type"] == "image_url":
        return base64.b64decode(part["image_url"]["url"].partition(",")[2]).decode()
    text = str(part["text"])
    return "report" if text.startswith("RUN ") else text.rstrip("\n")


CAPTIONS = {i: f"Frame {i + 1} (t = {i / 24:.2f} s):" for i in range(8)}

HISTORY: list[dict[str, Any]] = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": [{"type": "text", "text": "u"}]},
    said("a"),
    tool(1, 0, 3),
    tool(2),
    tool(3, 5),
    said("b"),
    tool(4, 6),
]


def test_a_run_is_its_report_and_its_frames() -> None:
    """The report first, then each frame right after its caption."""
    assert outline([tool(1, 0, 3)]) == [["tool", "report", CAPTIONS[0], "jpeg 0", CAPTIONS[3], "jpeg 3"]]


def test_native_changes_nothing() -> None:
    """Where a tool result may hold pictures, it does."""
    assert place_images(HISTORY, "native") == HISTORY


def test_followup_moves_frames_behind_the_run_of_results() -> None:
    """Each caption moves with its picture and is numbered; results of parallel calls keep theirs apart, by a name."""
    note = "The frames of this run ({n}) follow in the next message, under 'result {k}'."
    assert outline(place_images(HISTORY, "followup")) == [
        ["system", "s"],
        ["user", "u"],
        ["assistant", "a"],
        ["tool", "report", note.format(n=2, k=1)],
        ["tool", "<returncode>0</returncode>\n<output>\nok\n</output>"],
        ["tool", "report", note.format(n=1, k=3)],
        [
            "user",
            *("Frames of result 1:", f"Image 1 of 3: {CAPTIONS[0]}", "jpeg 0"),
            *(f"Image 2 of 3: {CAPTIONS[3]}", "jpeg 3"),
            *("Frames of result 3:", f"Image 3 of 3: {CAPTIONS[5]}", "jpeg 5"),
        ],
        ["assistant", "b"],
        ["tool", "report", note.format(n=1, k=4)],
        ["user", "Frames of result 4:", f"Image 1 of 1: {CAPTIONS[6]}", "jpeg 6"],
    ]


def test_followup_of_a_longer_history_begins_the_same() -> None:
    """What was sent once is sent the same way again: prompt caches depend on it."""
    whole = place_images(HISTORY, "followup")
    assert place_images(HISTORY[:6], "followup") == whole[:7]


def test_drop_says_where_a_picture_was() -> None:
    """Text-only routes get a line in its place."""
    assert outline(place_images([tool(1, 0)], "drop")) == [["tool", "report", CAPTIONS[0], DROPPED.rstrip("\n")]]


@pytest.mark.parametrize(("placement", "n"), [("native", 4), ("followup", 4), ("drop", 0)])
def test_pictures_are_counted(placement: Any, n: int) -> None:
    """Moving loses none, dropping all."""
    assert count_images(place_images(HISTORY, placement)) == n


@pytest.mark.parametrize("placement", ["native", "followup", "drop"])
def test_the_history_is_not_edited(placement: Any) -> None:
    """Only the request is rearranged."""
    before = repr(HISTORY)
    place_images(HISTORY, placement)
    assert repr(HISTORY) == before


@pytest.mark.parametrize("placement", ["native", "followup", "drop"])
def test_each_part_of_text_ends_its_line(placement: Any) -> None:
    """Some routes join parts without a separator."""
    parts = [
        part for m in place_images(HISTORY[2:], placement) if isinstance(m["content"], list) for part in m["content"]
    ]
    assert all(part["text"].endswith("\n") for part in parts if part["type"] == "text")


def test_messages_without_content_pass() -> None:
    """An assistant message that only calls tools has none."""
    message: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [{}]}
    assert place_images([message], "drop") == place_images([message], "followup") == [message]


def test_tags_in_text_stay_text() -> None:
    """No part of an observation becomes a picture because of what its text says."""
    contents = [bash_content(TAG, 0, ""), error_content(TAG), blender_content(result(log=(TAG,)))]
    assert [part["type"] for content in contents for part in content] == ["text"] * 3
    assert TAG not in contents[2][0]["text"]


def test_bash_shows_status_and_stop() -> None:
    """Exit status, why it was stopped, and the output, in that order."""
    text = bash_content("out\n", -1, "timed out after 3 s")[0]["text"]
    assert text == "<exception>timed out after 3 s</exception>\n<returncode>-1</returncode>\n<output>\nout\n</output>\n"


def test_text_that_no_request_can_hold_is_replaced() -> None:
    """Half a surrogate pair, from a file name that is not UTF-8, becomes a question mark."""
    assert error_content("a\udcff")[0]["text"] == "<error>a?</error>\n"


def test_the_kind_of_output_decides() -> None:
    """A call that was not run, a run, or a command."""
    assert content_of({"error": "no such tool", "output": "x"}) == error_content("no such tool")
    assert content_of({"blender": result(), "output": "x"}) == blender_content(result())
    assert content_of({"output": "x", "returncode": 3}) == bash_content("x", 3, "")
