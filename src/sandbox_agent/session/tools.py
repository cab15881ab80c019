"""Calls to a client's tools: the agent's process asks through a socket, a client answers, the first answer wins."""

from __future__ import annotations

from ..schema.tools import ToolOutcome, ToolRequest
from . import requests
from .core import Core
from .effects import GiveToolResult
from .inputs import ReplyTool, ToolCalled, ToolGivenUp, ToolUnannounced
from .phases import Running

NO_TURN = ToolOutcome("no turn is running, so nobody can answer this call", failed=True)


def called(core: Core, news: ToolCalled) -> None:
    if not core.is_current(news.attempt):
        return
    if isinstance(core.phase, Running):
        core.scribe.requests.tool(news.key, news.name, news.arguments)
        core.fact()
    else:
        core.instruct_now(GiveToolResult(news.key, NO_TURN))


def unannounced(core: Core, news: ToolUnannounced) -> None:
    if core.is_current(news.attempt):
        core.scribe.requests.tool_unannounced(news.key, final=news.final)
        core.fact()


def given_up(core: Core, news: ToolGivenUp) -> None:
    if core.is_current(news.attempt):
        core.scribe.requests.end_tool(news.key, ToolOutcome(news.why, failed=True), "daemon")
        core.fact()


def reply(core: Core, command: ReplyTool) -> None:
    pending = requests.find(core, command.id, command.call_id, ToolRequest)
    if pending is None:
        return
    before = core.snapshot()
    core.scribe.requests.end_tool(pending.key, command.outcome, "client")
    core.answer(command.id, after=core.propose(command.id, before))
