"""One-line titles for tool calls."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox_agent.agents.titles import TITLE_FIELDS, mcp_tool, title_of
from sandbox_agent.schema.items import ToolKind

EVERYTHING = {
    "command": "ls",
    "path": "/a",
    "pattern": "x+",
    "url": "http://a",
    "description": "a job",
    "prompt": "do it",
}


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("command", "ls"),
        ("edit", "/a"),
        ("read", "/a"),
        ("search", "x+"),
        ("fetch", "http://a"),
        ("mcp", "tool"),
        ("task", "a job"),
        ("other", "ls"),
    ],
)
def test_a_title_is_the_most_descriptive_input_of_its_kind(kind: ToolKind, title: str) -> None:
    assert title_of("tool", EVERYTHING, kind) == title


@pytest.mark.parametrize(
    ("input", "title"),
    [
        ({"command": ["git", "log"]}, "git log"),
        ({"command": "  ", "path": "/a"}, "/a"),
        ({"command": 5}, "tool"),
        ({"command": []}, "tool"),
        ("text", "tool"),
        (None, "tool"),
    ],
)
def test_without_a_descriptive_input_the_title_is_the_tools_name(input: Any, title: str) -> None:
    assert title_of("tool", input) == title


def test_every_kind_has_descriptive_inputs() -> None:
    assert set(TITLE_FIELDS) == set(ToolKind.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("mcp__demo__add", ("demo", "add")),
        ("mcp__my_server__do__it", ("my_server", "do__it")),
        ("mcp__demo", None),
        ("Bash", None),
        ("mcp____x", None),
    ],
)
def test_an_mcp_tools_name_includes_its_server(name: str, parts: tuple[str, str] | None) -> None:
    assert mcp_tool(name) == parts
