"""Generated files are up to date; `make gen` rewrites them."""

from __future__ import annotations

import re
from pathlib import Path

from tools.site import command_line

from sandbox_agent.cli import generate, table
from sandbox_agent.cli.command_line import parser
from sandbox_agent.cli.walk import walk

DOCS = Path(__file__).parents[2] / "docs"


def test_the_table_is_that_of_the_operations() -> None:
    assert Path(table.__file__).read_text() == generate.render(), "run `make gen`"


def test_the_reference_is_that_of_the_parser() -> None:
    assert (DOCS / "cli.mdx").read_text() == command_line.render(), "run `make gen`"


def test_every_command_has_a_section() -> None:
    sections = re.findall(r'^(?:## |<Accordion title=")([\w -]+)', command_line.render(), re.MULTILINE)
    assert [" ".join(node.words) for node in walk(parser()) if node.words] == sections
