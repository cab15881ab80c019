"""Credentials found in each agent's files and variables, with prepared home directories; damaged files never raise."""

from __future__ import annotations

import base64
import os
import time
from pathlib import Path

import msgspec
import pytest

from sandbox_agent.agents import AGENTS, TRANSLATORS
from sandbox_agent.agents.credentials import Credential, KeyFile, token_expiry
from sandbox_agent.agents.environment import environment
from sandbox_agent.runtime.credentials import MAX_BYTES, find_credentials, has_credentials

LATER = 4_102_444_800.0  # the year 2100
LONG_AGO = 1_000_000_000.0
FILES: list[tuple[str, KeyFile]] = [
    (name, file) for name, agent in AGENTS.items() if agent.credentials for file in agent.credentials.files
]


def web_token(**claims: float) -> str:
    payload = base64.urlsafe_b64encode(msgspec.json.encode(claims)).decode().rstrip("=")
    return f"e30.{payload}.c2ln"


def plant(home: Path, name: str, content: object) -> str:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else msgspec.json.encode(content))
    return str(path)


def found(agent: str, environ: dict[str, str], home: Path) -> list[Credential]:
    search = find_credentials(AGENTS[agent], environ, home)
    assert search.problems == []
    return search.credentials


# -- variables ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "variable"),
    [
        ("claude", "ANTHROPIC_API_KEY"),
        ("claude", "ANTHROPIC_AUTH_TOKEN"),
        ("codex", "OPENAI_API_KEY"),
        ("codex", "CODEX_API_KEY"),
        ("opencode", "ANTHROPIC_API_KEY"),
        ("opencode", "OPENAI_API_KEY"),
        ("opencode", "OPENCODE_API_KEY"),
        ("amp", "AMP_API_KEY"),
        ("pi", "ANTHROPIC_API_KEY"),
        ("pi", "OPENAI_API_KEY"),
        ("pi", "GEMINI_API_KEY"),
        ("pi", "AWS_BEARER_TOKEN_BEDROCK"),
    ],
)
def test_a_key_in_a_variable_is_found(tmp_path: Path, agent: str, variable: str) -> None:
    environ = {variable: "sk-1", "UNRELATED_API_KEY": "sk-2"}
    assert found(agent, environ, tmp_path) == [Credential("api_key", "sk-1", variable, source=variable)]
    assert has_credentials(AGENTS[agent], environ, tmp_path)
    assert not has_credentials(AGENTS[agent], {variable: ""}, tmp_path)


def test_a_token_of_a_subscription_is_found(tmp_path: Path) -> None:
    name = "CLAUDE_CODE_OAUTH_TOKEN"
    assert found("claude", {name: "t"}, tmp_path) == [Credential("oauth", "t", name, source=name)]


@pytest.mark.parametrize(
    ("agent", "variable"),
    [
        ("claude", "CLAUDE_CODE_USE_BEDROCK"),
        ("opencode", "OPENCODE_CONFIG"),
        ("opencode", "OPENCODE_AUTH_CONTENT"),
        ("pi", "AWS_PROFILE"),
        ("pi", "GOOGLE_APPLICATION_CREDENTIALS"),
    ],
)
def test_a_variable_may_say_that_the_credential_is_elsewhere(
    tmp_path: Path, agent: str, variable: str
) -> None:
    assert found(agent, {variable: "1"}, tmp_path) == [Credential("reference", source=variable)]
    assert has_credentials(AGENTS[agent], {variable: "1"}, tmp_path)


@pytest.mark.parametrize("agent", [name for name, agent in AGENTS.items() if agent.credentials])
def test_an_address_or_a_switch_is_not_a_credential(tmp_path: Path, agent: str) -> None:
    environ = {
        "ANTHROPIC_BASE_URL": "http://x",
        "OPENAI_BASE_URL": "http://x",
        "AWS_REGION": "x",
        "PI_OFFLINE": "1",
        "AMP_URL": "http://x",
        "CODEX_HOME": str(tmp_path),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }
    assert found(agent, environ, tmp_path) == []
    assert not has_credentials(AGENTS[agent], environ, tmp_path)


