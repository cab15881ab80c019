"""The mock agent's process: a coding agent without a model, which shows every feature without a key.

The first word of a prompt says what it does (`help` lists the keywords); anything else is echoed. It speaks
the JSON lines protocol that `agents/mock.py` declares. It uses only a little of the standard library, so that
it starts in a few milliseconds:

python -I -S mock_agent.py --state DIR (--conversation ID | --resume ID)
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections import deque

TYPE_CHECKING = False  # importing typing would take longer than this program needs to start
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, NoReturn

    Act = Callable[["Turn"], str | None]

STDIN = 0
CHUNK = 64 * 1024
ORPHANS_SLEEP_SECONDS = "3600"


class Interrupted(Exception):
    """The client cancelled the turn."""


class BadArguments(Exception):
    """The arguments of a keyword are invalid."""


# -- the conversation on disk -------------------------------------------------------------------


class Conversation:
    """Prompts and answers, one JSON line each: a prompt when its turn starts, an answer before it ends."""

    def __init__(self, folder: str, conversation_id: str) -> None:
        self.id = conversation_id
        self.prompts: list[str] = []
        self.answers: list[str] = []
        self._path = os.path.join(folder, conversation_id + ".jsonl")

    def exists(self) -> bool:
        return os.path.exists(self._path)

    def load(self) -> None:
        with open(self._path, "rb+") as file:
            *lines, torn = file.read().split(b"\n")
            # A process that was killed while writing leaves half a line: nothing was done with it.
            file.truncate(file.tell() - len(torn))
        entries = [json.loads(line) for line in lines]
        self.prompts = [entry["prompt"] for entry in entries if "prompt" in entry]
        self.answers = [entry["answer"] for entry in entries if "answer" in entry]

    def add_prompt(self, text: str) -> None:
        self.prompts.append(text)
        self._append({"prompt": text})

    def add_answer(self, text: str) -> None:
        self._append({"answer": text})

    def _append(self, entry: dict[str, str]) -> None:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        with open(self._path, "a", encoding="utf-8") as file:
            # Closed, so that it survives a kill; real agents do not sync to disk either.
            file.write(json.dumps(entry) + "\n")


# -- the two pipes ------------------------------------------------------------------------------


def encode(type: str, **fields: object) -> bytes:
    frame = json.dumps({"type": type, **fields}, ensure_ascii=False, separators=(",", ":"))
    return frame.encode(errors="replace") + b"\n"


class Pipes:
    """Frames out, commands in. Output is buffered until we would wait for input."""

    def __init__(self) -> None:
        self.commands: deque[dict[str, Any]] = deque()
        self._partial: list[bytes] = []

    def write(self, line: bytes) -> None:
        sys.stdout.buffer.write(line)

    def flush(self) -> None:
        sys.stdout.buffer.flush()

    def next_command(self, timeout: float | None) -> dict[str, Any] | None:
        """The next command, or None if none arrives in time. The process ends when its input does."""
        self.flush()
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self.commands:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([STDIN], [], [], left)[0]:
                return None
            self._read()
        return self.commands.popleft()

    def _read(self) -> None:
        chunk = os.read(STDIN, CHUNK)
        if not chunk:
            sys.exit(0)
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = b"".join([*self._partial, end])
            self._partial.clear()
            self._take(line)
        self._partial.append(rest)

    def _take(self, line: bytes) -> None:
        try:
            command = json.loads(line)
            self.commands.append({**command})
        except (ValueError, TypeError):
            print("mock agent: a command is not a JSON object", file=sys.stderr, flush=True)


class Reply:
    """The client's answer to a permission, a question or a plan."""

    def __init__(self, command: dict[str, Any]) -> None:
        self.id: object = command.get("id")
        self.accepted: bool = command.get("reply") in ("once", "always")
        self.answers: list[list[str]] | None = command.get("answers")
        message = command.get("message")
        self.comment = f" ({message})" if message else ""


# -- a turn -------------------------------------------------------------------------------------


