"""A request is a pure function of history and policy, and the policy is in the record."""

from typing import Any, get_args

import pytest

from agent_plugin.models.cache_marks import CacheMarks, mark_for_cache
from agent_plugin.models.history import without_reasoning
from agent_plugin.models.pictures import count_pictures
from agent_plugin.models.request import (
    Dialect,
    RequestPolicy,
    digest,
    policy_facts,
    recorded_policy,
    request_messages,
)
from agent_plugin.models.window import ImageWindow
from agent_plugin.tools import tools_for
from recorder.records import Request

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AAAA"}}
MARK = {"cache_control": {"type": "ephemeral"}}


def call(number: int) -> dict[str, Any]:
    return {"id": f"c{number}", "type": "function", "function": {"name": "bash", "arguments": "{"}}


def history(n_steps: int = 7) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "u", "extra": {}}]
    for n in range(n_steps):
        caption = {"type": "text", "text": f"Frame {n}:\n"}
        messages += [
            {"role": "assistant", "content": "a", "reasoning_content": "r", "tool_calls": [call(n)], "extra": {"x": 1}},
            {"role": "tool", "tool_call_id": f"c{n}", "content": [caption, PICTURE], "extra": {}},
        ]
    return messages


POLICIES = [
    RequestPolicy(dialect, placement, ImageWindow(2, 4, 3, 2), marks, keeps, tuple(tools_for("scene")))
    for dialect in get_args(Dialect)
    for placement in ("native", "followup", "drop")
    for marks in get_args(CacheMarks)
    for keeps in (True, False)
]


@pytest.mark.parametrize(
    "policy", POLICIES, ids=lambda p: f"{p.dialect}-{p.placement}-{p.cache_marks}-{p.keeps_reasoning}"
)
def test_the_record_makes_the_same_request(policy: RequestPolicy) -> None:
    """Policy -> record -> policy -> request: the same digest, and the history is as before."""
    messages = history()
    before = repr(messages)
    sent = request_messages(messages, policy)
    facts: dict[str, Any] = {
        "model": "m",
        "n_messages": 1,
        "n_images": 0,
        "n_images_in_history": 0,
        "sha256": digest(sent),
    }
    record = Request.model_validate_json(Request(**facts, **policy_facts(policy)).model_dump_json())
    assert digest(request_messages(messages, recorded_policy(record, policy.tools))) == record.sha256
    assert repr(messages) == before


def test_an_older_record_cannot_be_made_again() -> None:
    """It says so instead of giving something else."""
    old = Request(model="m", n_messages=1, n_images=0, n_images_in_history=0, image_placement="native", sha256="x")
    with pytest.raises(ValueError, match="older version"):
        recorded_policy(old, [])


def test_reasoning_is_left_out_for_strict_services() -> None:
    """Nothing else is."""
    sent = request_messages(history(1), RequestPolicy(keeps_reasoning=False))
    assert sent == without_reasoning(request_messages(history(1), RequestPolicy()))
    assert "reasoning_content" not in str(sent)


def test_pictures_are_counted_in_every_shape() -> None:
    """Of each wire format; what somebody wrote is never one."""
    data = "/9j/4AAQSkZJRg=="
    for body in (
        PICTURE,
        {"type": "input_image", "image_url": f"data:image/jpeg;base64,{data}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": data}},
        {"image": {"source": {"bytes": data}, "format": "jpeg"}},
        {"inline_data": {"mime_type": "image/jpeg", "data": data}},
        {"role": "user", "content": "x", "images": [data]},
    ):
        assert count_pictures({"messages": [body, {"text": data}, {"content": data}]}) == 1


def roles(*names: str) -> list[dict[str, Any]]:
    return [{"role": name, "content": [{"type": "text", "text": name}]} for name in names]


@pytest.mark.parametrize(
    ("names", "marked"),
    [
        (("system", "user"), [1]),
        (("system", "user", "assistant", "tool", "tool"), [1, 4]),
        (("user", "assistant", "tool", "assistant", "tool", "tool", "user"), [2, 6]),
        (("system",), []),
    ],
)
def test_the_last_of_the_last_two_runs_is_marked(names: tuple[str, ...], marked: list[int]) -> None:
    """However many results a turn brings."""
    sent = mark_for_cache(roles(*names), "message")
    assert [n for n, message in enumerate(sent) if "cache_control" in str(message)] == marked


def test_where_a_mark_goes() -> None:
    """On a tool message, or on its last part; a text becomes a part."""
    tool = roles("tool")
    assert mark_for_cache(tool, "message") == [tool[0] | MARK]
    assert mark_for_cache(tool, "part") == [{"role": "tool", "content": [{"type": "text", "text": "tool", **MARK}]}]
    assert mark_for_cache([{"role": "user", "content": "u"}], "message") == [
        {"role": "user", "content": [{"type": "text", "text": "u", **MARK}]}
    ]
    assert mark_for_cache(tool, "none") == tool


def test_an_episode_can_go_on_with_another_family() -> None:
    """What only the Responses API knows is not sent to chat completions."""
    reply = {"role": "assistant", "content": "a", "output_items": [{"type": "message"}]}
    assert request_messages([reply], RequestPolicy()) == [{"role": "assistant", "content": "a"}]
