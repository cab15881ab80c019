"""What the recordings of ACP agents do not show: what we write to them, and frames they rarely send."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox_agent.agents.acp import Acp, parse_acp_agents
from sandbox_agent.agents.acp.tools import Call
from sandbox_agent.agents.acp.transcript import MAX_CALLS, MAX_UNPROMPTED, AcpConversation
from sandbox_agent.agents.acp.wire import SECONDS_FOR_COMMANDS, AcpWire
from sandbox_agent.agents.base import (
    Action,
    Answered,
    Began,
    Cancelled,
    Decided,
    Launch,
    Listed,
    ListFailed,
    Place,
    Prompted,
    Ready,
    Start,
    StartFailed,
    Wait,
)
from sandbox_agent.agents.environment import environment
from sandbox_agent.agents.frames import encode_frame
from sandbox_agent.agents.jsonrpc import MAX_WAITING
from sandbox_agent.agents.scribe import Rule, Scribe
from sandbox_agent.errors import InvalidRequest
from sandbox_agent.schema.events import (
    AgentUnparsed,
    ErrorEvent,
    Event,
    ItemCompleted,
    PermissionRequested,
    PermissionResolved,
    QuestionRequested,
    QuestionResolved,
    TurnEnded,
    TurnStarted,
    Usage,
)
from sandbox_agent.schema.features import Catalogue, Mode, Model
from sandbox_agent.schema.inputs import Answer, Attachment, Decision, McpServer, Prompt, Settings
from sandbox_agent.schema.items import (
    FileRef,
    Image,
    Item,
    Json,
    Reasoning,
    StatusPart,
    Text,
    ToolCall,
    ToolResult,
)
from sandbox_agent.schema.world import counted
from sandbox_agent.testing.rules import violations

RECORDINGS = sorted((Path(__file__).parents[1] / "transcripts" / "acp").glob("*/native.jsonl"))
CAN_ALL = {
    "loadSession": True,
    "promptCapabilities": {"image": True},
    "mcpCapabilities": {"http": True},
    "sessionCapabilities": {"resume": {}, "delete": {}},
}
OPTIONS = [
    {"optionId": "a", "kind": "allow_once", "name": "Yes"},
    {"optionId": "b", "kind": "allow_always", "name": "Yes, always"},
    {"optionId": "c", "kind": "reject_once", "name": "No"},
]
CHOICES: list[dict[str, Any]] = [
    {
        "id": "model",
        "category": "model",
        "type": "select",
        "currentValue": "one",
        "options": [
            {"name": "Fast", "options": [{"value": "one", "name": "One"}]},
            {"value": "two", "name": "Two"},
        ],
    },
    {
        "id": "effort",
        "category": "thought_level",
        "type": "select",
        "currentValue": "low",
        "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
    },
    {
        "id": "mode",
        "category": "mode",
        "type": "select",
        "currentValue": "ask",
        "options": [
            {"value": "ask", "name": "Ask"},
            {"value": "plan", "name": "Plan"},
            {"value": "yolo", "name": "All"},
        ],
    },
]
FORM = {
    "mode": "form",
    "sessionId": "s1",
    "toolCallId": "t1",
    "message": "Please answer.",
    "requestedSchema": {
        "properties": {
            "q0": {
                "type": "string",
                "title": "Colour",
                "description": "Which colour?",
                "oneOf": [{"const": "r", "title": "Red"}, {"const": "b", "title": "Blue"}],
            },
            "q0_custom": {"type": "string", "title": "Other"},
            "q1": {"type": "array", "title": "Checks", "items": {"enum": ["Lint", "Tests"]}},
            "q2": {"type": "boolean", "title": "Sure"},
            "q3": {"type": "integer", "title": "How many"},
        }
    },
}


class Session:
    """A wire with a conversation, as the runtime would hold them."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        can: dict[str, Any] | None = None,
        logins: list[dict[str, Any]] | None = None,
        opened: dict[str, Any] | None = None,
        resume: str | None = None,
    ) -> None:
        self.scribe = Scribe(counted(itertools.count().__next__))
        self.wire = AcpWire(counted())
        self.wire.connected()
        settings = settings or Settings("/ws")
        start = Start(self.scribe, settings, AGENT.metadata(None, settings), resume, resume is not None)
        self.conversation: AcpConversation = self.wire.open(start)
        self.conversation.announce("daemon")
        can = CAN_ALL if can is None else can
        self.reply(protocolVersion=1, agentCapabilities=can, authMethods=logins)
        if opened is not None:
            self.reply(sessionId="s1", **opened)
            self.written()

    def feed(self, **frame: Any) -> None:
        self.wire.receive(msgspec.json.encode({"jsonrpc": "2.0", **frame}))

    def reply(self, **result: Any) -> None:
        """Answer the request that was written last."""
        self.feed(id=self.peek()[-1]["id"], result=result)

    def refuse(self, code: int = -32603, message: str = "Internal error", **more: Any) -> None:
        self.feed(id=self.peek()[-1]["id"], error={"code": code, "message": message, **more})

    def prompt(self, text: str = "go") -> None:
        """Open a turn and send its prompt."""
        self.scribe.start_turn()
        self.scribe.user_message(text)
        self.written()
        self.wire.prompt(self.conversation, Prompt(text), {})
        self._prompted = self.peek()[-1]["id"] if self.wire.outbox else None

    def end(self, stop_reason: str = "end_turn", **more: Any) -> None:
        self.feed(id=self._prompted, result={"stopReason": stop_reason, **more})

    def fail(self, code: int, message: str, **more: Any) -> None:
        self.feed(id=self._prompted, error={"code": code, "message": message, **more})

    def update(self, name: str, /, **update: Any) -> None:
        params = {"sessionId": "s1", "update": {"sessionUpdate": name, **update}}
        self.feed(method="session/update", params=params)

    def say(self, text: str, *, id: str | None = None, thinks: bool = False, **more: Any) -> None:
        kind = "agent_thought_chunk" if thinks else "agent_message_chunk"
        self.update(kind, content={"type": "text", "text": text}, messageId=id, **more)

    def ask(self, options: list[dict[str, Any]] | None = None, **call: Any) -> str:
        call = {
            "toolCallId": "t1",
            "title": "touch a",
            "kind": "execute",
            "rawInput": {"command": "touch a"},
        } | call
        params = {"sessionId": "s1", "toolCall": call, "options": OPTIONS if options is None else options}
        self.feed(id=7, method="session/request_permission", params=params)
        return "7"

    def peek(self) -> list[dict[str, Any]]:
        return [msgspec.json.decode(encode_frame(frame)) for frame in self.wire.outbox]

    def written(self) -> list[dict[str, Any]]:
        """What was written to the agent since the last call."""
        frames = self.peek()
        self.wire.outbox.clear()
        return frames

    def data(self, *kinds: type) -> list[Any]:
        return [draft.data for draft in self.scribe.drafts if not kinds or isinstance(draft.data, kinds)]

    def items(self) -> list[Item]:
        """Every completed item except the prompts and the facts of the session."""
        done = [data.item for data in self.data(ItemCompleted)]
        return [item for item in done if item.role != "user" and not _is_fact(item)]

    def parts(self) -> list[Any]:
        return [item.content[0] for item in self.items()]

    def statuses(self) -> list[tuple[str, Any]]:
        done = (data.item.content for data in self.data(ItemCompleted) if data.item.kind == "status")
        return [(content[0].label, content[1].json) for content in done]

    def broken_rules(self) -> list[str]:
        return violations(
            Event(
                "evt",
                n,
                "",
                "s",
                draft.native_session_id,
                draft.source,
                draft.source == "daemon",
                draft.data.TYPE,
                draft.data,
            )
            for n, draft in enumerate(self.scribe.drafts, 1)
        )


