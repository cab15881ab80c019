"""Codex's requests to its client, approvals (permissions) and questions, and the form of their answers.

Each class holds a request's parameters. It knows how to present the request to a client, how to send codex
the decision (`reply`), and how to read a reply back from a recording (`read`).
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import msgspec
from msgspec import Raw, Struct, field

from ...schema.events import AskedQuestion, Choice
from ...schema.inputs import Reply
from ...schema.items import arguments_of
from ..scribe import Ask, Rule
from ..titles import mcp_title
from .changes import diff_of
from .frames import Native, Params
from .thread import Thread
from .tools import COMMAND_TOOL, PATCH_TOOL, STDIN_TOOL, patch_input, patch_title, typed

Answers = tuple[tuple[str, ...], ...]


class Approval(Params, frozen=True, kw_only=True):
    @abstractmethod
    def ask(self, thread: Thread) -> Ask:
        """The permission as a client sees it."""

    @abstractmethod
    def reply(self, reply: Reply) -> Any:
        """The result to send to codex."""

    @abstractmethod
    def read(self, result: Raw) -> Reply:
        """The decision in a result."""


class Inquiry(Params, frozen=True, kw_only=True):
    def call(self, thread: Thread) -> str | None:
        """The key of the tool call that asks, if codex sends an item for it."""
        return None

    @abstractmethod
    def questions(self) -> tuple[AskedQuestion, ...]:
        """The questions as a client sees them."""

    @abstractmethod
    def reply(self, answers: Answers | None) -> Any:
        """The result to send to codex; None is a rejection."""

    @abstractmethod
    def read(self, result: Raw) -> Answers | None:
        """The answers in a result."""


# -- approvals --------------------------------------------------------------------------------


class Decided(Struct, frozen=True):
    decision: Any  # a name, or an object with one name as its key


_DECISIONS: dict[Reply, str] = {"once": "accept", "always": "accept", "reject": "decline"}
"""The daemon remembers an "always": if codex did, it would no longer ask, and no rule could deny anything."""
_REPLIES: dict[str, Reply] = {
    "accept": "once",
    "acceptForSession": "always",
    # Codex writes these rules to disk; we never answer with them.
    "acceptWithExecpolicyAmendment": "always",
    "applyNetworkPolicyAmendment": "always",
}


class DecisionApproval(Approval, frozen=True, kw_only=True):
    """Commands and patches are answered with the name of a decision."""

    item_id: str
    reason: str | None = None

    def reply(self, reply: Reply) -> Any:
        return Decided(_DECISIONS[reply])

    def read(self, result: Raw) -> Reply:
        decision = msgspec.json.decode(result, type=Decided).decision
        match decision:
            case {"applyNetworkPolicyAmendment": {"network_policy_amendment": {"action": "deny"}}}:
                return "reject"
        name = next(iter(decision), "") if isinstance(decision, dict) else decision
        return _REPLIES.get(name, "reject") if isinstance(name, str) else "reject"


class NetworkContext(Native, frozen=True, kw_only=True):
    host: str
    protocol: str | None = None


class CommandApproval(DecisionApproval, frozen=True, kw_only=True):
    kind: str = "command"
    command: str | None = None
    cwd: str | None = None
    network_approval_context: NetworkContext | None = None

    def ask(self, thread: Thread) -> Ask:
        if self.network_approval_context is not None:
            return self._ask_for_network(self.network_approval_context, thread)
        tool = STDIN_TOOL if self.kind == "writeStdin" else COMMAND_TOOL
        command = self.command or ""
        return Ask(
            tool,
            {"command": command, "cwd": self.cwd},
            "command",
            call=thread.items.open_command(self.turn_id, self.item_id, command, self.cwd),
            reason=self.reason,
            needs=(Rule(tool, command),),
            title=typed(command),
            # What is typed into a running program may be anything.
            command=command if tool == COMMAND_TOOL else None,
        )

    def _ask_for_network(self, network: NetworkContext, thread: Thread) -> Ask:
        call = thread.items.key(self.turn_id, self.item_id)
        return Ask(
            "network_access",
            {"host": network.host, "protocol": network.protocol, "command": self.command},
            call=call if thread.scribe.has_open_call(call) else None,
            reason=self.reason,
            needs=(Rule("network_access", network.host),),
            tool_kind="fetch",
            title=network.host,
            hosts=(network.host,),
        )


class FileChangeApproval(DecisionApproval, frozen=True, kw_only=True):
    grant_root: str | None = None

    def ask(self, thread: Thread) -> Ask:
        # The request names only the item; the changes were in the item when it started.
        call = thread.items.key(self.turn_id, self.item_id)
        changes = thread.items.changes.get(call, ())
        paths = tuple(change.path for change in changes)
        moved = tuple(change.kind.move_path for change in changes if change.kind.move_path)
        return Ask(
            PATCH_TOOL,
            patch_input(changes),
            "edit",
            call=call if thread.scribe.has_open_call(call) else None,
            paths=paths + moved,
            diff="".join(diff_of(change) or "" for change in changes) or None,
            reason=self.reason,
            needs=tuple(Rule(PATCH_TOOL, path) for path in paths + moved) or (Rule(PATCH_TOOL, ""),),
            title=patch_title(changes),
        )


class Granted(Struct, frozen=True):
    permissions: Any
    scope: str = "turn"


class PermissionsApproval(Approval, frozen=True, kw_only=True):
    """The model asks for more than its sandbox allows."""

    reason: str | None = None
    permissions: Raw = Raw(b"null")
    """Granted permissions are returned exactly as codex wrote them."""

    def ask(self, thread: Thread) -> Ask:
        permissions = msgspec.json.decode(self.permissions)
        rule = Rule("request_permissions", arguments_of(permissions))
        return Ask(
            "request_permissions", permissions, reason=self.reason, needs=(rule,), title=self.reason or ""
        )

    def reply(self, reply: Reply) -> Any:
        if reply == "reject":
            # The scope must be on the wire, so it is not left to the default.
            return Granted({}, "turn")
        return Granted(self.permissions, "turn")

    def read(self, result: Raw) -> Reply:
        granted = msgspec.json.decode(result, type=Granted)
        some = isinstance(granted.permissions, dict) and any(granted.permissions.values())
        if not some:
            return "reject"
        return "always" if granted.scope == "session" else "once"


# -- elicitations: an approval of an MCP tool, or a real question of an MCP server -----------------


class ElicitationMeta(Struct, frozen=True):
    codex_approval_kind: str | None = None
    tool_params: Any = None


class Elicited(Struct, frozen=True):
    """The answer; all three fields are always on the wire."""

    action: str
    content: Any
    meta: Any = field(name="_meta")


class _ReadElicited(Struct, frozen=True):
    action: str = "decline"
    content: Any = None
    meta: Any = field(default=None, name="_meta")


class Elicitation(Params, frozen=True, kw_only=True):
    """An elicitation that is not classified yet."""

    server_name: str = ""
    mode: str = "form"
    message: str = ""
    meta: ElicitationMeta | None = field(default=None, name="_meta")
    requested_schema: Any = None
    url: str | None = None

    def classify(self) -> Approval | Inquiry | None:
        """None if we cannot present it to a client: a proof of the user's identity."""
        if self.meta is not None and self.meta.codex_approval_kind:
            return McpApproval(
                thread_id=self.thread_id,
                turn_id=self.turn_id,
                server=self.server_name,
                message=self.message,
                tool_params=self.meta.tool_params,
            )
        if self.mode == "openai/userVerification":
            return None
        return McpQuestion(
            thread_id=self.thread_id,
            turn_id=self.turn_id,
            server=self.server_name,
            message=self.message if self.url is None else f"{self.message}\n{self.url}",
            fields=_form_fields(self.requested_schema),
        )


