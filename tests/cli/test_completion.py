"""Completion scripts are made from the parser."""

from __future__ import annotations

import subprocess

import pytest

from sandbox_agent.cli.completion import script


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_learns_every_kind_of_word(shell: str) -> None:
    text = script(shell)
    assert [
        word for word in ("send-message", "permission-mode", "acceptEdits", "opencode") if word not in text
    ] == []


def test_bash_understands_its_script() -> None:
    checked = subprocess.run(["bash", "-n"], input=script("bash"), text=True, capture_output=True)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_bash_completes_a_command() -> None:
    ask = "COMP_WORDS=(sandbox-agent sessions exp); COMP_CWORD=2; _shtab_sandbox_agent; echo ${COMPREPLY[@]}"
    done = subprocess.run(["bash", "-c", f"{script('bash')}\n{ask}"], text=True, capture_output=True)
    assert done.stdout == "export\n"


def test_fish_offers_a_verb_only_after_its_group() -> None:
    lines = [line for line in script("fish").splitlines() if "-a 'export'" in line]
    assert len(lines) == 1
    assert lines[0].startswith("complete -c sandbox-agent -n '__fish_seen_subcommand_from sessions; and not ")
