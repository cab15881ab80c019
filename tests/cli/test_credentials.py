"""`credentials`, and what `doctor` says about them, in a prepared home directory."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import msgspec
import pytest
from tests.cli.conftest import command, environment

from sandbox_agent.agents import AGENTS

KEY = "sk-ant-it's $(a) secret"
TOKEN = "oauth-token-of-a-login"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Claude with a key and a login, Codex with an expired login, Pi with a damaged file."""
    files = {
        ".claude/.credentials.json": {
            "claudeAiOauth": {"accessToken": TOKEN, "refreshToken": "r", "expiresAt": 4_102_444_800_000}
        },
        ".codex/auth.json": {"tokens": {"access_token": "e30.eyJleHAiOjEwMDB9.e30", "refresh_token": None}},
        ".local/share/opencode/auth.json": {
            "anthropic": {"type": "api", "key": "sk-another-anthropic-key"},
            "evil": {"type": "wellknown", "key": "X; touch sprung; Y_KEY", "token": "t"},
        },
        ".pi/agent/auth.json": "not an object",
    }
    for name, content in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.encode(content))
    return tmp_path


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = environment(home, ANTHROPIC_API_KEY=KEY, OTHER_KEY="other-secret-value")
    return subprocess.run(
        command(*words), env=environ, cwd=home, capture_output=True, text=True, timeout=60, check=False
    )


def test_credentials_are_shown_hidden_with_their_sources_and_expiry(home: Path) -> None:
    shown = run(home, "credentials", "extract", "--agent", "claude", "--json")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert msgspec.json.decode(shown.stdout) == {
        "agents": [
            {
                "agent": "claude",
                "available": True,
                "credentials": [
                    {
                        "kind": "api_key",
                        "source": "ANTHROPIC_API_KEY",
                        "value": "sk-a…",
                        "env": "ANTHROPIC_API_KEY",
                    },
                    {
                        "kind": "oauth",
                        "source": str(home / ".claude/.credentials.json"),
                        "value": "oaut…",
                        "env": "CLAUDE_CODE_OAUTH_TOKEN",
                        "expiresAt": "2100-01-01T00:00:00Z",
                        "renewable": True,
                    },
                ],
                "problems": [],
            }
        ]
    }


def test_all_agents_are_shown_and_nothing_is_revealed_unless_asked_for(home: Path) -> None:
    hidden, revealed = (
        run(home, "credentials", "extract", *flags) for flags in (["--json"], ["--json", "--reveal"])
    )
    for secret in (TOKEN, "sk-ant-it", "sk-another", "eyJleHAiOjEwMDB9"):
        assert (secret in hidden.stdout + hidden.stderr, secret in revealed.stdout) == (False, True)
    agents = {each["agent"]: each for each in msgspec.json.decode(hidden.stdout)["agents"]}
    assert agents.keys() == AGENTS.keys()
    assert {name: each["available"] for name, each in agents.items()}.items() >= {
        "amp": False,
        "claude": True,
        "codex": False,
        "mock": True,
        "opencode": True,
        "pi": True,  # by the variable
    }.items()
    assert agents["codex"]["credentials"][0]["expired"]
    assert agents["pi"]["problems"] == [
        f"{home / '.pi/agent/auth.json'} is damaged, or has an unknown format"
    ]


def test_what_is_exported_can_be_evaluated_by_a_shell(home: Path) -> None:
    shell = f'eval "$({shlex.join(command("credentials", "extract-env", "--export"))})" && env'
    environ = environment(home, ANTHROPIC_API_KEY=KEY)
    done = subprocess.run(
        ["sh", "-c", shell], env=environ, cwd=home, capture_output=True, text=True, timeout=60, check=True
    )
    lines = done.stdout.splitlines()
    assert {f"ANTHROPIC_API_KEY={KEY}", f"CLAUDE_CODE_OAUTH_TOKEN={TOKEN}"} <= set(lines)
    assert not (home / "sprung").exists()
    other = home / ".local/share/opencode/auth.json"
    assert f"using ANTHROPIC_API_KEY from ANTHROPIC_API_KEY; {other} has a different value" in done.stderr
    assert "secret values" in done.stderr


def test_variables_are_hidden_unless_they_are_exported_or_revealed(home: Path) -> None:
    words = ("credentials", "extract-env", "--agent", "claude")
    hidden = run(home, *words)
    assert hidden.stdout == "ANTHROPIC_API_KEY='sk-a…'\nCLAUDE_CODE_OAUTH_TOKEN='oaut…'\n"
    assert hidden.stderr == "values are masked; use --reveal to show them\n"
    assert msgspec.json.decode(run(home, *words, "--json", "--reveal").stdout) == {
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CODE_OAUTH_TOKEN": TOKEN,
    }


def test_doctor_says_where_credentials_are_and_what_is_wrong_with_them(home: Path) -> None:
    for name in ("claude", "codex", "pi"):
        program = home / "state/bin" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text("#!/bin/sh\necho 1.0.0\n")
        program.chmod(0o755)
    output = run(home, "doctor", "--json").stdout
    assert (KEY in output, TOKEN in output) == (False, False)
    findings = {
        (each["about"], each["state"], each["detail"]) for each in msgspec.json.decode(output)["findings"]
    }
    assert findings >= {
        ("claude", "ok", f"credentials in ANTHROPIC_API_KEY, {home / '.claude/.credentials.json'}"),
        ("codex", "warning", f"credentials have expired: {home / '.codex/auth.json'}"),
        (
            "pi",
            "warning",
            f"{home / '.pi/agent/auth.json'} is damaged, or has an unknown format",
        ),
        ("pi", "ok", "credentials in ANTHROPIC_API_KEY"),
    }