class Turn:
    """One prompt and the work on it. Ids include the message's number, so they are unique in a conversation."""

    def __init__(self, agent: MockAgent, text: str, files: list[dict[str, str]]) -> None:
        self.agent = agent
        self.text = text
        self.files = files
        self.arguments = text.split()[1:]
        self.number = len(agent.conversation.prompts)
        self.texts: list[str] = []
        self.output_length = 0
        self.spent_usd = 0.0
        self._thought_length = 0
        self._ids = 0
        self._open_calls: list[str] = []
        self._pending: list[str] = []

    # What it says and does.

    def write(self, type: str, **fields: object) -> None:
        present = {name: value for name, value in fields.items() if value is not None}
        self.agent.pipes.write(encode(type, **present))

    def say(self, text: str, parent: str | None = None) -> None:
        """Send a complete text: several deltas, then the whole text."""
        if parent is None:
            text = self._prefix() + text
            self.texts.append(text)
        self.output_length += len(text)
        id = self.new_id("text")
        for piece in pieces(text):
            self.write("text", id=id, delta=piece, parent=parent)
        self.write("text_end", id=id, text=text, parent=parent)

    def begin_text(self, text: str) -> str:
        """Begin a text that will be continued; returns its id."""
        id = self.new_id("text")
        self.continue_text(id, self._prefix() + text)
        return id

    def continue_text(self, id: str, text: str) -> None:
        self.texts.append(text)
        self.output_length += len(text)
        self.write("text", id=id, delta=text)

    def think(self, text: str) -> None:
        self._thought_length += len(text)
        id = self.new_id("thinking")
        for piece in pieces(text):
            self.write("thinking", id=id, delta=piece)
        self.write("thinking_end", id=id)

    def call(self, name: str, input: dict[str, object], parent: str | None = None) -> str:
        id = self.new_id("call")
        self._open_calls.append(id)
        self.write("call", id=id, name=name, input=input, parent=parent)
        return id

    def output(self, call: str, text: str) -> None:
        self.write("output", id=call, delta=text)

    def result(self, call: str, output: str, **facts: object) -> None:
        self._open_calls.remove(call)
        self.write("result", id=call, output=output, **facts)

    def run(self, command: str, output: str, exit_code: int = 0, parent: str | None = None) -> None:
        """Pretend to run a command."""
        call = self.call("bash", {"command": command}, parent)
        for line in output.splitlines(keepends=True):
            self.output(call, line)
        self.result(call, output, exit_code=exit_code, failed=exit_code != 0)

    # What it asks.

    def allowed(self, tool: str, input: dict[str, object], kind: str, call: str, **shown: object) -> bool:
        """Ask for permission, unless none is needed. If rejected, the call fails."""
        if self.agent.settings.get("permissionMode") == "bypass":
            return True
        reply = self._ask("ask", tool=tool, input=input, kind=kind, call=call, **shown)
        return self.proceeds(reply, tool, call)

    def proceeds(self, reply: Reply, tool: str, call: str) -> bool:
        """Whether the call may proceed; a rejected one fails."""
        if not reply.accepted:
            self.result(call, f"The user rejected this call.{reply.comment}", failed=True)
            self.say(f"You did not allow {tool}{reply.comment}, so I leave it.")
        return reply.accepted

    def question(self, *questions: dict[str, object]) -> None:
        reply = self._ask("question", questions=questions)
        if reply.answers is None:
            self.say(f"You rejected the question{reply.comment}. I go on without an answer.")
            return
        chosen = [", ".join(labels) or "nothing" for labels in reply.answers]
        self.say("You chose: " + "; ".join(chosen) + ".")

    def approved(self, plan: str) -> Reply:
        reply = self._ask("plan", plan=plan)
        reply.accepted = reply.answers == [["approve"]]
        return reply

    def _ask(self, type: str, **fields: object) -> Reply:
        self.request(type, **fields)
        return self.next_reply()

    def request(self, type: str, **fields: object) -> str:
        """Ask for something without waiting; returns the id that the reply will carry."""
        id = self.new_id(type)
        self._pending.append(id)
        self.write(type, id=id, **fields)
        return id

    def next_reply(self) -> Reply:
        """The next reply to a request."""
        while True:
            reply = self.listen(None)
            if reply is not None and reply.id in self._pending:
                self._pending.remove(str(reply.id))
                return reply

    # Commands that arrive in the meantime.

    def listen(self, timeout: float | None) -> Reply | None:
        """Act on the next command; None if none arrived in time, or it was not a reply."""
        command = self.agent.pipes.next_command(timeout)
        match command:
            case None:
                return None
            case {"type": "cancel"}:
                raise Interrupted
            case {"type": "decision" | "answer"}:
                return Reply(command)
            case _:
                self.agent.accept(command)
                return None

    def wait_for(self, fd: int) -> None:
        """Wait until something can be read from this file; commands are handled in the meantime."""
        self.agent.pipes.flush()
        while fd not in select.select([fd, STDIN], [], [])[0]:
            self.listen(0.0)

    def pause_until(self, moment: float) -> None:
        """Wait until a time of the monotonic clock; a cancel is noticed even if that has passed."""
        self.listen(max(0.0, moment - time.monotonic()))
        while (left := moment - time.monotonic()) > 0:
            self.listen(left)

    # How it ends.

    def give_up(self) -> None:
        """The turn was cancelled: withdraw open requests, and fail running calls."""
        for id in self._pending:
            self.write("withdrawn", id=id)
        for call in reversed(self._open_calls.copy()):
            self.result(call, "interrupted", failed=True)

    def usage(self) -> dict[str, object]:
        """Numbers that depend only on the lengths of the texts: four characters are a token."""
        earlier = tokens(sum(map(len, self.agent.conversation.prompts[:-1])))
        thought = tokens(self._thought_length)
        spent_in, spent_out = earlier + tokens(len(self.text)), thought + tokens(self.output_length)
        return {
            "input_tokens": spent_in,
            "output_tokens": spent_out,
            "cache_read_tokens": earlier,
            "cache_write_tokens": 0,
            "reasoning_tokens": thought,
            "cost_usd": round(spent_in * 3e-6 + spent_out * 15e-6 + self.spent_usd, 6),
        }

    def new_id(self, kind: str) -> str:
        self._ids += 1
        return f"{kind}-{self.number}.{self._ids}"

    def _prefix(self) -> str:
        planning = self.agent.settings.get("agentMode") == "plan"
        return "Planning: " if planning and not self.texts else ""


