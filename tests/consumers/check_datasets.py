"""Hugging Face `datasets`, old and new: every config of the card loads as it is, no null in any call."""

import json
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from place import ROOT, rows

FRONT: dict[str, Any] = yaml.safe_load((ROOT / "README.md").read_text().split("---\n")[1])
CONFIGS = {config["config_name"]: config["data_files"][0]["path"] for config in FRONT["configs"]}
IS_EXACT = tuple(map(int, version("datasets").split(".")[:2])) >= (4, 7)
"""Whether lists of objects come back as they were written (the Json type)."""


def nulls(value: Any, place: str = "") -> Iterator[str]:
    """Where there is a null."""
    if value is None:
        yield place
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield from nulls(inner, f"{place}.{key}")


@pytest.mark.parametrize("name", CONFIGS)
def test_a_config_of_the_card_loads(name: str, tmp_path: Path) -> None:
    """By the folder and the config's name; from 4.7 on every row comes back exactly."""
    loaded = list(datasets.load_dataset(str(ROOT), name, split="train", cache_dir=str(tmp_path)))
    written = rows(CONFIGS[name])
    assert [row["id"] for row in loaded] == [row["id"] for row in written]
    if IS_EXACT:
        assert loaded == written


@pytest.mark.parametrize("name", [name for name in CONFIGS if name.startswith("agentic")])
def test_no_null_gets_into_a_call_or_a_tool(name: str, tmp_path: Path) -> None:
    """A call's arguments and the tools' schemas come back as they were written, on every version."""
    loaded = datasets.load_dataset(str(ROOT), name, split="train", cache_dir=str(tmp_path))
    for row, written in zip(loaded, rows(CONFIGS[name]), strict=True):
        assert row["tools"] == written["tools"]
        for message, original in zip(row["messages"], written["messages"], strict=True):
            assert not list(nulls(message.get("tool_calls") or []))
            assert (message.get("tool_calls") or []) == original.get("tool_calls", [])
            assert (message.get("reasoning_content") or "") == original.get("reasoning_content", "")


def test_the_single_turn_file_has_its_stated_features(tmp_path: Path) -> None:
    """No null anywhere."""
    loaded = datasets.load_dataset(str(ROOT), "instruction_to_script", split="train", cache_dir=str(tmp_path))
    assert not list(nulls(list(loaded)))
    assert loaded.features["reward"].dtype == "float64"


def test_pictures_are_inside_the_parquet_file(tmp_path: Path) -> None:
    """They are decoded from the file alone, as many as the messages have marks."""
    file = str(ROOT / "formats/parquet/train.parquet")
    loaded = datasets.load_dataset("parquet", data_files=file, split="train", cache_dir=str(tmp_path))
    for row in loaded:
        assert (
            sum(message["content"].count("<image>") for message in row["messages"])
            == len(row["images"])
            == 2 * (row["id"] != "forged") + 4 * (row["id"] == "forged")
        )
        assert {image.size for image in row["images"]} == {(56, 56)}


def test_files_are_no_traces(tmp_path: Path) -> None:
    """`datasets` 5 takes none of the train files for an agent's trace."""
    for row in rows("train/agentic_trajectories_text.jsonl"):
        assert not {"type", "message", "payload"} & set(row)
        assert not {"id", "source", "model", "system_prompt", "messages"} <= set(row)


@pytest.mark.parametrize("name", [name for name in CONFIGS if name.startswith("agentic")])
def test_a_file_beyond_the_first_block_loads(name: str, tmp_path: Path) -> None:
    """The schema is guessed from the first 10 MB: what comes only later (reasoning, a date in it) fits it."""
    written, n_bytes = rows(CONFIGS[name]), 0
    with (tmp_path / "big.jsonl").open("w") as file:
        while n_bytes < 12 << 20:
            row = json.loads(json.dumps(written[0]))
            for message in row["messages"]:
                if message["role"] == "assistant":
                    message["reasoning_content"] = "2026-01-01" if n_bytes > 11 << 20 else ""
            row["metadata"] = "y" * 200_000
            n_bytes += file.write(json.dumps(row) + "\n")
    loaded = datasets.load_dataset(
        "json", data_files=str(tmp_path / "big.jsonl"), split="train", cache_dir=str(tmp_path)
    )
    replies = [message for message in loaded[-1]["messages"] if message["role"] == "assistant"]
    assert {reply["reasoning_content"] for reply in replies} == {"2026-01-01"}
