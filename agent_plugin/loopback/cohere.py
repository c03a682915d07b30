"""Cohere's v2 chat: messages much like OpenAI's, replies and errors of its own. Sources: Cohere's API reference."""

from agent_plugin.loopback.answer import Answer
from agent_plugin.loopback.openai_chat import OpenAIChat
from agent_plugin.loopback.openai_chat_rules import check_images_in_tools
from agent_plugin.loopback.pairing import mismatch
from agent_plugin.loopback.providers import Provider
from agent_plugin.loopback.refused import STATUS, RefusalKind, Refused, invalid
from agent_plugin.loopback.request import Request
from agent_plugin.loopback.wire import Json, Wording
from agent_plugin.scripted_file import ScriptedTurn

_FINISHES = {"stop": "COMPLETE", "tool_calls": "TOOL_CALL", "length": "MAX_TOKENS", "content_filter": "ERROR"}
_TEXTS: dict[RefusalKind, str] = {
    "unauthorized": "invalid api token",
    "rate_limit": "You are using a Trial key, which is limited. Please wait and try again later.",
    "context_window": "too many tokens: size limit exceeded by 3072 tokens. Try using shorter inputs.",
    "server_error": "internal server error",
}


class CohereChat(OpenAIChat):
    """`POST …/v2/chat`."""

    def check(self, request: Request, body: Json, provider: Provider, played: tuple[ScriptedTurn | None, ...]) -> None:
        """Raises Refused for what the service refuses."""
        del body, played
        fault = mismatch(request)
        if fault and fault.kind == "unexpected":
            raise invalid(f"invalid request: tool call id {fault.call_ids[0]} not found in previous tool calls")
        if fault:
            raise invalid(f"invalid request: no tool results for tool call ids: {', '.join(fault.call_ids)}")
        check_images_in_tools(request, provider)

    def write(self, answer: Answer, request: Request, provider: Provider) -> Json:
        """A v2 chat reply; what is said beside calls is the `tool_plan`."""
        del request
        usage = {"input_tokens": answer.usage.prompt, "output_tokens": answer.usage.completion}
        message: Json = {"role": "assistant"}
        if answer.calls:
            message["tool_plan"] = answer.text
            message["tool_calls"] = [
                {
                    "id": answer.call_id(call, provider.call_id),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in answer.calls
            ]
        else:
            message["content"] = [{"type": "text", "text": answer.text}]
        return {
            "id": answer.key,
            "finish_reason": _FINISHES[answer.finish],
            "message": message,
            "usage": {"billed_units": usage, "tokens": usage},
        }

    def word(self, refused: Refused, provider: Provider) -> Wording:
        """The error."""
        del provider
        text = refused.message or _TEXTS.get(refused.kind, refused.kind)
        return Wording(STATUS[refused.kind], {"id": "loopback", "message": text})