AGENT = Acp("acp", ["acp"])


def _is_fact(item: Item) -> bool:
    part = item.content[0]
    return isinstance(part, StatusPart) and part.label in ("session", "usage")


def in_turn(**more: Any) -> Session:
    session = Session(opened={}, **more)
    session.prompt()
    session.written()
    return session


def read_back(session: Session, *received: dict[str, Any]) -> list[Action]:
    """The actions that a reader finds in a recording of what the session wrote and received."""
    reader = AcpWire(counted())
    reader.recorded_start = lambda settings, native_id: Start(
        Scribe(counted(itertools.count().__next__)),
        settings,
        AGENT.metadata(None, settings),
        native_id,
    )
    new = {"id": "n", "method": "session/new", "params": {"cwd": "/ws", "mcpServers": []}}
    [began] = reader.sent(msgspec.json.encode(new))
    assert isinstance(began, Began)
    reader.receive(b'{"id":"n","result":{"sessionId":"s1"}}')
    began.conversation.scribe.start_turn()
    for frame in received:
        reader.receive(msgspec.json.encode(frame))
    return [action for frame in session.wire.outbox for action in reader.sent(encode_frame(frame))]


# -- agents that the operator names --------------------------------------------------------------


def test_a_command_becomes_an_agent_of_that_name() -> None:
    agents = parse_acp_agents(["gem=gemini --acp", "cl-2='/opt/my agent/claude-acp' --flag 'a b'"])
    place = Place(Path("/bin/found"), Path("/data"), {})
    facts = {
        name: (agent.name, agent.title, agent.executables, agent.launch(place, Settings("/ws"), None, False))
        for name, agent in agents.items()
    }
    assert facts == {
        "gem": ("gem", "gem (ACP)", ("gemini",), Launch(["/bin/found", "--acp"])),
        "cl-2": (
            "cl-2",
            "cl-2 (ACP)",
            ("/opt/my agent/claude-acp",),
            Launch(["/bin/found", "--flag", "a b"]),
        ),
    }


SECRETS = dict.fromkeys(
    (
        "AWS_SECRET_ACCESS_KEY",
        "AWS_PROFILE",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "FOO",
        "FOO_BAR",
        "SANDBOX_AGENT_TOKEN",
    ),
    "secret",
)


@pytest.mark.parametrize(
    ("grants", "seen"),
    [
        ([], set()),
        (["gemini=AWS_*"], {"AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"}),
        (["gemini=AWS_PROFILE", "gemini=FOO"], {"AWS_PROFILE", "FOO"}),
        (["other=AWS_*", "gemini=GEMINI_*"], {"GEMINI_API_KEY"}),
        (["gemini=SANDBOX_*", "gemini=SANDBOX_AGENT_TOKEN"], set()),
    ],
)
def test_an_agent_sees_the_variables_granted_to_it(grants: list[str], seen: set[str]) -> None:
    agents = parse_acp_agents(["gemini=/opt/gemini-cli --acp", "other=aws"], grants=grants)
    base = {"PATH": "/bin", "LANG": "C"}
    assert environment(agents["gemini"], {**base, **SECRETS}, {}).keys() == base.keys() | seen


@pytest.mark.parametrize(
    ("grant", "message"),
    [
        ("gemini", "--acp-env gemini: write it as NAME=VARIABLE or NAME=FAMILY_*"),
        ("gemini=*", "--acp-env gemini=*: write it as NAME=VARIABLE or NAME=FAMILY_*"),
        ("gemini=A*", "--acp-env gemini=A*: write it as NAME=VARIABLE or NAME=FAMILY_*"),
        ("gemini=A B", "--acp-env gemini=A B: write it as NAME=VARIABLE or NAME=FAMILY_*"),
        ("claude=A", "--acp-env claude=A: no --acp-agent is called claude"),
    ],
)
def test_a_bad_grant_is_refused(grant: str, message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_acp_agents(["gemini=gemini"], ["claude"], [grant])
    assert refused.value.detail == message


def test_variables_before_the_command_are_its_environment() -> None:
    [agent] = parse_acp_agents(['oc=\'A={"edit":"ask"}\' B= opencode acp C=3']).values()
    launch = agent.launch(Place(Path("oc"), Path("/data"), {}), Settings("/ws"), None, False)
    assert (launch.argv, launch.env) == (["oc", "acp", "C=3"], {"A": '{"edit":"ask"}', "B": ""})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["gemini"], "--acp-agent gemini: write it as NAME='command args'"),
        (
            ["=gemini"],
            "--acp-agent : a name consists of lowercase letters, digits, - and _, and begins with a letter",
        ),
        (
            ["Gem=x"],
            "--acp-agent Gem: a name consists of lowercase letters, digits, - and _, and begins with a letter",
        ),
        (["claude=x"], "--acp-agent claude: an agent with this name already exists"),
        (["a=x", "a=y"], "--acp-agent a: an agent with this name already exists"),
        (["a= "], "--acp-agent a: there is no command"),
        (["a=B=1"], "--acp-agent a: there is no command"),
        (["a='x"], "--acp-agent a: No closing quotation"),
    ],
)
def test_a_bad_value_is_refused(values: list[str], message: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse_acp_agents(values, ["claude"])
    assert refused.value.detail == message


# -- beginning and resuming -----------------------------------------------------------------------


def test_a_conversation_begins_with_the_handshake() -> None:
    mcp = {
        "local": McpServer("srv", ("-x",), {"K": "v"}),
        "far": McpServer(url="http://m", headers={"H": "v"}),
    }
    session = Session(Settings("/ws", mcp=mcp))
    initialize, new = session.written()
    assert (initialize["method"], initialize["params"]["protocolVersion"]) == ("initialize", 1)
    capabilities = initialize["params"]["clientCapabilities"]
    assert (capabilities["fs"], capabilities["terminal"]) == (
        {"readTextFile": False, "writeTextFile": False},
        False,
    )
    assert (new["method"], new["params"]["cwd"], new["params"]["mcpServers"]) == (
        "session/new",
        "/ws",
        [
            {"name": "local", "command": "srv", "args": ["-x"], "env": [{"name": "K", "value": "v"}]},
            {"type": "http", "name": "far", "url": "http://m", "headers": [{"name": "H", "value": "v"}]},
        ],
    )
    session.feed(id=new["id"], result={"sessionId": "s1"})
    assert (session.wire.notices, session.conversation.native_id) == ([Ready(session.conversation)], "s1")


def test_a_session_with_http_mcp_servers_fails_on_an_agent_without_support() -> None:
    session = Session(Settings("/ws", mcp={"far": McpServer(url="http://m")}), can={})
    assert session.wire.notices == [
        StartFailed(session.conversation, "the agent does not support MCP servers over HTTP: far")
    ]


def test_another_version_of_the_protocol_is_refused() -> None:
    scribe = Scribe(counted(itertools.count().__next__))
    wire = AcpWire(counted())
    wire.connected()
    conversation = wire.open(Start(scribe, Settings("/ws"), AGENT.metadata(None, Settings("/ws"))))
    wire.list_catalogue("/ws")
    wire.receive(b'{"id":1,"result":{"protocolVersion":2}}')
    message = "the agent speaks version 2 of the protocol, not 1"
    assert wire.notices == [StartFailed(conversation, message), ListFailed(message)]


def test_an_agent_that_requires_a_login_says_how() -> None:
    session = Session(logins=[{"id": "x", "name": "Log in", "description": "Run `x login`"}])
    session.refuse(-32000, "Authentication required")
    message = "the agent requires a login (Log in: Run `x login`)"
    assert session.wire.notices == [StartFailed(session.conversation, message)]


@pytest.mark.parametrize(
    ("can", "method"),
    [
        (CAN_ALL, "session/resume"),
        ({"loadSession": True}, "session/load"),
    ],
)
def test_a_conversation_is_resumed_as_the_agent_can(can: dict[str, Any], method: str) -> None:
    session = Session(can=can, resume="s9")
    asked = session.written()[-1]
    assert (asked["method"], asked["params"]["sessionId"]) == (method, "s9")
    session.feed(id=asked["id"], result={})
    assert session.wire.notices == [Ready(session.conversation)]
    assert (session.conversation.native_id, session.conversation.can_resume) == ("s9", True)


def test_replayed_history_produces_no_events() -> None:
    session = Session(can={"loadSession": True}, resume="s1")
    before = session.data()
    session.update("user_message_chunk", content={"type": "text", "text": "old"})
    session.say("old")
    session.update("tool_call", toolCallId="t1", title="bash", status="completed", rawInput={})
    session.update("plan", entries=[])
    session.update("usage_update", used=1, size=2, cost={"amount": 0.5, "currency": "USD"})
    session.reply()
    assert session.data() == before
    session.prompt()
    session.update("usage_update", used=1, size=2, cost={"amount": 0.75, "currency": "USD"})
    session.end()
    assert session.data(TurnEnded)[0].metadata.usage == Usage(
        cost_usd=0.25, context_tokens=1, context_window=2
    )


def test_an_agent_that_cannot_resume_has_lost_the_conversation() -> None:
    session = Session(can={}, resume="s9")
    message = "the agent cannot resume conversations"
    assert session.wire.notices == [StartFailed(session.conversation, message, gone=True)]
    assert not Session(can={}, opened={}).conversation.can_resume


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (-32002, "Resource not found"),
        (-32603, "Session not found: s9"),
        (-32603, "No conversation found with session ID: s9"),
        (-32602, "Invalid session identifier"),
        (-32602, "unknown session"),
        (-32603, "no rollout found for thread id s9"),
        (-32603, "NotFoundError: storage/s9.json"),
    ],
)
def test_a_conversation_that_the_agent_cannot_find_is_gone(code: int, message: str) -> None:
    session = Session(resume="s9")
    session.refuse(code, message)
    assert session.wire.notices == [StartFailed(session.conversation, message, gone=True)]


