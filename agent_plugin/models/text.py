"""Models without tool calls: they write fenced blocks, and are answered by user messages."""

from typing import Any, ClassVar

import litellm

from agent_plugin.models.chat import BlenderLitellmModel, chat_reply
from agent_plugin.models.mixin import Reply
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
        # a block that is not closed is not run, whatever the provider says of why it stopped
        is_cut = bool(blocks) and not blocks[-1].is_closed
        calls = [(block.tool, arguments_of(block, self.tools), None) for block in blocks]
        return Reply(
            message=reply.message,
            calls=calls,
            # a reply whose last block is whole lost no call, even if it was cut after it
            finish_reason="length" if is_cut else "stop" if blocks else reply.finish_reason,
            model=reply.model,
            usage=reply.usage,
            response=reply.response,
        )
