"""What the recordings of OpenCode do not show: what we write to it, and what a server rarely sends."""

from __future__ import annotations

import itertools
import random
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw

from sandbox_agent.agents.base import (
    Action,
    Answered,
    Cancelled,
    Closed,
    Decided,
    HttpServer,
    Listed,
    ListFailed,
    Place,
    Prompted,
    Ready,
    Start,
    StartFailed,
    Wait,
)
from sandbox_agent.agents.frames import (
    UNREADABLE,
    HttpReply,
    HttpRequest,
    InFrame,
    Lost,
    ServerEvent,
    encode_frame,
)
from sandbox_agent.agents.opencode import OpenCode
from sandbox_agent.agents.opencode.bootstrap import PARTS
from sandbox_agent.agents.opencode.catch_up import RETRY_SECONDS
from sandbox_agent.agents.opencode.conversation import OpenCodeConversation
from sandbox_agent.agents.opencode.prompts import LATE_EVENTS_SECONDS
from sandbox_agent.agents.opencode.requests import make_message_id
from sandbox_agent.agents.opencode.wire import OpenCodeWire
from sandbox_agent.agents.scribe import Ask, Rule, Scribe
from sandbox_agent.schema.events import (
    AgentUnparsed,
    ErrorEvent,
    Event,
    ItemCompleted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    TurnEnded,
    TurnStarted,
    Usage,
)
from sandbox_agent.schema.features import Catalogue, Command, Mode, Model
from sandbox_agent.schema.inputs import Answer, Attachment, Decision, McpServer, Prompt, Settings
from sandbox_agent.schema.items import FileRef, Item, Json, StatusPart, Text, ToolCall, ToolKind, ToolResult
from sandbox_agent.schema.world import REAL, World, counted
from sandbox_agent.session.player import translate
from sandbox_agent.testing.rules import violations