@pytest.mark.parametrize(
    "message",
    [
        "database is locked, try again",
        "unknown error while loading the session",
        "model gpt-9 not found",
        "serve-mcp: not found",
    ],
)
def test_a_conversation_that_cannot_be_resumed_now_is_not_gone(message: str) -> None:
    session = Session(resume="s9")
    session.refuse(-32603, message)
    assert session.wire.notices == [StartFailed(session.conversation, message, gone=False)]


# -- model, variant and mode ------------------------------------------------------------------------


def chosen(**values: str) -> dict[str, Any]:
    return {
        "configOptions": [
            {**choice, "currentValue": values.get(str(choice["id"]), choice["currentValue"])}
            for choice in CHOICES
        ]
    }


def test_choices_are_made_one_by_one_before_the_session_is_ready() -> None:
    settings = Settings("/ws", "plan", model="two", variant="high")
    session = Session(settings, opened=None)
    session.reply(sessionId="s1", **chosen())
    made = []
    for answer in (
        {"model": "two"},
        {"model": "two", "effort": "high"},
        {"model": "two", "effort": "high", "mode": "plan"},
    ):
        assert session.wire.notices == []
        asked = session.written()[-1]
        made.append((asked["method"], asked["params"]["configId"], asked["params"]["value"]))
        session.feed(id=asked["id"], result=chosen(**answer))
    assert made == [
        ("session/set_config_option", "model", "two"),
        ("session/set_config_option", "effort", "high"),
        ("session/set_config_option", "mode", "plan"),
    ]
    assert session.wire.notices == [Ready(session.conversation)]
    assert session.statuses() == [("session", {"model": "two", "variant": "high", "mode": "plan"})]


def test_a_read_only_session_uses_the_agents_plan_mode() -> None:
    session = Session(Settings("/ws", permission_mode="plan"))
    session.reply(sessionId="s1", **chosen())
    assert session.written()[-1]["params"]["value"] == "plan"


def test_a_choice_that_the_agent_refuses_fails_the_start() -> None:
    session = Session(Settings("/ws", model="none"))
    session.reply(sessionId="s1", **chosen())
    session.refuse(-32602, "Invalid params: model not found: none")
    assert session.wire.notices == [StartFailed(session.conversation, "model not found: none")]


def test_an_agent_without_models_cannot_be_given_one() -> None:
    session = Session(Settings("/ws", model="two"))
    session.reply(sessionId="s1")
    assert session.wire.notices == [
        StartFailed(session.conversation, "the agent does not let clients choose its model")
    ]


def test_older_agents_without_options_are_set_by_separate_requests() -> None:
    modes = {
        "currentModeId": "code",
        "availableModes": [{"id": "code", "name": "Code"}, {"id": "plan", "name": "Plan"}],
    }
    models = {
        "currentModelId": "one",
        "availableModels": [{"modelId": "one", "name": "One"}, {"modelId": "two"}],
    }
    session = Session(opened={"modes": modes, "models": models})
    assert session.wire.configure(session.conversation, Settings("/ws", "plan", model="two"))
    [model] = session.written()
    session.feed(id=model["id"], result=None)
    [mode] = session.written()
    assert [(message["method"], message["params"]) for message in (model, mode)] == [
        ("session/set_model", {"sessionId": "s1", "modelId": "two"}),
        ("session/set_mode", {"sessionId": "s1", "modeId": "plan"}),
    ]
    session.feed(id=mode["id"], result={})
    session.wire.configure(session.conversation, Settings("/ws", model="two"))
    assert session.written()[-1]["params"] == {"sessionId": "s1", "modeId": "code"}


def test_a_prompt_waits_until_all_choices_are_made() -> None:
    session = Session(opened=chosen())
    session.wire.configure(session.conversation, Settings("/ws", model="two"))
    [choice] = session.written()
    session.prompt()
    assert session.written() == []
    session.feed(id=choice["id"], result=chosen(model="two"))
    assert [message["method"] for message in session.written()] == ["session/prompt"]


def test_a_waiting_prompt_is_cancelled_without_the_agent() -> None:
    session = Session(opened=chosen())
    session.wire.configure(session.conversation, Settings("/ws", model="two"))
    session.prompt()
    session.wire.cancel(session.conversation)
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == ["interrupted"]
    assert [message["method"] for message in session.written()] == []


def test_a_choice_that_fails_later_is_an_error() -> None:
    session = Session(opened=chosen())
    session.wire.configure(session.conversation, Settings("/ws", model="none"))
    session.refuse(-32602, "Invalid params: no such model", data={"x": 1})
    assert session.data(ErrorEvent) == [
        ErrorEvent("no such model", "model_not_found", {"code": -32602, "data": {"x": 1}})
    ]


