"""Tokens as providers tell them."""

from typing import Any

import pytest

from recorder.records import TokenCount
from recorder.usage import count_tokens


def test_both_ways_to_name_them_are_read() -> None:
    """Chat completions and the Responses API; sums over the calls."""
    chat = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "prompt_tokens_details": None}
    tokens = count_tokens([chat, {"input_tokens": 7, "output_tokens": 3}])
    assert tokens == TokenCount(prompt=17, completion=8)
    assert tokens.total == 25


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"cost": 1.0},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"prompt_tokens": -1},
        {"prompt_tokens": "9"},
    ],
)
def test_a_call_without_a_count_is_unknown_and_not_nothing(usage: Any) -> None:
    """No request has neither a word in it nor an answer."""
    assert count_tokens([usage]) == TokenCount(prompt=0, completion=0, n_calls_unknown=1)
