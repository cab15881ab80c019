"""Opens a conversation: creates or resumes it, and sets up its rules and MCP servers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from urllib.parse import quote

import msgspec
from msgspec import Raw

from ...schema.inputs import Settings
from ...schema.mcp import McpState, condition_of
from ..base import Ready, Start, StartFailed, Wire
from .asking import Asking, OnAnswer, path_of
from .bodies import CreateBody, McpStatus, ReplyBody
from .conversation import OpenCodeConversation
from .messages import Session, lenient
from .prompts import Prompts, Rules
from .requests import agent_of, failure_in, mcp_config, session_model
from .threads import Threads


class Opening:
    def __init__(
        self,
        wire: Wire,
        asking: Asking,
        threads: Threads,
        rules: Rules,
        prompts: Prompts,
        windows: Mapping[str, int],
    ) -> None:
        self._wire = wire
        self._asking = asking
        self._threads = threads
        self._rules = rules
        self._prompts = prompts
        self._windows = windows

    def begin(self, start: Start) -> OpenCodeConversation:
        conversation = self.add(start)
        if start.resume and start.native_id is not None:
            path = path_of(conversation, f"/session/{start.native_id}")
            self._asking.ask("GET", path, None, self.on_resumed(conversation))
        else:
            settings = start.settings
            body = CreateBody(
                agent=agent_of(settings),
                model=session_model(settings),
                permission=self._rules.of(conversation),
            )
            path = path_of(conversation, "/session")
            self._asking.ask("POST", path, body, self.on_created(conversation))
        return conversation

    def add(self, start: Start) -> OpenCodeConversation:
        conversation = OpenCodeConversation(self._wire, start)
        conversation.windows = self._windows
        conversation.feed_back = partial(self._prompts.feed_back, conversation)
        conversation.allow = partial(self._allow, conversation)
        self._threads.add(conversation)
        return conversation

    def _allow(self, conversation: OpenCodeConversation, key: str) -> None:
        self._asking.tell(conversation, f"/permission/{key}/reply", ReplyBody("once"))

    def recorded(self, settings: Settings, native_id: str | None) -> OpenCodeConversation:
        """A conversation that a recorded client began or resumed."""
        assert self._wire.recorded_start is not None
        conversation = self.add(self._wire.recorded_start(settings, native_id))
        if native_id is not None:
            self._threads.begin(native_id, conversation)
        return conversation

    # -- answers ------------------------------------------------------------------------------

    def on_created(self, conversation: OpenCodeConversation) -> OnAnswer:
        def created(status: int, body: Raw) -> None:
            if status != 200:
                self._fail(conversation, status, body)
            else:
                self._opened(conversation, msgspec.json.decode(body, type=Session))
                if agent_of(conversation.settings) == "plan" and not conversation.has_left:
                    self._rules.renew(conversation)  # The path of the plan is known only now.

        return created

    def on_resumed(self, conversation: OpenCodeConversation) -> OnAnswer:
        def resumed(status: int, body: Raw) -> None:
            if status != 200:
                self._fail(conversation, status, body)
                return
            self._opened(conversation, msgspec.json.decode(body, type=Session))
            if conversation.has_left:
                return
            # It may have been left in another mode, and other sessions may share its directory by now.
            self._rules.renew(conversation)

        return resumed

    def on_forked(self, status: int, body: Raw) -> None:
        if status == 200 and self._wire.recorded_start is not None:
            session = msgspec.json.decode(body, type=Session)
            self._opened(self.recorded(Settings(session.directory), session.id), session)

    def _fail(self, conversation: OpenCodeConversation, status: int, body: Raw) -> None:
        self._threads.forget(conversation)
        message = failure_in(status, body).message
        gone = conversation.resumed and status == 404
        self._wire.notices.append(StartFailed(conversation, message, gone))

    def _opened(self, conversation: OpenCodeConversation, session: Session) -> None:
        if conversation.has_left:
            return
        conversation.report(session)
        self._threads.begin(session.id, conversation)
        conversation.announce("agent")
        if conversation.settings.mcp:
            self._add_mcp(conversation)
        else:
            self._wire.notices.append(Ready(conversation))

    # -- MCP servers --------------------------------------------------------------------------

    def _add_mcp(self, conversation: OpenCodeConversation) -> None:
        """Add the session's MCP servers to its directory, and deny them to the other sessions there."""
        for name in conversation.mcp_servers():
            conversation.waiting_mcp += 1
            server = conversation.settings.mcp[conversation.tool_name(name)]
            body = {"name": name, "config": mcp_config(server)}
            path = path_of(conversation, "/mcp")
            self._asking.ask("POST", path, body, self._on_mcp(conversation, name))
        self._rules.deny_neighbours(conversation)

    def disconnect(self, conversation: OpenCodeConversation, server: str) -> None:
        self._asking.tell(conversation, f"/mcp/{quote(server)}/disconnect", None)

    def _on_mcp(self, conversation: OpenCodeConversation, server: str) -> OnAnswer:
        def added(status: int, body: Raw) -> None:
            if conversation.has_left:
                # It may have come back, and then it uses the server again.
                if all(other.native_id != conversation.native_id for other in self._threads.conversations):
                    self.disconnect(conversation, server)
                return
            conversation.waiting_mcp -= 1
            servers: dict[str, McpStatus]
            servers = lenient(body, dict[str, McpStatus], {}) if status == 200 else {}
            state = servers.get(server, McpStatus("failed", failure_in(status, body).message))
            name = conversation.tool_name(server)
            conversation.mcp[name] = McpState(condition_of(state.status), state.error)
            if state.status != "connected":
                payload = {"server": name, "status": state.status, "error": state.error}
                conversation.scribe.status("mcp", payload, f"{name}: {state.status}")
            if not conversation.waiting_mcp:
                self._wire.notices.append(Ready(conversation))

        return added