RECORDINGS = sorted((Path(__file__).parents[1] / "transcripts" / "opencode").glob("*/native.jsonl"))
ASKED_OF_ALL = [
    {"permission": name, "pattern": "*", "action": "ask"}
    for name in ("bash", "edit", "webfetch", "mcp_*", "external_directory", "doom_loop")
] + [{"permission": "external_directory", "pattern": "*/opencode/tool-output/*", "action": "allow"}]
RUNNING = {"status": "running", "input": {"command": "ls"}}
PROVIDERS = {"providers": [{"id": "openai", "models": {"gpt-5": {"limit": {"context": 400_000}}}}]}
QUESTION = {"question": "Colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]}


def taken(wire: OpenCodeWire) -> list[dict[str, Any]]:
    frames = [msgspec.json.decode(encode_frame(frame)) for frame in wire.outbox]
    wire.outbox.clear()
    return frames


def reply(status: int, request: str, id: str | None, body: object) -> HttpReply:
    return HttpReply(status, request, id, Raw(msgspec.json.encode(body)))


class Session:
    """A conversation on a wire, as the runtime would hold them."""

    def __init__(
        self, wire: OpenCodeWire | None = None, settings: Settings | None = None, name: str = "ses_aaaa"
    ) -> None:
        self.name = name
        self.settings = settings or Settings("/ws")
        self.scribe = Scribe(counted(itertools.count().__next__))
        self.wire = wire or OpenCodeWire(counted())
        self.events = (f"evt_{name}_{n}" for n in itertools.count())
        metadata = OpenCode().metadata(None, self.settings)
        self.conversation: OpenCodeConversation = self.wire.open(Start(self.scribe, self.settings, metadata))
        self.created = self.take()[0]
        self.respond(
            self.created, 200, {"id": name, "directory": "/ws", "title": "t", "time": {"created": 1}}
        )

    def take(self) -> list[dict[str, Any]]:
        self.set_up()
        return taken(self.wire)

    def set_up(self) -> None:
        """Answer the requests by which the server sets up a directory, if that is what the wire sent."""
        requests = [frame for frame in self.wire.outbox if isinstance(frame, HttpRequest)]
        if [request.path.partition("?")[0] for request in requests] == list(PARTS):
            for request in taken(self.wire):
                self.respond(request, 200, PROVIDERS)

    def respond(self, request: dict[str, Any], status: int, body: object = None) -> None:
        asked = f"{request['method']} {request['path']}"
        self.wire.receive(reply(status, asked, request["id"], body))

    def event(self, kind: str, event_id: str | None = None, /, **properties: Any) -> None:
        payload = {
            "id": event_id or next(self.events),
            "type": kind,
            "properties": {"sessionID": self.name, **properties},
        }
        data = {"directory": "/ws", "payload": payload}
        self.wire.receive(ServerEvent(msgspec.json.encode(data)))

    def prompt(self, text: str = "go") -> str:
        """Open a turn and send its prompt; returns the id of its message."""
        self.scribe.start_turn()
        self.scribe.user_message(text)
        self.wire.prompt(self.conversation, Prompt(text), {})
        request = self.take()[0]
        self.respond(request, 204)
        message_id = request["body"]["messageID"]
        assert isinstance(message_id, str)
        return message_id

    def echo(self, message_id: str, text: str = "go") -> None:
        self.event("message.updated", info={"id": message_id, "role": "user", "time": {"created": 2}})
        self.part("text", f"prt_{message_id}", message_id, text=text)

    def begin(self, text: str = "go", message_id: str = "msg_a") -> None:
        """A turn whose first assistant message has begun."""
        self.echo(self.prompt(text), text)
        self.event("session.status", status={"type": "busy"})
        self.assistant(message_id)

    def assistant(self, message_id: str = "msg_a", **facts: Any) -> None:
        time = {"created": 3, **({"completed": 4} if facts.pop("completed", False) else {})}
        info = {"id": message_id, "role": "assistant", "parentID": "msg_u", "time": time, **facts}
        self.event("message.updated", info=info)

    def part(self, kind: str, part_id: str = "prt_1", message_id: str = "msg_a", /, **facts: Any) -> None:
        part = {"id": part_id, "messageID": message_id, "type": kind, **facts}
        self.event("message.part.updated", part=part)

    def tool(self, state: dict[str, Any], tool: str = "bash", part_id: str = "prt_t") -> None:
        self.part("tool", part_id, tool=tool, callID="call_1", state=state)

    def ask(self, permission: str = "bash", **facts: Any) -> None:
        defaults = {"patterns": ["ls"], "always": ["ls *"], "metadata": {"command": "ls"}}
        tool = {"messageID": "msg_a", "callID": "call_1"}
        self.event(
            "permission.asked", id="per_1", permission=permission, **{**defaults, "tool": tool, **facts}
        )

    def idle(self) -> None:
        self.event("session.status", status={"type": "idle"})
        self.event("session.idle")

    def data(self, *kinds: type) -> list[Any]:
        return [draft.data for draft in self.scribe.drafts if isinstance(draft.data, kinds)]

    def items(self) -> list[Item]:
        return [data.item for data in self.data(ItemCompleted)]

    def violations(self) -> list[str]:
        return violations(
            Event(
                str(n), n, "", "s", None, draft.source, draft.source == "daemon", draft.data.TYPE, draft.data
            )
            for n, draft in enumerate(self.scribe.drafts, 1)
        )


def started(turn: str = "turn_1") -> TurnStarted:
    return TurnStarted(turn)


def stop_reasons(session: Session) -> list[str]:
    return [ended.metadata.stop_reason for ended in session.data(TurnEnded)]


# -- what we write ----------------------------------------------------------------------------


def test_a_session_is_created_in_its_directory_with_its_mode_model_and_rules() -> None:
    settings = Settings("/my ws", "plan", "default", "openai/gpt-5/mini", "high")
    assert Session(settings=settings).created == {
        "id": "1",
        "method": "POST",
        "path": "/session?directory=/my%20ws",
        "body": {
            "agent": "plan",
            "model": {"id": "gpt-5/mini", "providerID": "openai", "variant": "high"},
            "permission": ASKED_OF_ALL,
        },
    }


def test_bypass_asks_nothing_and_a_switch_back_asks_again() -> None:
    session = Session(settings=Settings("/ws", permission_mode="bypass"))
    rules = {"*": "allow", "external_directory": "allow", "edit": "ask"}  # an edit is allowed by the adapter
    expected = [{"permission": name, "pattern": "*", "action": action} for name, action in rules.items()]
    assert session.created["body"]["permission"] == expected
    switched = msgspec.structs.replace(session.conversation.settings, permission_mode="default")
    assert session.wire.configure(session.conversation, switched)
    assert session.take() == [
        {
            "id": "2",
            "method": "PATCH",
            "path": "/session/ses_aaaa?directory=/ws",
            "body": {"permission": ASKED_OF_ALL},
        }
    ]


@pytest.mark.parametrize(("status", "reasons"), [(200, []), (500, ["error"])])
def test_no_prompt_is_sent_before_the_new_rules_are_in_force(status: int, reasons: list[str]) -> None:
    session = Session(settings=Settings("/ws", permission_mode="bypass"))
    settings = msgspec.structs.replace(session.conversation.settings, permission_mode="plan")
    session.wire.configure(session.conversation, settings)
    session.scribe.start_turn()
    session.wire.prompt(session.conversation, Prompt("go"), {})
    (patch,) = session.take()
    session.respond(patch, status)
    sent = [request["path"] for request in session.take()]
    assert sent == ([] if reasons else ["/session/ses_aaaa/prompt_async?directory=/ws"])
    assert stop_reasons(session) == reasons


def test_a_prompt_names_its_model_and_agent_and_sends_files_by_path() -> None:
    session = Session(settings=Settings("/ws", "build", model="a/b", variant="low"))
    files = (Attachment("/ws/a b.png"), Attachment("/ws/data.json"), Attachment("/ws/doc.pdf", filename="d"))
    session.wire.prompt(session.conversation, Prompt("look", files), {})
    request = session.take()[0]
    assert request["body"].pop("messageID").startswith("msg_")
    assert request == {
        "id": "10",
        "method": "POST",
        "path": "/session/ses_aaaa/prompt_async?directory=/ws",
        "body": {
            "parts": [
                {"type": "text", "text": "look"},
                {"type": "file", "url": "file:///ws/a%20b.png", "mime": "image/png", "filename": "a b.png"},
                {
                    "type": "file",
                    "url": "file:///ws/data.json",
                    "mime": "text/plain",
                    "filename": "data.json",
                },
                {"type": "file", "url": "file:///ws/doc.pdf", "mime": "application/pdf", "filename": "d"},
            ],
            "model": {"providerID": "a", "modelID": "b"},
            "agent": "build",
            "variant": "low",
        },
    }


def test_message_ids_sort_by_time() -> None:
    times = iter(["2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.679Z"])
    world = World(REAL.make_id, REAL.make_uuid, REAL.clock, lambda: next(times))
    first, second = make_message_id(world), make_message_id(world)
    assert first < second
    # Twelve digits of the time as the server writes it, then fourteen random ones.
    assert re.fullmatch("msg_b7ca98f2e000[0-9a-f]{14}", first)


def read_back(session: Session) -> Action:
    """The actions that a reader finds in our own frames; it knows what the session knows."""
    session.set_up()
    (frame,) = session.wire.outbox
    session.wire._asking._waiting.clear()  # the reader did not write them
    (action,) = session.wire.sent(encode_frame(frame))
    return action


@pytest.mark.parametrize(
    "prompt",
    [
        Prompt("hello"),
        Prompt("", (Attachment("/ws/a b.png", "image/png", "a b.png"),)),
        Prompt("read", (Attachment("/ws/x.txt", "text/plain", "x.txt"),)),
    ],
)
def test_a_prompt_is_read_back(prompt: Prompt) -> None:
    session = Session()
    session.wire.prompt(session.conversation, prompt, {})
    assert read_back(session) == Prompted(session.conversation, prompt)


@pytest.mark.parametrize("decision", [Decision("once"), Decision("reject"), Decision("reject", "use git")])
def test_a_decision_is_read_back(decision: Decision) -> None:
    session = Session()
    session.begin()
    session.ask()
    session.wire.decide(session.conversation, "per_1", decision)
    assert read_back(session) == Decided(session.conversation, "per_1", decision)


def test_always_is_sent_as_once_because_the_server_would_apply_it_to_all_sessions() -> None:
    session = Session()
    session.wire.decide(session.conversation, "per_1", Decision("always"))
    request = session.take()[0]
    assert (request["path"], request["body"]) == ("/permission/per_1/reply?directory=/ws", {"reply": "once"})


@pytest.mark.parametrize("answer", [Answer((("Red",), ("S", "free text"))), Answer(None)])
def test_an_answer_is_read_back(answer: Answer) -> None:
    session = Session()
    session.begin()
    session.event("question.asked", id="que_1", questions=[QUESTION])
    session.wire.answer(session.conversation, "que_1", answer)
    assert read_back(session) == Answered(session.conversation, "que_1", answer)


def test_a_cancel_is_read_back() -> None:
    session = Session()
    session.wire.cancel(session.conversation)
    assert read_back(session) == Cancelled(session.conversation)


def test_a_cancel_that_came_too_early_is_repeated() -> None:
    session = Session()
    message_id = session.prompt()
    session.conversation.cancelling = True
    session.echo(message_id)
    session.assistant()
    assert [request["path"] for request in session.take()] == ["/session/ses_aaaa/abort?directory=/ws"]


def test_a_closed_session_is_aborted_and_its_events_ignored() -> None:
    session = Session(settings=Settings("/ws", mcp={"demo": McpServer(command="x")}))
    session.take()
    session.wire.close(session.conversation)
    before = len(session.scribe.drafts)
    session.event("session.updated", info={"id": "ses_aaaa", "title": "new"})
    assert [request["path"] for request in session.take()] == [
        "/session/ses_aaaa/abort?directory=/ws",
        "/mcp/mcp_aaaa_demo/disconnect?directory=/ws",
    ]
    assert (list(session.wire.conversations()), len(session.scribe.drafts)) == ([], before)


def test_a_session_is_closed_when_its_turn_and_its_background_agents_are_aborted() -> None:
    session = Session()
    session.begin()
    running = {"status": "running", "input": {}, "metadata": {"sessionId": "ses_child", "background": True}}
    session.tool(running, tool="task")
    session.take()
    session.wire.notices.clear()
    session.wire.close(session.conversation)
    aborts = session.take()
    assert sorted(abort["path"] for abort in aborts) == [
        "/session/ses_aaaa/abort?directory=/ws",
        "/session/ses_child/abort?directory=/ws",
    ]
    session.respond(aborts[0], 200, True)
    assert session.wire.notices == []
    session.respond(aborts[1], 0, {"data": {"message": "gone"}})
    assert session.wire.notices == [Closed(session.conversation)]


def test_the_servers_settings_make_sub_agents_ask_and_keep_the_users_denials() -> None:
    place = Place(
        Path("/bin/opencode"), Path("/data"), {"OPENCODE_PERMISSION": '{"bash":"deny","read":"ask"}'}
    )
    launch = OpenCode().launch(place, Settings("/ws"), None, False)
    again = OpenCode().launch(place, Settings("/ws"), None, False)
    assert (launch.argv, launch.server) == (
        ["/bin/opencode", "serve", "--hostname", "127.0.0.1", "--port", "0"],
        HttpServer(
            r"opencode server listening on (http://\S+)",
            "/global/event",
            launch.env["OPENCODE_SERVER_USERNAME"],
            launch.env["OPENCODE_SERVER_PASSWORD"],
        ),
    )
    assert msgspec.json.decode(launch.env["OPENCODE_PERMISSION"]) == {
        "bash": "deny",
        "read": "ask",
        "edit": "ask",
        "webfetch": "ask",
        "mcp_*": "ask",
    }
    assert launch.env["OPENCODE_SERVER_PASSWORD"] != again.env["OPENCODE_SERVER_PASSWORD"]


@pytest.mark.parametrize(
    ("request_", "echo", "text"),
    [
        (
            ("prompt_async", {"parts": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}),
            [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
            "one\ntwo",
        ),
        (
            ("prompt_async", {"parts": [{"type": "subtask", "prompt": "look", "agent": "general"}]}),
            [{"type": "subtask", "prompt": "look", "agent": "general"}],
            "look",
        ),
        (
            ("command", {"command": "look", "arguments": "here"}),
            [{"type": "subtask", "prompt": "look around here", "agent": "general"}],
            "/look here",
        ),
    ],
)
def test_a_recorded_prompt_is_reported_once_and_its_turn_ends(
    request_: tuple[str, Any], echo: list[dict[str, Any]], text: str
) -> None:
    def event(kind: str, **properties: Any) -> tuple[str, Any]:
        properties = {"sessionID": "ses_1", **properties}
        return "out", {"sse": "/event", "data": {"type": kind, "properties": properties}}

    def message(id: str, role: str, **time: int) -> tuple[str, Any]:
        return event("message.updated", info={"id": id, "role": role, "parentID": "msg_u", "time": time})

    verb, body = request_
    steps = [
        ("in", {"method": "POST", "path": "/session", "body": {}}),
        ("out", {"status": 200, "for": "POST /session", "body": {"id": "ses_1"}}),
        ("in", {"method": "POST", "path": f"/session/ses_1/{verb}", "body": body}),
        message("msg_u", "user", created=1),
        *(
            event("message.part.updated", part={"id": f"prt_{n}", "messageID": "msg_u", **part})
            for n, part in enumerate(echo)
        ),
        message("msg_a", "assistant", created=2),
        message("msg_a", "assistant", created=2, completed=3),
        event("session.idle"),
    ]
    lines = [msgspec.json.encode({"dir": dir, "t": 0, "msg": msg}) for dir, msg in steps]
    data = [line.event.data for line in translate(OpenCode(), lines)]
    assert [each.item.content for each in data if isinstance(each, ItemCompleted)] == [(Text(text),)]
    assert [each.metadata.stop_reason for each in data if isinstance(each, TurnEnded)] == ["end_turn"]


# -- opening ----------------------------------------------------------------------------------


def test_a_session_that_cannot_be_created_fails_to_start() -> None:
    wire, scribe = OpenCodeWire(counted()), Scribe(counted(lambda: 0.0))
    settings = Settings("/ws")
    conversation = wire.open(Start(scribe, settings, OpenCode().metadata(None, settings)))
    body = {"name": "BadRequest", "data": {"message": "no such agent"}}
    wire.receive(reply(400, "POST /session?directory=/ws", "1", body))
    assert wire.notices == [StartFailed(conversation, "no such agent")]
    assert (list(wire.conversations()), scribe.drafts) == ([], [])


@pytest.mark.parametrize(
    ("status", "body", "gone"),
    [
        (404, {"name": "NotFoundError", "data": {"message": "Session not found: ses_x"}}, True),
        (0, {"data": {"message": "connection refused"}}, False),
    ],
)
def test_only_a_missing_session_is_gone(status: int, body: dict[str, Any], gone: bool) -> None:
    wire, scribe = OpenCodeWire(counted()), Scribe(counted(lambda: 0.0))
    settings = Settings("/ws")
    start = Start(scribe, settings, OpenCode().metadata(None, settings), "ses_x", resume=True)
    conversation = wire.open(start)
    wire.receive(reply(status, "GET /session/ses_x?directory=/ws", "1", body))
    assert wire.notices == [StartFailed(conversation, body["data"]["message"], gone=gone)]


def test_a_resumed_session_gets_the_rules_of_its_mode_again() -> None:
    wire, scribe = OpenCodeWire(counted()), Scribe(counted(lambda: 0.0))
    settings = Settings("/ws")
    start = Start(scribe, settings, OpenCode().metadata(None, settings), "ses_x", resume=True)
    conversation = wire.open(start)
    wire.outbox.clear()
    wire.receive(reply(200, "GET /session/ses_x?directory=/ws", "1", {"id": "ses_x"}))
    assert wire.notices == [Ready(conversation)]
    assert [request["body"] for request in taken(wire)] == [{"permission": ASKED_OF_ALL}]


def test_mcp_servers_are_named_by_session_and_denied_to_other_sessions() -> None:
    neighbour = Session(name="ses_nnnn")
    elsewhere = Session(neighbour.wire, Settings("/other"), "ses_eeee")
    elsewhere.conversation.settings = Settings("/other")
    neighbour.wire.notices.clear()
    servers = {
        "demo": McpServer("python3", ("demo.py",), {"TOKEN": "x"}),
        "web": McpServer(url="http://mcp", headers={"k": "v"}),
    }
    session = Session(neighbour.wire, Settings("/ws", mcp=servers))
    demo, web, denied = session.take()
    assert (demo["method"], demo["path"], demo["body"]) == (
        "POST",
        "/mcp?directory=/ws",
        {
            "name": "mcp_aaaa_demo",
            "config": {
                "type": "local",
                "command": ["python3", "demo.py"],
                "environment": {"TOKEN": "x"},
                "enabled": True,
            },
        },
    )
    assert web["body"] == {
        "name": "mcp_aaaa_web",
        "config": {"type": "remote", "url": "http://mcp", "headers": {"k": "v"}, "enabled": True},
    }
    foreign = [
        {"permission": f"mcp_aaaa_{name}_*", "pattern": "*", "action": "deny"} for name in ("demo", "web")
    ]
    assert (denied["path"], denied["body"]) == (
        "/session/ses_nnnn?directory=/ws",
        {"permission": foreign},
    )
    assert Session(session.wire, name="ses_late").created["body"]["permission"][-2:] == foreign
    session.wire.notices.clear()
    session.respond(demo, 200, {"mcp_aaaa_demo": {"status": "connected"}})
    assert session.wire.notices == []
    session.respond(web, 200, {"mcp_aaaa_web": {"status": "failed", "error": "refused"}})
    assert session.wire.notices == [Ready(session.conversation)]
    failed = {"server": "web", "status": "failed", "error": "refused"}
    assert [item.content for item in session.items()] == [(StatusPart("mcp", "web: failed"), Json(failed))]


def test_an_mcp_tool_has_the_name_its_client_gave_it() -> None:
    session = Session()
    session.begin()
    session.tool({"status": "pending", "input": {}}, "mcp_aaaa_demo_add")
    session.ask("mcp_aaaa_demo_add", patterns=["*"], always=["*"], metadata={})
    assert session.scribe.pending == {}  # nothing to show yet
    session.tool({"status": "running", "input": {"a": 2}}, "mcp_aaaa_demo_add")
    assert session.scribe.pending["per_1"].ask == Ask(
        "demo_add",
        {"a": 2},
        "other",
        "prt_t",
        needs=(Rule("demo_add", "*"),),
        always=(Rule("demo_add"),),
        tool_kind="mcp",
        title="demo_add",
    )


def test_a_catalogue_is_made_of_four_answers() -> None:
    wire = OpenCodeWire(counted())
    wire.list_catalogue("/ws")
    bodies = {
        "/agent": [
            {"name": "build", "mode": "primary", "description": "Builds."},
            {"name": "my-agent", "mode": "all"},
            {"name": "explore", "mode": "subagent"},
            {"name": "title", "mode": "primary", "hidden": True},
        ],
        "/config/providers": {
            "providers": [{"id": "p", "models": {"m/1": {"name": "One", "variants": {"low": {}}}, "m2": {}}}],
            "default": {"p": "m2"},
        },
        "/config": {},
        "/command": [{"name": "init", "description": "Sets up.", "hints": ["$ARGUMENTS"]}, {"name": "x"}],
    }
    for request in taken(wire):
        body = bodies[request["path"].removesuffix("?directory=/ws")]
        wire.receive(reply(200, f"GET {request['path']}", request["id"], body))
    modes = (Mode("build", "Build", "Builds."), Mode("my-agent", "My agent"))
    models = (Model("p/m/1", "One", ("low",)), Model("p/m2"))
    commands = (Command("init", "Sets up.", "$ARGUMENTS"), Command("x"))
    assert wire.notices == [Listed(Catalogue(models, modes, "p/m2", commands), "/ws")]


def test_a_failed_listing_fails_once() -> None:
    wire = OpenCodeWire(counted())
    wire.list_catalogue("/ws")
    for request in taken(wire):
        wire.receive(reply(500, f"GET {request['path']}", request["id"], None))
    assert wire.notices == [ListFailed("the agent's server answered with status 500", "/ws")]


# -- commands ---------------------------------------------------------------------------------


def call(session: Session, text: str) -> dict[str, Any]:
    """Open a turn for a command; returns the request that follows."""
    session.scribe.start_turn()
    session.scribe.user_message(text)
    session.wire.prompt(session.conversation, Prompt(text, command=True), {})
    (request,) = session.take()
    return request


def ends(session: Session) -> list[str]:
    drafts = session.scribe.take()
    return [draft.data.metadata.stop_reason for draft in drafts if isinstance(draft.data, TurnEnded)]


def test_a_command_is_run_by_its_name_and_blocks_nothing() -> None:
    session = Session(settings=Settings("/ws", model="p/m"))
    request = call(session, "/greet the  world")
    assert (request["path"], request["long"]) == ("/session/ses_aaaa/command?directory=/ws", True)
    body = request["body"]
    assert (body["command"], body["arguments"], body["model"]) == ("greet", "the  world", "p/m")
    session.respond(request, 400, {"name": "BadRequest", "data": {"message": "no such command"}})
    assert ends(session) == ["error"]


def test_a_session_is_compacted_with_its_own_model() -> None:
    session = Session()
    request = call(session, "/compact")
    assert (request["method"], request["path"]) == ("GET", "/session/ses_aaaa?directory=/ws")
    session.respond(request, 200, {"id": "ses_aaaa", "model": {"id": "m", "providerID": "p"}})
    (summarize,) = session.take()
    assert (summarize["path"], summarize["long"]) == ("/session/ses_aaaa/summarize?directory=/ws", True)
    assert summarize["body"] == {"providerID": "p", "modelID": "m"}
    session.respond(summarize, 200, True)
    assert (ends(session), session.wire.notices[1:]) == (
        [],
        [Wait(session.conversation, LATE_EVENTS_SECONDS)],
    )
    session.wire.waited(session.conversation)
    assert ends(session) == ["end_turn"]


def test_events_of_a_compaction_after_its_answer_belong_to_it() -> None:
    session = Session(settings=Settings("/ws", model="p/m"))
    session.respond(call(session, "/compact"), 200, {"id": "ses_aaaa"})
    session.respond(session.take()[0], 200, True)
    session.idle()  # of the turn before: events may be later than answers
    session.assistant(summary=True)
    session.part("text", "prt_s", text="in short", time={"start": 1, "end": 2})
    session.part("step-finish", "prt_f", tokens={"input": 9, "output": 3}, cost=0.5)
    session.assistant(summary=True, completed=True, finish="stop")
    session.event("session.compacted")
    session.idle()
    (ended,) = session.data(TurnEnded)
    assert (ended.metadata.usage.input_tokens, ended.metadata.usage.cost_usd) == (9, 0.5)
    (item,) = (item for item in session.items() if item.kind == "status")
    assert item.content[1] == Json({"phase": "completed", "summary": "in short"})


def test_a_summary_that_is_complete_at_first_sight_counts() -> None:
    session = Session(settings=Settings("/ws", model="p/m"))
    session.respond(call(session, "/compact"), 200, {"id": "ses_aaaa"})
    session.event("message.updated", info={"id": "msg_u", "role": "user", "time": {"created": 0}})
    session.part("compaction", "prt_c", "msg_u", auto=False)
    session.assistant(summary=True, completed=True, finish="stop")
    session.part("text", "prt_s", text="in short", time={"start": 1, "end": 2})
    session.part("step-finish", "prt_f", tokens={"input": 9, "output": 3}, cost=0.5)
    session.assistant(summary=True, completed=True, finish="stop")
    session.event("session.compacted")
    session.idle()
    session.respond(session.take()[0], 200, True)
    (ended,) = session.data(TurnEnded)
    assert (ended.metadata.usage.input_tokens, ended.metadata.usage.cost_usd) == (9, 0.5)


def test_a_session_without_a_turn_has_nothing_to_compact() -> None:
    session = Session()
    session.respond(call(session, "/compact"), 200, {"id": "ses_aaaa"})
    assert (session.take(), ends(session)) == ([], ["error"])


# -- turns ------------------------------------------------------------------------------------


def test_the_second_idle_after_an_error_ends_the_turn() -> None:
    session = Session()
    session.begin()
    failed = {"name": "APIError", "data": {"message": "bad", "statusCode": 400}}
    session.event("session.error", error=failed)
    session.idle()
    session.assistant(completed=True, error=failed)
    assert stop_reasons(session) == []
    session.idle()
    assert stop_reasons(session) == ["error"]
    bad = ErrorEvent("bad", "invalid_request", {"name": "APIError", "status": 400})
    assert (session.data(ErrorEvent), session.violations()) == ([bad], [])


def test_a_late_busy_and_idle_do_not_end_the_next_turn() -> None:
    session = Session()
    session.begin()
    session.assistant(completed=True, finish="stop")
    session.idle()
    session.echo(session.prompt("again"), "again")
    session.event("session.status", status={"type": "busy"})
    session.idle()
    assert stop_reasons(session) == ["end_turn"]
    session.assistant("msg_b")
    session.assistant("msg_b", completed=True, finish="stop")
    session.idle()
    assert (stop_reasons(session), session.violations()) == (["end_turn", "end_turn"], [])


def test_a_message_that_was_aborted_before_it_began_ends_its_turn() -> None:
    session = Session()
    message_id = session.prompt()
    session.echo(message_id)
    session.event("session.status", status={"type": "busy"})
    aborted = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}
    session.assistant(parentID=message_id, completed=True, error=aborted)
    session.idle()
    assert (stop_reasons(session), session.violations()) == (["interrupted"], [])


def test_a_late_idle_after_the_next_prompt_was_accepted_does_not_end_its_turn() -> None:
    session = Session()
    session.begin()
    session.assistant(completed=True, finish="stop")
    session.event("session.status", status={"type": "idle"})
    session.echo(session.prompt("again"), "again")
    session.event("session.idle")
    assert stop_reasons(session) == ["end_turn"]
    session.event("session.status", status={"type": "busy"})
    session.assistant("msg_b")
    session.assistant("msg_b", completed=True, finish="stop")
    session.idle()
    assert (stop_reasons(session), session.violations()) == (["end_turn", "end_turn"], [])


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (
            404,
            {"name": "NotFoundError", "data": {"message": "Session not found"}},
            ErrorEvent("Session not found", "invalid_request", {"name": "NotFoundError", "status": 404}),
        ),
        (
            500,
            {"name": "UnknownError", "data": {"message": "Unexpected server error."}},
            ErrorEvent("Unexpected server error.", "server_error", {"name": "UnknownError", "status": 500}),
        ),
        (
            0,
            {"data": {"message": "refused"}},
            ErrorEvent("refused", "connection_failed", {"name": "UnknownError", "status": 0}),
        ),
    ],
)
def test_a_refused_prompt_ends_its_turn(status: int, body: dict[str, Any], error: ErrorEvent) -> None:
    session = Session()
    session.scribe.start_turn()
    session.wire.prompt(session.conversation, Prompt("go"), {})
    session.respond(session.take()[0], status, body)
    assert (session.data(ErrorEvent), stop_reasons(session)) == ([error], ["error"])


