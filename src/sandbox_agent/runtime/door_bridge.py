"""The MCP server through which an agent gives work to other sessions: connects stdin and stdout to the socket of its session.

Uses only the standard library, because it runs beside the agent in the agent's environment.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading

CHUNK = 64 << 10


def run(path: str) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        threading.Thread(target=_forward, args=[connection], daemon=True).start()
        while chunk := connection.recv(CHUNK):
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()


def _forward(connection: socket.socket) -> None:
    """The end of stdin is the end of the connection."""
    with contextlib.suppress(OSError):
        while chunk := os.read(sys.stdin.fileno(), CHUNK):
            connection.sendall(chunk)
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    with contextlib.suppress(OSError, KeyboardInterrupt):
        run(sys.argv[1])
