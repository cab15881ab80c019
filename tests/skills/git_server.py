"""A git server on loopback: `git http-backend` behind a small HTTP server, and repositories to serve."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

IDENTITY = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder: Path, *words: str) -> str:
    environ = {"PATH": os.environ["PATH"], **IDENTITY}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=environ, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.strip()


def commit(folder: Path) -> str:
    """Make a repository of a folder, or add a commit with everything in it. Returns the commit."""
    if not (folder / ".git").exists():
        git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "a commit")
    return git(folder, "rev-parse", "HEAD")


class _Backend(BaseHTTPRequestHandler):
    root: Path
    asked: list[str]

    def do_GET(self) -> None:
        self.asked.append(self.path)
        path, _, query = self.path.partition("?")
        length = int(self.headers.get("Content-Length") or 0)
        done = subprocess.run(
            ["git", "http-backend"],
            env={
                "PATH": os.environ["PATH"],
                **IDENTITY,
                "GIT_PROJECT_ROOT": str(self.root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "PATH_INFO": path,
                "QUERY_STRING": query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
                "REMOTE_ADDR": "127.0.0.1",
            },
            input=self.rfile.read(length),
            capture_output=True,
            timeout=60,
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        headers = [line.split(": ", 1) for line in head.decode().splitlines()]
        status = next((value for name, value in headers if name == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in headers:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


class GitServer:
    def __init__(self, port: int, asked: list[str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.asked = asked
        """The paths of all requests."""

    @property
    def fetches(self) -> int:
        return sum("info/refs" in path for path in self.asked)


@contextmanager
def serving(root: Path) -> Iterator[GitServer]:
    """Serve the repositories in a folder: `<url>/<name>/.git`."""
    handler = type("Handler", (_Backend,), {"root": root, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield GitServer(server.server_port, handler.asked)  # type: ignore[attr-defined]
        finally:
            server.shutdown()
            thread.join()
