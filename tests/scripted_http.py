"""A server with scripted answers, for what a real daemon does only when things go wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

import msgspec


class Asked(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@contextmanager
def server(*answers: bytes) -> Iterator[tuple[str, list[Asked]]]:
    """Gives each request the next answer and closes the connection; an empty one means none. Records the requests."""
    waiting = list(answers)
    asked: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = self.rfile.read(int(headers.get("content-length", 0)))
            asked.append(Asked(self.command, self.path, headers, body))
            self.wfile.write(waiting.pop(0))

        do_GET = do_POST = do_DELETE = do_PATCH = answer

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{http.server_port}", asked
        finally:
            http.shutdown()
            thread.join()


def answer(body: object = None, status: int = 200, **headers: str) -> bytes:
    """A complete answer; JSON if it has a body."""
    content = b"" if body is None else msgspec.json.encode(body)
    sent_headers = {"content-length": str(len(content)), "connection": "close", **headers}
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in sent_headers.items())
    return f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + content


def problem(
    type: str, status: int, detail: str = "", retry_after: str | None = None, **facts: object
) -> bytes:
    body = {
        "type": f"urn:sandbox-agent:error:{type}",
        "title": type,
        "status": status,
        "detail": detail,
        **facts,
    }
    return answer(body, status, **({"retry_after": retry_after} if retry_after else {}))


def stream(*frames: bytes, cut: bool = False) -> bytes:
    """An answer with these frames. One that is cut promises more than it holds."""
    body = b"".join(frames)
    length = len(body) + (1 if cut else 0)
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
    return head + b"Content-Length: %d\r\n\r\n%b" % (length, body)


def numbered(*numbers: int) -> list[bytes]:
    return [b"id: %d\ndata: e%d\n\n" % (number, number) for number in numbers]
