"""What every model class of ours does the same: tools out, calls in, pictures placed, one retry loop, all recorded.

A family (one file each beside this one) only says how a request is posted and how an answer is read.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import litellm
from minisweagent.exceptions import FormatError, InterruptAgentFlow
from minisweagent.models.litellm_model import LitellmModelConfig
from pydantic import ConfigDict

from agent_plugin.models.cache_marks import CacheMarks
from agent_plugin.models.cost import charge, check_global_limits, cost_of, priced
from agent_plugin.models.deadline import never, sleep_unless
from agent_plugin.models.failure_text import shortened
from agent_plugin.models.failures import ERRORS, EXIT_STATUSES, Failure, ModelCallFailed, unreadable_arguments
from agent_plugin.models.pictures import count_pictures
from agent_plugin.models.rate import ProviderGate, gate_for
from agent_plugin.models.request import Dialect, RequestPolicy, digest, policy_facts, request_messages
from agent_plugin.models.responses_items import to_tools
from agent_plugin.models.retry import CallRefused, Retries, RetryPolicy, ask
from agent_plugin.models.routes import Family, placement_for, route_for
from agent_plugin.models.settings import CallSettings
from agent_plugin.models.window import ImageWindow
from agent_plugin.models.wire import Wire, watched
from agent_plugin.observations import content_of
from agent_plugin.submission import SUBMIT
from agent_plugin.tally import TALLY
from agent_plugin.tools import TaskKind, parse_call, tools_for
from recorder.config_secrets import secrets_in, without_secrets
from recorder.redaction import Redactor

NO_CALL = {
    "video": "The reply holds no tool call, so nothing was done. Call bash or run_blender; to hand in, call bash with "
    f"`echo {SUBMIT}` alone.",
    "scene": "The reply holds no tool call, so nothing was done. Call run_blender; to hand in, call it with "
    f"`print('{SUBMIT}')` alone.",
}
NO_BLOCK = (
    "The reply holds no whole fenced block of a tool, so nothing was done. Its first line has to be ```run_blender "
    "(or another tool's name), its last line ```."
)
CUT_OFF = "The reply reached the output token limit before a tool call. Answer shorter, with one tool call."
UNREADABLE = "A call's arguments cannot be read: {why}; nothing was done."
_NOT_RUN = {"error": "This call was not run, because an earlier one in the same reply ended the episode."}
ONE_TRY = {"max_retries": 0, "num_retries": 0}
"""For litellm and the clients below it: the loop is ours."""


class BlenderModelConfig(CallSettings, LitellmModelConfig):
    """Settings of a model; unknown keys are refused. mini-swe-agent's templates are accepted and not used."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    task_kind: TaskKind = "video"
    """Which tools the model gets."""


@dataclass(frozen=True)
class Reply:
    """An answer, read."""

    message: dict[str, Any]
    """As a chat message, with all that the provider wants to see again."""
    calls: Sequence[tuple[str, str | None, str | None]]
    """Tool, raw arguments, id."""
    finish_reason: str | None
    model: str | None
    usage: dict[str, Any] | None
    response: dict[str, Any]
    """The whole answer."""
    is_cut_off: bool
    """The output limit came before the reply's end: its last call is not whole, even if its arguments look so."""
    problem: str = ""
    """Set where it is not known what was called."""


_Answer = tuple[Reply, dict[str, Any]]
"""A reply, and what it cost."""


