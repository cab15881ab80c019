"""What is generated is fresh. `--accept` writes it anew."""

from __future__ import annotations

from pathlib import Path

from sandbox_agent.cli import generate, reference, table
from sandbox_agent.cli.main import parser
from sandbox_agent.cli.walk import walk

DOCS = Path(__file__).parents[2] / "docs"


def test_the_table_is_that_of_the_operations(accept: bool) -> None:
    path = Path(table.__file__)
    if accept:
        path.write_text(generate.render())
    assert path.read_text() == generate.render(), "run `pytest tests/cli/test_generated.py --accept`"


def test_the_reference_is_that_of_the_parser(accept: bool) -> None:
    path = DOCS / "cli.md"
    if accept:
        path.write_text(reference.render())
    assert path.read_text() == reference.render(), "run `pytest tests/cli/test_generated.py --accept`"


def test_every_command_has_a_heading() -> None:
    headings = {line.lstrip("# ") for line in reference.render().splitlines() if line.startswith("##")}
    assert {" ".join(node.words) for node in walk(parser()) if node.words} == headings