def test_the_stack_trace_of_a_failed_prompt_does_not_fail_the_next_one() -> None:
    session = Session()
    session.prompt()
    session.event(
        "session.error", error={"name": "UnknownError", "data": {"message": 'Agent not found: "x"'}}
    )
    message_id = session.prompt()
    trace = "UnknownError: UnknownError\n    at <anonymous> (/chunk.js:1:2)"
    session.event("session.error", error={"name": "UnknownError", "data": {"message": trace}})
    assert stop_reasons(session) == ["error"]
    session.echo(message_id)
    session.assistant()
    session.assistant(completed=True)
    session.idle()
    assert stop_reasons(session) == ["error", "end_turn"]


@pytest.mark.parametrize(
    ("finish", "error", "reason"),
    [
        ("length", None, "max_tokens"),
        ("content-filter", None, "refusal"),
        (None, {"name": "MessageOutputLengthError", "data": {}}, "max_tokens"),
        (None, {"name": "ContentFilterError", "data": {"message": "no"}}, "refusal"),
        (None, {"name": "MessageAbortedError", "data": {"message": "Aborted"}}, "interrupted"),
    ],
)
def test_a_turn_ends_with_the_reason_of_its_last_message(
    finish: str | None, error: dict[str, Any] | None, reason: str
) -> None:
    session = Session()
    session.begin()
    session.assistant(completed=True, finish=finish, error=error)
    session.idle()
    assert (stop_reasons(session), session.violations()) == ([reason], [])