def test_the_catalogue_is_what_a_new_session_offers() -> None:
    wire = AcpWire(counted())
    wire.connected()
    wire.list_catalogue("/ws")
    wire.receive(
        msgspec.json.encode({"id": 1, "result": {"protocolVersion": 1, "agentCapabilities": CAN_ALL}})
    )
    wire.receive(msgspec.json.encode({"id": 2, "result": {"sessionId": "s1", **chosen()}}))
    asked = [msgspec.json.decode(encode_frame(frame))["method"] for frame in wire.outbox]
    assert asked == ["initialize", "session/new", "session/delete"]
    wire.receive(b'{"id":3,"result":{}}')
    catalogue = Catalogue(
        (Model("one", "One", ("low", "high"), "low"), Model("two", "Two")),
        (
            Mode("build", "Build", "The agent's default mode."),
            Mode("ask", "Ask"),
            Mode("plan", "Plan"),
        ),
        "one",
    )
    assert wire.notices == [Listed(catalogue)]


def test_an_open_session_with_known_commands_lists_the_catalogue_at_once() -> None:
    session = Session(opened=chosen())
    session.update("available_commands_update", availableCommands=[])
    session.wire.notices.clear()
    session.wire.list_catalogue("/ws")
    [listed] = session.wire.notices
    assert isinstance(listed, Listed)
    assert listed.catalogue.default_model == "one"
    assert session.written() == []


@pytest.mark.parametrize("sends_commands", [True, False])
def test_the_wait_for_commands_is_bounded(sends_commands: bool) -> None:
    session = Session(opened=chosen())
    session.wire.notices.clear()
    session.wire.list_catalogue("/ws")
    assert (session.wire.notices, session.written()) == (
        [Wait(session.conversation, SECONDS_FOR_COMMANDS)],
        [],
    )
    if sends_commands:
        session.update("available_commands_update", availableCommands=[{"name": "review"}])
    session.wire.waited(session.conversation)
    [listed] = [notice for notice in session.wire.notices if isinstance(notice, Listed)]
    assert [command.name for command in listed.catalogue.commands] == (["review"] if sends_commands else [])
    session.wire.list_catalogue("/ws")
    assert session.wire.notices[-1] == listed  # at once


def test_a_switch_by_the_agent_itself_is_reported() -> None:
    session = Session(opened=chosen())
    session.update("current_mode_update", currentModeId="plan")
    session.update("config_option_update", **chosen(mode="plan", effort="high"))
    assert session.statuses()[1:] == [("session", {"mode": "plan"}), ("session", {"variant": "high"})]


# -- what we write is read back -----------------------------------------------------------------


@pytest.mark.parametrize(
    "prompt",
    [
        Prompt("hello\nworld"),
        Prompt("look", (Attachment("/ws/a b.png", "image/png"),)),
        Prompt(
            "", (Attachment("/ws/notes.txt", "text/plain", "my notes"), Attachment("/ws/data.bin", "x/y"))
        ),
    ],
)
def test_a_prompt_is_read_back(prompt: Prompt) -> None:
    session = Session(opened={})
    session.wire.prompt(session.conversation, prompt, {})
    [action] = read_back(session)
    assert isinstance(action, Prompted)
    assert action.prompt == prompt


def test_an_image_is_embedded_for_agents_that_accept_images_and_linked_for_others() -> None:
    prompt = Prompt("look", (Attachment("/ws/a.png"),))
    shown = []
    for can in (CAN_ALL, {}):
        session = Session(can=can, opened={})
        files = dict.fromkeys(session.wire.wants(prompt), b"png")
        session.wire.prompt(session.conversation, prompt, files)
        shown.append(session.written()[-1]["params"]["prompt"][1])
    assert shown == [
        {"type": "image", "data": "cG5n", "mimeType": "image/png", "uri": "file:///ws/a.png"},
        {"type": "resource_link", "uri": "file:///ws/a.png", "name": "a.png", "mimeType": "image/png"},
    ]


@pytest.mark.parametrize(
    ("decision", "option"),
    [
        (Decision("once"), "a"),
        (Decision("always"), "a"),
        (Decision("reject"), "c"),
        (Decision("reject", "not that file"), "c"),
    ],
)
def test_a_decision_is_read_back(decision: Decision, option: str) -> None:
    session = in_turn()
    key = session.ask()
    session.wire.decide(session.conversation, key, decision)
    assert session.peek()[-1]["result"]["outcome"] == {"outcome": "selected", "optionId": option}
    asked = {"sessionId": "s1", "toolCall": {"toolCallId": "t1"}, "options": OPTIONS}
    [action] = read_back(session, {"id": 7, "method": "session/request_permission", "params": asked})
    assert isinstance(action, Decided)
    assert (action.key, action.decision) == (key, decision)


@pytest.mark.parametrize("answer", [Answer((("approve",),)), Answer(None), Answer(None, "rather not")])
def test_the_answer_to_a_plan_is_read_back(answer: Answer) -> None:
    plan: dict[str, Any] = {"toolCallId": "t1", "kind": "switch_mode", "rawInput": {"plan": "1. Do it"}}
    session = in_turn()
    key = session.ask(**plan)
    [question] = session.data(QuestionRequested)
    assert (question.prompt, question.options) == ("1. Do it", ("approve", "reject"))
    session.wire.answer(session.conversation, key, answer)
    asked = {"sessionId": "s1", "toolCall": plan, "options": OPTIONS}
    [action] = read_back(session, {"id": 7, "method": "session/request_permission", "params": asked})
    assert isinstance(action, Answered)
    assert (action.key, action.answer) == (key, answer)


@pytest.mark.parametrize(
    ("answer", "content"),
    [
        (
            Answer((("Blue",), ("Lint", "Tests"), ("Yes",), ("3",))),
            {"q0": "b", "q1": ["Lint", "Tests"], "q2": True, "q3": 3},
        ),
        (Answer((("Green",), (), ("No",), ("many",))), {"q0_custom": "Green", "q2": False, "q3": "many"}),
        (Answer(None), None),
    ],
)
def test_the_answers_to_a_form_are_read_back(answer: Answer, content: dict[str, Any] | None) -> None:
    session = in_turn()
    session.feed(id=7, method="elicitation/create", params=FORM)
    [question] = session.data(QuestionRequested)
    asked = [
        (each.question, each.header, [label.label for label in each.options], each.multi_select)
        for each in question.metadata.questions
    ]
    assert asked == [
        ("Which colour?", "Colour", ["Red", "Blue"], False),
        ("Checks", "Checks", ["Lint", "Tests"], True),
        ("Sure", "Sure", ["Yes", "No"], False),
        ("How many", "How many", [], False),
    ]
    session.wire.answer(session.conversation, "7", answer)
    action = "decline" if content is None else "accept"
    form_answer = {"action": action} if content is None else {"action": action, "content": content}
    assert session.peek()[-1]["result"] == form_answer
    [read] = read_back(session, {"id": 7, "method": "elicitation/create", "params": FORM})
    assert isinstance(read, Answered)
    assert read.answer == answer


def test_a_cancel_is_read_back() -> None:
    session = in_turn()
    session.wire.cancel(session.conversation)
    [action] = read_back(session)
    assert isinstance(action, Cancelled)


# -- messages -------------------------------------------------------------------------------------


