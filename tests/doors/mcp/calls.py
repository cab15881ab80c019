"""Calls of tools over HTTP, in the words of the protocol, and what came back."""

from __future__ import annotations

import itertools
from typing import Any

import httpx2
from tests.daemons import Client

PATH = "/mcp"
STATELESS = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}

_ids = itertools.count(1)


def post(client: Client, method: str, params: object = None, **headers: str) -> httpx2.Response:
    message = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params or {}}
    return client.post(PATH, message, **{"accept": "application/json", **headers})


def request(client: Client, method: str, params: object = None, **headers: str) -> dict[str, Any]:
    """The result of a request."""
    answer: dict[str, Any] = post(client, method, params, **headers).json()
    result: dict[str, Any] = answer["result"]
    return result


def call(client: Client, tool: str, /, **arguments: object) -> dict[str, Any]:
    """What a tool returns."""
    result = request(client, "tools/call", {"name": tool, "arguments": arguments})
    assert not result["isError"], result
    content: dict[str, Any] = result["structuredContent"]
    if session := content.get("session_id"):
        client.sessions.append(session)
    return content


def failure(client: Client, tool: str, /, **arguments: object) -> str:
    """The error text of a failed tool."""
    result = request(client, "tools/call", {"name": tool, "arguments": arguments})
    assert result["isError"], result
    assert "structuredContent" not in result
    text: str = result["content"][0]["text"]
    return text
