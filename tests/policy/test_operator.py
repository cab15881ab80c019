"""The operator's file of rules."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sandbox_agent.errors import InvalidRequest
from sandbox_agent.policy.operator import OperatorRules, parse
from sandbox_agent.schema.policy import PolicyRule

DENY = '[[rules]]\neffect = "deny"\ncommand = "rm -rf"\nreason = "Never."\n'
DENIED = (PolicyRule("deny", command="rm -rf", reason="Never."),)


def write(path: Path, text: str) -> None:
    """As a careful editor would: a reader sees the old file or the new one."""
    draft = path.with_suffix(".draft")
    draft.write_text(text)
    os.replace(draft, path)


def test_the_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    write(path, DENY)
    rules = OperatorRules(str(path))
    assert rules.current() == DENIED
    write(path, "rules = []\n")
    assert rules.current() == ()
    write(path, DENY)
    assert rules.current() == DENIED


@pytest.mark.parametrize("broken", ['[[rules]]\neffect = "never"\n', "[[rules", "", "# nothing\n", None])
def test_a_file_that_breaks_leaves_the_last_good_rules_in_force(
    tmp_path: Path, broken: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "rules.toml"
    write(path, DENY)
    rules = OperatorRules(str(path))
    if broken is None:
        path.unlink()
    else:
        write(path, broken)
    assert rules.current() == DENIED
    assert rules.current() == DENIED
    assert [record.getMessage().endswith("stay in force") for record in caplog.records] == [True]
    write(path, "rules = []\n")
    assert rules.current() == ()


@pytest.mark.parametrize(
    "text, problem",
    [
        (
            DENY + '\n[[rules]]\neffect = "deny"\ncomand = "rm"\n',
            "line 8: Object contains unknown field `comand`",
        ),
        (
            DENY + '[[rules]]\nreason = "x"\neffect = "never"\n',
            "line 7: `effect`: Invalid enum value 'never'",
        ),
        ('[[rules]]\ncommand = "rm"\n', "line 1: Object missing required field `effect`"),
        ('[[rules]]\neffect = "deny"\ncommand = 3\n', "line 3: `command`: Expected `str | null`, got `int`"),
        (
            '[[rules]]\neffect = "deny"\nexpires = "soon"\n',
            "line 1: `expires` is not a time with a time zone",
        ),
        ('[[rules]]\neffect = "deny"\nkind = "edit"\ncommand = "rm"\n', "line 1: `command` never matches"),
        ('[[rules]]\neffect = "deny"\npath = "/etc"\ncommand = "cat"\n', "line 1: `path` never matches"),
        ('[[rules]]\neffect = "deny"\npath = "/etc"\nhost = "*"\n', "line 1: `path` and `host` never match"),
        ("rule = []\n", "line 1: Object contains unknown field `rule`"),
        ("[[rules]]\neffect = deny\n", "Invalid value (at line 2, column 10)"),
    ],
)
def test_a_broken_file_is_refused_with_the_line_and_the_field(text: str, problem: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        parse(text.encode(), "rules.toml")
    assert problem in refused.value.detail


def test_a_missing_or_binary_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match="No such file"):
        OperatorRules(str(tmp_path / "none.toml"))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InvalidRequest, match="not a file"):
        OperatorRules(str(tmp_path / "pipe"))
    with pytest.raises(InvalidRequest, match="not UTF-8"):
        parse(b"\xff", "rules.toml")


def test_a_date_of_toml_ends_a_rule() -> None:
    text = '[[rules]]\neffect = "deny"\nexpires = 2030-01-31T12:00:00Z\n'
    assert parse(text.encode(), "rules.toml") == (PolicyRule("deny", expires="2030-01-31T12:00:00+00:00"),)
