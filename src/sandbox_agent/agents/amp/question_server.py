"""The MCP server through which Amp's model asks the user: one tool, whose questions go to the daemon.

Amp starts it as a child process. `SANDBOX_AGENT_DELEGATE` says where the daemon listens, as for
`delegate.py`. One connection is one call: a line `{"questions"}` goes there, a line `{"answers"}` comes back,
with null where the user did not answer. Uses only the standard library, because it runs beside every Amp in
its environment.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from typing import Any

TOOL = "ask_user"
DESCRIPTION = "Ask the user one or more questions and wait for the answers."
OPTION = {
    "type": "object",
    "properties": {"label": {"type": "string"}, "description": {"type": "string"}},
    "required": ["label"],
}
QUESTION = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "description": "The whole question, as the user will read it"},
        "header": {"type": "string", "description": "One or two words that name it"},
        "options": {
            "type": "array",
            "description": "The answers to choose from; leave out for free text. The user may always write another.",
            "items": OPTION,
        },
        "multiSelect": {"type": "boolean", "description": "Whether several options may be chosen"},
    },
    "required": ["question"],
}
SCHEMA = {
    "type": "object",
    "properties": {"questions": {"type": "array", "minItems": 1, "items": QUESTION}},
    "required": ["questions"],
}

METHOD_NOT_FOUND = -32601

_writing = threading.Lock()


def main() -> None:
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if isinstance(request, dict) and "method" in request and "id" in request:
            # A call waits for the user; Amp's other requests must not wait behind it.
            threading.Thread(target=serve, args=[request], daemon=True).start()


def serve(request: dict[str, Any]) -> None:
    params = request.get("params") or {}
    match request["method"]:
        case "initialize":
            info = {"name": "sandbox-agent", "version": "1.0.0"}
            version = params.get("protocolVersion")
            reply(request, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info})
        case "ping":
            reply(request, {})
        case "tools/list":
            reply(request, {"tools": [{"name": TOOL, "description": DESCRIPTION, "inputSchema": SCHEMA}]})
        case "tools/call":
            text, failed = call(params.get("arguments"))
            reply(request, {"content": [{"type": "text", "text": text}], "isError": failed})
        case method:
            error = {"code": METHOD_NOT_FOUND, "message": f"no method {method}"}
            write({"jsonrpc": "2.0", "id": request["id"], "error": error})


def call(arguments: object) -> tuple[str, bool]:
    """The text for the model, and whether the call failed."""
    try:
        questions = questions_in(arguments)
        answers = ask(os.environ["SANDBOX_AGENT_DELEGATE"], questions)
    except (OSError, KeyError, ValueError) as error:
        return f"The question could not be asked: {error}", True
    if answers is None:
        return "The user did not answer.", False
    pairs = zip(questions, answers, strict=False)
    return "\n\n".join(f"{question['question']}\n{', '.join(answer)}" for question, answer in pairs), False


def questions_in(arguments: object) -> list[dict[str, Any]]:
    """The questions as the daemon reads them. Amp does not check its model's arguments; ValueError says what
    is wrong.
    """
    asked = arguments.get("questions") if isinstance(arguments, dict) else None
    if not isinstance(asked, list) or not asked:
        raise ValueError("`questions` must be a list with at least one question")
    return [question_in(question) for question in asked]


def question_in(question: object) -> dict[str, Any]:
    if not isinstance(question, dict) or not isinstance(question.get("question"), str):
        raise ValueError("each of `questions` must have a text `question`")
    options = question.get("options") or []
    if not isinstance(options, list):
        raise ValueError("`options` must be a list")
    return {
        "question": question["question"],
        "header": str(question.get("header") or ""),
        "options": [option_in(option) for option in options],
        "multi_select": question.get("multiSelect") is True,
    }


def option_in(option: object) -> dict[str, str]:
    label = option.get("label") if isinstance(option, dict) else option
    if not isinstance(label, str):
        raise ValueError("each of `options` must have a text `label`")
    about = option.get("description") if isinstance(option, dict) else None
    return {"label": label, "description": str(about or "")}


def ask(address: str, questions: list[dict[str, Any]]) -> list[list[str]] | None:
    """The user's answer; None if there is none. Waits as long as it takes."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address.removeprefix("unix:"))
        with connection.makefile("rwb") as stream:
            stream.write(json.dumps({"questions": questions}).encode() + b"\n")
            stream.flush()
            line = stream.readline()
    answers: list[list[str]] | None = json.loads(line).get("answers") if line else None
    return answers


def reply(request: dict[str, Any], result: dict[str, Any]) -> None:
    write({"jsonrpc": "2.0", "id": request["id"], "result": result})


def write(message: dict[str, Any]) -> None:
    with _writing:
        sys.stdout.write(json.dumps(message) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
