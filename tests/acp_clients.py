"""Public ACP clients and the protocol's schema, as they are published, installed once for all runs."""

from __future__ import annotations

import fcntl
import functools
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
SDK, ACPX = "@agentclientprotocol/sdk@2.4.0", "acpx@0.19.1"
PYTHON_SDK = "agent-client-protocol[http]==0.12.1"


def acp_modules() -> Path:
    """The folder `node_modules` with the SDK and `acpx`."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        why = "NO node AND npm ON THIS MACHINE: the public ACP clients are not tried"
        if os.environ.get("CI"):
            pytest.fail(why)
        pytest.skip(why)
    folder = ROOT / ".cache" / "acp-clients"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "node_modules" / "acpx").exists():
            flags = ["--silent", "--no-progress", "--ignore-scripts", "--prefix", str(folder)]
            subprocess.run(["npm", "install", *flags, SDK, ACPX], check=True, timeout=280)
    return folder / "node_modules"


def python_sdk() -> Path:
    """The folder with the Python SDK, apart from our own environment."""
    folder = ROOT / ".cache" / "acp-python"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "acp").exists():
            install = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
            subprocess.run([*install, PYTHON_SDK], check=True, timeout=280)
    return folder


@functools.cache
def schema() -> dict[str, Any]:
    path = acp_modules() / "@agentclientprotocol" / "sdk" / "schema" / "v1" / "schema.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@functools.cache
def _validator(name: str) -> Any:
    from jsonschema_rs import Draft202012Validator

    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": schema()["$defs"]})


def violations(message: dict[str, Any], method: str | None = None) -> list[str]:
    """What is wrong with a message of an agent. For an answer, `method` is that of its request."""
    if message.get("jsonrpc") != "2.0":
        return [f"no JSON-RPC: {message}"]
    if "method" in message:
        kinds = {
            "session/update": "SessionNotification",
            "session/request_permission": "RequestPermissionRequest",
            "elicitation/create": "CreateElicitationRequest",
            "$/cancel_request": "CancelRequestNotification",
        }
        return _errors(kinds[message["method"]], message["params"])
    if "error" in message:
        return _errors("Error", message["error"])
    return _errors(ANSWERS[method], message["result"]) if method else []


ANSWERS = {
    "initialize": "InitializeResponse",
    "session/new": "NewSessionResponse",
    "session/load": "LoadSessionResponse",
    "session/resume": "ResumeSessionResponse",
    "session/list": "ListSessionsResponse",
    "session/close": "CloseSessionResponse",
    "session/delete": "DeleteSessionResponse",
    "session/prompt": "PromptResponse",
    "session/set_mode": "SetSessionModeResponse",
    "session/set_config_option": "SetSessionConfigOptionResponse",
}


def _errors(name: str, value: object) -> list[str]:
    found = _validator(name).iter_errors(value)
    return [f"{name} {error.instance_path}: {error.message}" for error in found]
