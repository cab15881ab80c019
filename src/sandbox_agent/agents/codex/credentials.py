"""Where Codex keeps its keys: `auth.json` in its home, or a provider of the user's own in `config.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from ..credentials import Credential, KeyFile, KeyVariable, Sources, token_expiry

KEYS = (
    KeyVariable("CODEX_API_KEY"),
    KeyVariable("OPENAI_API_KEY"),
    KeyVariable("CODEX_ACCESS_TOKEN", "oauth"),
)


class _Tokens(Struct):
    access_token: str = ""
    refresh_token: str | None = None


class _Auth(Struct):
    api_key: str | None = field(default=None, name="OPENAI_API_KEY")
    tokens: _Tokens | None = None
    personal_access_token: str | None = None
    agent_identity: object = None
    bedrock_api_key: object = None
    bedrock_access_keys: object = None


def read_auth(content: bytes) -> Iterator[Credential]:
    """What `codex login` has written, for each kind of login."""
    auth = msgspec.json.decode(content, type=_Auth)
    if auth.tokens is not None and auth.tokens.access_token:
        token = auth.tokens.access_token
        renewable = bool(auth.tokens.refresh_token)
        yield Credential("oauth", token, expires_at=token_expiry(token), renewable=renewable)
    if auth.api_key:
        yield Credential("api_key", auth.api_key, "OPENAI_API_KEY")
    if auth.personal_access_token:
        token = auth.personal_access_token
        yield Credential("oauth", token, "CODEX_ACCESS_TOKEN", expires_at=token_expiry(token))
    if auth.agent_identity or auth.bedrock_api_key or auth.bedrock_access_keys:
        yield Credential("reference")


def read_config(content: bytes) -> Iterator[Credential]:
    if has_provider(tomllib.loads(content.decode())):
        yield Credential("reference")


def has_provider(config: dict[str, Any]) -> bool:
    """Whether the user has configured a provider, which brings its own key."""
    profiles = config.get("profiles")
    chosen = profiles.get(config.get("profile")) if isinstance(profiles, dict) else None
    return "model_provider" in config or (isinstance(chosen, dict) and "model_provider" in chosen)


SOURCES = Sources(
    KEYS,
    files=(
        KeyFile("CODEX_HOME", ".codex", "auth.json", read_auth),
        KeyFile("CODEX_HOME", ".codex", "config.toml", read_config, "your own provider"),
    ),
    login="`{program} login`",
)
