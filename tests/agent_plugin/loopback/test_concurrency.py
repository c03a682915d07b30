"""Many conversations at once in one process, over all routes, with faults: nothing is mixed up."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import litellm

from agent_plugin.loopback.injected import InjectedFault
from agent_plugin.loopback.routes import ROUTES
from agent_plugin.loopback.server import LoopbackServer, loopback
from tests.agent_plugin.loopback.scripts import script
from tests.agent_plugin.loopback.talk import OVER_HTTP, ask

pytestmark = OVER_HTTP

N_EPISODES, N_TURNS = 64, 3


def turns(name: str) -> list[dict[str, Any]]:
    """Each turn wants the answer to the turn before, of this conversation."""
    return [
        {
            "text": f"{name} says {number}",
            "expect": [f"{name} did {number - 1}."] if number > 1 else [],
            "calls": [{"tool": "bash", "arguments": {"command": f"{name} does {number}"}}],
        }
        for number in range(1, N_TURNS + 1)
    ]


def play(server: LoopbackServer, name: str, route: str) -> tuple[list[str], int]:
    """(commands that the model asked for, failed requests) of one episode."""
    history: list[dict[str, Any]] = [{"role": "user", "content": f"brief of {name};"}]
    commands: list[str] = []
    n_failed = 0
    while len(commands) < N_TURNS:
        try:
            reply = ask(server, route, history)
        except litellm.exceptions.RateLimitError:
            n_failed += 1
            continue
        message = reply.choices[0].message.model_dump()
        (call,) = message["tool_calls"]
        commands.append(json.loads(call["function"]["arguments"])["command"])
        done = f"{name} did {len(commands)}."
        history += [message, {"role": "tool", "tool_call_id": call["id"], "content": done}]
    return commands, n_failed


def test_64_episodes_at_once_do_not_mix() -> None:
    """Each gets its own turns, and its own fault at its second turn."""
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    names = [f"episode-{number:02}" for number in range(N_EPISODES)]
    plan = script(more={f"brief of {name};": turns(name) for name in names})
    routes = list(ROUTES)
    with loopback(plan, faults=[InjectedFault(kind="rate_limit", turn=2)]) as server:
        with ThreadPoolExecutor(N_EPISODES) as pool:
            played = list(pool.map(lambda i: play(server, names[i], routes[i % len(routes)]), range(N_EPISODES)))
        exchanges = server.exchanges
    assert played == [([f"{name} does {n}" for n in range(1, N_TURNS + 1)], 1) for name in names]

    assert len(exchanges) == N_EPISODES * (N_TURNS + 1)
    assert len({exchange.number for exchange in exchanges}) == len(exchanges)
    for name in names:
        own = [exchange for exchange in exchanges if name in exchange.conversation]
        assert [exchange.turn for exchange in own] == [1, None, 2, 3]