class BlenderModelMixin:
    """In front of one of mini-swe-agent's model classes."""

    family: ClassVar[Family]
    dialect: ClassVar[Dialect] = "chat"
    cache_marks: ClassVar[CacheMarks] = "message"
    config: BlenderModelConfig

    def _set_up(self) -> None:
        """After the base class's own __init__."""
        litellm.suppress_debug_info = True
        logging.getLogger("LiteLLM").setLevel(logging.ERROR)  # else a warning a call for models it has no entry for
        self.tools = tools_for(self.config.task_kind, bash=self.config.bash)
        self.is_stopped: Callable[[], bool] = never
        """Asked while a model is waited for: then the call is left to itself, and Stopped is raised."""
        self.say_waiting: Callable[[str], None] = lambda _what: None
        """Told when the provider's rate limit is waited for, and '' when it goes on."""
        self.last_request: dict[str, Any] = {}
        self.retry_policy = RetryPolicy(
            self.config.request_timeout,
            self.config.retry_seconds,
            sleep=lambda seconds: sleep_unless(self.is_stopped, seconds),
            is_stopped=lambda: self.is_stopped(),
            gate=self._gate(),
            say=lambda what: self.say_waiting(what),
        )
        self._max_images = self.config.max_images or self._route.max_images
        self._redactor = Redactor.for_this_machine(secrets=secrets_in(self.config.model_kwargs))

    def _gate(self) -> ProviderGate:
        """The one before this provider: the route of the model's name, at its address."""
        prefix, address = self.config.model_name.partition("/")[0], self.config.model_kwargs.get("api_base")
        return gate_for(f"{self.family} {prefix}", str(address or ""), self.config.max_concurrency)

    # what a family says

    def _query(self, messages: list[dict[str, Any]], **parameters: Any) -> Any:
        """Post a request once. Raises what its client raises."""
        raise NotImplementedError

    def read_reply(self, response: Any) -> Reply:
        """Read an answer. Whatever is raised makes it an unusable one."""
        raise NotImplementedError

    def read_body(self, body: dict[str, Any]) -> Reply:
        """Read the body of an answer that the client itself cannot read. Whatever is raised makes it an unknown one."""
        raise NotImplementedError

    # a call

    @property
    def _route(self) -> Any:
        return route_for(self.config.model_name, self.family)

    @property
    def policy(self) -> RequestPolicy:
        """What shapes the next request beside the history."""
        config, route = self.config, self._route
        window = ImageWindow(config.image_window, config.image_slack, self._max_images, route.max_images_per_message)
        return RequestPolicy(
            dialect=self.dialect,
            placement=placement_for(config.model_name, config.image_placement, self.family),
            window=window,
            cache_marks=self.cache_marks if config.set_cache_control else "none",
            keeps_reasoning=route.keeps_reasoning,
            tools=tuple(self.tools),
        )

    def query(self, messages: list[dict[str, Any]], **kwargs: Any) -> dict[str, Any]:
        """One model call; the message's `extra` tells what was sent, tried, read and paid.

        Raises FormatError for a reply without a call, InterruptAgentFlow where the conversation itself ends the episode
        (its length, its content), ModelCallFailed where the provider is at fault.
        """
        reply, extra = self.reply_to(messages, **kwargs)
        if reply.finish_reason == "content_filter" and not reply.calls:
            raise _episode_ends("ContentPolicyViolation", "The provider held the reply back.", extra | _kept(reply))
        try:
            return reply.message | {"extra": extra | {"actions": self._actions(reply)}}
        except FormatError as error:
            error.messages[0]["extra"] |= extra | _kept(reply)
            raise

    def reply_to(self, messages: list[dict[str, Any]], **kwargs: Any) -> tuple[Reply, dict[str, Any]]:
        """One model call, whatever its reply holds: (the reply, what was sent, tried, read and paid).

        Raises what `query` raises of the request: InterruptAgentFlow, ModelCallFailed.
        """
        check_global_limits()
        started, retries = time.monotonic(), Retries()
        reply, cost = self._ask(messages, kwargs, retries)
        charge(cost["cost"])
        TALLY.add(cost["cost"], reply.usage, is_cost_known=cost["cost_is_known"])
        self.last_request["retries"] = [r | {"error": self._told(r["error"])} for r in retries.records]
        extra = {
            "response": reply.response,
            "response_model": reply.model,
            "finish_reason": reply.finish_reason,
            "usage": reply.usage,
            "request": self.last_request,
            "seconds": time.monotonic() - started,
            "timestamp": time.time(),
            **cost,
        }
        return reply, extra

    def _ask(self, messages: list[dict[str, Any]], kwargs: dict[str, Any], retries: Retries) -> _Answer:
        """A reply and what it cost. A request with too many pictures is sent once more, with half as many."""
        try:
            return self._send(messages, kwargs, retries)
        except CallRefused as error:
            n_sent = self.last_request["n_images"]
            if error.failure.kind != "too_many_images" or n_sent < 2:
                raise self._refused(error.failure) from None
            self._max_images = n_sent // 2
            retries.add(error.failure, 0.0)
        try:
            return self._send(messages, kwargs, retries)
        except CallRefused as error:
            raise self._refused(error.failure) from None

    def _send(self, messages: list[dict[str, Any]], kwargs: dict[str, Any], retries: Retries) -> _Answer:
        """Prepare the request and ask, again where that may help. Raises CallRefused, ModelCallFailed."""
        prepared, wire = self._prepare_messages_for_api(messages), Wire()

        def post() -> _Answer:
            try:
                with watched(wire):
                    response = self._query(prepared, **kwargs)
                reply = self.read_reply(response)
            except Exception as error:
                if not (why := unreadable_arguments(error)):
                    raise
                return self._unreadable(why, wire.answer)
            return reply, cost_of(response, reply.usage, self.price_name)

        try:
            answer: _Answer = ask(post, self.retry_policy, retries)
        except ModelCallFailed as error:
            # providers repeat keys in their complaints, and tracebacks are printed and kept by others: no chain
            raise type(error)(self._told(str(error))) from None
        self.last_request |= {"n_images_on_wire": wire.n_images, "n_bytes": wire.n_bytes}
        return answer

    def _unreadable(self, why: str, answer: dict[str, Any]) -> _Answer:
        """What is known of a reply whose arguments the client could not read: the model's own fault, which it reads."""
        usage = answer.get("usage")
        try:
            reply = self.read_body(answer)
        except Exception:  # noqa: BLE001 - the body is whatever arrived
            problem = UNREADABLE.format(why=why)
            reply = Reply({"role": "assistant"}, [], None, answer.get("model"), usage, answer, False, problem)
        return reply, cost_of(priced(usage), usage, self.price_name)

    @property
    def price_name(self) -> str:
        """The model's name in litellm's list of prices."""
        return self.config.model_name

    def _refused(self, failure: Failure) -> Exception:
        text = self._told(failure.text)
        if status := EXIT_STATUSES.get(failure.kind):
            return _episode_ends(status, text, {})
        return ERRORS[failure.kind](text)

    def _told(self, text: str) -> str:
        """What is told of a failure: without secrets, and short."""
        return shortened(self._redactor.clean(text))

    def _prepare_messages_for_api(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """What is sent for this history; `last_request` then tells of it."""
        policy = self.policy
        prepared = request_messages(messages, policy)
        self.last_request = {
            "model": self.config.model_name,
            "family": self.family,
            "n_messages": len(prepared),
            "n_images": count_pictures(prepared),
            "n_images_in_history": count_pictures(messages),
            "sha256": digest(prepared),
            "parameters": self._redactor.clean(without_secrets(self.config.model_kwargs)),
            **policy_facts(policy),
        }
        return prepared

    def _offered(self) -> dict[str, Any]:
        """The tools as a field of a request. None are offered as no field: services refuse an empty list."""
        return {"tools": to_tools(self.tools) if self.dialect == "responses" else self.tools} if self.tools else {}

    def _parameters(self, **more: Any) -> dict[str, Any]:
        """Of a call through litellm."""
        return {"timeout": self.config.request_timeout, **self.config.model_kwargs, **more, **ONE_TRY}

    # calls and results

    @property
    def _no_call(self) -> str:
        """What a model is told that called nothing."""
        return NO_CALL[self.config.task_kind]

    def _actions(self, reply: Reply) -> list[dict[str, Any]]:
        if not reply.calls:
            content = reply.problem or (CUT_OFF if reply.is_cut_off else self._no_call)
            raise FormatError({"role": "user", "content": content, "extra": {"interrupt_type": "FormatError"}})
        return [
            parse_call(
                name or "", raw, call_id, is_cut_off=reply.is_cut_off and n == len(reply.calls), tools=self.tools
            )
            for n, (name, raw, call_id) in enumerate(reply.calls, start=1)
        ]

    def format_message(self, **message: Any) -> dict[str, Any]:
        """A message of the agent's, as it is: no text of it becomes a picture."""
        return message

    def format_observation_messages(
        self, message: dict[str, Any], outputs: list[dict[str, Any]], template_vars: dict[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        """One message for each action of `message`, in order, also for those that were not run."""
        del template_vars
        actions = message.get("extra", {}).get("actions", [])
        padded = [*outputs, *([_NOT_RUN] * (len(actions) - len(outputs)))]
        return [self._observation(action, output) for action, output in zip(actions, padded, strict=True)]

    def _observation(self, action: dict[str, Any], output: dict[str, Any]) -> dict[str, Any]:
        extra = {k: v for k, v in output.items() if k in ("returncode", "exception_info")}
        content = content_of(output)
        observation: dict[str, Any] = {"role": "user", "content": content, "extra": extra | {"timestamp": time.time()}}
        if action.get("tool_call_id"):
            observation |= {"role": "tool", "tool_call_id": action["tool_call_id"]}
        return observation

    def get_template_vars(self, **kwargs: Any) -> dict[str, Any]:
        """What prompts may name: not the parameters, they can hold a key."""
        return {"model_name": self.config.model_name, **kwargs}

    def serialize(self) -> dict[str, Any]:
        """mini-swe-agent's own record, without what a config may hold of secrets."""
        cleaned: dict[str, Any] = self._redactor.clean(without_secrets(super().serialize()))  # type: ignore[misc]
        return cleaned


def _kept(reply: Reply) -> dict[str, Any]:
    """The reply where no step of the agent's holds it."""
    return {"assistant": reply.message}


def _episode_ends(status: str, text: str, extra: dict[str, Any]) -> InterruptAgentFlow:
    """Ends the episode with a result."""
    told = extra | {"exit_status": status, "submission": "", "error": text}
    return InterruptAgentFlow({"role": "exit", "content": text, "extra": told})