class McpApproval(Approval, frozen=True, kw_only=True):
    server: str
    message: str
    tool_params: Any = None

    def ask(self, thread: Thread) -> Ask:
        key = thread.items.open_mcp_call(self.server, self.message, self.tool_params)
        call = thread.items.mcp_calls[key] if key else None
        name = call.name if call else self.server
        return Ask(
            name,
            call.arguments if call else self.tool_params,
            call=key,
            reason=self.message,
            needs=(Rule(name),),
            tool_kind="mcp",
            title=mcp_title(call.server, call.tool) if call else self.server,
        )

    def reply(self, reply: Reply) -> Any:
        if reply == "reject":
            return Elicited("decline", None, None)
        return Elicited("accept", {}, None)

    def read(self, result: Raw) -> Reply:
        answer = msgspec.json.decode(result, type=_ReadElicited)
        if answer.action != "accept":
            return "reject"
        return "always" if isinstance(answer.meta, dict) and answer.meta.get("persist") else "once"


class FormField(Struct, frozen=True):
    """One property of an MCP server's form."""

    name: str
    title: str
    type: str = "string"
    values: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()

    def value(self, answer: tuple[str, ...]) -> Any:
        chosen = [self._named(label) for label in answer]
        if self.type == "array":
            return chosen
        text = chosen[0] if chosen else ""
        match self.type:
            case "boolean":
                return text.lower() in ("true", "yes")
            case "integer" | "number":
                return _number(text)
        return text

    def labels_of(self, value: Any) -> tuple[str, ...]:
        values = value if isinstance(value, list) else [value]
        texts = [value if isinstance(value, str) else arguments_of(value) for value in values]
        labels = dict(zip(self.values, self.labels, strict=True))
        return tuple(labels.get(text, text) for text in texts)

    def _named(self, label: str) -> str:
        return dict(zip(self.labels, self.values, strict=True)).get(label, label)


