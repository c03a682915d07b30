"""A request in, a reply out: everything but the network. Each step may refuse; each refusal is worded by the format."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from agent_plugin.loopback.answer import Answer, answer_for
from agent_plugin.loopback.formats import WIRE_FORMATS, format_of, provider_of
from agent_plugin.loopback.injected import ANSWER_FAULTS, DELIVERY_FAULTS, FaultPlan, InjectedFault
from agent_plugin.loopback.keys import check_key
from agent_plugin.loopback.limits import check_images
from agent_plugin.loopback.openai_chat import OpenAIChat
from agent_plugin.loopback.providers import PROVIDERS, Provider
from agent_plugin.loopback.record import Exchange, Exchanges, without_pictures, without_secrets
from agent_plugin.loopback.refused import Refused, invalid
from agent_plugin.loopback.request import Request
from agent_plugin.loopback.wire import Json, WireFormat
from agent_plugin.scripted_file import ScriptedFile, ScriptedTurn
from agent_plugin.scripted_play import Asked, OffScript, find_conversation, next_turn

CONVERSATION_HEADER = "x-loopback-conversation"


@dataclass(frozen=True)
class Reply:
    """What goes back."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    fault: InjectedFault | None = None
    """How it is delivered, if not properly."""


@dataclass
class _Trace:
    """What is found out about a request on its way, for the record."""

    request: Request | None = None
    body: Any = None
    conversation: str = ""
    turn: int | None = None
    fault: InjectedFault | None = None


class Player:
    """Plays a script for any number of conversations at once."""

    def __init__(self, script: ScriptedFile, plan: FaultPlan, exchanges: Exchanges, key: str | None = None) -> None:
        self._script, self._key = script, key
        self.plan, self.exchanges = plan, exchanges

    def reply(self, target: str, headers: Mapping[str, str], raw: bytes) -> Reply:
        """The reply to a POST. `target`: path and query. Never raises for what a client can do.

        A request to a path where no model is gets a 404 that says what there is, and is not recorded: litellm asks
        Ollama for more than answers.
        """
        url = urlsplit(target)
        path = unquote(url.path)
        provider = provider_of(path)
        name = format_of(path, provider) if provider else None
        if provider is None or name is None:
            return _worded(_nothing_at(path, provider), OpenAIChat(), provider or PROVIDERS["openai"])
        number, wire, trace, why = self.exchanges.next_number(), WIRE_FORMATS[name], _Trace(), ""
        given = _Credentials({key.lower(): value for key, value in headers.items()}, parse_qs(url.query))
        try:
            body = self._answer(wire, path, provider, given, raw, trace)
            reply = Reply(200, json.dumps(body).encode(), fault=trace.fault)
        except Refused as refused:
            reply = _worded(refused, wire, provider, trace.fault)
            why = refused.message or refused.kind
        self.exchanges.add(
            Exchange(
                number=number,
                path=path,
                route=provider.name,
                conversation=trace.conversation,
                headers=without_secrets(headers),
                request=trace.request,
                body=without_pictures(trace.body),
                turn=trace.turn,
                fault=trace.fault.kind if trace.fault else "",
                refused=why,
                status=reply.status,
            )
        )
        return reply

    def _answer(
        self, wire: WireFormat, path: str, provider: Provider, given: "_Credentials", raw: bytes, trace: _Trace
    ) -> Json:
        check_key(given.headers, given.query, provider, self._key)
        trace.body = _parsed(raw)
        try:
            request = wire.read(path, trace.body, provider)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise invalid(f"The request has not the form of this API: {type(error).__name__}: {error}") from error
        trace.request = request
        trace.conversation = given.headers.get(CONVERSATION_HEADER) or request.brief
        key = f"{provider.name}\0{trace.conversation}"
        turn = self.plan.n_turns(key, request.n_replies) + 1
        trace.fault = fault = self.plan.take(key, request.brief, provider.name, request.n_replies, turn)
        if fault and fault.kind not in ANSWER_FAULTS + DELIVERY_FAULTS:
            raise Refused(fault.kind, fault.message)  # type: ignore[arg-type]  # the rest of FaultKind are these
        if trace.body.get("stream"):
            raise invalid("This loopback does not stream: send 'stream': false.", code="off_script")
        played = self._played(request, self.plan.spoiled(key))
        wire.check(request, trace.body, provider, played)
        check_images(request, provider)
        answer = self._play(request, turn, trace.conversation)
        trace.turn = turn
        return wire.write(_spoiled(answer, fault), request, provider)

    def _played(self, request: Request, spoiled: frozenset[int]) -> tuple[ScriptedTurn | None, ...]:
        """The turn behind each reply, None for those that were faults or are beyond the script."""
        try:
            turns = iter(find_conversation(self._script, request.brief).turns)
        except OffScript as why:
            raise _off_script(why) from why
        return tuple(None if i in spoiled else next(turns, None) for i in range(request.n_replies))

    def _play(self, request: Request, turn: int, conversation: str) -> Answer:
        answers = request.answers
        asked = Asked(
            brief=request.brief,
            n_replies=turn - 1,
            answer="\n".join(message.text for message in answers),
            n_images=len(request.new_images),
        )
        try:
            scripted = next_turn(self._script, asked)
        except OffScript as why:
            raise _off_script(why) from why
        return answer_for(scripted, turn, request, conversation)


@dataclass(frozen=True)
class _Credentials:
    headers: dict[str, str]
    """Names in small letters."""
    query: dict[str, list[str]]


def _nothing_at(path: str, provider: Provider | None) -> Refused:
    if provider is None:
        return Refused("not_found", f"No provider at '{path}'. The first part is one of: {', '.join(PROVIDERS)}.")
    return Refused("not_found", f"{provider.name} has nothing at '{path}'. It speaks: {', '.join(provider.formats)}.")


def _worded(refused: Refused, wire: WireFormat, provider: Provider, fault: InjectedFault | None = None) -> Reply:
    wording = wire.word(refused, provider)
    headers = wording.headers | (fault.headers() if fault else {})
    return Reply(wording.status, json.dumps(wording.body).encode(), headers)


def _parsed(raw: bytes) -> Json:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise invalid("We could not parse the JSON body of your request.") from error
    if not isinstance(body, dict):
        raise invalid("The JSON body of the request has to be an object.")
    return body


def _spoiled(answer: Answer, fault: InjectedFault | None) -> Answer:
    if fault is None or fault.kind not in ANSWER_FAULTS:
        return answer
    if fault.kind == "length":
        return answer.cut_short()
    if fault.kind == "empty":
        return answer.emptied()
    return answer.declined() if not fault.message else replace(answer.declined(), text=fault.message)


def _off_script(why: OffScript) -> Refused:
    return invalid(f"loopback: {why}", code="off_script")
