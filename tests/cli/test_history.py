"""`sessions show`: what happened in a session, for people."""

from __future__ import annotations

import re
from pathlib import Path

from .conftest import Cli, types_of
from .test_commands import on_terminal

SHOWN = """\
> tool

✓ bash seq 3 (0.0 s)
The command ended with exit code 0.
end turn · 0.0 s · 1 token in · 9 out · $0.0001
> permission hello

? bash echo hello (sandbox-agent permissions reply past PERM --reply once)
rejected: bash echo hello
"""


def test_a_past_session_is_shown_whole_in_a_pipe(cli: Cli) -> None:
    for prompt in ("tool", "permission hello"):
        cli("run", "mock", prompt, "--session", "past")
    shown = cli("sessions", "show", "past")
    text = re.sub(r"perm_\w+", "PERM", re.sub(r"\d\.\d s", "0.0 s", shown.stdout))
    assert text.startswith(SHOWN)
    assert (shown.returncode, shown.stderr) == (0, "the session is idle; use --follow to keep watching\n")
    assert types_of(cli("sessions", "show", "past", "--json").stdout)[0] == "session.started"
    assert cli("sessions", "show", "nobody").returncode == 1


def test_a_session_is_followed_to_its_end(cli: Cli, environ: dict[str, str], tmp_path: Path) -> None:
    cli("sessions", "create", "watched", "--agent", "mock")
    with on_terminal(("sessions", "show", "watched", "--follow"), environ, tmp_path) as terminal:
        cli("sessions", "send-message", "watched", "hello")
        terminal.wait_for("You said: hello")
        cli("sessions", "terminate", "watched")
        assert terminal.exit_code() == 0
