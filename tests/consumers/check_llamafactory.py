"""LLaMA-Factory: its own reader of dataset_info.json, converter and qwen3 template take the rows whole."""

import importlib.machinery
import os
import sys
import types
from pathlib import Path

os.environ["DISABLE_VERSION_CHECK"] = "1"
# its plugin for sound imports torchaudio, of which there is no build for this machine; no row has sound
_sound = types.ModuleType("torchaudio")
_sound.__spec__ = importlib.machinery.ModuleSpec("torchaudio", None)
sys.modules["torchaudio"] = _sound

from datasets import load_dataset  # noqa: E402
from llamafactory.data.converter import align_dataset  # noqa: E402
from llamafactory.data.parser import get_dataset_list  # noqa: E402
from llamafactory.data.template import TEMPLATES  # noqa: E402
from llamafactory.hparams import DataArguments  # noqa: E402
from place import ROOT, rows  # noqa: E402

FOLDER = ROOT / "formats/llamafactory"


def aligned(cache: str) -> list[dict[str, object]]:
    """The rows as LLaMA-Factory aligns them."""
    (attributes,) = get_dataset_list(["blendscribe"], str(FOLDER))
    loaded = load_dataset("json", data_files=str(FOLDER / attributes.dataset_name), split="train", cache_dir=cache)
    arguments = DataArguments(dataset_dir=str(FOLDER), media_dir=str(ROOT))
    training = types.SimpleNamespace(should_log=False, local_process_index=1)
    return list(align_dataset(loaded, attributes, arguments, training))


def test_no_row_is_skipped_and_every_picture_is_found(tmp_path) -> None:
    """A row that it skips has no prompt; pictures are paths that exist, one a mark."""
    converted = aligned(str(tmp_path))
    assert len(converted) == len(rows("formats/llamafactory/blendscribe.jsonl")) == 3
    for row in converted:
        messages = [*row["_prompt"], *row["_response"]]
        assert row["_prompt"]
        assert sum(message["content"].count("<image>") for message in messages) == len(row["_images"])
        assert all(Path(path).is_file() for path in row["_images"])
        assert {message["role"] for message in messages[::2]} <= {"user", "observation"}


def rendered(cache: str, number: int) -> list[str]:
    """Each message as its qwen3 template writes it."""
    row = aligned(cache)[number]
    elements = TEMPLATES["qwen3"]._encode(
        Letters(), [*row["_prompt"], *row["_response"]], row["_system"], row["_tools"]
    )
    return ["".join(chr(letter) for letter in element) for element in elements]


class Letters:
    """A tokenizer: each letter is a token."""

    bos_token_id = eos_token_id = 0

    def encode(self, text: str, add_special_tokens: bool = False) -> list[int]:
        return [ord(letter) for letter in text]

    def convert_tokens_to_ids(self, token: str) -> int:
        return 0


def test_tools_reasoning_text_and_calls_are_rendered(tmp_path) -> None:
    """The tool's schema, `<think>`, the words beside the call, and the call."""
    texts = rendered(str(tmp_path), 0)
    assert '"name": "run_blender"' in texts[0]
    assert texts[1].startswith("<think>\nI need bpy.\n</think>\n\nFirst the import.")
    assert '{"name": "run_blender", "arguments": {"code": "import bpy\\n"}}' in texts[1]
    assert texts[2].count("<image>") == 0
    assert texts[6].count("<image>") == 2


def test_parallel_calls_are_all_rendered(tmp_path) -> None:
    """Behind the text, each in its own tags."""
    text = rendered(str(tmp_path), 2)[3]
    assert text.startswith("I run it.")
    assert text.count("<tool_call>") == text.count('{"name": "run_blender", "arguments": {"script": "main.py"}}') == 2
