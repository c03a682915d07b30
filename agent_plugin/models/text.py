"""Models without tool calls: they write fenced blocks, and are answered by user messages."""

from dataclasses import replace
from typing import Any, ClassVar

import litellm

from agent_plugin.models.chat import BlenderLitellmModel, chat_reply
from agent_plugin.models.mixin import NO_BLOCK, Reply
from agent_plugin.models.request import Dialect
from agent_plugin.models.routes import Family
from agent_plugin.models.text_blocks import arguments_of, find_blocks


class BlenderTextModel(BlenderLitellmModel):
    """`run_blender` and `bash` as fenced blocks; how to write them is added to the system prompt of each request."""

    family: ClassVar[Family] = "text"
    dialect: ClassVar[Dialect] = "text"

    def _query(self, messages: list[dict[str, Any]], **kwargs: Any) -> Any:
        return litellm.completion(model=self.config.model_name, messages=messages, **self._parameters(**kwargs))

    def read_reply(self, response: Any) -> Reply:
        reply = chat_reply(response.model_dump())
        names = [tool["function"]["name"] for tool in self.tools]
        blocks = find_blocks(reply.message.get("content") or "", names)
        calls = [(block.tool, arguments_of(block, self.tools), None) for block in blocks]
        # a block that is not closed is not run; a reply that was cut after a whole one lost no call
        is_cut_off = not blocks[-1].is_closed if blocks else reply.is_cut_off
        return replace(reply, calls=calls, is_cut_off=is_cut_off)

    @property
    def _no_call(self) -> str:
        return NO_BLOCK
