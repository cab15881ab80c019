"""What `tests/doors/acp/tee.py` recorded of an ACP program, checked against the protocol's schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.acp_clients import violations


def updates_in(log: Path) -> list[dict[str, Any]]:
    """All updates that the program sent. Every line of it must be valid."""
    methods: dict[object, str] = {}
    updates = []
    for line in log.read_text().splitlines():
        message = json.loads(line[1:])
        if line.startswith(">"):
            if "method" in message and "id" in message:
                methods[message["id"]] = message["method"]
            continue
        is_answer = "method" not in message
        assert violations(message, methods.get(message["id"]) if is_answer else None) == [], line
        if message.get("method") == "session/update":
            updates.append(message["params"]["update"])
    return updates


def text_in(updates: list[dict[str, Any]]) -> str:
    return "".join(
        update["content"]["text"] for update in updates if update["sessionUpdate"] == "agent_message_chunk"
    )
