"""Long episodes stay within what each provider takes: the provider refuses more, and here none does."""

import base64
import io
from typing import Any

import pytest
from PIL import Image

from agent_plugin.loopback.injected import InjectedFault
from agent_plugin.loopback.server import LoopbackServer, loopback
from agent_plugin.model import auto_model
from agent_plugin.scripted_file import ScriptedFile
from tests.agent_plugin.conftest import CALLS_LITELLM

pytestmark = CALLS_LITELLM

N_FRAMES, N_TURNS = 8, 12


def frame(number: int) -> dict[str, Any]:
    """A picture like no other."""
    content = io.BytesIO()
    Image.new("RGB", (48, 32), (number % 256, number // 256, 99)).save(content, "JPEG")
    url = f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def looking(n_calls: int) -> ScriptedFile:
    """A model that looks `n_calls` times in each of its turns."""
    turn = {"text": "look", "calls": [{"tool": "run_blender", "arguments": {"code": "x"}}] * n_calls}
    return ScriptedFile.model_validate({"model": "x", "conversations": [{"when": "", "turns": [turn] * N_TURNS}]})


def episode(server: LoopbackServer, route_name: str, n_turns: int = N_TURNS, **settings: Any) -> list[dict[str, Any]]:
    """Requests as they were recorded; each call is answered by eight frames."""
    route = server.route(route_name)
    model = auto_model(
        model_name=route.model, model_kwargs=dict(route.kwargs), task_kind="scene", retry_seconds=0, **settings
    )
    history: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
    requests, n = [], 0
    for _ in range(n_turns):
        message = model.query(history)
        requests.append(message["extra"]["request"])
        outputs = [{"output": "o", "returncode": 0}] * len(message["extra"]["actions"])
        answers = model.format_observation_messages(message, outputs)
        for answer in answers:
            for k in range(N_FRAMES):
                n += 1
                answer["content"] += [{"type": "text", "text": f"Frame {k + 1}:\n"}, frame(n)]
        history += [message, *answers]
    return requests


@pytest.mark.parametrize(
    ("route", "n_calls", "most"),
    [
        ("anthropic", 1, 40),
        ("anthropic", 3, 24),
        ("bedrock", 3, 32),
        ("openai-responses", 1, 40),
        ("azure", 1, 40),
        ("fireworks", 1, 24),
        ("mistral", 1, 8),
        ("mistral", 2, 8),
        ("groq", 1, 5),
    ],
)
def test_no_request_is_refused(route: str, n_calls: int, most: int) -> None:
    """Twelve turns of eight frames a call; what was counted in the body is what was planned."""
    with loopback(looking(n_calls)) as server:
        requests = episode(server, route)
        arrived = [len(exchange.request.images) for exchange in server.exchanges if exchange.request]
    assert [request["n_images"] for request in requests] == arrived
    assert [request["n_images_on_wire"] for request in requests] == arrived
    assert max(arrived) == most
    assert arrived[-1] > 0
    assert requests[-1]["n_images_in_history"] == (N_TURNS - 1) * n_calls * N_FRAMES


@pytest.mark.parametrize("route", ["vllm", "openrouter", "litellm-proxy"])
def test_a_limit_that_nobody_knew_is_learned(route: str) -> None:
    """A refusal for the number of pictures halves it, once a request; it is recorded, and holds from then on."""
    with loopback(looking(1)) as server:
        server.inject(InjectedFault(kind="invalid", turn=5, message="At most 20 image(s) may be provided."))
        requests = episode(server, route)
    assert [request["n_images"] for request in requests[:4]] == [0, 8, 16, 24]
    assert [r["kind"] for r in requests[4]["retries"]] == ["too_many_images"]
    assert (requests[4]["max_images"], requests[4]["n_images"]) == (16, 16)
    assert all(request["n_images"] <= 16 and not request["retries"] for request in requests[5:])


def test_a_setting_goes_before_what_is_known() -> None:
    """`max_images`, `image_window`."""
    with loopback(looking(1)) as server:
        assert max(r["n_images"] for r in episode(server, "anthropic", 6, max_images=3)) == 3
    with loopback(looking(1)) as server:
        assert max(r["n_images"] for r in episode(server, "anthropic", 8, image_window=0)) == 56
