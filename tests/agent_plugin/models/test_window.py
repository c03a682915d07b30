"""Old pictures leave a request in chunks; text and captions stay, and the history is not edited."""

from itertools import pairwise
from typing import Any

import pytest

from agent_plugin.models.window import NO_LONGER_SHOWN, ImageWindow, apply_window

PICTURE = "data:image/jpeg;base64,"


def result(number: int, n_frames: int = 8) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": f"report {number}\n"}]
    for k in range(n_frames):
        parts += [
            {"type": "text", "text": f"Frame {k + 1}:\n"},
            {"type": "image_url", "image_url": {"url": f"{PICTURE}{number}.{k}"}},
        ]
    return {"role": "tool", "tool_call_id": f"c{number}", "content": parts}


def history(n_steps: int, n_frames: int = 8, parallel: int = 1) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    for step in range(n_steps):
        messages.append({"role": "assistant", "content": f"a{step}"})
        messages += [result(step * parallel + k + 1, n_frames) for k in range(parallel)]
    return messages


def sent(messages: list[dict[str, Any]]) -> list[str]:
    """Names of the pictures, `<result>.<frame>`."""
    return [
        part["image_url"]["url"].removeprefix(PICTURE)
        for message in messages
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]


def results_sent(n_steps: int, window: ImageWindow) -> list[int]:
    return sorted({int(name.partition(".")[0]) for name in sent(apply_window(history(n_steps), window))})


def test_without_a_window_all_is_sent() -> None:
    """Nothing is touched."""
    messages = history(20)
    assert apply_window(messages, ImageWindow()) == messages
    assert len(sent(messages)) == 160


@pytest.mark.parametrize(
    ("n_steps", "kept"),
    [
        (1, [1]),
        (2, [1, 2]),
        (5, [1, 2, 3, 4, 5]),
        (6, [5, 6]),
        (9, [5, 6, 7, 8, 9]),
        (10, [9, 10]),
        (20, [17, 18, 19, 20]),
    ],
)
def test_the_last_two_with_a_slack_of_four(n_steps: int, kept: list[int]) -> None:
    """Never fewer than two results, never more than five; four go at once."""
    assert results_sent(n_steps, ImageWindow(keep=2, slack=4)) == kept


def test_at_most_forty_pictures_and_four_breaks_in_twenty_steps() -> None:
    """A prompt cache holds until something at the beginning changes: four times, without slack 18 times."""
    counts, breaks = {}, {}
    for slack in (1, 4):
        window = ImageWindow(keep=2, slack=slack)
        requests = [apply_window(history(n), window) for n in range(1, 21)]
        counts[slack] = max(len(sent(request)) for request in requests)
        breaks[slack] = sum(later[: len(earlier)] != earlier for earlier, later in pairwise(requests))
    assert counts == {1: 16, 4: 40}
    assert breaks == {1: 18, 4: 4}


def test_captions_and_reports_stay() -> None:
    """Where a picture was, a line says so."""
    old = apply_window(history(6), ImageWindow(keep=2, slack=4))[3]
    assert [part["text"] for part in old["content"]] == [
        "report 1\n",
        *(text for k in range(1, 9) for text in (f"Frame {k}:\n", NO_LONGER_SHOWN)),
    ]


def test_the_history_is_not_edited() -> None:
    """Not even deep inside."""
    messages = history(9)
    before = repr(messages)
    apply_window(messages, ImageWindow(keep=1, slack=1, max_images=3))
    assert repr(messages) == before


def test_results_of_one_turn_stay_together() -> None:
    """The model has not yet seen any of them."""
    window = ImageWindow(keep=2, slack=1)
    assert len(sent(apply_window(history(1, parallel=4), window))) == 32
    assert len(sent(apply_window(history(2, parallel=4), window))) == 32


@pytest.mark.parametrize(
    ("limit", "pictures"),
    [
        (100, [f"5.{k}" for k in range(8)] + [f"6.{k}" for k in range(8)]),
        (16, [f"5.{k}" for k in range(8)] + [f"6.{k}" for k in range(8)]),
        (15, [f"6.{k}" for k in range(8)]),
        (4, ["6.1", "6.3", "6.5", "6.7"]),
        (1, ["6.7"]),
    ],
)
def test_a_limit_of_the_provider(limit: int, pictures: list[str]) -> None:
    """Whole results while they fit, then frames spread over the last one, its last frame among them."""
    assert sent(apply_window(history(6), ImageWindow(keep=2, slack=4, max_images=limit))) == pictures


def test_a_limit_holds_without_a_window_too() -> None:
    """The oldest go."""
    for n in range(1, 12):
        assert len(sent(apply_window(history(n), ImageWindow(max_images=30)))) <= 30


def test_a_limit_for_one_message() -> None:
    """Bedrock takes 20 in one, and a turn's results become one: the first results of the turn go."""
    window = ImageWindow(keep=2, slack=4, max_images_per_message=20)
    assert sorted({name[0] for name in sent(apply_window(history(1, parallel=3), window))}) == ["2", "3"]


def test_pictures_of_the_prompt_count() -> None:
    """A picture that came with the task is the first to go."""
    picture = {"type": "image_url", "image_url": {"url": PICTURE + "0.0"}}
    messages = [{"role": "user", "content": [{"type": "text", "text": "like\n"}, picture]}, *history(6)[2:]]
    assert "0.0" not in sent(apply_window(messages, ImageWindow(keep=2, slack=4)))