def test_chunks_without_an_id_are_one_message_until_something_else_arrives() -> None:
    session = in_turn()
    session.say("Hel")
    session.update("usage_update", used=1, size=2)
    session.say("lo")
    session.say("hm", thinks=True)
    session.update(
        "tool_call", toolCallId="t1", title="bash", status="in_progress", rawInput={"command": "ls"}
    )
    session.say("Mean")
    session.say("while")
    session.update("tool_call_update", toolCallId="t1", status="completed", rawOutput="a.txt")
    session.say("Done")
    session.end()
    assert session.parts() == [
        Text("Hello"),
        Reasoning("hm", "public"),
        ToolCall("bash", '{"command":"ls"}', "t1", title="bash"),
        Text("Meanwhile"),
        ToolResult("t1", "a.txt"),
        Text("Done"),
    ]
    assert session.broken_rules() == []


def test_a_message_id_continues_after_a_tool_and_a_new_id_begins_a_new_message() -> None:
    session = in_turn()
    session.update("tool_call", toolCallId="t1", title="bash", status="in_progress")
    session.say("one ", id="m1")
    session.update("tool_call_update", toolCallId="t1", status="completed")
    session.say("message", id="m1")
    session.say("another", id="m2")
    session.end()
    assert [part for part in session.parts() if isinstance(part, Text)] == [
        Text("one message"),
        Text("another"),
    ]


def test_whitespace_alone_is_not_a_message() -> None:
    session = in_turn()
    session.say("")
    session.end()
    assert session.items() == []


def test_content_other_than_text_is_reported() -> None:
    session = in_turn()
    link = {"type": "resource_link", "uri": "file:///ws/a", "name": "a"}
    session.update("agent_message_chunk", content=link)
    session.update("agent_message_chunk", content={"type": "image", "data": "cG5n", "mimeType": "image/png"})
    session.update("agent_message_chunk", content={"type": "audio", "data": "", "mimeType": "audio/wav"})
    session.end()
    [text, image, audio] = session.items()
    assert text.content == (Text("[a](file:///ws/a)"),)
    assert audio.content == (StatusPart("audio"), Json({"mime": "audio/wav"}))
    [(name, content)] = session.scribe.calls.blobs.items()
    assert (image.content, content) == (
        (StatusPart("image"), Json({"mime": "image/png", "path": name})),
        b"png",
    )


def test_text_after_the_turn_is_a_turn_the_agent_began() -> None:
    session = in_turn()
    session.end()
    session.say("By the ", id="m1")
    session.say("way", id="m1")
    session.update("usage_update", used=1, size=2)
    assert len(session.data(TurnStarted)) == 1
    session.update("usage_update", used=1, size=2, cost={"amount": 0.5, "currency": "USD"})
    assert session.parts() == [Text("By the way")]
    assert [end.metadata.usage for end in session.data(TurnEnded)] == [
        None,
        Usage(cost_usd=0.5, context_tokens=1, context_window=2),
    ]
    assert session.broken_rules() == []


def test_text_before_the_next_prompt_is_not_lost() -> None:
    session = in_turn()
    session.end()
    session.say("late")
    session.prompt()
    session.say("answer", id="m2")
    session.end()
    assert session.parts() == [Text("late"), Text("answer")]
    assert session.broken_rules() == []


def test_a_call_after_the_turn_runs_in_the_background() -> None:
    session = in_turn()
    session.end()
    session.update("tool_call", toolCallId="t1", title="bash", rawInput={"command": "ls"})
    session.update("tool_call_update", toolCallId="t1", status="completed", rawOutput="a")
    assert session.parts() == [
        ToolCall("bash", '{"command":"ls"}', "t1", title="bash"),
        ToolResult("t1", "a"),
    ]
    assert session.broken_rules() == []


# -- tools ----------------------------------------------------------------------------------------


def test_a_call_grows_and_its_output_is_previewed() -> None:
    session = in_turn()
    session.update("tool_call", toolCallId="t1", title="bash", kind="execute", status="pending", rawInput={})
    session.update(
        "tool_call_update", toolCallId="t1", rawInput={"command": "ls"}, content=_shown("Lists files")
    )
    session.update(
        "tool_call_update", toolCallId="t1", status="in_progress", title="ls", content=_shown("a\n")
    )
    session.update("tool_call_update", toolCallId="t1", status="in_progress", content=_shown("a\nb\n"))
    session.update(
        "tool_call_update",
        toolCallId="t1",
        status="completed",
        rawOutput={"output": "x", "exit_code": 3},
        content=_shown("a\nb\nc"),
    )
    session.update("tool_call_update", toolCallId="t1", status="completed", rawOutput="again")
    deltas = [data.delta for data in session.data() if type(data).__name__ == "ItemDelta"]
    assert deltas[1:] == ["a\n", "b\n"]
    assert session.parts() == [
        ToolCall("bash", '{"command":"ls"}', "t1", "command", "ls"),
        ToolResult("t1", "a\nb\nc", 3),
    ]


def _shown(text: str) -> list[dict[str, Any]]:
    return [{"type": "content", "content": {"type": "text", "text": text}}]


def test_a_reused_id_is_another_call() -> None:
    session = in_turn()
    for _ in range(2):
        session.update("tool_call", toolCallId="t1", title="bash", status="in_progress")
        session.update("tool_call_update", toolCallId="t1", status="completed", rawOutput="ok")
    session.end()
    assert [part.call_id for part in session.parts()] == ["t1", "t1", "t1#2", "t1#2"]
    assert session.broken_rules() == []


def test_requests_about_a_reused_id_belong_to_the_latest_call() -> None:
    session = in_turn()
    session.update("tool_call", toolCallId="t1", title="bash", status="completed")
    session.update("tool_call", toolCallId="t1", title="bash", status="pending")
    session.ask()
    session.feed(id=8, method="elicitation/create", params=FORM)
    asked = session.data(PermissionRequested, QuestionRequested)
    assert [request.metadata.call_id for request in asked] == ["t1#2", "t1#2"]


def test_a_call_left_open_by_its_turn_fails_with_what_is_known() -> None:
    session = in_turn()
    session.update("tool_call", toolCallId="t1", title="bash", rawInput={"command": "ls"})
    session.say("half", id="m1")
    session.end("cancelled")
    assert [(item.status, item.content) for item in session.items()] == [
        ("failed", (Text("half"),)),
        ("failed", (ToolCall("bash", '{"command":"ls"}', "t1", title="bash"),)),
        ("failed", (ToolResult("t1", ""),)),
    ]


def test_a_sub_agents_items_belong_to_its_call() -> None:
    session = in_turn()
    below: dict[str, Any] = {"_meta": {"claudeCode": {"parentToolUseId": "t1"}}}
    session.update("tool_call", toolCallId="t1", title="Task", name="Agent", rawInput={"prompt": "go"})
    session.say("inside", id="m1", **below)
    session.update("tool_call", toolCallId="t2", title="ls", name="Bash", status="completed", **below)
    session.end()
    agent, *inner = session.items()[:4]
    assert agent.content == (ToolCall("Agent", '{"prompt":"go"}', "t1", "task", "go"),)
    assert {item.parent_id for item in inner} == {agent.item_id}
    assert session.broken_rules() == []