def test_agents_without_or_with_their_own_key_are_trusted(tmp_path: Path) -> None:
    for agent in (AGENTS["mock"], TRANSLATORS["acp"]):
        assert has_credentials(agent, {}, tmp_path)
        assert find_credentials(agent, {"ANTHROPIC_API_KEY": "k"}, tmp_path).credentials == []


def test_a_child_sees_every_variable_in_which_its_agent_finds_a_key_and_no_other_agents_key() -> None:
    """What counts as available must reach the agent, and nothing else may."""
    keys = {
        "ANTHROPIC_API_KEY": {"claude", "opencode", "pi"},
        "ANTHROPIC_AUTH_TOKEN": {"claude", "opencode", "pi"},
        "CLAUDE_CODE_OAUTH_TOKEN": {"claude"},
        "OPENAI_API_KEY": {"codex", "opencode", "pi"},
        "CODEX_API_KEY": {"codex"},
        "CODEX_ACCESS_TOKEN": {"codex"},
        "GEMINI_API_KEY": {"opencode", "pi"},
        "OPENROUTER_API_KEY": {"opencode", "pi"},
        "AMP_API_KEY": {"amp"},
        "OPENCODE_API_KEY": {"opencode", "pi"},
        "SANDBOX_AGENT_TOKEN": set(),
        "DATABASE_PASSWORD": set(),
    }
    environ = dict.fromkeys(keys, "k")
    sees = {name: environment(agent, environ, {}).keys() for name, agent in AGENTS.items()}
    names = set().union(*keys.values())
    assert {key: {name for name in names if key in sees[name]} for key in keys} == keys
    assert [name for name in AGENTS if {"SANDBOX_AGENT_TOKEN", "DATABASE_PASSWORD"} & sees[name]] == []
    for name, agent in AGENTS.items():
        if agent.credentials is not None:
            finds = {credential.source for credential in agent.credentials.in_environment(environ)}
            assert finds <= sees[name]


# -- files --------------------------------------------------------------------------------------


def test_the_login_of_claude(tmp_path: Path) -> None:
    login = {"accessToken": "a", "refreshToken": "r", "expiresAt": LATER * 1000, "scopes": ["user:inference"]}
    path = plant(tmp_path, ".claude/.credentials.json", {"claudeAiOauth": login, "mcpOAuth": {"x": 1}})
    state = plant(tmp_path, ".claude.json", {"numStartups": 3, "primaryApiKey": "sk-p", "projects": {}})
    assert found("claude", {}, tmp_path) == [
        Credential("oauth", "a", "CLAUDE_CODE_OAUTH_TOKEN", None, LATER, True, path),
        Credential("api_key", "sk-p", "ANTHROPIC_API_KEY", source=state),
    ]


def test_the_settings_of_claude_may_hold_a_key_or_a_command(tmp_path: Path) -> None:
    settings = {"env": {"ANTHROPIC_AUTH_TOKEN": "t", "OTHER": 1}, "apiKeyHelper": "print-key"}
    path = plant(tmp_path, "moved/settings.json", settings)
    assert found("claude", {"CLAUDE_CONFIG_DIR": str(tmp_path / "moved")}, tmp_path) == [
        Credential("api_key", "t", "ANTHROPIC_AUTH_TOKEN", source=path),
        Credential("reference", source=path),
    ]


def test_the_login_of_codex(tmp_path: Path) -> None:
    token = web_token(exp=LATER)
    tokens = {"id_token": "i", "access_token": token, "refresh_token": "r", "account_id": "x"}
    auth = {"auth_mode": "chatgpt", "OPENAI_API_KEY": "sk-o", "tokens": tokens, "last_refresh": "2026-01-01"}
    path = plant(tmp_path, ".codex/auth.json", auth)
    assert found("codex", {}, tmp_path) == [
        Credential("oauth", token, None, None, LATER, True, path),
        Credential("api_key", "sk-o", "OPENAI_API_KEY", source=path),
    ]


