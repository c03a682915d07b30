"""The server: on this machine alone, bounded, without secrets in its record, and gone when it is closed."""

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from agent_plugin.loopback import server as server_module
from agent_plugin.loopback.injected import InjectedFault
from agent_plugin.loopback.server import LoopbackServer, loopback
from tests.agent_plugin.loopback.pictures import picture
from tests.agent_plugin.loopback.scripts import script

SCRIPT = script({"text": "one"})
CHAT = "/openai/v1/chat/completions"
BODY = {"model": "m", "messages": [{"role": "user", "content": "brief"}]}
KEY = {"Authorization": "Bearer a-secret-key"}


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackServer]:
    with loopback(SCRIPT) as running:
        yield running


def request(
    server: LoopbackServer, path: str, body: Any = BODY, method: str = "POST", headers: dict[str, str] = KEY
) -> tuple[int, Any]:
    """(status, JSON)."""
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"), timeout=5)
    try:
        connection.request(method, path, body if isinstance(body, bytes) else json.dumps(body), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_it_listens_on_this_machine_alone(server: LoopbackServer) -> None:
    """On a free port of 127.0.0.1."""
    assert server.url.startswith("http://127.0.0.1:")
    assert request(server, CHAT)[0] == 200


def test_closing_leaves_nothing() -> None:
    """No thread and no port, though one client is idle, one stalls and one drips; in under a second."""
    faults = [InjectedFault(kind="stall"), InjectedFault(kind="drip", seconds=0.05)]
    with loopback(SCRIPT, faults=faults) as server, ThreadPoolExecutor(2) as pool:
        port = int(server.url.rsplit(":", 1)[1])
        idle = socket.create_connection(("127.0.0.1", port))
        waiting = [pool.submit(request, server, CHAT) for _ in range(2)]
        while len(server.exchanges) < 2:
            time.sleep(0.01)
        started = time.monotonic()
        server.close()
        assert time.monotonic() - started < 1
        for future in waiting:
            with pytest.raises((http.client.HTTPException, ConnectionError)):
                future.result()
        idle.close()
    assert [thread for thread in threading.enumerate() if thread.name == f"loopback {port}"] == []
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))


def test_closing_twice_is_once(server: LoopbackServer) -> None:
    """So a test may close it inside the `with`."""
    with loopback(SCRIPT) as other:
        other.close()


def test_requests_are_bounded(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too long, or of a length that is not told."""
    monkeypatch.setattr(server_module, "MAX_REQUEST_BYTES", 100)
    assert request(server, CHAT, b"x" * 101)[0] == 413
    assert request(server, CHAT, b"", headers={"Transfer-Encoding": "chunked", **KEY})[0] == 411


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/v1/chat/completions", "No provider at '/v1/chat/completions'. The first part is one of: openai, azure,"),
        ("/openai/v1/completions", "openai has nothing at '/openai/v1/completions'. It speaks: openai_chat, responses"),
        ("/anthropic/v1/chat/completions", "anthropic has nothing at"),
    ],
)
def test_other_paths_are_told_what_there_is(server: LoopbackServer, path: str, words: str) -> None:
    """A 404 that helps, and no entry in the record."""
    before = len(server.exchanges)
    status, body = request(server, path)
    assert status == 404
    assert words in json.dumps(body)
    assert len(server.exchanges) == before


@pytest.mark.parametrize("body", [b"{", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"messages": 3, "model": 4}'])
def test_what_is_no_request_is_refused(server: LoopbackServer, body: bytes) -> None:
    """With a 400; the server goes on."""
    assert request(server, CHAT, body)[0] == 400
    assert request(server, CHAT)[0] == 200


def test_the_record_holds_no_secret_and_no_picture(server: LoopbackServer) -> None:
    """Neither in headers nor in the query; pictures are digests."""
    content = [{"type": "image_url", "image_url": {"url": picture("red")}}]
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    status, _ = request(server, CHAT + "?key=a-secret-key", body, headers=KEY | {"x-api-key": "a-secret-key"})
    assert status == 200
    exchange = server.exchanges[-1]
    assert "a-secret-key" not in repr(exchange)
    assert exchange.headers["authorization"] == "Bearer …"
    assert "base64" not in repr(exchange)
    assert exchange.request is not None
    assert [(seen.place, seen.image.size) for seen in exchange.request.images] == [("user message", (8, 8))]


def test_the_record_is_bounded() -> None:
    """The newest are kept, numbered over all; they can be forgotten."""
    with loopback(SCRIPT, keep=2) as server:
        for _ in range(3):
            request(server, CHAT)
        assert [exchange.number for exchange in server.exchanges] == [2, 3]
        server.forget()
        assert server.exchanges == []


def test_a_key_may_be_asked_for() -> None:
    """Then no other will do, wherever the provider looks for it."""
    with loopback(SCRIPT, key="right") as server:
        assert request(server, CHAT)[0] == 401
        assert request(server, CHAT, headers={"Authorization": "Bearer right"})[0] == 200
        assert request(server, "/azure/openai/deployments/m/chat/completions", headers={"api-key": "right"})[0] == 200
        assert server.route("openai").kwargs["api_key"] == "right"


def test_the_window_for_other_processes(server: LoopbackServer) -> None:
    """What arrived can be read, and faults set, over HTTP."""
    assert request(server, "/_loopback/faults", {"faults": [{"kind": "server_error"}]}, "PUT") == (200, {"faults": 1})
    assert request(server, CHAT)[0] == 500
    status, exchanges = request(server, "/_loopback/exchanges", b"", "GET")
    assert (status, exchanges[-1]["fault"], exchanges[-1]["request"]["model"]) == (200, "server_error", "m")
    assert request(server, "/_loopback/faults", {"faults": [{"kind": "flood"}]}, "PUT")[0] == 400
    assert request(server, "/_loopback/nothing", b"", "GET")[0] == 404
    server.inject()


def test_a_script_from_a_file(tmp_path: Path) -> None:
    """The same file as `scripted/<name>` plays."""
    path = tmp_path / "turns.yaml"
    path.write_text("model: x\nconversations: [{when: brief, turns: [{text: from a file}]}]")
    with loopback(path) as server:
        assert request(server, CHAT)[1]["choices"][0]["message"]["content"] == "from a file"


def test_off_script_is_refused(server: LoopbackServer) -> None:
    """In the provider's shape, with the script's reason; the code tells it from a true refusal."""
    body = {"model": "m", "messages": [*BODY["messages"], {"role": "assistant", "content": "x"}, *BODY["messages"]]}
    status, answer = request(server, CHAT, body)
    assert (status, answer["error"]["code"]) == (400, "off_script")
    assert answer["error"]["message"] == "loopback: the conversation has 1 turns; turn 2 was asked for"