def test_a_context_that_is_too_long_is_an_error_only_if_nothing_is_compacted() -> None:
    session = Session()
    session.begin()
    session.event("session.error", error={"name": "ContextOverflowError", "data": {"message": "too long"}})
    session.assistant(completed=True)
    session.idle()
    too_long = ErrorEvent("too long", "context_too_long", {"name": "ContextOverflowError"})
    assert (session.data(ErrorEvent), stop_reasons(session)) == ([too_long], ["error"])


def test_usage_counts_cache_as_input_and_reasoning_as_output_and_every_step_once() -> None:
    session = Session()
    session.begin()
    tokens = {"input": 10, "output": 5, "reasoning": 2, "cache": {"read": 100, "write": 7}}
    for part_id in ("prt_1", "prt_1", "prt_2"):
        session.part("step-finish", part_id, tokens=tokens, cost=0.5)
    session.assistant(completed=True)
    session.idle()
    assert session.data(TurnEnded)[0].metadata.usage == Usage(234, 14, 200, 14, 4, 1.0, context_tokens=124)


def test_another_clients_prompt_is_a_user_message_in_a_turn_the_agent_begins() -> None:
    session = Session()
    before = len(session.scribe.drafts)
    session.event("message.updated", info={"id": "msg_u", "role": "user", "time": {"created": 2}})
    session.part("text", "prt_1", "msg_u", text="typed elsewhere")
    session.part("text", "prt_2", "msg_u", text="Called the Read tool", synthetic=True)
    session.part("file", "prt_3", "msg_u", url="file:///ws/a.txt", mime="text/plain")
    assert session.scribe.drafts[before:] == []
    session.assistant()
    session.assistant(completed=True)
    session.idle()
    typed = Item(
        "itm_1",
        "msg_u",
        None,
        "message",
        "user",
        "completed",
        (Text("typed elsewhere"), FileRef("/ws/a.txt", "read")),
    )
    assert (session.items(), session.data(TurnStarted)) == ([typed], [started()])
    assert {draft.source for draft in session.scribe.drafts} == {"agent"}
    assert session.violations() == []