def test_codex_may_have_a_provider_of_the_users_own(tmp_path: Path) -> None:
    path = plant(tmp_path, "home/config.toml", b'model_provider = "mine"')
    assert found("codex", {"CODEX_HOME": str(tmp_path / "home")}, tmp_path) == [
        Credential("reference", source=path)
    ]
    plant(tmp_path, "home/config.toml", b'model = "gpt-5"')
    assert found("codex", {"CODEX_HOME": str(tmp_path / "home")}, tmp_path) == []


def test_the_logins_of_opencode(tmp_path: Path) -> None:
    entries = {
        "anthropic": {"type": "oauth", "access": "a", "refresh": "r", "expires": LATER * 1000},
        "github-copilot": {"type": "oauth", "access": "", "refresh": "g", "expires": 0},
        "openai": {"type": "api", "key": "sk-o"},
        "unknown-provider": {"type": "api", "key": "sk-u"},
        "https://corp.example": {"type": "wellknown", "key": "CORP_TOKEN", "token": "w"},
        "https://evil.example": {"type": "wellknown", "key": "PATH", "token": "/evil"},
        "of a later version": {"type": "passkey"},
    }
    path = plant(tmp_path, "data/opencode/auth.json", entries)
    assert found("opencode", {"XDG_DATA_HOME": str(tmp_path / "data")}, tmp_path) == [
        Credential("oauth", "a", None, "anthropic", LATER, True, path),
        Credential("oauth", None, None, "github-copilot", None, True, path),
        Credential("api_key", "sk-o", "OPENAI_API_KEY", "openai", source=path),
        Credential("api_key", "sk-u", None, "unknown-provider", source=path),
        Credential("api_key", "w", "CORP_TOKEN", "https://corp.example", source=path),
        Credential("api_key", "/evil", None, "https://evil.example", source=path),
    ]


def test_the_key_of_amp(tmp_path: Path) -> None:
    entries = {"apiKey@https://ampcode.com/": "sgamp_1", "github-access-token@https://ampcode.com/": "g"}
    path = plant(tmp_path, ".local/share/amp/secrets.json", entries)
    assert found("amp", {}, tmp_path) == [
        Credential("api_key", "sgamp_1", "AMP_API_KEY", "https://ampcode.com/", source=path)
    ]


def test_the_logins_of_pi(tmp_path: Path) -> None:
    logins = {
        "anthropic": {"type": "oauth", "access": "a", "refresh": "r", "expires": LATER * 1000, "more": 1},
        "openai": {"type": "api_key", "key": "sk-o"},
        "groq": {"type": "api_key", "key": "!pass show groq"},
        "xai": {"type": "api_key", "key": "$MY_KEY"},
        "cloudflare": {"type": "api_key", "env": {"CLOUDFLARE_ACCOUNT_ID": "x"}},
    }
    auth = plant(tmp_path, ".pi/agent/auth.json", logins)
    models = plant(
        tmp_path, ".pi/agent/models.json", {"providers": {"mine": {"baseUrl": "http://x", "apiKey": "k"}}}
    )
    assert found("pi", {}, tmp_path) == [
        Credential("oauth", "a", None, "anthropic", LATER, True, auth),
        Credential("api_key", "sk-o", "OPENAI_API_KEY", "openai", source=auth),
        Credential("reference", provider="groq", source=auth),
        Credential("reference", provider="xai", source=auth),
        Credential("reference", provider="cloudflare", source=auth),
        Credential("api_key", "k", None, "mine", source=models),
    ]


