"""What the Responses API refuses: calls without outputs, and reasoning items parted from what they led to."""

import re

from agent_plugin.loopback.answer import seal
from agent_plugin.loopback.pairing import mismatch
from agent_plugin.loopback.refused import invalid
from agent_plugin.loopback.request import Reasoning, Request
from agent_plugin.loopback.wire import Json

_NEEDS_REASONING = re.compile(r"(?:fc|msg)_(?P<mark>[0-9a-f]{16}r)(?:_\d+)?")


def check_items(request: Request, body: Json) -> None:
    """Raises Refused for the first rule that is broken."""
    fault = mismatch(request)
    if fault and fault.kind == "unanswered":
        raise invalid(f"No tool output found for function call {fault.call_ids[0]}.", param="input")
    if fault:
        raise invalid(f"No tool call found for function call output with call_id {fault.call_ids[0]}.", param="input")
    if not isinstance(body["input"], str):
        _check_company(body["input"])
    _check_seals(request, is_stored=body.get("store") is not False)


def _check_company(items: list[Json]) -> None:
    """A reasoning item and what it led to come together, or not at all."""
    at_hand: set[str] = set()
    for position, item in enumerate(items):
        kind, own_id = item.get("type") or "message", item.get("id") or ""
        if kind == "reasoning":
            at_hand.add(own_id)
            following = items[position + 1] if position + 1 < len(items) else {}
            is_followed = following.get("type") in ("function_call", "reasoning") or (
                following.get("role") == "assistant"
            )
            if not is_followed:
                raise invalid(
                    f"Item '{own_id}' of type 'reasoning' was provided without its required following item.",
                    param="input",
                )
        match = _NEEDS_REASONING.fullmatch(own_id)
        if match and f"rs_{match['mark']}" not in at_hand:
            raise invalid(
                f"Item '{own_id}' of type '{kind}' was provided without its required 'reasoning' item: "
                f"'rs_{match['mark']}'.",
                param="input",
            )


def _check_seals(request: Request, *, is_stored: bool) -> None:
    for message in request.messages:
        for part in message.parts:
            if not isinstance(part, Reasoning):
                continue
            if part.seal and part.seal != seal(part.text):
                raise invalid(
                    f"The encrypted content {part.seal[:4]}...{part.seal[-4:]} could not be verified. Reason: "
                    "Encrypted content could not be decrypted or parsed.",
                    code="invalid_encrypted_content",
                )
            if not part.seal and not is_stored:
                raise invalid(
                    f"Item with id '{part.item_id}' not found. Items are not persisted when `store` is set to false. "
                    "Try again with `store` set to true, or remove this item from your input.",
                    param="input",
                )
