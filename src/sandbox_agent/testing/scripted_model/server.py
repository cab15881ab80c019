"""The scripted model's HTTP server; the other modules of this package decide the replies."""

from __future__ import annotations

import gzip
import re
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec import Struct

from . import anthropic, chat, responses
from .amp import AmpService
from .model_request import Kind, ModelRequest, Wire
from .scenarios import SCENARIOS, Scenario, choose
from .script import Attempts, reply_to
from .steps import Cut, Delay, HttpError, Refusal, Reply, Step, StreamError
from .wire import Frame, WireFormat

WIRES: dict[str, WireFormat] = {
    "/messages": anthropic,
    "/responses": responses,
    "/chat/completions": chat,
}
MODELS = ("scripted-1", "scripted-2", "scripted-a", "scripted-r")
UNKNOWN_MODEL = "no-such"  # a model with this prefix is not found


class Request(Struct, frozen=True):
    """An agent's request to the model."""

    wire: Wire
    kind: Kind
    model: str
    effort: str | None
    stream: bool
    tools: tuple[str, ...]
    images: tuple[str, ...]
    prompt: str
    user_messages: int
    scenario: str
    round: int
    found: frozenset[str] = frozenset()
    """The phrases of `look_for` that are anywhere in it."""


class ScriptedModel:
    """A model server on this machine whose replies are scripted by the prompt.

    with ScriptedModel() as model:
        run_agent(environment=offline_environment("claude", model.base_url, home))
        assert model.requests[0].model == "claude-opus-5-5"
    """

    def __init__(
        self, *, host: str = "127.0.0.1", port: int = 0, scenarios: Mapping[str, Scenario] | None = None
    ) -> None:
        self._scenarios: dict[str, Scenario] = {**SCENARIOS, **(scenarios or {})}
        self._attempts = Attempts()
        self._amp = AmpService()
        self._requests: list[Request] = []
        self._phrases: tuple[str, ...] = ()
        self._arrived = threading.Condition()
        self._stopping = threading.Event()
        self._server = _Server((host, port), _Handler)
        self._server.model = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def serve(self) -> None:
        """Serve until `close`, in the foreground."""
        self._server.serve_forever()

    def close(self) -> None:
        """Stop serving, and cut all connections."""
        if self._stopping.is_set():
            return
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._server.cut_all()

    @property
    def base_url(self) -> str:
        """Its address, without `/v1`."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far."""
        with self._arrived:
            return tuple(self._requests)

    def wait_for(self, matches: Callable[[Request], bool], timeout: float = 30.0) -> Request:
        """The first request of a kind, as soon as it arrives."""
        with self._arrived:
            request = self._arrived.wait_for(
                lambda: next((each for each in self._requests if matches(each)), None), timeout
            )
        if request is None:
            raise TimeoutError(f"no such request within {timeout} s")
        return request

    def look_for(self, *phrases: str) -> None:
        """From now on, note which requests contain a phrase, which must be the same in JSON. Bodies are not kept."""
        self._phrases += phrases

    @contextmanager
    def without_amp_threads(self) -> Iterator[None]:
        """In this context Amp's service accepts no conversations: one that is killed is lost."""
        self._amp.takes_threads = False
        try:
            yield
        finally:
            self._amp.takes_threads = True

    def amp_thread(self, id: str) -> str:
        """A conversation as stored by Amp's service, as JSON; empty if it is not there."""
        return self._amp.stored(id)

    def add_scenario(self, name: str, steps: Scenario) -> None:
        """Add a scenario: steps, or a function from the marker's argument to steps."""
        self._scenarios[name] = steps

    def answer(self, request: ModelRequest, call_prefix: str, body: bytes = b"") -> Reply | Refusal:
        """Record a request and decide the reply."""
        with self._arrived:
            self._requests.append(self._record_of(request, body))
            self._arrived.notify_all()
        if request.model.startswith(UNKNOWN_MODEL):
            return Refusal(HttpError(404, f"model: {request.model}"))
        return reply_to(request, self._scenarios, self._attempts, call_prefix)

    def answer_amp(self, body: bytes) -> dict[str, Any]:
        return self._amp.answer(body)

    def pause(self, seconds: float) -> None:
        """Wait, but no longer than the server lives."""
        if self._stopping.wait(seconds):
            raise ConnectionAbortedError("the scripted model was closed")

    def _record_of(self, request: ModelRequest, body: bytes) -> Request:
        return Request(
            wire=request.wire,
            kind=request.kind,
            model=request.model,
            effort=request.effort,
            stream=request.stream,
            tools=tuple(tool.name for tool in request.tools),
            images=request.images,
            prompt=request.prompt,
            user_messages=request.user_messages,
            scenario=choose(request.prompt, self._scenarios).name if request.kind == "turn" else "",
            round=request.round,
            found=frozenset(phrase for phrase in self._phrases if phrase.encode() in body),
        )