# -- expiry -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("refresh", "available"), [("r", True), ("", False)])
def test_an_expired_login_counts_only_if_the_agent_can_renew_it(
    tmp_path: Path, refresh: str, available: bool
) -> None:
    expired = {"accessToken": "a", "refreshToken": refresh, "expiresAt": LONG_AGO * 1000}
    plant(tmp_path, ".claude/.credentials.json", {"claudeAiOauth": expired})
    oauth = {"type": "oauth", "access": "a", "refresh": refresh, "expires": LONG_AGO * 1000}
    plant(tmp_path, ".pi/agent/auth.json", {"anthropic": oauth})
    plant(tmp_path, ".local/share/opencode/auth.json", {"anthropic": oauth})
    tokens = {"access_token": web_token(exp=LONG_AGO), "refresh_token": refresh}
    plant(tmp_path, ".codex/auth.json", {"tokens": tokens})
    for name in ("claude", "codex", "opencode", "pi"):
        [credential] = found(name, {}, tmp_path)
        assert (name, credential.expires_at, credential.has_expired(time.time())) == (name, LONG_AGO, True)
        assert (name, has_credentials(AGENTS[name], {}, tmp_path)) == (name, available)


def test_an_expired_login_is_not_a_credential(tmp_path: Path) -> None:
    ended = {"accessToken": "", "refreshToken": "", "expiresAt": 0, "loginEnded": "time_limit"}
    plant(tmp_path, ".claude/.credentials.json", {"claudeAiOauth": ended})
    assert found("claude", {}, tmp_path) == []


@pytest.mark.parametrize("token", ["", "opaque", "a.b", "a.!.c", "a.e30.c", "a.bm8.c", "é.é.é"])
def test_a_token_that_is_not_a_jwt_has_no_expiry(token: str) -> None:
    assert token_expiry(token) is None


# -- damage -------------------------------------------------------------------------------------

DAMAGED = {
    "empty": b"",
    "cut": b'{"claudeAiOauth":{"accessToken":"planted-',
    "a list": b'["planted"]',
    "a text": b'"planted"',
    "other types": b'{"claudeAiOauth":7,"primaryApiKey":7,"env":7,"tokens":7,"providers":7,"anthropic":7}',
    "not utf-8": b'{"primaryApiKey":"planted-\xff"}',
    "zeros": b"\0" * 100,
    "deep": b'{"x":' + b"[" * 100_000,
    "huge numbers": b'{"claudeAiOauth":{"accessToken":"planted","expiresAt":1e999}}',
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED.keys())
@pytest.mark.parametrize(("agent", "file"), FILES, ids=[f"{name}-{file.name}" for name, file in FILES])
def test_a_damaged_credentials_file_is_ignored(
    tmp_path: Path, agent: str, file: KeyFile, content: bytes
) -> None:
    path = file.path({}, tmp_path)
    plant(tmp_path, str(path.relative_to(tmp_path)), content)
    search = find_credentials(AGENTS[agent], {}, tmp_path)
    assert "planted" not in str(search.problems)
    assert all(problem.startswith(f"{path} ") for problem in search.problems)
    assert path.read_bytes() == content
    if content in (b"", DAMAGED["cut"], DAMAGED["zeros"]) and path.suffix == ".json":
        assert search.credentials == []
        assert search.problems == [f"{path} is damaged, or has an unknown format"]


@pytest.mark.parametrize(("agent", "file"), dict(FILES).items())
def test_large_files_and_non_files_are_skipped(tmp_path: Path, agent: str, file: KeyFile) -> None:
    path = file.path({}, tmp_path)
    path.parent.mkdir(parents=True, exist_ok=True)

    def problems() -> list[str]:
        search = find_credentials(AGENTS[agent], {}, tmp_path)
        assert search.credentials == []
        return search.problems

    path.mkdir()
    assert problems() == [f"{path} is not a file"]
    path.rmdir()
    os.mkfifo(path)  # opened to be read, it would wait for a writer
    assert problems() == [f"{path} is not a file"]
    path.unlink()
    path.symlink_to(path)
    assert problems() == [f"{path} cannot be read: Too many levels of symbolic links"]
    path.unlink()
    with path.open("wb") as huge:
        huge.truncate(MAX_BYTES + 1)
    assert problems() == [f"{path} is larger than 16 MiB"]


def test_a_file_in_place_of_a_folder_is_tolerated(tmp_path: Path) -> None:
    plant(tmp_path, ".codex", b"x")
    assert found("codex", {}, tmp_path) == []
