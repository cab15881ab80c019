"""A TCP proxy that can fail in the ways a network does."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import Literal

Way = Literal["open", "black_hole", "swallow_answers", "drop_notices"]
"""`black_hole` passes nothing on, `swallow_answers` passes on what clients send, `drop_notices` everything but the notifications of
LISTEN. Connections stay open."""


class Proxy:
    def __init__(self, port: int) -> None:
        self._target = port
        self.way: Way = "open"
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self.is_refusing = False
        """New connections are closed at once."""
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """End all connections."""
        with self._lock:
            sockets, self._sockets = self._sockets, set()
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def close(self) -> None:
        self.is_refusing = True
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.is_refusing:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:  # the server is down
                client.close()
                continue
            for each in (client, server):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._sockets |= {client, server}
            for source, sink, is_answer in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass_on, args=(source, sink, is_answer), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket, is_answer: bool) -> None:
        rest = b""
        with contextlib.suppress(OSError):
            while chunk := source.recv(1 << 16):
                if self.way == "drop_notices" and is_answer:
                    kept, rest = _without_notices(rest + chunk)
                    sink.sendall(kept)
                elif self.way == "open" or (self.way != "black_hole" and not is_answer):
                    sink.sendall(chunk)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
            with self._lock:
                self._sockets.discard(each)


def _without_notices(answers: bytes) -> tuple[bytes, bytes]:
    """Whole messages of the server that are not notifications, and the beginning of the next one."""
    kept = b""
    while len(answers) >= 5:
        size = 1 + int.from_bytes(answers[1:5], "big")
        if len(answers) < size:
            break
        if answers[:1] != b"A":
            kept += answers[:size]
        answers = answers[size:]
    return kept, answers
