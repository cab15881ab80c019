"""`@opencode-ai/sdk`, both of its clients, at the door."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path

import pytest

from .conftest import OpenCode
from .tui import TOKEN

SDK = Path(__file__).parents[3] / ".cache" / "opencode-sdk" / "node_modules" / "@opencode-ai" / "sdk"

pytestmark = pytest.mark.skipif(
    not SDK.is_dir() or shutil.which("node") is None,
    reason="OpenCode's SDK is not in the cache (`make test` fetches it), or there is no node",
)


@pytest.mark.door(
    "OpenCode SDK",
    "create",
    "session list",
    "rename",
    "delete",
    "text",
    "tool calls",
    "permission once",
    "permission always",
    "permission rejected",
    "questions",
    "images",
    "diffs",
    "sub-agents",
    "commands",
    "compaction",
    "cancel",
    "queued prompts",
    "errors",
    "event stream",
)
def test_a_program_with_the_sdk_of_opencode(opencode: OpenCode) -> None:
    script = Path(__file__).with_name("sdk.mjs")
    basic = "Basic " + base64.b64encode(f"opencode:{TOKEN}".encode()).decode()
    command = ["node", str(script), str(SDK), opencode.url, opencode.directory, basic]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "agents": ["build", "plan"],
        "providers": True,
        "title": "By the SDK",
        "text": ["You said: hello (message 1 of this conversation)"],
        "permitted": ["bash", "The command said: hello from the mock agent"],
        "asked": ["bash"],
        "older": ["The command said: older"],
        "reject": ["You did not allow bash, so I leave it."],
        "always": ["The command said: always"],
        "question": ["You chose: Green."],
        "image": "I saw a.png (image/png, 8 bytes).",
        "diff": [["mock-edit.txt", "added"]],
        "child": [True, 2],
        "todo": [],
        "command": ["two words"],
        "compacted": True,
        "aborted": "MessageAbortedError",
        "queued": "You said: queued",
        "refused": [
            ["BadRequestError", "fork is not available for sessions of this server"],
            ["BadRequestError", "undo is not available"],
            ["BadRequestError", "redo is not available"],
            ["BadRequestError", "sharing is not available"],
        ],
        "streamed": True,
        "messages": ["user", "assistant", "user", "assistant"],
        "listed": True,
        "renamed": "Other",
        "viaV2": "Other",
        "deleted": True,
        "gone": "NotFoundError",
    }
