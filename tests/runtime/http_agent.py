"""An agent that is a small HTTP server, to test the link. Uses only the standard library, and runs as a script."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CREDENTIALS = "Basic " + base64.b64encode(b"agent:" + os.environ["SECRET"].encode()).decode()


class Streams:
    """The connections that read events."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.open: list[socket.socket] = []
        self.count = 0

    def add(self, connection: socket.socket) -> int:
        with self.changed:
            self.open.append(connection)
            self.count += 1
            self.changed.notify_all()
            return self.count

    def tell(self, event: object) -> None:
        data = b"data: " + json.dumps(event).encode() + b"\n\n"
        with self.changed:
            for connection in self.open:
                connection.sendall(b"%x\r\n%b\r\n" % (len(data), data))

    def flood(self, count: int) -> bool:
        """Send this many events of 64 KiB in the background. Returns whether the reader applies back-pressure."""
        (connection,) = self.open
        waits = threading.Event()
        decided = threading.Event()

        def send() -> None:
            for number in range(count):
                data = b"data: " + json.dumps([number, "x" * 65536]).encode() + b"\n\n"
                left = b"%x\r\n%b\r\n" % (len(data), data)
                while left:
                    if select.select([], [connection], [], 0.5)[1]:
                        # The room that select saw may be gone by now.
                        with contextlib.suppress(BlockingIOError):
                            left = left[connection.send(left, socket.MSG_DONTWAIT) :]
                    else:
                        waits.set()
                        decided.set()
            decided.set()

        threading.Thread(target=send, daemon=True).start()
        decided.wait()
        return waits.is_set()

    def drop(self, goodbye: bytes) -> None:
        with self.changed:
            for connection in self.open:
                connection.sendall(goodbye)
                connection.shutdown(socket.SHUT_RDWR)
            self.open.clear()


streams = Streams()
gate = threading.Event()
refused = int(os.environ.get("REFUSE_STREAMS", "0"))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except ConnectionError:
            self.close_connection = True

    def do_GET(self) -> None:
        global refused
        if self.headers["Authorization"] != CREDENTIALS:
            self.answer(401, {"error": "who are you?"})
        elif self.path == "/events":
            if refused:
                refused -= 1
                self.answer(503, None)
                return
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            number = streams.add(self.connection)
            streams.tell({"stream": number})
            with streams.changed:
                streams.changed.wait_for(lambda: self.connection not in streams.open)
            self.close_connection = True
        elif self.path == "/text":
            self.answer(200, b"not JSON")
        else:
            self.answer(200, {"got": self.path})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        given = json.loads(body) if body else None
        match self.path.split("/")[1:]:
            case ["say"]:
                streams.tell({"said": given})
                self.answer(204, None)
            case ["echo"]:
                self.answer(200, {"given": given, "type": self.headers["Content-Type"]})
            case ["long", size]:
                streams.tell({"long": "x" * int(size)})
                self.answer(200, {"long": "y" * int(size)})
            case ["things", _, "wait"]:
                streams.tell("waiting")
                gate.wait()
                self.answer(200, {"got": self.path})
            case ["open"]:
                gate.set()
                self.answer(204, None)
            case ["flood", count]:
                self.answer(200, {"waits": streams.flood(int(count))})
            case ["drop", how]:
                streams.drop(b"0\r\n\r\n" if how == "politely" else b"")
                self.answer(204, None)
            case ["hang-up"]:
                self.close_connection = True
            case ["nonsense"]:
                self.connection.sendall(b"SPDY/7 what?\r\n\r\n")
                self.close_connection = True
            case ["child"]:
                child = subprocess.Popen(["sleep", "600"], start_new_session=True)
                self.answer(200, {"pid": child.pid})
            case ["die"]:
                streams.tell({"last": "words"})
                sys.stderr.write("something broke\n")
                sys.stderr.flush()
                os._exit(3)
            case _:
                self.answer(404, {"name": "NotFound"})

    def answer(self, status: int, content: object) -> None:
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if status != 204:
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


if __name__ == "__main__":
    if "DIE_AT_START" in os.environ:
        sys.exit("no port is free")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print("warming up", flush=True)
    print(f"agent listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