def pieces(text: str) -> Iterator[str]:
    """A text in pieces as a model would stream it; a long one in no more than about forty."""
    step = max(12, len(text) // 40 + 1)
    return (text[start : start + step] for start in range(0, len(text), step))


def tokens(characters: int) -> int:
    return (characters + 3) // 4


# -- the keywords -------------------------------------------------------------------------------


class Keyword:
    def __init__(self, usage: str, shows: str, act: Act) -> None:
        self.usage = usage
        self.shows = shows
        self.act = act
        """Returns the stop reason if it is not `end_turn`."""


KEYWORDS: dict[str, Keyword] = {}


def keyword(usage: str, shows: str) -> Callable[[Act], Act]:
    def register(act: Act) -> Act:
        KEYWORDS[usage.split()[0]] = Keyword(usage, shows, act)
        return act

    return register


def number(turn: Turn, position: int, default: int) -> int:
    """A number among the arguments; a suffix `k` or `m` stands for 1024 or 1024 * 1024."""
    if position >= len(turn.arguments):
        return default
    text = turn.arguments[position].lower()
    factor = {"k": 1024, "m": 1024 * 1024}.get(text[-1:], 1)
    digits = text.rstrip("km")
    if not digits.isdecimal():
        raise BadArguments
    return int(digits) * factor


@keyword("help", "this list")
def help(turn: Turn) -> None:
    rows = [f"- `{each.usage}`: {each.shows}" for each in KEYWORDS.values()]
    turn.say("The first word of a prompt says what I do:\n\n" + "\n".join(rows) + "\n\nI echo anything else.")


@keyword("demo", "a bit of everything in one turn; it asks for two permissions and one answer")
def demo(turn: Turn) -> None:
    turn.arguments = []  # otherwise every part would get them as arguments
    think(turn)
    markdown(turn)
    tool(turn)
    permission(turn)
    edit(turn)
    question(turn)
    subagent(turn)
    show_usage(turn)


@keyword("markdown", "headings, lists, a table and a code block")
def markdown(turn: Turn) -> None:
    turn.say(
        "# A heading\n\nSome *emphasis*, some **weight** and a [link](https://example.com).\n\n"
        "## A smaller one\n\n- first\n- second\n  - nested\n\n1. one\n2. two\n\n"
        "| animal | legs |\n|---|---:|\n| ant | 6 |\n| spider | 8 |\n\n"
        '```python\ndef greet(name: str) -> str:\n    return f"Hello, {name}!"\n```\n\n> The end.'
    )


@keyword("thinking", "reasoning, then an answer")
def think(turn: Turn) -> None:
    turn.think("The user wants to see me think. First I look at the question, then I look at it again.")
    turn.say("I thought about it.")


@keyword("tool [CODE]", "a command with streamed output and an exit code (0 unless given)")
def tool(turn: Turn) -> None:
    code = number(turn, 0, 0)
    turn.run("seq 3", "1\n2\n3\n", code)
    turn.say(f"The command ended with exit code {code}.")


@keyword("parallel", "three calls at once, whose results come out of order")
def parallel(turn: Turn) -> None:
    first, second, third = (turn.call("read", {"path": f"{name}.txt"}) for name in ("one", "two", "three"))
    turn.output(first, "the first ")
    turn.result(second, "the second file")
    turn.output(third, "the third ")
    turn.output(first, "file")
    turn.result(third, "the third file")
    turn.result(first, "the first file")
    turn.say("I have read three files.")


@keyword("call TOOL [JSON]", "a tool of one of the session's MCP servers, with these arguments")
def call_tool(turn: Turn) -> None:
    tool = turn.arguments[0] if turn.arguments else ""
    try:
        arguments = json.loads(turn.text.split(maxsplit=2)[2]) if len(turn.arguments) > 1 else {}
    except ValueError:
        raise BadArguments from None
    servers: dict[str, dict[str, Any]] = turn.agent.settings.get("mcp", {})
    for name, config in servers.items():
        if "command" not in config:
            continue  # the mock starts servers, and reaches none over the network
        with McpServer(turn, config) as server:
            if tool in server.tools():
                action = f"mcp__{name}__{tool}"
                call = turn.call(action, arguments)
                if turn.allowed(action, arguments, "other", call):
                    output, failed = server.call(tool, arguments)
                    turn.result(call, output, failed=failed)
                    turn.say(f"{tool} {'failed' if failed else 'returned'}: {output}")
                return
    turn.say(f"No MCP server has a tool {tool}.")


class McpServer:
    """A server that is started for one call."""

    def __init__(self, turn: Turn, config: dict[str, Any]) -> None:
        import subprocess

        self._turn = turn
        self._requests = 0
        self._process = subprocess.Popen(
            [config["command"], *config.get("args", ())],
            env={**os.environ, **config.get("env", {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def __enter__(self) -> McpServer:
        client = {"name": "mock", "version": "1.0.0"}
        self._request("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        self._write(method="notifications/initialized")
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.communicate()

    def tools(self) -> list[str]:
        return [tool["name"] for tool in self._request("tools/list")["tools"]]

    def call(self, tool: str, arguments: object) -> tuple[str, bool]:
        answer = self._request("tools/call", name=tool, arguments=arguments)
        text = "".join(part.get("text", f"[{part['type']}]") for part in answer["content"])
        return text, bool(answer.get("isError"))

    def _write(self, **message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self._process.stdin.flush()

    def _request(self, method: str, **params: object) -> dict[str, Any]:
        output = self._process.stdout
        assert output is not None
        self._requests += 1
        self._write(id=self._requests, method=method, params=params)
        while True:
            self._turn.wait_for(output.fileno())
            line = output.readline()
            if not line:
                gone = {"type": "text", "text": "the server ended"}
                return {"content": [gone], "isError": True, "tools": []}
            message: dict[str, Any] = json.loads(line)
            if message.get("id") == self._requests:
                result: dict[str, Any] = message["result"]
                return result


@keyword(
    "edit [PATH]", "a file change with its diff; adds a line to PATH (`mock-edit.txt`) once it is permitted"
)
def edit(turn: Turn) -> None:
    import difflib

    shown = turn.arguments[0] if turn.arguments else "mock-edit.txt"
    path = os.path.abspath(shown)
    before = []
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            before = file.readlines()
    after = [*before, f"line {len(before) + 1}, from message {turn.number}\n"]
    names = (f"a/{shown}" if before else "/dev/null", f"b/{shown}")
    diff = "".join(difflib.unified_diff(before, after, *names))
    arguments: dict[str, object] = {"path": path, "content": "".join(after)}
    call = turn.call("edit", arguments)
    if not turn.allowed("edit", arguments, "edit", call, paths=[path], diff=diff):
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(after)
    action = "patch" if before else "write"
    turn.result(call, f"{shown} was written.", files=[{"path": path, "action": action, "diff": diff}])
    turn.say(f"Lines in {shown}: {len(after)}.")


@keyword(
    "permission [WORDS]",
    "asks before it really runs `echo WORDS`; a rejected call fails and the turn continues",
)
def permission(turn: Turn) -> None:
    import subprocess

    words = turn.arguments or ["hello", "from", "the", "mock", "agent"]
    arguments: dict[str, object] = {"command": " ".join(["echo", *words])}
    call = turn.call("bash", arguments)
    if not turn.allowed("bash", arguments, "command", call):
        return
    ran = subprocess.run(["echo", *words], capture_output=True, text=True, check=False)
    turn.output(call, ran.stdout)
    turn.result(call, ran.stdout, exit_code=ran.returncode)
    turn.say(f"The command said: {ran.stdout.strip()}")


@keyword("pair", "two calls that ask for permission at the same time; each waits for its own answer")
def pair(turn: Turn) -> None:
    waiting: dict[str, tuple[str, str]] = {}
    for words in ("echo one", "echo two"):
        call = turn.call("bash", {"command": words})
        arguments: dict[str, object] = {"command": words}
        asked = turn.request("ask", tool="bash", input=arguments, kind="command", call=call)
        waiting[asked] = (call, words)
    while waiting:
        reply = turn.next_reply()
        call, words = waiting.pop(str(reply.id))
        if turn.proceeds(reply, words, call):
            turn.result(call, words.removeprefix("echo ") + "\n", exit_code=0)
    turn.say("Both are answered.")


@keyword("late [SECONDS]", "a command that has run; its result arrives SECONDS (5) later")
def late(turn: Turn) -> None:
    import subprocess

    seconds = number(turn, 0, 5)
    arguments: dict[str, object] = {"command": "echo ran >> mock-late.txt"}
    call = turn.call("bash", arguments)
    if not turn.allowed("bash", arguments, "command", call):
        return
    turn.agent.pipes.flush()  # the call is reported before it is made
    ran = subprocess.run(["sh", "-c", str(arguments["command"])], check=False)
    turn.output(call, "it ran")
    turn.pause_until(time.monotonic() + seconds)
    turn.result(call, "it ran", exit_code=ran.returncode)
    turn.say("The command has run.")


def asked(question: str, header: str, labels: Iterable[str], multi_select: bool = False) -> dict[str, object]:
    options = [{"label": label, "description": f"Choose {label.lower()}"} for label in labels]
    return {"question": question, "header": header, "options": options, "multi_select": multi_select}


@keyword("question", "one question with three options")
def question(turn: Turn) -> None:
    turn.question(asked("Which colour do you like?", "Colour", ["Red", "Green", "Blue"]))


@keyword("multi", "three questions in one request; the second takes several answers")
def multi(turn: Turn) -> None:
    turn.question(
        asked("Which size?", "Size", ["Small", "Large"]),
        asked("Which toppings?", "Toppings", ["Cheese", "Basil", "Olives"], multi_select=True),
        asked("When?", "Time", ["Now", "Later"]),
    )


@keyword("plan", "a plan that wants approval")
def plan(turn: Turn) -> None:
    turn.say("I have made a plan.")
    reply = turn.approved("# Plan\n\n1. Read the code\n2. Change one line\n3. Run the tests")
    if reply.accepted:
        turn.run("make test", "3 passed\n")
        turn.say("The plan was approved, and it is done.")
    else:
        turn.say(f"The plan was not approved{reply.comment}. I keep planning.")


@keyword("image", "a tool result with a picture; says what it saw in attached ones")
def image(turn: Turn) -> None:
    call = turn.call("screenshot", {"width": 8, "height": 8})
    turn.result(call, "A picture of 8 by 8 pixels.", images=[{"mime": "image/png", "data": picture(8)}])
    seen = [describe(file) for file in turn.files]
    turn.say("I saw " + " and ".join(seen) + "." if seen else "I made a picture. You attached none.")


def picture(side: int) -> str:
    """A PNG with a colour gradient, in base64."""
    import binascii
    import struct
    import zlib

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = [b"\0" + bytes(v for x in range(side) for v in (x * 32, y * 32, 128)) for y in range(side)]
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    png += chunk(b"IDAT", zlib.compress(b"".join(rows))) + chunk(b"IEND", b"")
    return binascii.b2a_base64(png, newline=False).decode()


def describe(file: dict[str, str]) -> str:
    """Describes an attachment: its name, and facts about its content."""
    name = file.get("filename") or os.path.basename(file["path"])
    try:
        with open(file["path"], "rb") as opened:
            head = opened.read(24)
            size = os.fstat(opened.fileno()).st_size
    except OSError:
        return f"{name} (not readable)"
    if head.startswith(b"\x89PNG") and len(head) == 24:
        width, height = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
        return f"{name} (a PNG of {width} by {height} pixels, {size} bytes)"
    return f"{name} ({file.get('mime') or 'a file'}, {size} bytes)"


@keyword("usage", "a usage status, and numbers at the end of the turn (which every turn has)")
def show_usage(turn: Turn) -> None:
    turn.say("These are my numbers.")
    turn.write(
        "status", label="usage", payload={**turn.usage(), "context_window": 200_000}, detail="this turn"
    )


@keyword(
    "spend [CALLS] [CENTS] [late]", "model calls (5) that cost this much each (1), reported after each one"
)
def spend(turn: Turn) -> None:
    calls, cents = number(turn, 0, 5), number(turn, 1, 1)
    is_late = turn.arguments[2:] == ["late"]
    for count in range(1, calls + 1):
        turn.say(f"Call {count}. ")
        turn.spent_usd += cents / 100
        if not is_late:
            turn.write("spent", usage=turn.usage())
        # Leaves time for a cancel to arrive, as a model call would.
        turn.pause_until(time.monotonic() + (0 if is_late else 0.1))


@keyword("subagent", "a task whose text, call and result belong to a sub-agent")
def subagent(turn: Turn) -> None:
    task = turn.call("task", {"description": "Count the files", "prompt": "How many files are there?"})
    turn.say("I am the sub-agent, and I count.", parent=task)
    turn.run("ls | wc -l", "42\n", parent=task)
    turn.result(task, "There are 42 files.")
    turn.say("My sub-agent says that there are 42 files.")


@keyword("error", "a failure that the agent reports itself")
def error(turn: Turn) -> str:
    turn.say("I am about to fail.")
    turn.write("error", message="the model is overloaded", code="overloaded")
    return "error"


@keyword("unparsed", "a line that is not JSON, a known type of the wrong shape and an unknown type")
def unparsed(turn: Turn) -> None:
    turn.say("What follows is nonsense.")
    turn.agent.pipes.write(b"Segmentation fault (not really)\n")
    turn.write("text", id=7)
    turn.write("surprise", mood="good")
    turn.say("I go on all the same.")


@keyword("nested [N]", "a status whose payload is an array in an array, N deep (980 unless given)")
def nested(turn: Turn) -> None:
    depth = number(turn, 0, 980)
    line = encode("status", label="nested", payload=[])
    turn.agent.pipes.write(line.replace(b"[]", b"[" * depth + b"]" * depth))
    turn.say("That was deep.")


@keyword("slow [SECONDS]", "text that takes so long (5 seconds unless given); a cancel ends it at once")
def slow(turn: Turn) -> None:
    halves = 2 * number(turn, 0, 5)
    id = turn.begin_text("Counting slowly:")
    began = time.monotonic()
    for count in range(1, halves + 1):
        turn.write("heartbeat")
        turn.pause_until(began + count * 0.5)
        turn.continue_text(id, f" {count}")
    turn.write("text_end", id=id)


@keyword("crash [CODE]", "the process dies in the middle of a sentence with this exit code (1 unless given)")
def crash(turn: Turn) -> NoReturn:
    code = number(turn, 0, 1)
    turn.begin_text("I do not feel so w")
    turn.agent.pipes.flush()
    print("mock agent: something is terribly wrong\nmock agent: giving up", file=sys.stderr, flush=True)
    sys.exit(code)


@keyword("hang", "ignores everything but SIGKILL")
def hang(turn: Turn) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    turn.begin_text("I do not listen any more.")
    turn.agent.pipes.flush()
    while True:
        time.sleep(3600)


@keyword(
    "orphan", "four processes that outlive the turn, three of them out of reach of a signal to our group"
)
def orphan(turn: Turn) -> None:
    kinds = ("plain", "group", "session", "daemon")
    turn.say("They sleep now:\n\n" + "\n".join(f"- {kind} {leave_sleeping(kind)}" for kind in kinds))


def leave_sleeping(kind: str) -> int:
    """Start a process that sleeps; returns its pid. The plain one holds our pipes open, as a shell's job
    would.
    """
    reading, tell = os.pipe()
    child = os.fork()
    if child == 0:
        become_sleeper(kind, tell)
    os.close(tell)
    pid = int(os.read(reading, 32))
    os.close(reading)
    if pid != child:
        os.waitpid(child, 0)
    return pid


def become_sleeper(kind: str, tell: int) -> NoReturn:
    try:
        if kind == "group":
            os.setpgid(0, 0)
        elif kind in ("session", "daemon"):
            os.setsid()
        if kind == "daemon" and os.fork():
            os._exit(0)  # its parent exits, so that it becomes an orphan
        if kind != "plain":
            nowhere = os.open(os.devnull, os.O_RDWR)
            for pipe in (0, 1, 2):
                os.dup2(nowhere, pipe)
        os.write(tell, b"%d" % os.getpid())
        os.execvp("sleep", ["sleep", ORPHANS_SLEEP_SECONDS])
    finally:
        os._exit(127)


@keyword("bigline [N]", "one text frame whose line is N bytes long (1m unless given; `k` and `m` may follow)")
def bigline(turn: Turn) -> None:
    id = turn.new_id("text")
    empty = encode("text", id=id, delta="")
    filling = b"x" * max(1, number(turn, 0, 1024 * 1024) - len(empty))
    turn.output_length += len(filling)
    before, after = empty[:-3], empty[-3:]
    turn.agent.pipes.write(b"%b%b%b" % (before, filling, after))
    turn.write("text_end", id=id)


@keyword("flood [N] [BYTES]", "N numbered deltas (1000) of BYTES (16) each, as fast as they are read")
def flood(turn: Turn) -> None:
    count, size = number(turn, 0, 1000), max(1, number(turn, 1, 16))
    id = turn.new_id("text")
    digits = max(1, min(size - 1, 15))
    padding = b"." * (size - digits - 1) + b" " * (size > 1)
    empty = encode("text", id=id, delta="")
    before, after = empty[:-3], padding + empty[-3:]
    per_chunk = max(1, CHUNK // (len(before) + size + 3))
    for start in range(0, count, per_chunk):
        numbers = range(start, min(start + per_chunk, count))
        turn.agent.pipes.write(
            b"".join([b"%b%0*d%b" % (before, digits, n % 10**digits, after) for n in numbers])
        )
        turn.listen(0)
    turn.output_length += count * size
    turn.write("text_end", id=id)


@keyword(
    "pace [N] [MS] [BURST]", "N deltas (20), BURST (1) of them every MS (50) milliseconds, each with its time"
)
def pace(turn: Turn) -> None:
    count, every, burst = number(turn, 0, 20), number(turn, 1, 50) / 1000, max(1, number(turn, 2, 1))
    id = turn.new_id("text")
    began = time.monotonic()
    for start in range(0, count, burst):
        turn.pause_until(began + start // burst * every)
        for n in range(start, min(start + burst, count)):
            delta = f"{n}@{time.time():.6f} "
            turn.output_length += len(delta)
            turn.write("text", id=id, delta=delta)
    turn.write("text_end", id=id)


@keyword("memory", "the earlier prompts of this conversation: proves that a resume is real")
def memory(turn: Turn) -> None:
    earlier = turn.agent.conversation.prompts[:-1]
    if not earlier:
        turn.say("This is the first message of this conversation.")
        return
    rows = [f"{place}. {prompt[:80]}" for place, prompt in enumerate(earlier, 1)]
    turn.say("You said before:\n\n" + "\n".join(rows))


@keyword("end", "the agent ends the conversation and exits")
def end(turn: Turn) -> None:
    turn.say("Goodbye.")
    turn.agent.leaving = True


def echo(turn: Turn) -> None:
    facts = [f"message {turn.number} of this conversation"]
    model, variant = turn.agent.settings.get("model"), turn.agent.settings.get("variant")
    facts += [f"model {model}"] if model else []
    facts += [f"variant {variant}"] if variant else []
    facts += [f"with {describe(file)}" for file in turn.files]
    turn.say(f"You said: {turn.text} ({', '.join(facts)})")


# -- commands -----------------------------------------------------------------------------------


def compact(turn: Turn) -> None:
    turn.write("status", label="compaction", payload={"messages": turn.number - 1})


def repeat(turn: Turn) -> None:
    turn.say(turn.text.partition(" ")[2])


COMMANDS: dict[str, Act] = {"/compact": compact, "/echo": repeat}


# -- the process --------------------------------------------------------------------------------


class MockAgent:
    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.pipes = Pipes()
        self.settings: dict[str, Any] = {}
        self.leaving = False
        self._prompts: deque[tuple[str, list[dict[str, str]], bool]] = deque()

    def replay(self) -> None:
        """Replay the conversation to a client that resumes it, as many agents do; the client already has it."""
        for place, answer in enumerate(self.conversation.answers, 1):
            self.pipes.write(encode("text", id=f"text-{place}.1", delta=answer))
            self.pipes.write(encode("text_end", id=f"text-{place}.1"))

    def serve(self) -> None:
        self.pipes.write(encode("ready", conversation=self.conversation.id))
        while not self.leaving:
            while not self._prompts:
                command = self.pipes.next_command(None)
                assert command is not None
                self.accept(command)
            self._take_turn(*self._prompts.popleft())
        self.pipes.write(encode("end"))
        self.pipes.flush()

    def accept(self, command: dict[str, Any]) -> None:
        """A command that does not concern the running turn; a late cancel or reply is ignored."""
        match command:
            case {"type": "prompt", "text": str(text)}:
                self._prompts.append((text, command.get("files") or [], command.get("command") is True))
            case {"type": "set", "settings": dict(settings)}:
                self.settings = settings

    def _take_turn(self, text: str, files: list[dict[str, str]], command: bool) -> None:
        self.conversation.add_prompt(text)
        turn = Turn(self, text, files)
        first = text.split(maxsplit=1)[0].lower().strip(".,:;!?") if text.strip() else ""
        chosen = KEYWORDS.get(first)
        try:
            act = COMMANDS.get(first, echo) if command else chosen.act if chosen else echo
            stop_reason = act(turn) or "end_turn"
        except Interrupted:
            turn.give_up()
            stop_reason = "interrupted"
        except BadArguments:
            assert chosen is not None
            turn.say(f"I did not understand that: `{chosen.usage}`, {chosen.shows}.")
            stop_reason = "end_turn"
        self.conversation.add_answer("".join(turn.texts))
        turn.write("turn_end", stop_reason=stop_reason, usage=turn.usage())


def main(argv: list[str]) -> int:
    options = dict(zip(argv[::2], argv[1::2], strict=False))
    resume = options.get("--resume")
    name = resume or options.get("--conversation")
    if len(argv) != 4 or "--state" not in options or not name or os.path.basename(name) != name:
        print("usage: mock_agent.py --state DIR (--conversation ID | --resume ID)", file=sys.stderr)
        return 2
    # If the client is gone, exit without a traceback.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    conversation = Conversation(options["--state"], name)
    agent = MockAgent(conversation)
    if resume:
        if not conversation.exists():
            sys.stdout.buffer.write(encode("gone", message=f"there is no conversation {name}"))
            return 1
        conversation.load()
        agent.replay()
    elif conversation.exists():
        print(f"mock agent: conversation {name} exists already; resume it", file=sys.stderr)
        return 1
    agent.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
