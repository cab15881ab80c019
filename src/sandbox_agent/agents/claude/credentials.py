"""Where Claude Code keeps its keys. On macOS a login is in the system keychain, which we do not read."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from ..credentials import Credential, KeyFile, KeyVariable, Sources, from_milliseconds

KEYS = (
    KeyVariable("ANTHROPIC_API_KEY"),
    KeyVariable("ANTHROPIC_AUTH_TOKEN"),
    KeyVariable("CLAUDE_CODE_OAUTH_TOKEN", "oauth"),
    KeyVariable("CLAUDE_CODE_USE_BEDROCK", "reference"),
    KeyVariable("CLAUDE_CODE_USE_VERTEX", "reference"),
    KeyVariable("CLAUDE_CODE_USE_FOUNDRY", "reference"),
)


class _Login(Struct, rename="camel"):
    access_token: str = ""
    refresh_token: str | None = None
    expires_at: float | None = None


class _Credentials(Struct, rename="camel"):
    claude_ai_oauth: _Login | None = None


def read_login(content: bytes) -> Iterator[Credential]:
    """`.credentials.json`: a subscription login. After a logout the file stays, without its tokens."""
    login = msgspec.json.decode(content, type=_Credentials).claude_ai_oauth
    if login is not None and login.access_token:
        yield Credential(
            "oauth",
            login.access_token,
            "CLAUDE_CODE_OAUTH_TOKEN",
            expires_at=from_milliseconds(login.expires_at),
            renewable=bool(login.refresh_token),
        )


class _State(Struct, rename="camel"):
    primary_api_key: str | None = None


def read_state(content: bytes) -> Iterator[Credential]:
    """`.claude.json`: among many other settings, the key created by a console login."""
    if key := msgspec.json.decode(content, type=_State).primary_api_key:
        yield Credential("api_key", key, "ANTHROPIC_API_KEY")


class _Settings(Struct, rename="camel"):
    env: dict[str, object] = {}
    api_key_helper: str | None = None


def read_settings(content: bytes) -> Iterator[Credential]:
    """`settings.json`: variables that Claude sets for itself, or a command that prints the key."""
    settings = msgspec.json.decode(content, type=_Settings)
    texts = {name: value for name, value in settings.env.items() if isinstance(value, str)}
    yield from Sources(KEYS).in_environment(texts)
    if settings.api_key_helper:
        yield Credential("reference")


SOURCES = Sources(
    KEYS,
    files=(
        KeyFile("CLAUDE_CONFIG_DIR", ".claude", ".credentials.json", read_login),
        KeyFile("CLAUDE_CONFIG_DIR", "", ".claude.json", read_state),
        KeyFile("CLAUDE_CONFIG_DIR", ".claude", "settings.json", read_settings, "`env`, `apiKeyHelper`"),
    ),
    login="`{program}`, then type /login",
)
