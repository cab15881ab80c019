"""`llms.txt` and `llms-full.txt`: the site for language models, as a list of pages and as one text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

DOCS = Path(__file__).parents[2] / "docs"
ABOUT = (
    "# sandbox-agent\n\n"
    "> One API for every coding agent: a daemon that starts Claude Code, Codex, OpenCode, Pi, Amp or any ACP program in a "
    "sandbox and translates their protocols into one HTTP + SSE API with durable events.\n"
)


class Page(NamedTuple):
    address: str
    title: str
    description: str
    body: str


def index() -> str:
    """The groups of the navigation, each page with its description."""
    lines = [ABOUT]
    for group, names in _navigation():
        lines += [f"## {group}\n", *(_entry(_page(name)) for name in names), ""]
    lines += [
        "## Files\n",
        "- [openapi.json](/openapi.json): The HTTP API",
        "- [events.schema.json](/events.schema.json): The events",
    ]
    return "\n".join(lines) + "\n"


def _entry(page: Page) -> str:
    return f"- [{page.title}]({page.address}): {page.description}"


def full() -> str:
    """All pages in the order of the navigation, as plain Markdown."""
    pages = [_page(name) for _, names in _navigation() for name in names]
    return "\n".join(
        [ABOUT, *(f"# {page.title}\n\nAddress: {page.address}\n\n{_plain(page.body)}\n" for page in pages)]
    )


def _navigation() -> Iterator[tuple[str, list[str]]]:
    for group in msgspec.json.decode((DOCS / "docs.json").read_bytes())["navigation"]["groups"]:
        yield group["group"], group["pages"]


def _page(name: str) -> Page:
    text = (DOCS / f"{name}.mdx").read_text()
    found = re.match(r'---\ntitle: "(.+)"\ndescription: "(.+)"\n---\n\n(.*)', text, re.DOTALL)
    if found is None:
        raise ValueError(f"{name}.mdx does not begin with a title and a description")
    return Page(f"/{name}", *found.groups())


def _plain(body: str) -> str:
    """Without what only MDX understands: a section that folds becomes a heading."""
    body = re.sub(r"^\{/\*.*?\*/\}\n+", "", body, flags=re.MULTILINE)
    body = re.sub(r'^<(?:Accordion|Step) title="(.+?)".*>$', r"### \1", body, flags=re.MULTILINE)
    body = re.sub(
        r"^</?(?:Accordion|AccordionGroup|CodeGroup|Note|Step|Steps|Warning)>\n", "", body, flags=re.MULTILINE
    )
    return re.sub(r"\n{3,}", "\n\n", body).strip()
