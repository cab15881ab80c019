"""An ACP client for tests, over the pipes of a program. It checks every line against the protocol's schema."""

from __future__ import annotations

import itertools
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.acp_clients import violations
from tests.daemons import SECONDS

Message = dict[str, Any]
Answering = Callable[[Message], object]
FORMS: Message = {"elicitation": {"form": {}}}


class Failed(AssertionError):
    """A request was answered with an error."""

    def __init__(self, error: Message) -> None:
        super().__init__(error)
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: Any = error.get("data")


def pick(number: int) -> Answering:
    """Answers each permission with one of its options, and each form with its first choices."""

    def answer(request: Message) -> object:
        if request["method"] == "elicitation/create":
            fields = request["params"]["requestedSchema"]["properties"]
            return {
                "action": "accept",
                "content": {
                    key: _first(field)
                    for key, field in fields.items()
                    if "oneOf" in field or "items" in field
                },
            }
        chosen = request["params"]["options"][number]["optionId"]
        return {"outcome": {"outcome": "selected", "optionId": chosen}}

    return answer


def _first(field: Message) -> object:
    if "oneOf" in field:
        return field["oneOf"][0]["const"]
    return [field["items"]["anyOf"][0]["const"]]


class AcpClient:
    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.updates: list[Message] = []
        self.asked: list[Message] = []
        self.withdrawn: list[int] = []
        self.answering: Answering | None = pick(0)
        self._ids = itertools.count(1)
        self._methods: dict[int, str] = {}
        self._answers: dict[int, Message] = {}
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            for line in stdout:
                self._lines.put(line)
        self._lines.put(b"")

    # What a client sends.

    def send(self, method: str, params: object) -> int:
        """Send a request. Returns its id."""
        id = next(self._ids)
        self._methods[id] = method
        self._write({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        return id

    def notify(self, method: str, params: object) -> None:
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def write_line(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def _write(self, message: object) -> None:
        self.write_line(json.dumps(message).encode())

    # What comes back.

    def answer(self, id: int) -> Any:
        """The result of a request, once it is there."""
        self.until(lambda: id in self._answers)
        found = self._answers[id]
        if "error" in found:
            raise Failed(found["error"])
        return found["result"]

    def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            self.take()

    def take(self) -> Message:
        """The next message, which is checked, answered and kept."""
        line = self._lines.get(timeout=SECONDS)
        assert line, "the program ended"
        message: Message = json.loads(line)
        method = message.get("method")
        assert violations(message, self._methods.get(message.get("id", -1)) if not method else None) == []
        if method == "session/update":
            self.updates.append(message["params"]["update"])
        elif method == "$/cancel_request":
            self.withdrawn.append(message["params"]["requestId"])
        elif method is not None:
            self.asked.append(message)
            if self.answering is not None:
                self.reply(message)
        elif message["id"] is not None:
            self._answers[message["id"]] = message
        return message

    def next_error(self) -> Any:
        """The next error that answers no request."""
        while (message := self.take()).get("id", 0) is not None:
            pass
        return message["error"]

    def reply(self, request: Message) -> None:
        assert self.answering is not None
        self._write({"jsonrpc": "2.0", "id": request["id"], "result": self.answering(request)})

    # What most tests do.

    def call(self, method: str, **params: object) -> Any:
        return self.answer(self.send(method, params))

    def initialize(self, **capabilities: object) -> Any:
        return self.call("initialize", protocolVersion=1, clientCapabilities=capabilities)

    def new(self, cwd: object) -> str:
        session: str = self.call("session/new", cwd=str(cwd), mcpServers=[])["sessionId"]
        return session

    def prompt(self, session: str, *texts: str) -> Any:
        """Send a prompt; the answer at the end of its turn. `updates` has what came in the meantime."""
        self.updates.clear()
        return self.answer(self.send_prompt(session, *texts))

    def send_prompt(self, session: str, *texts: str) -> int:
        blocks = [{"type": "text", "text": text} for text in texts]
        return self.send("session/prompt", {"sessionId": session, "prompt": blocks})

    def of_kind(self, kind: str) -> list[Message]:
        return [update for update in self.updates if update["sessionUpdate"] == kind]

    @property
    def text(self) -> str:
        """What the agent said."""
        return "".join(update["content"]["text"] for update in self.of_kind("agent_message_chunk"))

    def close(self) -> int:
        """Close its stdin, as an editor does. Returns the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            return self.process.wait(SECONDS)
        finally:
            self.process.kill()
            self.process.wait()
            self._reader.join(SECONDS)


@contextmanager
def acp_program(*arguments: str, env: Mapping[str, str], command: Sequence[str] = ()) -> Iterator[AcpClient]:
    """`sandbox-agent acp`, with a client that talks to it."""
    words = command or (sys.executable, "-m", "sandbox_agent", "acp", *arguments)
    process = subprocess.Popen(list(words), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=dict(env))
    client = AcpClient(process)
    try:
        yield client
    finally:
        client.close()