class McpQuestion(Inquiry, frozen=True, kw_only=True):
    server: str
    message: str
    fields: tuple[FormField, ...] = ()

    def call(self, thread: Thread) -> str | None:
        return thread.items.open_mcp_call(self.server)

    def questions(self) -> tuple[AskedQuestion, ...]:
        if not self.fields:
            return (AskedQuestion(self.message, "", (Choice("accept"), Choice("decline"))),)
        alone = len(self.fields) == 1
        return tuple(
            AskedQuestion(
                self.message if alone else f"{self.message} ({field.title})",
                field.title,
                tuple(Choice(label) for label in field.labels),
                field.type == "array",
            )
            for field in self.fields
        )

    def reply(self, answers: Answers | None) -> Any:
        if answers is None or (not self.fields and answers[:1] == (("decline",),)):
            return Elicited("decline", None, None)
        given = zip(self.fields, answers, strict=False)
        return Elicited("accept", {field.name: field.value(answer) for field, answer in given}, None)

    def read(self, result: Raw) -> Answers | None:
        answer = msgspec.json.decode(result, type=_ReadElicited)
        if answer.action != "accept":
            return None
        if not self.fields:
            return (("accept",),)
        content = answer.content if isinstance(answer.content, dict) else {}
        return tuple(
            field.labels_of(content[field.name]) if field.name in content else () for field in self.fields
        )


class _Option(Struct, frozen=True):
    const: str
    title: str | None = None


class _Options(Struct, frozen=True, rename={"any_of": "anyOf"}):
    enum: tuple[str, ...] = ()
    any_of: tuple[_Option, ...] = ()


class _Property(Struct, frozen=True, rename={"enum_names": "enumNames", "one_of": "oneOf"}):
    type: str = "string"
    title: str | None = None
    description: str | None = None
    enum: tuple[str, ...] = ()
    enum_names: tuple[str, ...] = ()
    one_of: tuple[_Option, ...] = ()
    items: _Options | None = None


class _Form(Struct, frozen=True):
    properties: dict[str, _Property] = {}


def _form_fields(schema: Any) -> tuple[FormField, ...]:
    try:
        form = msgspec.convert(schema or {}, _Form)
    except msgspec.ValidationError:
        # A form in a format of its own: it can still be declined, or accepted empty.
        return ()
    return tuple(_form_field(name, schema) for name, schema in form.properties.items())


def _form_field(name: str, schema: _Property) -> FormField:
    options = schema.one_of or (schema.items.any_of if schema.items else ())
    values = (
        tuple(option.const for option in options)
        or schema.enum
        or (schema.items.enum if schema.items else ())
    )
    labels = tuple(option.title or option.const for option in options)
    if not labels:
        labels = schema.enum_names if len(schema.enum_names) == len(values) else values
    if schema.type == "boolean":
        values = labels = ("true", "false")
    return FormField(name, schema.title or schema.description or name, schema.type, values, labels)


def _number(text: str) -> Any:
    try:
        return msgspec.json.decode(text, type=int | float)
    except msgspec.DecodeError:
        return text


# -- questions from the model ---------------------------------------------------------------------


class Option(Native, frozen=True, kw_only=True):
    label: str
    description: str | None = None


class Question(Native, frozen=True, kw_only=True):
    id: str
    header: str = ""
    question: str = ""
    options: tuple[Option, ...] | None = None


class Chosen(Struct, frozen=True):
    answers: tuple[str, ...] = field(default_factory=tuple)


class Chose(Struct, frozen=True):
    answers: dict[str, Chosen]


class UserInputRequest(Inquiry, frozen=True, kw_only=True):
    asked: tuple[Question, ...] = field(default=(), name="questions")

    def questions(self) -> tuple[AskedQuestion, ...]:
        return tuple(
            AskedQuestion(
                question.question,
                question.header,
                tuple(Choice(option.label, option.description or "") for option in question.options or ()),
            )
            for question in self.asked
        )

    def reply(self, answers: Answers | None) -> Any:
        given = zip(self.asked, answers or (), strict=False)
        return Chose({question.id: Chosen(answer) for question, answer in given})

    def read(self, result: Raw) -> Answers | None:
        chosen = msgspec.json.decode(result, type=Chose).answers
        if not chosen:
            return None
        return tuple(chosen[question.id].answers if question.id in chosen else () for question in self.asked)


REQUESTS: dict[str, type[Params]] = {
    "item/commandExecution/requestApproval": CommandApproval,
    "item/fileChange/requestApproval": FileChangeApproval,
    "item/permissions/requestApproval": PermissionsApproval,
    "mcpServer/elicitation/request": Elicitation,
    "item/tool/requestUserInput": UserInputRequest,
}

UNSUPPORTED = frozenset(
    {
        "item/tool/call",  # tools of the client: we give codex none
        "account/chatgptAuthTokens/refresh",
        "attestation/generate",
        "currentTime/read",
        # The protocol before threads.
        "applyPatchApproval",
        "execCommandApproval",
    }
)
