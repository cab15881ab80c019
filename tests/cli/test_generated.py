"""What is generated is fresh; `make gen` writes it anew."""

from __future__ import annotations

from pathlib import Path

from sandbox_agent.cli import generate, reference, table
from sandbox_agent.cli.command_line import parser
from sandbox_agent.cli.walk import walk

DOCS = Path(__file__).parents[2] / "docs"


def test_the_table_is_that_of_the_operations() -> None:
    assert Path(table.__file__).read_text() == generate.render(), "run `make gen`"


def test_the_reference_is_that_of_the_parser() -> None:
    assert (DOCS / "cli.md").read_text() == reference.render(), "run `make gen`"


def test_every_command_has_a_heading() -> None:
    headings = {line.lstrip("# ") for line in reference.render().splitlines() if line.startswith("##")}
    assert {" ".join(node.words) for node in walk(parser()) if node.words} == headings