def test_an_event_sent_by_two_streams_counts_once() -> None:
    session = Session()
    session.begin()
    for _ in range(2):
        properties = {"messageID": "msg_a", "partID": "prt_1", "field": "text", "delta": "ha"}
        session.event("message.part.delta", "evt_same", **properties)
    session.part("text", text="ha", time={"start": 1, "end": 2})
    assert [item.content for item in session.items()[1:]] == [(Text("ha"),)]


# -- what a server rarely sends ---------------------------------------------------------------


def test_an_unknown_type_is_an_unknown_item_and_a_wrong_shape_is_unparsed() -> None:
    session = Session()
    session.begin()
    session.event("session.dreams", of="sheep")
    session.part("hologram", "prt_h")
    session.event("message.updated", info={"id": 7, "role": "assistant"})
    assert [item.kind for item in session.items()] == ["message", "unknown", "unknown"]
    assert len(session.data(AgentUnparsed)) == 1


def test_another_clients_session_on_the_same_server_is_ignored() -> None:
    session = Session()
    before = list(session.scribe.drafts)
    session.event("session.dreams", sessionID="ses_other")
    session.event("message.updated", sessionID="ses_other", info={"id": "m", "role": "assistant"})
    assert session.scribe.drafts == before


def test_a_patch_reports_each_changed_file() -> None:
    session = Session()
    session.begin()
    files = [
        {"filePath": "/ws/a", "type": "add", "patch": "--- /dev/null\n+++ /ws/a\n@@ -0,0 +1,1 @@\n+a\n"},
        {"filePath": "/ws/b", "type": "update", "patch": "--- /ws/b\n+++ /ws/b\n@@ -1,1 +0,0 @@\n-b\n"},
        {"filePath": "/ws/c", "type": "move", "movePath": "/ws/d", "patch": ""},
        {"filePath": "/ws/e", "type": "delete"},
    ]
    state = {"status": "completed", "input": {"patchText": "…"}, "output": "ok", "metadata": {"files": files}}
    session.tool(state, "apply_patch")
    assert session.items()[-1].content == (
        ToolResult("call_1", "ok"),
        FileRef("/ws/a", "write", diff="--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+a\n"),
        FileRef("/ws/b", "patch", diff="--- a/b\n+++ b/b\n@@ -1 +0,0 @@\n-b\n"),
        FileRef("/ws/c", "move", "/ws/d"),
        FileRef("/ws/e", "delete"),
    )


