"""What an OpenCode client keeps of its event stream: the rules of the real clients, and nothing more."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from sandbox_agent.doors.opencode.shapes import BusEvent


class Screen:
    """Messages and parts are replaced by their id; a delta for an unknown part is lost; sorting is by string."""

    def __init__(self) -> None:
        self.messages: dict[str, dict[str, dict[str, Any]]] = {}
        self.parts: dict[str, dict[str, dict[str, Any]]] = {}
        self.status: dict[str, str] = {}
        self.sessions: dict[str, dict[str, Any]] = {}
        self.pending: dict[str, dict[str, Any]] = {}
        self.todos: list[dict[str, Any]] = []
        self.diffs: dict[str, list[dict[str, Any]]] = {}
        self.toasts: list[str] = []

    def show(self, events: Iterable[BusEvent]) -> None:
        for event in events:
            self.take(msgspec.json.decode(msgspec.json.encode(event)))

    def take(self, event: dict[str, Any]) -> None:
        given = event["properties"]
        match event["type"]:
            case "message.updated":
                self.messages.setdefault(given["sessionID"], {})[given["info"]["id"]] = given["info"]
            case "message.removed":
                self.messages.get(given["sessionID"], {}).pop(given["messageID"], None)
            case "message.part.updated":
                part = given["part"]
                self.parts.setdefault(part["messageID"], {})[part["id"]] = part
            case "message.part.delta":
                part = self.parts.get(given["messageID"], {}).get(given["partID"])
                if part is not None:
                    part["text"] += given["delta"]
            case "session.created" | "session.updated":
                self.sessions[given["sessionID"]] = given["info"]
            case "session.deleted":
                self.sessions.pop(given["sessionID"], None)
            case "session.status":
                self.status[given["sessionID"]] = given["status"]["type"]
            case "permission.asked" | "question.asked":
                self.pending[given["id"]] = given
            case "permission.replied" | "question.replied" | "question.rejected":
                self.pending.pop(given["requestID"], None)
            case "todo.updated":
                self.todos = given["todos"]
            case "session.diff":
                self.diffs[given["sessionID"]] = given["diff"]
            case "tui.toast.show":
                self.toasts.append(given["message"])

    def shown(self, session_id: str) -> list[dict[str, Any]]:
        """The messages of a session in the order in which they are drawn."""
        found = self.messages.get(session_id, {}).values()
        ordered = sorted(found, key=lambda info: f"{info['time']['created']}{info['id']}")
        return [{"info": info, "parts": self._parts(info["id"])} for info in ordered]

    def _parts(self, message_id: str) -> list[dict[str, Any]]:
        parts = self.parts.get(message_id, {})
        return [parts[id] for id in sorted(parts)]

    def text(self, session_id: str) -> list[str]:
        return [
            part["text"]
            for message in self.shown(session_id)
            for part in message["parts"]
            if part["type"] == "text"
        ]
