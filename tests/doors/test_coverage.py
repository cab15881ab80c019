"""The table of doors is read as it was written."""

from __future__ import annotations

from tests.doors.coverage import BEGIN, END, PAGE, Cells, read, written


def test_the_table_is_read_as_it_was_written() -> None:
    cells: Cells = {("ACP", "text"): "yes", ("MCP", "text"): "fails", ("ACP", "images"): "yes"}
    assert read(written(f"# Doors\n\n{BEGIN}\n{END}\n", cells)) == cells


def test_the_page_is_as_the_tests_write_it() -> None:
    text = PAGE.read_text()
    cells = read(text)
    assert written(text, cells) == text
    assert set(cells.values()) == {"yes"}
