"""docs/contributing/reliability.mdx names a test for every fault, and each test exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CASES = {f"A{number}" for number in range(1, 42)}

ROWS = {
    case: re.findall(r"`(tests/[^`]+)::(\w+)`", row)
    for case, row in re.findall(
        r"^\| (A\d+) \|(.*)$", (ROOT / "docs" / "contributing" / "reliability.mdx").read_text(), re.MULTILINE
    )
}


def test_every_fault_is_in_the_table() -> None:
    assert ROWS.keys() == CASES


@pytest.mark.parametrize("case", sorted(CASES))
def test_a_fault_is_shown_by_tests_that_exist(case: str) -> None:
    assert ROWS[case]
    for file, name in ROWS[case]:
        module = ast.parse((ROOT / file).read_text())
        assert name in {node.name for node in module.body if isinstance(node, ast.FunctionDef)}, (
            f"{file}::{name}"
        )
