"""NeMo Gym: its own models take each row."""

from collections import Counter
from typing import Any

import pytest
from nemo_gym.openai_utils import NeMoGymResponseCreateParamsNonStreaming
from place import rows

ROWS = rows("formats/nemo-gym/train.jsonl")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_a_row_is_valid(row: dict[str, Any]) -> None:
    """Every item becomes what it is meant to be; the tools stay."""
    params = NeMoGymResponseCreateParamsNonStreaming.model_validate(row["responses_create_params"])
    kinds = Counter(type(item).__name__ for item in params.input)
    given = Counter(item["type"] for item in row["responses_create_params"]["input"])
    assert kinds["NeMoGymFunctionCallOutput"] == given["function_call_output"] > 0
    assert kinds["NeMoGymResponseFunctionToolCall"] == given["function_call"] > 0
    assert kinds["NeMoGymResponseReasoningItem"] == given["reasoning"] > 0
    assert len(params.tools) == len(row["responses_create_params"]["tools"])


def test_pictures_are_in_user_messages() -> None:
    """As data URLs."""
    parts = [
        part
        for item in ROWS[0]["responses_create_params"]["input"]
        if item["type"] == "message" and item["role"] == "user" and isinstance(item["content"], list)
        for part in item["content"]
    ]
    assert sum(part["type"] == "input_image" for part in parts) == 2
    assert all(part["image_url"].startswith("data:image/jpeg;base64,") for part in parts if "image_url" in part)
