"""Rules over HTTP: on real sessions of the mock agent, and tried out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.daemons import Client, Daemon, client_of, done, of_type, results, running

DENY = '[[rules]]\neffect = "deny"\ncommand = "echo secret"\nreason = "Not this."\n'


def decisions(events: list[dict[str, Any]]) -> list[tuple[str, str, Any, Any]]:
    resolved = [
        event["metadata"] | {"status": event["status"]} for event in of_type(events, "permission.resolved")
    ]
    return [(each["status"], each["decided_by"], each.get("rule"), each.get("message")) for each in resolved]


def test_a_session_is_created_with_rules_and_a_patch_replaces_them(client: Client) -> None:
    rules = [
        {"effect": "deny", "command": "echo secret", "reason": "Not this."},
        {"effect": "allow", "kind": "command"},
    ]
    session = client.create(policy=rules)
    listed = [{"list": "session", "index": index, "rule": rule} for index, rule in enumerate(rules)]
    assert done(client.get(f"/v1/sessions/{session}/policy")) == {"rules": listed}
    assert decisions(client.turn(session, "permission good morning")) == [
        ("accept", "rule", {"list": "session", "index": 1}, None)
    ]
    events = client.turn(session, "permission secret word")
    denied = {"list": "session", "index": 0, "reason": "Not this."}
    assert decisions(events) == [("reject", "rule", denied, "Not this.")]
    assert results(events)[0]["status"] == "failed"
    done(client.patch(f"/v1/sessions/{session}", {"policy": [], "permissionMode": "bypass"}))
    assert done(client.get(f"/v1/sessions/{session}/policy")) == {"rules": []}
    assert decisions(client.turn(session, "permission secret word")) == []


@pytest.mark.parametrize(
    "rules, problem",
    [
        ([{"effect": "never"}], "effect"),
        ([{"effect": "deny", "comand": "rm"}], "comand"),
        ([{"effect": "deny", "command": ""}], "command"),
        ([{"effect": "deny", "command": "rm", "kind": "edit"}], "command"),
        ([{"effect": "deny", "expires": "2030-01-01T00:00:00"}], "expires"),
        ([{"effect": "deny"}] * 101, "policy"),
        ("deny", "policy"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(
    client: Client, idle_session: str, rules: object, problem: str
) -> None:
    for answer in (
        client.post("/v1/sessions", {"agent": "mock", "policy": rules}),
        client.patch(f"/v1/sessions/{idle_session}", {"policy": rules}),
        client.post("/v1/policy/test", {"agent": "mock", "tool": "bash", "input": "ls", "policy": rules}),
    ):
        found = answer.json()
        assert (answer.status_code, found["type"]) == (400, "urn:sandbox-agent:error:invalid_request")
        assert problem in found["detail"]


def test_the_operators_file_binds_a_session_in_bypass_and_changes_while_it_runs(tmp_path: Path) -> None:
    file = tmp_path / "rules.toml"
    file.write_text(DENY)
    daemon = Daemon(tmp_path / "data", "--no-token", "--policy", str(file))
    with running(daemon), client_of(daemon) as client:
        session = client.create(permissionMode="bypass", policy=[{"effect": "allow"}])
        assert client.info(session)["permissionMode"] == "bypass"
        assert client.events(session)[0]["data"]["metadata"]["permissionMode"] == "bypass"
        denied = {"list": "operator", "index": 0, "reason": "Not this."}
        assert decisions(client.turn(session, "permission secret")) == [
            ("reject", "rule", denied, "Not this.")
        ]
        file.write_text(DENY.replace("secret", "other"))
        assert decisions(client.turn(session, "permission secret")) == [
            ("accept", "rule", {"list": "session", "index": 0}, None)
        ]
        file.write_text("[[rules]]\neffect = 1\n")
        [outcome] = decisions(client.turn(session, "permission other"))
        assert outcome[:2] == ("reject", "rule")


@pytest.mark.parametrize("text", [None, "[[rules]]\neffect = 'never'\n"])
def test_a_daemon_whose_rules_are_missing_or_broken_does_not_start(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "rules.toml"
    if text is not None:
        file.write_text(text)
    command = [sys.executable, "-m", "sandbox_agent", "server", "--port", "0", "--no-token"]
    command += ["--data-dir", str(tmp_path / "data"), "--policy", str(file)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ended.returncode != 0
    assert str(file) in ended.stderr
    assert text is None or "line 2" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_policy_is_tried_out(client: Client) -> None:
    rules = [
        {"effect": "deny", "command": "rm -rf", "reason": "Never."},
        {"effect": "allow", "command": "git *"},
    ]

    def tried(**fields: object) -> Any:
        return done(
            client.post("/v1/policy/test", {"agent": "claude", "tool": "Bash", "policy": rules, **fields})
        )

    denied = {"list": "session", "index": 0, "reason": "Never."}
    assert tried(input={"command": "git status && sudo rm -fr x"}, permissionMode="bypass") == {
        "outcome": "deny",
        "decidedBy": "rule",
        "rule": denied,
        "message": "Never.",
        "parts": [
            {
                "kind": "command",
                "text": "git status",
                "effect": "allow",
                "rule": {"list": "session", "index": 1},
            },
            {"kind": "command", "text": "rm -fr x", "effect": "deny", "rule": denied},
        ],
    }
    unclear = tried(input="$X", permissionMode="bypass")
    assert (unclear["outcome"], unclear["decidedBy"]) == ("ask", "rule")
    assert unclear["parts"][0]["why"] == "the program's name is not certain"
    assert tried(input="ls") == {
        "outcome": "ask",
        "decidedBy": "permissionMode",
        "parts": [{"kind": "command", "text": "ls"}],
    }
    assert tried(input="git log", permissionMode="plan")["message"] == "plan mode is read-only"
    edit = tried(tool=None, kind="edit", input="/etc/hosts", policy=[{"effect": "deny", "path": "/etc"}])
    assert edit["outcome"] == "deny"
    assert client.post("/v1/policy/test", {"agent": "claude", "input": "ls"}).status_code == 400
    assert client.post("/v1/policy/test", {"agent": "none", "tool": "x", "input": "ls"}).status_code == 400