def load_scenarios(file: bytes) -> dict[str, Sequence[Step]]:
    """Scenarios from a JSON object of lists of steps."""
    return msgspec.json.decode(file, type=dict[str, Sequence[Step]])


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    model: ScriptedModel

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        super().__init__(address, handler)
        self.connections: set[socket.socket] = set()

    def cut_all(self) -> None:
        for connection in list(self.connections):
            with suppress(OSError):  # it may have ended just now
                connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """An agent that disconnects in mid-stream is not an error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise a stream of small frames stalls for 40 ms whenever the reader's ACK is late.
    disable_nagle_algorithm = True
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        with suppress(OSError):  # the client is gone
            super().finish()

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(200, None)

    def do_GET(self) -> None:
        if self.headers.get("upgrade", "").lower() == "websocket":
            self._send(426, {"error": {"message": "There is no websocket here."}})
        elif self._path().endswith("/models"):
            self._send(200, {"object": "list", "data": [_model(id) for id in MODELS], "has_more": False})
        elif self._path().startswith("/api/"):
            self._send(200, {"ok": True})
        else:
            self._not_found()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        path = self._path()
        if path.endswith("/messages/count_tokens"):
            self._send(200, {"input_tokens": max(1, len(body) // 4)})
        elif wire := next((wire for end, wire in WIRES.items() if path.endswith(end)), None):
            self._answer(wire, body)
        elif path == "/api/internal":
            self._send(200, self.server.model.answer_amp(body))
        elif path.startswith("/api/"):
            self._send(200, {"ok": True})
        else:
            self._not_found()

    def _path(self) -> str:
        """The path without its query, and without the prefix that Amp's service puts before a provider's."""
        return re.sub(r"^/api/provider/[^/]+", "", self.path.partition("?")[0])

    def _answer(self, wire: WireFormat, body: bytes) -> None:
        try:
            request = wire.read(body)
        except msgspec.DecodeError as error:
            self._send(400, wire.problem(400, f"Not a valid request: {error}", ""))
            return
        match self.server.model.answer(request, wire.CALL_ID_PREFIX, body):
            case Refusal() as refusal:
                self.server.model.pause(refusal.after_seconds)
                self._fail(wire, refusal.error)
            case reply if request.stream:
                self._stream(wire.stream(reply))
            case reply:
                self._whole(wire, reply)

    def _fail(self, wire: WireFormat, error: HttpError | StreamError) -> None:
        retry_after = error.retry_after if isinstance(error, HttpError) else None
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        self._send(error.status, wire.problem(error.status, error.message, error.code), headers)

    def _whole(self, wire: WireFormat, reply: Reply) -> None:
        for part in reply.parts:
            match part:
                case Delay(seconds):
                    self.server.model.pause(seconds)
                case StreamError():
                    self._fail(wire, part)
                    return
                case Cut(streams_only=False):
                    self._cut()
                    return
        self._send(200, wire.whole(reply))

    def _stream(self, frames: Iterable[Frame]) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.send_header("cache-control", "no-cache")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for frame in frames:
            match frame:
                case bytes():
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(frame), frame))
                    self.wfile.flush()
                case Delay(seconds):
                    self.server.model.pause(seconds)
                case Cut():
                    self._cut()
                    return
        self.wfile.write(b"0\r\n\r\n")

    def _cut(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _not_found(self) -> None:
        self._send(404, anthropic.problem(404, f"There is no {self.command} {self.path} here.", ""))

    def _send(self, status: int, value: Any, headers: Mapping[str, str] | None = None) -> None:
        content = b"" if value is None else msgspec.json.encode(value)
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(content)


def _model(id: str) -> dict[str, str]:
    return {"id": id, "object": "model", "type": "model", "display_name": id, "owned_by": "scripted"}