def test_a_new_file_written_without_a_permission_has_its_diff() -> None:
    session = Session()
    session.begin()
    state = {
        "status": "completed",
        "input": {"filePath": "/ws/n", "content": "one\n"},
        "output": "ok",
        "metadata": {"filepath": "/ws/n", "exists": False},
    }
    session.tool(state, "write")
    diff = "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+one\n"
    assert session.items()[-1].content[1:] == (FileRef("/ws/n", "write", diff=diff),)


def test_bypass_allows_an_edit_without_a_word_and_keeps_its_diff() -> None:
    session = Session(settings=Settings("/ws", permission_mode="bypass"))
    session.begin()
    given = {"filePath": "/ws/n", "content": "new\n"}
    session.tool({"status": "running", "input": given}, "write")
    session.take()
    diff = "--- n\n+++ n\n@@ -1 +1 @@\n-old\n+new\n"
    session.ask("edit", metadata={"filepath": "/ws/n", "diff": diff})
    (reply,) = session.take()
    assert (reply["path"], reply["body"]) == ("/permission/per_1/reply?directory=/ws", {"reply": "once"})
    session.event("permission.replied", requestID="per_1", reply="once")
    done = {"status": "completed", "input": given, "output": "ok"}
    session.tool({**done, "metadata": {"filepath": "/ws/n", "exists": True}}, "write")
    written = "--- a/n\n+++ b/n\n@@ -1 +1 @@\n-old\n+new\n"
    assert session.items()[-1].content[1:] == (FileRef("/ws/n", "write", diff=written),)
    assert session.data(PermissionRequested, PermissionResolved) == []


def test_metadata_of_any_shape_does_not_hide_a_result() -> None:
    session = Session()
    session.begin()
    session.tool(
        {"status": "completed", "input": {}, "output": "5", "metadata": {"output": [1], "exit": "no"}}
    )
    assert session.items()[-1].content == (ToolResult("call_1", "5"),)


def test_a_plan_to_approve_is_answered_in_the_agents_format() -> None:
    session = Session()
    session.begin()
    session.tool({"status": "running", "input": {}}, "plan_exit")
    tool = {"messageID": "msg_a", "callID": "call_1"}
    session.event(
        "question.asked", id="que_1", questions=[{"question": "Plan at p.md is complete."}], tool=tool
    )
    asked = session.data(QuestionRequested)[0]
    assert (asked.prompt, asked.options) == ("Plan at p.md is complete.", ("approve", "reject"))
    session.wire.answer(session.conversation, "que_1", Answer((("approve",),)))
    assert session.take()[0]["body"] == {"answers": [["Yes"]]}


@pytest.mark.parametrize(
    ("permission", "tool", "kind"),
    [
        ("edit", "write", "edit"),
        ("bash", "bash", "command"),
        ("webfetch", "webfetch", "read"),
        ("external_directory", "read", "read"),
        ("external_directory", "bash", "command"),
        ("external_directory", "edit", "other"),
        ("doom_loop", "bash", "other"),
    ],
)
def test_a_permission_has_a_kind(permission: str, tool: str, kind: str) -> None:
    session = Session()
    session.begin()
    session.tool({"status": "running", "input": {"x": 1}}, tool)
    session.ask(permission)
    ask = session.scribe.pending["per_1"].ask
    assert ask is not None
    assert (ask.action, ask.kind, ask.reason) == (tool, kind, None if permission == tool else permission)


def test_always_remembers_whole_texts_and_prefixes() -> None:
    session = Session()
    session.begin()
    session.ask(patterns=["git push", "ls"], always=["git push *", "*", "a*b", "ls"])
    ask = session.scribe.pending["per_1"].ask
    assert ask is not None
    assert ask.needs == (Rule("bash", "git push"), Rule("bash", "ls"))
    assert ask.always == (
        Rule("bash", "git push ", prefix=True),
        Rule("bash", "git push"),
        Rule("bash"),
        Rule("bash", "a*b"),
        Rule("bash", "ls"),
    )


def test_an_unknown_sub_agent_waits_and_its_permission_goes_to_the_running_task() -> None:
    session = Session()
    session.begin()
    session.tool({"status": "running", "input": {"prompt": "p"}}, "task")
    child = {"sessionID": "ses_child"}
    session.event("session.created", **child, info={"id": "ses_child", "parentID": "ses_aaaa"})
    session.event("message.updated", **child, info={"id": "msg_c", "role": "assistant", "time": {}})
    part = {"id": "prt_c", "messageID": "msg_c", "type": "text", "text": "sub", "time": {"end": 2}}
    session.event("message.part.updated", **child, part=part)
    assert [item.kind for item in session.items()] == ["message", "tool_call"]
    session.event("permission.asked", **child, id="per_c", permission="bash", patterns=["ls"])
    call = session.items()[1]
    assert [(item.content, item.parent_id) for item in session.items()[2:]] == [
        ((Text("sub"),), call.item_id)
    ]
    assert list(session.scribe.pending) == ["per_c"]


def test_repeated_call_ids_are_made_unique() -> None:
    session = Session()
    session.begin()
    for part_id in ("prt_1", "prt_2"):
        session.tool({"status": "completed", "input": {}, "output": ""}, part_id=part_id)
    calls = [item.content[0] for item in session.items() if item.kind == "tool_call"]
    assert calls == [
        ToolCall("bash", "{}", "call_1", "command", "bash"),
        ToolCall("bash", "{}", "call_1#2", "command", "bash"),
    ]


def test_a_permission_ended_by_an_abort_is_not_repeated_in_the_next_turn() -> None:
    session = Session()
    session.begin()
    session.ask()
    session.event("session.error", error={"name": "MessageAbortedError", "data": {"message": "Aborted"}})
    session.idle()
    session.assistant(completed=True)
    session.idle()
    session.begin("again", "msg_b")
    session.ask()
    assert (session.scribe.pending, len(session.data(PermissionResolved))) == ({}, 1)


def test_a_prompt_that_is_held_back_is_not_sent_after_the_session_has_left() -> None:
    """Other sessions may keep the server alive, which would run it."""
    session = Session()
    session.scribe.start_turn()
    session.wire.prompt(session.conversation, Prompt("go"), {})
    setting_up = taken(session.wire)
    assert [request["path"].partition("?")[0] for request in setting_up] == list(PARTS)
    session.wire.close(session.conversation)
    taken(session.wire)
    for request in setting_up:
        session.respond(request, 200, PROVIDERS)
    assert taken(session.wire) == []


def test_a_prompt_that_waits_for_rules_is_not_sent_after_the_session_has_left() -> None:
    session = Session()
    session.wire.configure(session.conversation, Settings("/ws", permission_mode="bypass"))
    session.scribe.start_turn()
    session.wire.prompt(session.conversation, Prompt("go"), {})
    [changing] = taken(session.wire)
    session.wire.close(session.conversation)
    taken(session.wire)
    session.respond(changing, 200)
    assert session.take() == []


