"""A conversation on codex: its thread and its sub-agents' threads, its usage, and its settings in codex's
terms.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ...schema.events import Usage
from ...schema.inputs import PermissionMode, Prompt, Settings
from ..base import Conversation, Start, Wire
from .commands import (
    CapabilityRoot,
    CollaborationMode,
    CollaborationSettings,
    McpConfig,
    RootPlace,
    SandboxPolicy,
    StartTurn,
    ThreadConfig,
)
from .frames import ThreadOpened, Tokens
from .prompts import input_of
from .thread import Thread
from .usage import usage_of


class CodexConversation(Conversation):
    def __init__(self, wire: Wire, start: Start) -> None:
        super().__init__(wire, start)
        self.thread: Thread | None = None
        self.agents: dict[str, Thread] = {}
        self.model: str | None = None
        """The model that codex chose, if the settings name none."""
        self.is_continued = False
        """The thread has a history that this process did not see: it was resumed or forked."""
        self.sent_settings: Settings | None = None
        """The settings codex works with; None if we do not know them all."""
        self.wants_interrupt = False
        self.closed = False
        self.context = Usage()
        """How full the thread's context is, as last reported."""
        self._spent: Tokens | None = None

    def opened(self, thread: Thread, answer: ThreadOpened) -> None:
        self.thread = thread
        self.native_id = thread.id
        self.model = answer.model
        self.scribe.uses(model=answer.model, title=answer.thread.name)
        metadata = self._metadata
        self._metadata = msgspec.structs.replace(
            metadata,
            agent_version=metadata.agent_version or answer.thread.cli_version,
            model=metadata.model or answer.model,
            variant=metadata.variant or answer.reasoning_effort,
            directory=metadata.directory or answer.cwd,
        )

    def threads(self) -> list[Thread]:
        own = [self.thread] if self.thread else []
        return [*own, *self.agents.values()]

    def release_complete_turns(self) -> None:
        """End the turns that were held back and no longer wait for anything."""
        for thread in self.threads():
            if thread.held and not thread.expects_more:
                thread.release()

    def release_turns(self) -> None:
        """End all turns that were held back, whatever they wait for."""
        held = [thread for thread in self.threads() if thread.held]
        for thread in held:
            thread.release()
        for agent in self.agents.values() if held else ():
            agent.is_awaited = False

    def call_of_agent(self, thread_id: str) -> str | None:
        agent = self.agents.get(thread_id)
        return agent.parent if agent else None

    def spend(self, tokens: Tokens) -> None:
        before = msgspec.structs.asdict(self._spent or Tokens())
        added = msgspec.structs.asdict(tokens)
        self._spent = Tokens(**{name: count + added[name] for name, count in before.items()})
        self.scribe.spend(usage_of(self._spent))

    def take_usage(self) -> Usage | None:
        """Usage of this conversation and its sub-agents since the last turn ended."""
        spent, self._spent = self._spent, None
        return usage_of(spent) + self.context if spent else None


def turn_params(thread: Thread, prompt: Prompt) -> StartTurn:
    """A prompt, with the settings that codex does not use yet."""
    conversation = thread.conversation
    settings, sent = conversation.settings, conversation.sent_settings
    policy, sandbox = access(settings.permission_mode)
    params = StartTurn(
        thread_id=thread.id, input=input_of(prompt), sandbox_policy=SandboxPolicy(type=sandbox)
    )
    if settings == sent:
        return params
    model = settings.model or conversation.model
    mode: Literal["plan", "default"] = "plan" if plans(settings) else "default"
    collaboration = CollaborationMode(mode, CollaborationSettings(model or "", settings.variant))
    return msgspec.structs.replace(
        params,
        model=model,
        effort=settings.variant,
        approval_policy=policy,
        collaboration_mode=collaboration if model else None,
    )


OPENING_SANDBOX = "read-only"
"""The sandbox every thread is opened with; each turn says what it may do. If a thread is opened with write
access, codex marks a git workspace as trusted in the user's `config.toml`, permanently.
"""


def access(mode: PermissionMode) -> tuple[str, Literal["dangerFullAccess", "readOnly"]]:
    """Approval policy and sandbox. Only `untrusted` asks when codex's own sandbox is off. Plan mode needs no
    approvals: forbidden actions fail in the sandbox, and codex asks before it leaves it.
    """
    match mode:
        case "bypass":
            return "never", "dangerFullAccess"
        case "plan":
            return "on-request", "readOnly"
    return "untrusted", "dangerFullAccess"


def permission_mode(policy: Any, sandbox: Any) -> PermissionMode:
    """The mode in which a recorded client opened a thread: the inverse of `access`, extended to what other
    clients send.
    """
    match policy, sandbox:
        case "never", "danger-full-access" | "read-only":
            return "bypass"
        case "untrusted", _:
            return "default"
        case _, "read-only":
            return "plan"
    return "default"


def plans(settings: Settings) -> bool:
    return "plan" in (settings.agent_mode, settings.permission_mode)


def roots_of(settings: Settings) -> tuple[CapabilityRoot, ...]:
    if settings.skills is None:
        return ()
    return (CapabilityRoot(id="session", location=RootPlace(path=settings.skills.root)),)


def config_of(settings: Settings) -> ThreadConfig | None:
    servers = {
        name: McpConfig(
            server.command,
            server.args,
            server.env,
            server.url,
            server.headers,
            None if server.timeout_ms is None else server.timeout_ms / 1000,
        )
        for name, server in settings.mcp.items()
    }
    config = ThreadConfig(servers, settings.variant)
    return config if config != ThreadConfig() else None