@pytest.mark.parametrize(
    ("call", "files"),
    [
        (
            {
                "kind": "edit",
                "content": [{"type": "diff", "path": "/ws/a", "oldText": None, "newText": "hi\n"}],
            },
            [FileRef("/ws/a", "write", diff="--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+hi\n")],
        ),
        (
            {
                "kind": "edit",
                "content": [{"type": "diff", "path": "/ws/a", "oldText": "old", "newText": "new"}],
            },
            [FileRef("/ws/a", "patch", diff="--- a/a\n+++ b/a\n@@ -1 +1 @@\n-old\n+new\n")],
        ),
        (
            {"kind": "edit", "locations": [{"path": "/ws/a"}], "rawInput": {"content": "x"}},
            [FileRef("/ws/a", "write")],
        ),
        ({"kind": "delete", "locations": [{"path": "/ws/a"}]}, [FileRef("/ws/a", "delete")]),
        (
            {"kind": "move", "locations": [{"path": "/ws/a"}, {"path": "/ws/b"}]},
            [FileRef("/ws/a", "move", to="/ws/b")],
        ),
        ({"kind": "read", "locations": [{"path": "/ws/a"}]}, []),
    ],
)
def test_changed_files_are_on_the_result(call: dict[str, Any], files: list[FileRef]) -> None:
    session = in_turn()
    session.update("tool_call", toolCallId="t1", title="x", status="completed", rawOutput="ok", **call)
    session.update("tool_call", toolCallId="t2", title="x", status="failed", rawOutput="no", **call)
    _, made, _, failed = session.items()
    assert made.content == (ToolResult("t1", "ok"), *files)
    assert failed.content == (ToolResult("t2", "no"),)


def test_a_change_shown_whole_in_the_request_is_reported_whole() -> None:
    session = in_turn()
    session.update("tool_call", toolCallId="t1", title="edit", kind="edit", status="in_progress")
    whole = {"type": "diff", "path": "/ws/a", "oldText": "1\nold\n", "newText": "1\nnew\n"}
    session.ask(kind="edit", content=[whole])
    piece = {"type": "diff", "path": "/ws/a", "oldText": "old", "newText": "new"}
    session.update("tool_call_update", toolCallId="t1", status="completed", rawOutput="ok", content=[piece])
    diff = "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\n-old\n+new\n"
    assert session.items()[-1].content[1] == FileRef("/ws/a", "patch", diff=diff)


def test_a_tools_image_is_stored() -> None:
    session = in_turn()
    image = {"type": "content", "content": {"type": "image", "data": "cG5n", "mimeType": "image/png"}}
    session.update("tool_call", toolCallId="t1", title="shot", status="completed", content=[image])
    [(name, content)] = session.scribe.calls.blobs.items()
    assert (session.items()[-1].content[1], content) == (Image(name, "image/png"), b"png")


# -- permissions and questions --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "kind", "rules"),
    [
        ({}, "command", (Rule("touch a", "touch a"),)),
        ({"name": "Bash"}, "command", (Rule("Bash", "touch a"),)),
        ({"rawInput": {"command": ["ls", "-l"]}}, "command", (Rule("touch a", '["ls","-l"]'),)),
        ({"kind": "edit", "locations": [{"path": "/ws/./a"}]}, "edit", (Rule("touch a", "/ws/a"),)),
        ({"kind": "delete", "rawInput": {"p": 1}}, "edit", (Rule("touch a", '{"p":1}'),)),
        ({"kind": "fetch", "rawInput": {"url": "u"}}, "read", (Rule("touch a", '{"url":"u"}'),)),
        ({"kind": None, "rawInput": None}, "other", (Rule("touch a", "{}"),)),
    ],
)
def test_a_permission_has_its_kind_and_is_remembered_exactly(
    call: dict[str, Any], kind: str, rules: tuple[Rule, ...]
) -> None:
    session = in_turn()
    key = session.ask(**call)
    ask = session.scribe.pending[key].ask
    assert ask is not None
    assert (ask.kind, ask.needs) == (kind, rules)


def test_without_an_option_to_reject_the_request_is_cancelled() -> None:
    session = in_turn()
    session.wire.decide(session.conversation, session.ask(OPTIONS[:2]), Decision("reject"))
    assert session.written()[-1]["result"] == {"outcome": {"outcome": "cancelled"}}


def test_a_cancel_answers_pending_requests() -> None:
    session = in_turn()
    session.ask()
    session.feed(id="f", method="elicitation/create", params=FORM)
    session.wire.cancel(session.conversation)
    assert [(message.get("method"), message.get("result")) for message in session.written()] == [
        ("session/cancel", None),
        (None, {"outcome": {"outcome": "cancelled"}}),
        (None, {"action": "cancel"}),
    ]
    session.end("cancelled")
    assert [resolved.status for resolved in session.data(PermissionResolved, QuestionResolved)] == [
        "reject",
        "rejected",
    ]
    assert session.broken_rules() == []


def test_a_cancelled_turn_is_interrupted_whatever_the_agents_stop_reason() -> None:
    session = in_turn()
    session.conversation.cancelling = True
    session.wire.cancel(session.conversation)
    session.end("end_turn")
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == ["interrupted"]


def test_an_end_of_turn_answers_pending_requests() -> None:
    session = in_turn()
    session.ask()
    session.end()
    assert session.written()[-1]["result"] == {"outcome": {"outcome": "cancelled"}}
    session.wire.decide(session.conversation, "7", Decision("once"))
    assert session.written() == []


def test_a_request_withdrawn_by_the_agent_is_rejected() -> None:
    session = in_turn()
    session.ask()
    session.feed(method="$/cancel_request", params={"requestId": 7})
    [resolved] = session.data(PermissionResolved)
    assert (resolved.status, resolved.metadata.decided_by) == ("reject", "agent")
    assert session.written()[-1]["error"]["code"] == -32800


def test_a_request_of_an_unknown_session_is_a_sub_agents() -> None:
    session = in_turn()
    params = {"sessionId": "child", "toolCall": {"toolCallId": "t1", "title": "ls"}, "options": OPTIONS}
    session.feed(id=1, method="session/request_permission", params=params)
    assert [request.action for request in session.data(PermissionRequested)] == ["ls"]


def test_a_page_to_visit_and_an_invisible_form_are_declined() -> None:
    session = Session(opened={})
    session.feed(id=1, method="elicitation/create", params=FORM)
    session.prompt()
    session.feed(id=2, method="elicitation/create", params={**FORM, "mode": "url", "url": "http://x"})
    assert [message.get("result") for message in session.written()][-1] == {"action": "decline"}
    assert session.data(QuestionRequested) == []
    assert [label for label, _ in session.statuses()] == ["session", "elicitation", "elicitation"]


def test_a_form_without_fields_is_confirmed() -> None:
    session = in_turn()
    session.feed(id=7, method="elicitation/create", params={"sessionId": "s1", "message": "Go on?"})
    [question] = session.data(QuestionRequested)
    assert (question.prompt, question.options) == ("Go on?", ("Accept",))
    session.wire.answer(session.conversation, "7", Answer((("Accept",),)))
    assert session.written()[-1]["result"] == {"action": "accept", "content": {}}


@pytest.mark.parametrize(
    "method", ["fs/read_text_file", "fs/write_text_file", "terminal/create", "mcp/connect"]
)
def test_requests_meant_for_an_editor_are_refused(method: str) -> None:
    session = in_turn()
    session.feed(id=1, method=method, params={"sessionId": "s1"})
    assert session.written()[-1]["error"] == {"message": f"{method} is not supported", "code": -32601}
    assert session.items() == []


