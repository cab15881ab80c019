"""Writes all generated files; `--check` only reports which ones are out of date."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec

from sandbox_agent.agents import AGENTS
from sandbox_agent.cli import generate
from sandbox_agent.openapi import document, event_schema
from tools import agent_tables, python_sdk
from tools.page import filled
from tools.site import agents, command_line, llms, mdx, reference, sdks
from tools.site import events as event_page

ROOT = Path(__file__).parents[1]


def openapi() -> str:
    return _json(document())


def events() -> str:
    return _json(event_schema())


TABLES: dict[str, dict[str, Callable[[], str]]] = {
    "docs/credentials.mdx": {"sources": agent_tables.credentials, "reach": agent_tables.reach},
    "docs/install.mdx": {"downloads": agent_tables.downloads, "machines": agent_tables.machines},
    "docs/commands.mdx": {"commands": agent_tables.commands},
    "docs/mcp.mdx": {"mcp": agent_tables.mcp},
    "docs/orchestration-architecture.mdx": {"carried": agent_tables.carried},
    "docs/permissions.mdx": {"unasked": agent_tables.unasked},
    "docs/security.mdx": {"workspaces": agent_tables.workspaces},
    "docs/skills.mdx": {"skills": agent_tables.skills},
    "docs/usage.mdx": {"usage": agent_tables.usage},
    **{f"docs/agents/{name}.mdx": {"facts": partial(agents.facts, name)} for name in agents.WRITTEN_BY_HAND},
}
"""Tables in pages that are otherwise written by hand."""


_FILE = re.compile(r"\{/\* file (\S+):begin \*/\}")


def with_parts(page: str) -> str:
    """A page with its tables, and with the files that it shows."""
    text = (ROOT / page).read_text()
    for name, table in TABLES.get(page, {}).items():
        text = filled(text, name, table())
    for path in _FILE.findall(text):
        text = filled(text, f"file {path}", _shown(ROOT / path))
    return text


def _shown(file: Path) -> str:
    """A file as a code block, or the text of a Markdown file."""
    if file.suffix == ".md":
        return mdx.included(file.read_text())
    language = {".ts": "ts", ".tsx": "tsx", ".py": "python", ".yaml": "yaml", ".service": "ini"}[file.suffix]
    return f"```{language} {file.name}\n{file.read_text().strip()}\n```"


def pages_with_parts() -> list[str]:
    names = [path.relative_to(ROOT).as_posix() for path in sorted((ROOT / "docs").rglob("*.mdx"))]
    return [name for name in names if name in TABLES or _FILE.search((ROOT / name).read_text())]


TABLE = "src/sandbox_agent/cli/table.py"
CLIENT = "src/sandbox_agent/client"

GENERATED: dict[str, Callable[[], str]] = {
    TABLE: generate.render,
    f"{CLIENT}/aio/operations.py": python_sdk.operations,
    f"{CLIENT}/aio/session_operations.py": python_sdk.session_operations,
    **{f"{CLIENT}/blocking/{name}.py": partial(python_sdk.waiting, name) for name in python_sdk.MODULES},
    "docs/openapi.json": openapi,
    "docs/events.schema.json": events,
    "docs/errors.mdx": reference.errors,
    "docs/settings.mdx": reference.settings,
    "docs/http-api.mdx": reference.http_api,
    "docs/cli.mdx": command_line.render,
    "docs/events.mdx": event_page.render,
    "docs/feature-checklist.mdx": agents.checklist,
    "docs/sdk-python-methods.mdx": sdks.python,
    "docs/sdk-typescript-methods.mdx": sdks.typescript,
    **{
        f"docs/agents/{name}.mdx": partial(agents.render, name)
        for name in AGENTS
        if name not in agents.WRITTEN_BY_HAND
    },
    **{page: partial(with_parts, page) for page in pages_with_parts()},
    "docs/docs.json": agents.navigation,
    # After the pages, which they contain.
    "docs/llms.txt": llms.index,
    "docs/llms-full.txt": llms.full,
}


def _json(value: object) -> str:
    return msgspec.json.format(msgspec.json.encode(value), indent=1).decode() + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is out of date")
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
    verb = "out of date, run `make gen`:" if check else "wrote"
    print(verb if stale else "all generated files are up to date", *stale)
    if not check and any(name.endswith(".py") for name in stale):
        # Pages describe modules, and this process may have imported them before it rewrote them.
        return subprocess.run([sys.executable, "-m", "tools.gen"], cwd=ROOT, check=False).returncode
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
