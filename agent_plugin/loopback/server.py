"""The network side: HTTP on 127.0.0.1, a thread a connection, bounded requests, and nothing left after `close`."""

import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from agent_plugin.loopback.control import control
from agent_plugin.loopback.injected import FaultPlan, InjectedFault
from agent_plugin.loopback.player import Player, Reply
from agent_plugin.loopback.record import Exchange, Exchanges
from agent_plugin.loopback.routes import ROUTES, Route
from agent_plugin.scripted_file import ScriptedFile, load_scripted

MAX_REQUEST_BYTES = 64 * 2**20
_IDLE_SECONDS = 60.0


class LoopbackServer:
    """A provider on 127.0.0.1. Use `loopback(...)` as a context manager, or call `close` yourself."""

    def __init__(
        self,
        script: ScriptedFile | Path,
        *,
        faults: Sequence[InjectedFault] = (),
        key: str | None = None,
        port: int = 0,
        keep: int = 2_000,
    ) -> None:
        self._exchanges = Exchanges(keep)
        self._plan = FaultPlan(faults)
        turns = load_scripted(script) if isinstance(script, Path) else script
        self._key = key
        self._http = _Http(port, Player(turns, self._plan, self._exchanges, key))
        self._thread = threading.Thread(
            target=self._http.serve_forever,
            kwargs={"poll_interval": 0.02},
            name=self._http.thread_name,
            daemon=True,
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def route(self, name: str) -> Route:
        """How litellm reaches one of its providers. Raises KeyError for a name that `ROUTES` does not hold."""
        return ROUTES[name](self.url, self._key or "loopback")

    @property
    def exchanges(self) -> list[Exchange]:
        """What arrived so far, the newest last; the newest `keep` of them."""
        return self._exchanges.all()

    def forget(self) -> None:
        """Forget what arrived."""
        self._exchanges.clear()

    def inject(self, *faults: InjectedFault) -> None:
        """These faults and no others from now on; their counts begin at nothing."""
        self._plan.replace(faults)

    def wait(self) -> None:
        """Until `close` is called from another thread, or the user interrupts."""
        while self._thread.is_alive():
            self._thread.join(0.5)

    def close(self) -> None:
        """Stop listening, end every connection and thread."""
        self._http.stop()
        self._thread.join()


@contextmanager
def loopback(script: ScriptedFile | Path, **options: Any) -> Iterator[LoopbackServer]:
    """A server for the time of a `with`. `options`: those of LoopbackServer."""
    server = LoopbackServer(script, **options)
    try:
        yield server
    finally:
        server.close()


class _Http(ThreadingHTTPServer):
    """Keeps account of its connections, so that closing does not wait for those that are idle or stalled."""

    request_queue_size = 512

    def __init__(self, port: int, player: Player) -> None:
        self.player = player
        self.closing = threading.Event()
        self._open: dict[socket.socket, threading.Thread] = {}
        self._lock = threading.Lock()
        super().__init__(("127.0.0.1", port), _Connection)
        self.thread_name = f"loopback {self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """A thread of its own, a daemon: a process whose test was killed still ends."""
        thread = threading.Thread(
            target=self.process_request_thread, args=(request, client_address), name=self.thread_name, daemon=True
        )
        with self._lock:
            self._open[request] = thread
        thread.start()

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error; anything else is one, and shown by socketserver."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)

    def stop(self) -> None:
        """End it all; returns when every thread is gone."""
        self.closing.set()
        self.shutdown()
        with self._lock:
            connections = dict(self._open)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # the other side was quicker
                pass
        for thread in connections.values():
            thread.join()
        self.server_close()


class _Connection(BaseHTTPRequestHandler):
    """One connection, any number of requests."""

    protocol_version = "HTTP/1.1"
    timeout = _IDLE_SECONDS
    server: _Http

    def do_POST(self) -> None:
        raw = self._body()
        if raw is None:
            return
        reply = self.server.player.reply(self.path, dict(self.headers.items()), raw)
        self._deliver(reply)

    def do_GET(self) -> None:
        status, body = control(self.server.player, "GET", self.path, b"")
        self._send(status, body, {})

    def do_PUT(self) -> None:
        raw = self._body()
        if raw is not None:
            status, body = control(self.server.player, "PUT", self.path, raw)
            self._send(status, body, {})

    def log_message(self, format: str, *args: Any) -> None:
        """Not a line on stderr for each request."""

    def _body(self) -> bytes | None:
        """The body, or None when it was refused: without a length, or too long."""
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal():
            self.close_connection = True
            self._send(411, b'{"error": {"message": "Content-Length is missing"}}', {})
            return None
        if int(length) > MAX_REQUEST_BYTES:
            self.close_connection = True
            self._send(413, b'{"error": {"type": "request_too_large", "message": "Request is too large"}}', {})
            return None
        return self.rfile.read(int(length))

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self._head(status, len(body), headers)
        self.wfile.write(body)

    def _head(self, status: int, length: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in ({"Content-Type": "application/json", "Content-Length": str(length)} | headers).items():
            self.send_header(name, value)
        self.end_headers()

    def _deliver(self, reply: Reply) -> None:
        """As the fault says, if there is one."""
        kind = reply.fault.kind if reply.fault else ""
        half = reply.body[: len(reply.body) // 2]
        if kind == "stall":
            self.server.closing.wait()
            self.close_connection = True
        elif kind == "cut":
            self._head(reply.status, len(reply.body), reply.headers)
            self.wfile.write(half)
            self.close_connection = True
        elif kind == "malformed":
            self._send(reply.status, half, reply.headers)
        elif kind == "drip":
            assert reply.fault is not None
            self._drip(reply, reply.fault.seconds)
        else:
            self._send(reply.status, reply.body, reply.headers)

    def _drip(self, reply: Reply, seconds: float) -> None:
        self._head(reply.status, len(reply.body), reply.headers)
        for byte in reply.body:
            if self.server.closing.wait(seconds):
                self.close_connection = True
                return
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