# -- the end of a turn ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("native", "ours"),
    [
        ("end_turn", "end_turn"),
        ("max_tokens", "max_tokens"),
        ("max_turn_requests", "limit"),
        ("refusal", "refusal"),
        ("cancelled", "interrupted"),
        ("_of_our_own", "end_turn"),
    ],
)
def test_a_turn_ends_with_its_stop_reason(native: str, ours: str) -> None:
    session = in_turn()
    session.end(native)
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == [ours]


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        ({"totalTokens": 120, "inputTokens": 100, "outputTokens": 20}, Usage(100, 20)),
        (
            {
                "totalTokens": 5700,
                "inputTokens": 500,
                "outputTokens": 700,
                "cachedReadTokens": 4000,
                "cachedWriteTokens": 500,
            },
            Usage(5000, 700, 4000, 500),
        ),
        (
            {
                "totalTokens": 5700,
                "inputTokens": 1000,
                "outputTokens": 100,
                "cachedReadTokens": 4000,
                "thoughtTokens": 600,
            },
            Usage(5000, 700, 4000, reasoning_tokens=600),
        ),
        (
            {
                "totalTokens": 5700,
                "inputTokens": 5000,
                "outputTokens": 700,
                "cachedReadTokens": 4000,
                "thoughtTokens": 600,
            },
            Usage(5000, 700, 4000, reasoning_tokens=600),
        ),
        ({"totalTokens": 0, "inputTokens": 0, "outputTokens": 0}, None),
    ],
)
def test_input_includes_cache_and_output_includes_thinking(
    counts: dict[str, int], usage: Usage | None
) -> None:
    session = in_turn()
    session.end(usage=counts)
    assert session.data(TurnEnded)[0].metadata.usage == usage


def test_a_turns_cost_is_the_increase_of_the_sessions_cost() -> None:
    session = in_turn()
    session.update("usage_update", used=10, size=100, cost={"amount": 0.1, "currency": "USD"})
    session.end()
    session.prompt()
    session.update("usage_update", used=20, size=100, cost={"amount": 0.3, "currency": "USD"})
    session.end()
    assert [end.metadata.usage for end in session.data(TurnEnded)] == [
        Usage(cost_usd=0.1, context_tokens=10, context_window=100),
        Usage(cost_usd=0.2, context_tokens=20, context_window=100),
    ]
    assert session.statuses()[1:] == [
        ("usage", {"used": 10, "size": 100, "cost": {"amount": 0.1, "currency": "USD"}}),
        ("usage", {"used": 20, "size": 100, "cost": {"amount": 0.3, "currency": "USD"}}),
    ]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            (-32000, "Authentication required"),
            ("Authentication required", "authentication_failed", {"code": -32000}),
        ),
        (
            (-32603, "Internal error: API Error: 400 Bad", {"errorKind": "unknown"}),
            ("400 Bad", "invalid_request", {"status": 400, "code": -32603, "data": {"errorKind": "unknown"}}),
        ),
        (
            (-32603, "Internal error: Too fast", {"errorKind": "rate_limit"}),
            ("Too fast", "rate_limited", {"code": -32603, "data": {"errorKind": "rate_limit"}}),
        ),
        (
            (-32603, "Internal error", {"details": "fetch failed"}),
            ("fetch failed", "connection_failed", {"code": -32603, "data": {"details": "fetch failed"}}),
        ),
        ((-32602, "Invalid params"), ("Invalid params", "invalid_request", {"code": -32602})),
        ((-1, "Something"), ("Something", "agent_error", {"code": -1})),
    ],
)
def test_a_prompt_that_fails_is_one_error(error: tuple[Any, ...], expected: tuple[Any, ...]) -> None:
    session = in_turn()
    code, message, *data = error
    session.fail(code, message, **({"data": data[0]} if data else {}))
    assert session.data(ErrorEvent) == [ErrorEvent(*expected)]
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == ["error"]


def test_an_error_after_a_cancel_is_ignored() -> None:
    session = in_turn()
    session.conversation.cancelling = True
    session.fail(-32603, "aborted")
    assert session.data(ErrorEvent) == []
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == ["interrupted"]


# -- facts ------------------------------------------------------------------------------------------


def test_facts_are_status_items() -> None:
    session = Session(opened={})
    session.update("available_commands_update", availableCommands=[{"name": "init", "description": "x"}])
    session.prompt()
    session.update("plan", entries=[{"content": "A", "status": "pending", "priority": "low"}])
    session.update("plan_removed", planId="p1")
    session.update("session_info_update", title="A title", updatedAt="now")
    session.update("session_info_update", title="A title")
    session.update("session_info_update", updatedAt="later")
    session.update("notice", severity="warning", title="Careful")
    session.update("compaction_update", compactionId="c1", status="completed")
    session.end()
    assert session.statuses()[1:] == [
        ("commands", {"commands": ["init"]}),
        ("plan", {"entries": [{"text": "A", "status": "pending"}]}),
        ("plan", {"entries": []}),
        ("title", {"title": "A title"}),
        ("notice", {"severity": "warning", "title": "Careful"}),
        ("compaction", {"compactionId": "c1", "status": "completed"}),
    ]


def test_frames_without_meaning_to_a_reader_are_ignored() -> None:
    session = in_turn()
    before = session.data()
    session.update("user_message_chunk", content={"type": "text", "text": "go"})
    session.update("compaction_summary_chunk", compactionId="c1")
    session.feed(method="_auth/status_update", params={})
    session.feed(method="elicitation/complete", params={"elicitationId": "e"})
    assert session.data() == before


@pytest.mark.parametrize(
    "frame",
    [
        {"method": "session/update", "params": {"sessionId": "s1", "update": {"sessionUpdate": "new_thing"}}},
        {"method": "session/update", "params": {"sessionId": "s9", "update": {"sessionUpdate": "plan"}}},
        {"method": "_vendor/news", "params": {}},
        {"id": 5, "method": "vendor/ask", "params": {}},
    ],
)
def test_unknown_updates_are_kept_unchanged(frame: dict[str, Any]) -> None:
    session = in_turn()
    session.feed(**frame)
    [item] = session.items()
    assert (item.kind, item.content) == ("unknown", (Json({"jsonrpc": "2.0", **frame}),))


def test_a_known_update_of_the_wrong_shape_is_unparsed() -> None:
    session = in_turn()
    session.update("agent_message_chunk", content="no")
    assert isinstance(session.data()[-1], AgentUnparsed)


def test_a_request_of_the_wrong_shape_is_still_answered() -> None:
    session = in_turn()
    session.feed(id=9, method="session/request_permission", params={"options": 3})
    assert session.written()[-1]["error"]["code"] == -32602
    assert isinstance(session.data()[-1], AgentUnparsed)


DEEP = "DEEP"


def deep(frame: dict[str, Any], levels: int) -> bytes:
    """A frame that contains something nested this deep."""
    return msgspec.json.encode(frame).replace(b'"DEEP"', b"[" * levels + b"]" * levels)


@pytest.mark.parametrize("levels", [985, 3_000, 100_000])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("session/request_permission", {"toolCall": {"toolCallId": "t1", "rawInput": DEEP}}),
        ("elicitation/create", {"mode": "url", "url": DEEP}),
        ("something/else", {"what": DEEP}),
    ],
)
def test_a_request_that_is_nested_too_deep_is_refused_and_the_turn_goes_on(
    method: str, params: dict[str, Any], levels: int
) -> None:
    session = in_turn()
    session.wire.receive(deep({"id": 9, "method": method, "params": {"sessionId": "s1", **params}}, levels))
    [refusal] = session.written()
    assert (refusal["id"], refusal["error"]["code"]) == (9, -32602)
    assert isinstance(session.data()[-1], AgentUnparsed)
    assert (session.scribe.pending, session.wire._rpc.open_requests) == ({}, {})
    session.update("tool_call_update", toolCallId="t1", title="bash", status="completed", rawOutput="a")
    session.end()
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == ["end_turn"]
    assert session.parts() == ([ToolCall("bash", "{}", "t1", title="bash"), ToolResult("t1", "a")])


