"""Tools for models without tool calls: fenced blocks in a reply are calls, results are user messages. Pure.

    ```run_blender
    import bpy
    ```

A block's first line names the tool, its content is the tool's one argument. A longer fence may hold shorter ones.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]

_OPENING = re.compile(r"^[ \t]{0,3}(`{3,})[ \t]*([A-Za-z_][\w-]*)[ \t]*$")


@dataclass(frozen=True)
class Block:
    """A fenced block of a tool."""

    tool: str
    content: str
    is_closed: bool


def find_blocks(text: str, tools: Sequence[str]) -> list[Block]:
    """The blocks of these tools, in order. Others are only text."""
    blocks: list[Block] = []
    lines = iter(text.splitlines())
    for line in lines:
        opening = _OPENING.match(line)
        if not opening:
            continue
        content, is_closed = [], False
        for inner in lines:
            if inner.strip() == opening[1]:
                is_closed = True
                break
            content.append(inner)
        if opening[2] in tools:
            blocks.append(Block(opening[2], "\n".join(content), is_closed))
    return blocks


def arguments_of(block: Block, tools: Sequence[Message]) -> str:
    """The block as a tool call's arguments, JSON."""
    function = next(tool["function"] for tool in tools if tool["function"]["name"] == block.tool)
    (name,) = function["parameters"]["required"]
    # one line is a name or a command: blanks around it mean nothing; code is kept as it is
    content = block.content if "\n" in block.content else block.content.strip()
    return json.dumps({name: content})


def to_plain_chat(messages: Sequence[Message], tools: Sequence[Message]) -> list[Message]:
    """Chat without tools: the system prompt tells how to call them, and results of a turn are one user message.

    Where no tool is offered, nothing is told. Several servers' templates want the roles to alternate.
    """
    plain: list[Message] = []
    for message in messages:
        if message["role"] == "system":
            plain.append(message | {"content": f"{_said(message)}\n{tool_text(tools)}"} if tools else message)
        elif message["role"] == "assistant":
            plain.append({"role": "assistant", "content": _said(message)})
        elif plain and plain[-1]["role"] == "user":
            plain[-1] = {"role": "user", "content": [*_parts(plain[-1]), *_parts(message)]}
        else:
            plain.append({"role": "user", "content": message["content"]})
    return plain


def tool_text(tools: Sequence[Message]) -> str:
    """How to call the tools, for the system prompt."""
    lines = [
        "",
        "## How to call a tool",
        "Write a fenced block whose first line names the tool; its content is the tool's argument. Blocks run in",
        "order, and the next message holds their results. Every reply needs at least one. Use a longer fence (````)",
        "where the content itself holds ``` on a line.",
    ]
    for tool in tools:
        function = tool["function"]
        (name,) = function["parameters"]["required"]
        about = function["parameters"]["properties"][name]["description"]
        lines += ["", function["description"], "", f"```{function['name']}", f"<{about}>", "```"]
    return "\n".join(lines) + "\n"


def _said(message: Message) -> str:
    return "".join(part["text"] for part in _parts(message) if part["type"] == "text")


def _parts(message: Message) -> list[Message]:
    content = message.get("content") or ""
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
