"""A model, a variant or a mode that the agent would not use is refused, and nothing changes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from tests.daemons import Client, Daemon, client_of, done, refusal, running

AMP = f"""#!{sys.executable} -IS
import sys
if "--version" in sys.argv:
    print("0.0.1777266064-g47b6f7")
else:
    print('{{"type":"system","subtype":"init","session_id":"T-1"}}', flush=True)
    sys.stdin.read()
"""

PI = f"""#!{sys.executable} -IS
import json, os, sys
if "--version" in sys.argv:
    print("1.5.0")
    sys.exit()
MODEL = {{"provider": "acme", "id": "big-1", "name": "Big One", "reasoning": True}}
OWN = {{"provider": "own", "id": os.environ.get("OWN_MODEL"), "name": "Own", "reasoning": True}}
ANSWERS = {{
    "get_state": {{"sessionId": "talk", "model": MODEL, "thinkingLevel": "low", "messageCount": 0}},
    "get_commands": {{"commands": []}},
    "get_available_models": {{"models": [MODEL, OWN] if OWN["id"] else [MODEL]}},
}}
for line in sys.stdin:
    asked = json.loads(line)
    told = {{"type": "response", "id": asked["id"], "command": asked["type"], "success": True}}
    print(json.dumps({{**told, "data": ANSWERS.get(asked["type"], {{}})}}), flush=True)
"""
ACP = f"""#!{sys.executable} -IS
import json, os, sys
OWN = os.environ.get("OWN_MODEL")

def select(category, values):
    options = [{{"value": value, "name": value}} for value in values]
    return {{"id": category, "category": category, "name": category, "type": "select", "currentValue": values[0], "options": options}}

OPTIONS = [select("model", ["big", "small", OWN] if OWN else ["big", "small"]), select("thought_level", ["low", "high"])]
ANSWERS = {{
    "initialize": {{"protocolVersion": 1, "agentCapabilities": {{}}}},
    "session/new": {{"sessionId": "talk", "configOptions": [] if "--bare" in sys.argv else OPTIONS}},
}}
COMMANDS = {{"sessionUpdate": "available_commands_update", "availableCommands": []}}
for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS.get(asked["method"], {{}})}}), flush=True)
    if asked["method"] == "session/new":
        params = {{"sessionId": "talk", "update": COMMANDS}}
        print(json.dumps({{"jsonrpc": "2.0", "method": "session/update", "params": params}}), flush=True)
"""
"""As much of the three as is needed to be asked: what real agents do with a choice is tested in tests/live. The
last one accepts any value.
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    programs = tmp_path_factory.mktemp("programs")
    for name, text in (("amp", AMP), ("pi", PI), ("acp-program", ACP)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o700)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    data = tmp_path_factory.mktemp("choices") / "data"
    flags = ("--no-token", "--acp-agent=toy=acp-program", "--acp-agent=bare=acp-program --bare")
    with running(Daemon(data, *flags, env={"PATH": path})) as daemon, client_of(daemon) as client:
        yield client


UNUSED = [
    ("amp", {"model": "acme/big-1"}, "invalid_request", "Amp does not let you choose its model"),
    ("amp", {"variant": "high"}, "invalid_request", "Amp does not let you choose its variant"),
    ("amp", {"agentMode": "no-such"}, "mode_not_supported", "Amp has no mode no-such; it has build, smart"),
    ("amp", {"agentMode": "ultra"}, "mode_not_supported", "Amp has no mode ultra; it has build, smart"),
    ("pi", {"model": "acme/no-such"}, "invalid_request", "Pi has no model acme/no-such"),
    ("pi", {"variant": "max"}, "invalid_request", "Pi has no variant max for this model"),
    ("pi", {"agentMode": "no-such"}, "mode_not_supported", "Pi has no mode no-such; it has default"),
    ("toy", {"model": "huge"}, "invalid_request", "toy (ACP) has no model huge"),
    ("toy", {"variant": "max"}, "invalid_request", "toy (ACP) has no variant max for this model"),
    ("toy", {"agentMode": "no-such"}, "mode_not_supported", "toy (ACP) has no mode no-such; it has build"),
    ("bare", {"model": "big"}, "invalid_request", "bare (ACP) has no model big"),
]


@pytest.mark.parametrize(("agent", "choice", "problem", "why"), UNUSED)
def test_what_would_not_be_used_is_refused(
    client: Client, agent: str, choice: dict[str, str], problem: str, why: str
) -> None:
    before = len(done(client.get("/v1/sessions"))["sessions"])
    answer = client.post("/v1/sessions/refused", {"agent": agent, **choice})
    check_refusal(answer, choice, problem, why)
    assert len(done(client.get("/v1/sessions"))["sessions"]) == before

    session = client.create(agent=agent)
    info = client.info(session)
    check_refusal(client.patch(f"/v1/sessions/{session}", choice), choice, problem, why)
    assert client.info(session) == info


def check_refusal(answer: Any, choice: dict[str, str], problem: str, why: str) -> None:
    assert refusal(answer) == (400, problem)
    assert answer.json()["detail"].startswith(why)
    if problem == "invalid_request":
        assert answer.json()["field"] == next(iter(choice))


def test_no_environment_gives_amp_a_model(client: Client) -> None:
    answer = client.post("/v1/sessions/refused", {"agent": "amp", "model": "x", "env": {"A": "b"}})
    assert refusal(answer) == (400, "invalid_request")


@pytest.mark.parametrize(("agent", "model"), [("pi", "own/mine"), ("toy", "mine")])
def test_a_sessions_environment_may_add_models(client: Client, agent: str, model: str) -> None:
    assert refusal(client.post("/v1/sessions/refused", {"agent": agent, "model": model}))[0] == 400
    env = {"OWN_MODEL": "mine"}
    assert client.info(client.create(agent=agent, model=model, env=env))["model"] == model

    session = client.create(agent=agent, env=env)
    assert refusal(client.patch(f"/v1/sessions/{session}", {"model": "other"})) == (400, "invalid_request")
    assert done(client.patch(f"/v1/sessions/{session}", {"model": model}))["model"] == model
    assert client.post(f"/v1/sessions/{session}/suspend").status_code == 204
    assert refusal(client.patch(f"/v1/sessions/{session}", {"model": "other"})) == (400, "invalid_request")


@pytest.mark.parametrize(
    ("agent", "choice"),
    [
        ("amp", {"agentMode": "rush"}),
        ("pi", {"model": "big", "variant": "high"}),
        ("toy", {"model": "small", "variant": "high"}),
    ],
)
def test_what_the_agent_has_is_taken(client: Client, agent: str, choice: dict[str, str]) -> None:
    info = client.info(client.create(agent=agent, **choice))
    assert {name: info[name] for name in choice} == choice


def test_modes_are_those_of_the_program_that_is_there(client: Client) -> None:
    modes = done(client.get("/v1/agents/amp/modes"))["modes"]
    assert [mode["id"] for mode in modes] == ["build", "smart", "rush", "deep", "large"]