def test_a_request_of_any_depth_is_shown_or_refused() -> None:
    session = in_turn()
    ends = set()
    for levels in range(850, 1_000):
        call = {"toolCallId": f"t{levels}", "title": "bash", "rawInput": DEEP}
        params = {"sessionId": "s1", "toolCall": call}
        frame = {"id": levels, "method": "session/request_permission", "params": params}
        session.wire.receive(deep(frame, levels))
        asked = str(levels) in session.scribe.pending
        assert asked == (str(levels) in session.wire._rpc.open_requests)
        ends.add((asked, len(session.written())))
    assert ends == {(True, 0), (False, 1)}
    session.end()
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == ["end_turn"]


@pytest.mark.parametrize("levels", [985, 3_000])
def test_a_call_nested_too_deep_is_reported_without_its_arguments(levels: int) -> None:
    session = in_turn()
    call = {"sessionUpdate": "tool_call", "toolCallId": "t1", "title": "bash", "rawInput": DEEP}
    session.wire.receive(
        deep({"method": "session/update", "params": {"sessionId": "s1", "update": call}}, levels)
    )
    assert isinstance(session.data()[-1], AgentUnparsed)
    session.update("tool_call_update", toolCallId="t1", title="bash", status="completed", rawOutput="a")
    session.end()
    assert session.parts() == [ToolCall("bash", "{}", "t1", title="bash"), ToolResult("t1", "a")]


@pytest.mark.parametrize("levels", [985, 3_000])
def test_the_end_of_a_turn_counts_at_any_depth(levels: int) -> None:
    session = in_turn()
    session.wire.receive(deep({"id": session._prompted, "result": {"_meta": DEEP}}, levels))
    assert len(session.data(TurnEnded)) == 1


def test_an_unknown_stop_reason_is_an_error() -> None:
    session = in_turn()
    session.end(7)  # type: ignore[arg-type]
    assert [end.metadata.stop_reason for end in session.data(TurnEnded)] == ["error"]
    assert isinstance(session.data()[-1], AgentUnparsed)


def test_a_calls_output_is_dropped_once_reported() -> None:
    session = in_turn()
    for n in range(MAX_CALLS + 1):
        session.update(
            "tool_call",
            toolCallId=f"t{n}",
            title="bash",
            status="completed",
            content=_shown("much"),
            rawOutput="much",
        )
        session.scribe.take()
    calls = session.conversation._calls
    assert (len(calls), calls["t7"]) == (
        MAX_CALLS,
        Call("t7", "t7", "bash", status="completed", opened=True, agent_title="bash"),
    )


def test_text_outside_of_a_turn_is_written_before_it_grows_too_large() -> None:
    session = Session(opened={})
    for _ in range(MAX_UNPROMPTED):
        session.say("word ")
    assert session.parts() == [Text("word " * MAX_UNPROMPTED)]
    assert len(session.data(TurnEnded)) == 1


def test_the_number_of_open_requests_is_bounded() -> None:
    session = in_turn()
    params = {"sessionId": "s1", "toolCall": {"toolCallId": "t1", "title": "bash"}}
    for id in range(MAX_WAITING + 2):
        session.feed(id=f"ask {id}", method="session/request_permission", params=params)
    assert [message["id"] for message in session.written()] == ["ask 1000", "ask 1001"]
    assert len(session.scribe.pending) == MAX_WAITING


@pytest.mark.parametrize(
    ("call", "kind", "title"),
    [
        ({"kind": "execute", "title": "`ls`", "name": "Bash"}, "command", "ls"),
        ({"kind": "execute", "title": "bash", "rawInput": {"command": "ls -l"}}, "command", "ls -l"),
        ({"kind": "edit", "title": "write", "locations": [{"path": "/ws/a"}]}, "edit", "/ws/a"),
        ({"kind": "move", "title": "Move it", "name": "mv"}, "edit", "Move it"),
        ({"kind": "search", "title": "grep", "rawInput": {"pattern": "x", "path": "/ws"}}, "search", "x"),
        ({"kind": "fetch", "title": "web", "rawInput": {"url": "http://a"}}, "fetch", "http://a"),
        ({"kind": "other", "title": "demo", "name": "mcp__demo__add"}, "mcp", "demo/add"),
        ({"kind": "think", "title": "x", "rawInput": {"prompt": "go", "description": "job"}}, "task", "job"),
        ({"kind": "think", "title": "ponder"}, "other", "ponder"),
        ({"title": "nothing"}, "other", "nothing"),
    ],
)
def test_a_call_has_a_kind_and_a_title(call: dict[str, Any], kind: str, title: str) -> None:
    session = in_turn()
    session.update("tool_call", toolCallId="t1", status="completed", **call)
    part = session.parts()[0]
    assert (part.kind, part.title) == (kind, title)


def test_a_permission_has_a_kind_and_a_title() -> None:
    session = in_turn()
    session.ask(kind="fetch", rawInput={"url": "http://a"})
    [asked] = session.data(PermissionRequested)
    assert (asked.metadata.kind, asked.metadata.title) == ("fetch", "http://a")


# -- invalid frames ---------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def recorded_frames() -> list[dict[str, Any]]:
    """One frame of each kind in the recordings, for the session of these tests."""
    kinds: dict[tuple[Any, ...], dict[str, Any]] = {}
    for recording in RECORDINGS:
        for line in recording.read_bytes().splitlines():
            record = msgspec.json.decode(line)
            if record["dir"] == "out" and isinstance(frame := record["msg"], dict):
                params = frame.get("params", {})
                update = params.get("update", {})
                if "sessionId" in params:
                    params["sessionId"] = "s1"
                kinds.setdefault(
                    (frame.get("method"), update.get("sessionUpdate"), update.get("status")), frame
                )
    return list(kinds.values())


FRAMES = recorded_frames()


def mutated(frame: Any, name: str, value: Any) -> Any:
    """The frame with another value in one place, which the name shows."""
    if not isinstance(frame, dict) or not frame:
        return value
    target = name if name in frame else sorted(frame)[len(name) % len(frame)]
    deeper = len(name) > 2
    return {**frame, target: mutated(frame[target], name[1:], value) if deeper else value}


@given(st.lists(st.tuples(st.sampled_from(FRAMES), st.text(max_size=8), json_values), max_size=5))
def test_no_frame_breaks_the_wire_or_the_rules(mutations: list[tuple[dict[str, Any], str, Any]]) -> None:
    session = in_turn()
    for frame, name, value in mutations:
        session.wire.receive(msgspec.json.encode(mutated(frame, name, value)))
        session.wire.receive(msgspec.json.encode(frame))
    session.scribe.end_turn("outcome_unknown", source="daemon")
    session.scribe.close_background()
    assert [rule for rule in session.broken_rules() if "agent.unparsed" not in rule] == []


@given(json_values)
def test_no_line_of_json_breaks_the_wire(value: Any) -> None:
    session = Session(opened={})
    session.wire.receive(msgspec.json.encode(value))
