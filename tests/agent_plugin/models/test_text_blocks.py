"""Fenced blocks are calls, and nothing else is one."""

import json
from typing import Any

import pytest

from agent_plugin.models.text_blocks import Block, arguments_of, find_blocks, to_plain_chat, tool_text
from agent_plugin.tools import tools_for

NAMES = ["bash", "run_blender"]
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,AA=="}}


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("words", []),
        ("```python\nx\n```", []),
        ("```\nx\n```", []),
        ("say\n```bash\nls\n```\nmore", [Block("bash", "ls", True)]),
        (
            "```bash\nls\n```\n```run_blender\na\nb\n```",
            [Block("bash", "ls", True), Block("run_blender", "a\nb", True)],
        ),
        ("```bash\n```", [Block("bash", "", True)]),
        ("```bash\nls", [Block("bash", "ls", False)]),
        ("````bash\ncat <<E\n```\nE\n````", [Block("bash", "cat <<E\n```\nE", True)]),
        ("```python\n```bash\n```", []),
        ("inline ```bash ls```", []),
        ("  ```bash  \nls\n  ```", [Block("bash", "ls", True)]),
    ],
)
def test_blocks_of_tools_are_found(text: str, blocks: list[Block]) -> None:
    """In order; a longer fence holds shorter ones; one that is not closed says so."""
    assert find_blocks(text, NAMES) == blocks


def test_a_block_is_the_one_argument() -> None:
    """A line without the blanks around it, code as it is."""
    tools = tools_for("video")
    assert json.loads(arguments_of(Block("run_blender", " main.py ", True), tools)) == {"script": "main.py"}
    assert json.loads(arguments_of(Block("bash", "  a\n  b", True), tools)) == {"command": "  a\n  b"}


def test_roles_alternate() -> None:
    """Results of a turn become one user message, in order, pictures behind their captions."""
    history: list[dict[str, Any]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a", "tool_calls": None},
        {"role": "user", "content": [{"type": "text", "text": "one\n"}, PICTURE]},
        {"role": "user", "content": [{"type": "text", "text": "two\n"}]},
    ]
    plain = to_plain_chat(history, tools_for("scene"))
    assert [message["role"] for message in plain] == ["system", "user", "assistant", "user"]
    assert plain[2] == {"role": "assistant", "content": "a"}
    assert plain[3]["content"] == [{"type": "text", "text": "one\n"}, PICTURE, {"type": "text", "text": "two\n"}]
    assert plain[0]["content"].startswith("s\n")


def test_the_prompt_names_each_tool() -> None:
    """With what it does and an example that is itself a block."""
    tools = tools_for("video")
    text = tool_text(tools)
    assert all(tool["function"]["description"] in text for tool in tools)
    assert [block.tool for block in find_blocks(text, NAMES)] == NAMES
