"""Writes everything that is generated, in one idempotent command; `--check` says what is not fresh."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from sandbox_agent.agents import AGENTS
from sandbox_agent.cli import generate
from sandbox_agent.config import PREFIX, Config
from sandbox_agent.errors import ERRORS, URN
from sandbox_agent.openapi import document, event_schema
from sandbox_agent.ops import OPERATIONS
from tools import agent_tables, python_sdk
from tools.page import filled

ROOT = Path(__file__).parents[1]
NOTE = "<!-- Written by `make gen`; change the code it comes from. -->\n"


def openapi() -> str:
    return _json(document())


def events() -> str:
    return _json(event_schema())


def errors() -> str:
    rows = [
        f"## {name}\n\n`{URN}{name}`, HTTP {error.status}: {error.title}.\n" for name, error in ERRORS.items()
    ]
    head = (
        "# Errors\n\nEvery 4xx and 5xx is `application/problem+json` (RFC 9457): `type`, `title`, `status`, `detail`, "
        "`instance`, and facts as further members. 429 and 503 carry `Retry-After`.\n"
    )
    return NOTE + "\n".join([head, *rows])


def settings() -> str:
    rows = []
    for field in msgspec.structs.fields(Config):
        flag = "--" + field.name.replace("_", "-")
        variable = PREFIX + field.name.upper()
        default = "" if field.default in (None, (), False) else f" Default `{field.default}`."
        rows.append(f"## {flag}\n\n`{variable}`. {_description(field.type)}{default}\n")
    head = "# Settings\n\nFlags of `sandbox-agent server`. A flag wins over its variable, that over the default.\n"
    return NOTE + "\n".join([head, *rows])


def operations() -> str:
    rows = []
    for operation in OPERATIONS.values():
        fields = [
            f"- `{field.encode_name}`: {_description(field.type)}"
            for field in msgspec.structs.fields(operation.request)
        ]
        problems = ", ".join(f"`{error.type}`" for error in operation.errors)
        text = [f"## {operation.name}", f"`{operation.method} {operation.path}`", operation.summary]
        text += [operation.description] if operation.description else []
        text += ["\n".join(fields)] if fields else []
        text += [f"Problems: {problems}."] if problems else []
        rows.append("\n\n".join(text) + "\n")
    head = (
        "# Operations\n\nEach is an HTTP route, a CLI command (`sandbox-agent GROUP VERB`) and an entry in "
        "[openapi.json](openapi.json). Both spellings of every field are understood: `agentMode` and `agent_mode`.\n"
    )
    return NOTE + "\n".join([head, *rows])


def agents() -> str:
    rows = []
    for agent in AGENTS.values():
        able = [name for name, can in msgspec.to_builtins(agent.capabilities).items() if can]
        families = ", ".join(f"`{name}{'*' if name.endswith('_') else ''}`" for name in agent.env_families)
        modes = ", ".join(f"`{mode.id}`" for mode in agent.modes)
        rows.append(
            f"## {agent.name}\n\n{agent.title}, {agent.stability}"
            + (f", tested with {agent.tested_version}" if agent.tested_version else "")
            + f".\n\n- Modes: {modes}\n- Variables it sees besides the safe base: {families or 'none'}\n"
            f"- Capabilities: {', '.join(able)}\n" + "".join(f"- {note}\n" for note in agent.notes)
        )
    head = (
        "# Agents\n\nWhat works on each, feature by feature, is in [coverage.md](coverage.md). "
        "Any other program that speaks ACP becomes an agent by `--acp-agent`, and sees no more than the safe base and what "
        "`--acp-env` gives it: [acp-agents.md](acp-agents.md).\n"
    )
    return NOTE + "\n".join([head, *rows])


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "docs/credentials.md": {"sources": agent_tables.credentials, "reach": agent_tables.reach},
    "docs/install.md": {"downloads": agent_tables.downloads, "machines": agent_tables.machines},
    "docs/security.md": {"workspaces": agent_tables.workspaces},
}
"""Tables in pages that are else written by hand."""


def with_tables(page: str) -> str:
    text = (ROOT / page).read_text()
    for name, table in TABLES[page].items():
        text = filled(text, name, table())
    return text


def command_line() -> str:
    from sandbox_agent.cli import reference  # reads the table, which may be one that is just rewritten

    return reference.render()


TABLE = "src/sandbox_agent/cli/table.py"
CLIENT = "src/sandbox_agent/client"

GENERATED: dict[str, Callable[[], str]] = {
    TABLE: generate.render,
    f"{CLIENT}/aio/operations.py": python_sdk.operations,
    f"{CLIENT}/aio/session_operations.py": python_sdk.session_operations,
    **{f"{CLIENT}/blocking/{name}.py": partial(python_sdk.waiting, name) for name in python_sdk.MODULES},
    "docs/openapi.json": openapi,
    "docs/events.schema.json": events,
    "docs/errors.md": errors,
    "docs/settings.md": settings,
    "docs/operations.md": operations,
    "docs/agents.md": agents,
    "docs/cli.md": command_line,
    **{page: partial(with_tables, page) for page in TABLES},
}


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"


def _description(kind: object) -> str:
    told = [note.description for note in getattr(kind, "__metadata__", ()) if isinstance(note, msgspec.Meta)]
    return next((text for text in told if text), "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a file is not fresh")
    check = parser.parse_args().check
    stale = []
    for name, render in GENERATED.items():
        path, text = ROOT / name, render()
        if path.exists() and path.read_text() == text:
            continue
        stale.append(name)
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    verb = "not fresh, run `make gen`:" if check else "wrote"
    print(verb if stale else "all generated files are fresh", *stale)
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