def test_mcp_servers_are_not_added_after_the_session_has_left() -> None:
    wire = OpenCodeWire(counted())
    settings = Settings("/ws", mcp={"notes": McpServer("notes")})
    metadata = OpenCode().metadata(None, settings)
    conversation = wire.open(Start(Scribe(counted()), settings, metadata, "ses_aaaa", resume=True))
    [resuming] = taken(wire)
    wire.close(conversation)
    taken(wire)
    found = {"id": "ses_aaaa", "directory": "/ws", "title": "t", "time": {"created": 1}}
    wire.receive(reply(200, f"GET {resuming['path']}", resuming["id"], found))
    assert taken(wire) == []


def test_an_mcp_server_that_was_being_added_is_disconnected_when_the_session_has_left() -> None:
    session = Session(settings=Settings("/ws", mcp={"notes": McpServer("notes")}))
    [adding] = taken(session.wire)
    assert adding["path"] == "/mcp?directory=/ws"
    session.wire.close(session.conversation)
    [_, before] = taken(session.wire)
    session.respond(adding, 200, {})
    [after] = taken(session.wire)
    assert after["path"] == before["path"] == "/mcp/mcp_aaaa_notes/disconnect?directory=/ws"


# -- a stream that broke ----------------------------------------------------------------------


def broken(session: Session, *, listed: object, statuses: object = None, permissions: object = ()) -> None:
    """The stream broke and was reopened; the server answers the wire's requests."""
    session.wire.receive(Lost("eof"))
    bodies = {
        "/permission?directory=/ws": permissions,
        "/question?directory=/ws": [],
        "/session/status?directory=/ws": statuses or {},
        "/session/ses_aaaa/message?directory=/ws&limit=50": listed,
    }
    while requests := session.take():
        for request in requests:
            session.respond(request, 200, bodies[request["path"]])


def listed_answer(message_id: str, text: str, **info: Any) -> dict[str, Any]:
    part = {
        "id": "prt_1",
        "messageID": message_id,
        "type": "text",
        "text": text,
        "time": {"start": 1, "end": 2},
    }
    return {"info": {"id": message_id, "role": "assistant", "parentID": "msg_u", **info}, "parts": [part]}


def test_a_missed_end_of_turn_is_recovered() -> None:
    session = Session()
    session.begin()
    session.event("message.part.delta", messageID="msg_a", partID="prt_1", field="text", delta="half")
    done = listed_answer("msg_a", "half and half", time={"created": 3, "completed": 4}, finish="stop")
    broken(session, listed=[done])
    assert [item.content for item in session.items()[1:]] == [(Text("half and half"),)]
    assert (stop_reasons(session), session.violations()) == (["end_turn"], [])


def test_a_turn_the_server_no_longer_knows_is_a_crash() -> None:
    session = Session()
    session.begin()
    broken(session, listed=[listed_answer("msg_a", "", time={"created": 3})])
    (error,) = session.data(ErrorEvent)
    assert (error.code, stop_reasons(session)) == ("agent_process_exited", ["error"])


def test_a_running_turn_continues_and_missed_requests_are_shown() -> None:
    session = Session()
    session.begin()
    asked = {"id": "per_9", "sessionID": "ses_aaaa", "permission": "bash", "patterns": ["ls"], "metadata": {}}
    busy = {"ses_aaaa": {"type": "busy"}}
    broken(session, listed=[], statuses=busy, permissions=[asked])
    assert (list(session.scribe.pending), stop_reasons(session)) == (["per_9"], [])


@pytest.mark.parametrize("refused", ["/session/status", "/session/ses_aaaa/message"])
def test_a_server_that_does_not_say_what_was_missed_is_asked_again(refused: str) -> None:
    session = Session()
    session.begin()
    done = listed_answer("msg_a", "done", time={"created": 3, "completed": 4}, finish="stop")
    answers = {"/session/status": {}, "/session/ses_aaaa/message": [done]}
    session.wire.notices.clear()
    session.wire.receive(Lost("eof"))
    while requests := session.take():
        for request in requests:
            path = request["path"].partition("?")[0]
            session.respond(request, 503 if path == refused else 200, answers.get(path, []))
    assert (session.wire.notices, stop_reasons(session)) == ([Wait(session.conversation, RETRY_SECONDS)], [])
    session.wire.waited(session.conversation)
    while requests := session.take():
        for request in requests:
            session.respond(request, 200, answers.get(request["path"].partition("?")[0], []))
    assert (stop_reasons(session), session.violations()) == (["end_turn"], [])


def test_a_turn_that_is_over_ends_even_if_its_messages_cannot_be_read() -> None:
    session = Session()
    session.begin()
    broken(session, listed={"not": "a list"})
    assert stop_reasons(session) == ["error"]


def test_a_stream_that_breaks_between_turns_needs_no_recovery() -> None:
    session = Session()
    session.wire.receive(Lost("eof"))
    assert session.take() == []


# -- invalid frames ---------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(json_values)
def test_any_json_is_accepted(value: object) -> None:
    session = Session()
    session.begin()
    session.wire.receive(msgspec.json.encode(value))
    session.wire.receive(ServerEvent(msgspec.json.encode(value)))
    session.wire.receive(reply(200, "GET /agent", None, value))


@pytest.mark.parametrize(
    ("tool", "given", "kind", "title"),
    [
        ("bash", {"command": "ls -l", "description": "Lists"}, "command", "ls -l"),
        ("edit", {"filePath": "/ws/a.py", "oldString": "x"}, "edit", "/ws/a.py"),
        ("read", {"filePath": "/ws/a.py"}, "read", "/ws/a.py"),
        ("grep", {"pattern": "def", "path": "/ws"}, "search", "def"),
        ("webfetch", {"url": "https://a.example/", "format": "text"}, "fetch", "https://a.example/"),
        ("task", {"description": "a job", "prompt": "do it"}, "task", "a job"),
        ("mcp_aaaa_demo_add", {"a": 2}, "mcp", "demo_add"),
        ("todowrite", {"todos": []}, "other", "todowrite"),
    ],
)
def test_a_call_and_its_permission_have_a_kind_and_a_title(
    tool: str, given: dict[str, Any], kind: ToolKind, title: str
) -> None:
    session = Session()
    session.begin()
    session.tool({"status": "running", "input": given}, tool)
    session.ask(tool, metadata=given)
    name = tool.removeprefix("mcp_aaaa_")
    (call,) = [item for item in session.items() if item.kind == "tool_call"]
    assert call.content == (ToolCall(name, msgspec.json.encode(given).decode(), "call_1", kind, title),)
    (asked,) = session.data(PermissionRequested)
    assert (asked.metadata.kind, asked.metadata.title) == (kind, title)


@pytest.mark.parametrize("message_id", ["msg_a", "msg_unseen"])
def test_the_programs_messages_to_its_model_are_not_user_messages(message_id: str) -> None:
    session = Session()
    session.begin()
    reminder = "<system-reminder>\nPlan mode is active.\n</system-reminder>"
    for _ in range(2):
        session.part("text", "prt_r", message_id, text=reminder, synthetic=True, time={"start": 1, "end": 2})
    assert [item.content for item in session.items()[1:]] == [
        (StatusPart("injected"), Json({"text": reminder}))
    ]


def test_a_rejection_ends_all_open_requests_of_its_session() -> None:
    session = Session()
    session.begin()
    for number in "12":
        session.part("tool", f"prt_{number}", tool="bash", callID=f"call_{number}", state=RUNNING)
        tool = {"messageID": "msg_a", "callID": f"call_{number}"}
        session.event("permission.asked", id=f"per_{number}", permission="bash", tool=tool)
    session.event("question.asked", id="que_1", questions=[QUESTION])
    session.scribe.decide("per_1", "reject", "client")
    session.wire.decide(session.conversation, "per_1", Decision("reject"))
    assert list(session.scribe.pending) == ["que_1"]
    session.event("permission.replied", requestID="per_2", reply="reject")
    resolved = [(answer.status, answer.metadata.decided_by) for answer in session.data(PermissionResolved)]
    assert resolved == [("reject", "client"), ("reject", "agent")]


