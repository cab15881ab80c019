"""A proxy between a client and the daemon that loses answers after it has passed the requests on."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from tests.daemons import SECONDS

Fault = Literal["500", "cut"]

ANSWER_500 = b"HTTP/1.1 500 Internal Server Error\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}"


class Proxy(socketserver.ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, target: int, faults: list[Fault]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = target
        self.faults = faults
        """What happens to the responses to the first requests; all others pass."""
        self.lock = threading.Lock()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Handler(socketserver.BaseRequestHandler):
    server: Proxy

    def handle(self) -> None:
        request = _read_request(self.request)
        with self.server.lock:
            fault = self.server.faults.pop(0) if self.server.faults else None
        with socket.create_connection(("127.0.0.1", self.server.target), SECONDS) as daemon:
            daemon.sendall(request)
            if fault == "cut":
                return
            with contextlib.suppress(OSError):
                while piece := daemon.recv(65536):
                    if fault is None:
                        self.request.sendall(piece)
                if fault == "500":
                    self.request.sendall(ANSWER_500)


def _read_request(client: socket.socket) -> bytes:
    """One request, as the only one of its connection."""
    text = b""
    while b"\r\n\r\n" not in text and (piece := client.recv(65536)):
        text += piece
    head, _, body = text.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"connection:")]
    length = next((int(line[15:]) for line in lines if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length and (piece := client.recv(65536)):
        body += piece
    return b"\r\n".join([*lines, b"Connection: close", b"", body])


@contextmanager
def proxy(target: int, *faults: Fault) -> Iterator[Proxy]:
    with Proxy(target, list(faults)) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
