"""Opens conversations and sets the model, variant and mode that their settings ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from ...schema.events import ErrorCode
from ...schema.inputs import McpServer
from ..base import Ready, StartFailed
from ..jsonrpc import Rpc, RpcError
from .awaited import Awaited, Choose, Opening
from .errors import failure_of, says_gone, text_of
from .frames import (
    AUTHENTICATION_REQUIRED,
    AgentCapabilities,
    Initialized,
    OpenSession,
    OptionSet,
    SessionOpened,
)
from .options import Choosing, Offer, wanted_mode
from .pending import OpenRequest
from .transcript import AcpConversation

if TYPE_CHECKING:
    from .wire import AcpWire


class Setup:
    def __init__(self, wire: AcpWire, rpc: Rpc[Awaited, OpenRequest]) -> None:
        self.agent: Initialized | None = None
        """The agent's answer to the handshake; None until it arrives."""
        self._wire = wire
        self._rpc = rpc

    @property
    def capabilities(self) -> AgentCapabilities:
        return (self.agent.agent_capabilities if self.agent else None) or AgentCapabilities()

    def open(self, conversation: AcpConversation) -> None:
        servers = conversation.settings.mcp
        supported = self.capabilities.mcp_capabilities
        for name, server in servers.items():
            has_it = supported.sse if server.transport == "sse" else supported.http
            if server.url is not None and not has_it:
                kind = "SSE" if server.transport == "sse" else "HTTP"
                self.fail(conversation, f"the agent does not support MCP servers over {kind}: {name}")
                return
        params = OpenSession(
            cwd=conversation.settings.directory,
            mcp_servers=[_mcp_server(name, server) for name, server in servers.items()],
        )
        if not conversation.resumed or conversation.native_id is None:
            self._rpc.call("session/new", params, Opening(conversation, resumes=False))
            return
        params = msgspec.structs.replace(params, session_id=conversation.native_id)
        if self.capabilities.session_capabilities.resume is not None:
            self._rpc.call("session/resume", params, Opening(conversation, resumes=True))
        elif self.capabilities.load_session:
            conversation.replays = True
            self._rpc.call("session/load", params, Opening(conversation, resumes=True))
        else:
            self.fail(conversation, "the agent cannot resume conversations", gone=True)

    def finish_opening(self, opening: Opening, failed: RpcError | None, result: Raw) -> None:
        conversation = opening.conversation
        if failed is not None:
            needs_login = failed.code == AUTHENTICATION_REQUIRED
            message = self.login_advice(failed) if needs_login else failure_of(failed).message
            gone = opening.resumes and not needs_login and says_gone(failed, conversation.native_id)
            self.fail(conversation, message, gone=gone)
            return
        opened = msgspec.json.decode(result, type=SessionOpened | None) or SessionOpened()
        if opened.session_id is not None:
            conversation.native_id = opened.session_id
        conversation.opened(Offer.of(opened))
        can = self.capabilities
        conversation.can_resume = can.load_session or can.session_capabilities.resume is not None
        if self._wire.recorded_start is None:
            settings = conversation.settings
            choices: list[tuple[Choosing, str | None]] = [
                ("model", settings.model),
                ("variant", settings.variant),
            ]
            conversation.to_choose += [(what, value) for what, value in choices if value is not None]
            self.want_mode(conversation)
        self.choose_next(conversation)

    def login_advice(self, failed: RpcError) -> str:
        methods = (self.agent.auth_methods if self.agent else None) or ()
        ways = "; ".join(
            f"{method.name}: {method.description}" if method.description else method.name
            for method in methods
        )
        return f"the agent requires a login ({ways or text_of(failed)})"

    def fail(self, conversation: AcpConversation, message: str, *, gone: bool = False) -> None:
        conversation.replays = False
        self._wire.notices.append(StartFailed(conversation, message, gone))

    # -- choosing model, variant and mode -----------------------------------------------------

    def want_mode(self, conversation: AcpConversation) -> None:
        mode = wanted_mode(conversation.settings, conversation.offer, conversation.initial_mode)
        if mode is not None:
            conversation.to_choose.append(("mode", mode))

    def choose_next(self, conversation: AcpConversation) -> None:
        """Makes one choice at a time, because each may change which others are available."""
        while conversation.to_choose and not conversation.choosing:
            what, value = conversation.to_choose.pop(0)
            if conversation.offer.current(what) == value:
                continue
            setting = conversation.offer.setting(what, value, conversation.session_id)
            if setting is None:
                self._fail_choice(
                    conversation, RpcError(f"the agent does not let clients choose its {what}"), what
                )
            else:
                conversation.choosing = True
                self._rpc.call(setting.method, setting.params, Choose(conversation, what, value))
        if conversation.choosing:
            return
        if not conversation.is_open:
            conversation.chosen(self.agent.agent_info if self.agent else None)
            self._wire.notices.append(Ready(conversation))
        for request in conversation.held:
            self._wire.send(request)
        conversation.held.clear()

    def finish_choice(self, choice: Choose, failed: RpcError | None, result: Raw) -> None:
        conversation = choice.conversation
        conversation.choosing = False
        if failed is not None:
            self._fail_choice(conversation, failed, choice.what)
        else:
            answer = msgspec.json.decode(result, type=OptionSet | None)
            if answer is not None and answer.config_options is not None:
                conversation.offers(conversation.offer.with_options(answer.config_options))
            elif choice.what is not None:
                conversation.offers(conversation.offer.chosen(choice.what, choice.value))
        self.choose_next(conversation)

    def _fail_choice(self, conversation: AcpConversation, failed: RpcError, what: Choosing | None) -> None:
        failure = failure_of(failed)
        if not conversation.is_open:
            conversation.to_choose.clear()
            conversation.is_open = True  # the conversation has ended: no `Ready` follows
            self.fail(conversation, failure.message)
            return
        code: ErrorCode = "model_not_found" if what == "model" else "invalid_request"
        conversation.scribe.error(failure.message, code, failure.details)


def _mcp_server(name: str, server: McpServer) -> dict[str, Any]:
    if server.url is not None:
        headers = [{"name": key, "value": value} for key, value in server.headers.items()]
        return {"type": server.transport or "http", "name": name, "url": server.url, "headers": headers}
    env = [{"name": key, "value": value} for key, value in server.env.items()]
    return {"name": name, "command": server.command, "args": server.args, "env": env}
