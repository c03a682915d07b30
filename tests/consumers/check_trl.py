"""TRL: its chat templates render the text rows, its SFTTrainer takes a step on them, its vision collator the flat ones.

The model is tiny and random, the tokenizer knows bytes; the templates are the real ones, out of TRL's wheel.
"""

import re
from pathlib import Path
from typing import Any

import pytest
import torch
import trl
from datasets import load_dataset
from PIL import Image
from place import ROOT, rows
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen2VLProcessor, Qwen3Config, Qwen3ForCausalLM
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from trl.trainer.sft_trainer import DataCollatorForVisionLanguageModeling

TEMPLATES = Path(trl.__file__).parent / "chat_templates"
TEXT = "train/agentic_trajectories_text.jsonl"
TEXT_TEMPLATES = {
    "qwen3": True, "qwen3_5_think": True, "qwen3_6": True, "qwen3_8": True, "glm4moe": True, "nemotron_3_nano": True,
    "nemotron_3_super": True, "lfm2_2_5": True, "muse_glimmer": True, "qwen3_instruct_2507": False, "qwen2_5": False,
    "llama3_1": False, "llama3_2": False, "gemma4_v5": False,
}  # fmt: skip
"""Templates that render tools -> whether they keep the reasoning of a row whose frames are in tools' answers."""
DROPS_TEXT = ("llama3_1", "llama3_2", "muse_glimmer")
"""Templates that drop what is said beside a call, whatever the row's form."""
VISION_TEMPLATES = ("qwen2_5_vl", "qwen3_vl", "qwen3_5_think", "qwen3_6", "qwen3_8")
SPECIAL = ["<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>", "<|im_start|>"]


def tokenizer(template: str) -> PreTrainedTokenizerFast:
    """Each byte is a token; the marks of Qwen's format are one each."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(alphabet)}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    made = PreTrainedTokenizerFast(
        tokenizer_object=core, eos_token="<|im_end|>", pad_token="<|endoftext|>", additional_special_tokens=SPECIAL
    )
    made.chat_template = (TEMPLATES / f"{template}.jinja").read_text()
    return made


@pytest.mark.parametrize("template", TEXT_TEMPLATES)
def test_a_text_row_is_rendered_whole(template: str) -> None:
    """Tools, each call with its code encoded once, the words, and the reasoning where the template has a place."""
    row = rows(TEXT)[0]
    text = tokenizer(template).apply_chat_template(row["messages"], tools=row["tools"], tokenize=False)
    assert "Run Python code as the next step." in text
    assert text.count("primitive_uv_sphere_add()") == 1
    assert "bpy.oops()" in text
    assert '\\"code\\"' not in text
    assert "STEP FAILED: AttributeError" in text
    assert "None" not in text
    if template not in DROPS_TEXT:
        assert "Now a ball." in text
    if TEXT_TEMPLATES[template]:
        assert text.count("I need bpy.") == text.count("It is `ops`.") == 1


def test_forged_marks_are_no_tokens() -> None:
    """What an answer's log forged is text, not the end of a turn."""
    row = rows(TEXT)[1]
    made = tokenizer("qwen3")
    ids = made.apply_chat_template(row["messages"], tools=row["tools"])["input_ids"]
    assert ids.count(made.convert_tokens_to_ids("<|im_end|>")) == len(row["messages"])
    assert "< |im_end|>" in made.decode(ids)


def test_a_trainer_takes_a_step_on_text_rows(tmp_path: Path) -> None:
    """`load_dataset`, SFTTrainer, loss on the assistant's turns alone: thoughts, words and calls are trained."""
    made = tokenizer("qwen3")
    model = Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(made), hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
            num_key_value_heads=1, head_dim=16,
        )
    )  # fmt: skip
    data = load_dataset("json", data_files=str(ROOT / TEXT), split="train", cache_dir=str(tmp_path / "cache"))
    settings = trl.SFTConfig(
        output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=1, assistant_only_loss=True, use_cpu=True,
        max_length=None, report_to=[], bf16=False, dataset_num_proc=None,
    )  # fmt: skip
    trainer = trl.SFTTrainer(model=model, args=settings, train_dataset=data, processing_class=made)
    assert torch.isfinite(torch.tensor(trainer.train().training_loss))
    first = trainer.train_dataset[0]
    trained = made.decode([label for label in first["labels"] if label != -100])
    for text in (
        "I need bpy.",
        "First the import.",
        "bpy.oops()",
        "It is `ops`.",
        "primitive_uv_sphere_add()",
        "Done.",
    ):
        assert text in trained
    for text in ("STEP FAILED", "You work in Blender.", "evening sun", "Run Python code"):
        assert text not in trained


class PicturesOnly(Qwen2VLProcessor):
    """Qwen's processor without the one for videos, which wants another package."""

    @classmethod
    def get_attributes(cls) -> list[str]:
        return ["image_processor", "tokenizer"]

    def __init__(self, image_processor: Any = None, tokenizer: Any = None, **kwargs: Any) -> None:
        self.image_token, self.video_token = "<|image_pad|>", "<|video_pad|>"
        self.image_token_id = tokenizer.convert_tokens_to_ids(self.image_token)
        self.video_token_id = tokenizer.convert_tokens_to_ids(self.video_token)
        super(Qwen2VLProcessor, self).__init__(image_processor, tokenizer, **kwargs)


@pytest.mark.parametrize("template", VISION_TEMPLATES)
def test_the_vision_collator_takes_flat_rows(template: str) -> None:
    """Tools, calls, every thought, and as many pictures in pixels as in the text."""
    made = tokenizer(template)
    processor = PicturesOnly(Qwen2VLImageProcessorPil(), made, chat_template=made.chat_template)
    for row in rows("formats/vlm-flat/train.jsonl"):
        example = {"messages": row["messages"], "images": [Image.open(ROOT / path) for path in row["images"]]}
        batch = DataCollatorForVisionLanguageModeling(processor)([example])
        text = made.decode(batch["input_ids"][0])
        assert len(batch["image_grid_thw"]) == len(row["images"]) == text.count("<|vision_start|>") > 0
        assert batch["pixel_values"].shape[0] == int(batch["image_grid_thw"].prod(dim=1).sum())
        assert "<tools>" in text
        told = "".join(part.get("text", "") for message in row["messages"] for part in message["content"])
        n_calls = len(re.findall(r"<tool_call>\n\{\"name\": \"\w+\", \"arg", told))
        assert text.count('<tool_call>\n{"name"') == told.count('<tool_call>\n{"name"') >= n_calls > 0
        for thought in re.findall(r"<think>\n(.*?)\n</think>", told, re.DOTALL):
            assert thought in text