def asked_paths(session: Session) -> list[str]:
    return [request["path"].partition("?")[0] for request in taken(session.wire)]


@pytest.mark.parametrize("status", [200, 500])
def test_no_prompt_is_sent_before_the_server_has_set_up_its_directory(status: int) -> None:
    session = Session()
    neighbour = Session(session.wire, name="ses_bbbb")
    for opened in (session, neighbour):
        opened.scribe.start_turn()
        opened.wire.prompt(opened.conversation, Prompt("go"), {})
    requests = taken(session.wire)  # for both
    assert [request["path"] for request in requests] == [f"{part}?directory=/ws" for part in PARTS]
    for request in requests:
        assert taken(session.wire) == []
        session.respond(request, status)
    assert asked_paths(session) == ["/session/ses_aaaa/prompt_async", "/session/ses_bbbb/prompt_async"]


def test_a_prompt_cancelled_before_it_is_sent_is_never_sent() -> None:
    session = Session()
    session.scribe.start_turn()
    session.wire.prompt(session.conversation, Prompt("go"), {})
    setup = taken(session.wire)
    session.conversation.cancelling = True
    session.wire.cancel(session.conversation)
    assert (stop_reasons(session), taken(session.wire)) == (["interrupted"], [])
    for request in setup:
        session.respond(request, 200, PROVIDERS)
    assert taken(session.wire) == []


@pytest.mark.parametrize(
    ("kind", "facts"), [("server.instance.disposed", {"directory": "/ws"}), ("global.disposed", {})]
)
def test_a_discarded_setup_is_done_again(kind: str, facts: dict[str, str]) -> None:
    session = Session()
    session.begin()
    session.assistant(completed=True, finish="stop")
    session.idle()
    session.event(kind, **facts)
    session.scribe.start_turn()
    session.wire.prompt(session.conversation, Prompt("go"), {})
    assert asked_paths(session) == list(PARTS)


def test_a_turn_reports_its_models_context_window() -> None:
    session = Session()
    session.begin()
    session.assistant("msg_b", providerID="openai", modelID="gpt-5")
    tokens = {"input": 10, "output": 2, "reasoning": 0, "cache": {"read": 5, "write": 0}}
    session.part("step-finish", "prt_f", "msg_b", tokens=tokens, cost=0)
    for message_id in ("msg_a", "msg_b"):
        session.assistant(message_id, completed=True, finish="stop")
    session.idle()
    (ended,) = session.data(TurnEnded)
    assert (ended.metadata.usage.context_tokens, ended.metadata.usage.context_window) == (17, 400_000)


def refused(session: Session) -> list[tuple[str, Any]]:
    return [(request["path"], request.get("body")) for request in session.take()]


REFUSED = ("/permission/per_1/reply?directory=/ws", {"reply": "reject", "message": UNREADABLE})


def test_a_request_of_the_wrong_shape_is_refused() -> None:
    session = Session()
    session.begin()
    session.ask(patterns=7)
    assert refused(session) == [REFUSED]
    session.event("question.asked", id="que_1", questions=7)
    assert refused(session) == [("/question/que_1/reject?directory=/ws", None)]
    session.event("todo.updated", sessionID=7)
    assert refused(session) == []
    assert len(session.data(AgentUnparsed)) == 3


@pytest.mark.parametrize("early", [False, True])
def test_a_permission_too_deep_to_be_written_is_refused(early: bool) -> None:
    """Some depths can still be read, but no longer written."""
    count = 0
    for depth in range(800, 1100, 2):
        session = Session()
        session.begin()
        deep = b"[" * depth + b"]" * depth
        if early:
            # The request overtakes the arguments of its call, which are too deep to write.
            session.tool({"status": "pending", "input": {}})
            session.ask(metadata={})
            part = (
                b'{"id":"prt_t","messageID":"msg_a","type":"tool","tool":"bash","callID":"call_1","state":%b}'
            )
            state = b'{"status":"running","input":{"command":%b}}' % deep
            properties = b'"part":%b' % (part % state)
            kind = b"message.part.updated"
        else:
            properties = b'"id":"per_1","permission":"bash","metadata":{"command":%b}' % deep
            kind = b"permission.asked"
        payload = b'{"type":"%b","properties":{"sessionID":"ses_aaaa",%b}}' % (kind, properties)
        session.wire.receive(ServerEvent(b'{"directory":"/ws","payload":%b}' % payload))
        answer = refused(session)
        assert len(session.scribe.pending) + len(answer) == 1
        assert [draft.type for draft in session.scribe.drafts].count("agent.unparsed") == len(answer)
        assert answer in ([], [REFUSED])
        count += len(answer)
    assert 0 < count < 150


@pytest.mark.parametrize(
    "frame",
    [
        ServerEvent(b'{"directory":"/ws","payload":{"type":"session.idle"}}'),
        Lost("the stream of events ended"),
        HttpReply(200, "GET /agent?directory=/ws", "7", Raw(b'[{"name":"build"}]')),
        HttpReply(204, "POST /session/ses_1/abort"),
    ],
)
def test_a_frame_is_read_back_from_a_recording(frame: InFrame) -> None:
    wire = OpenCodeWire(counted())
    assert wire.recorded_frame(encode_frame(frame)) == frame


def test_nothing_precedes_the_start_of_a_session_not_even_an_unparsed_frame() -> None:
    scribe, settings = Scribe(counted(itertools.count().__next__)), Settings("/ws")
    wire = OpenCodeWire(counted())
    wire.open(Start(scribe, settings, OpenCode().metadata(None, settings)))
    wire.receive(b'{"status":200,"for":"POST /session","body":{"id":"ses_')
    assert [draft.data.TYPE for draft in scribe.drafts] == ["session.started", "agent.unparsed"]


def _recorded_frames() -> list[Any]:
    lines = [line for path in RECORDINGS[::4] for line in path.read_bytes().splitlines()]
    messages = [msgspec.json.decode(line) for line in lines]
    return [line["msg"] for line in messages if line["dir"] == "out" and len(str(line["msg"])) < 3000]


RECORDED = _recorded_frames()


def _mutated(value: Any, chance: random.Random) -> Any:
    """A copy with some values replaced and some members removed."""
    if chance.random() < 0.08:
        return chance.choice([None, 0, "", [], {}, "x", True])
    if isinstance(value, dict):
        return {key: _mutated(member, chance) for key, member in value.items() if chance.random() > 0.05}
    if isinstance(value, list):
        return [_mutated(item, chance) for item in value]
    return "ses_aaaa" if isinstance(value, str) and value.startswith("ses_") else value


@given(st.randoms(use_true_random=False))
def test_mutated_frames_are_accepted_and_keep_the_rules(chance: random.Random) -> None:
    session = Session()
    session.begin()
    at = chance.randrange(len(RECORDED))
    for frame in RECORDED[at : at + 40]:
        mutated = msgspec.json.encode(_mutated(frame, chance))
        session.wire.receive(session.wire.recorded_frame(mutated))
    session.scribe.end_turn("outcome_unknown", source="daemon")
    session.scribe.close_background()
    assert [violation for violation in session.violations() if "agent.unparsed" not in violation] == []
