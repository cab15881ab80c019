"""Where Pi keeps its keys: logins in `auth.json`, and the keys of the user's own providers in `models.json`."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from ..credentials import PROVIDER_VARIABLES, Credential, KeyFile, Sources, from_milliseconds


class _ApiKey(Struct, tag_field="type", tag="api_key"):
    key: str | None = None
    env: dict[str, str] = {}


class _OAuth(Struct, tag_field="type", tag="oauth"):
    access: str = ""
    refresh: str = ""
    expires: float | None = None


def read_auth(content: bytes) -> Iterator[Credential]:
    for provider, entry in msgspec.json.decode(content, type=dict[str, _ApiKey | _OAuth]).items():
        match entry:
            case _ApiKey(str() as key) if key:
                yield _key(key, provider)
            case _ApiKey(_, env) if env:
                yield Credential("reference", provider=provider)
            case _OAuth(access, refresh, expires) if access or refresh:
                yield Credential(
                    "oauth",
                    access or None,
                    provider=provider,
                    expires_at=from_milliseconds(expires),
                    renewable=bool(refresh),
                )


class _Provider(Struct, rename="camel"):
    api_key: str | None = None


class _Models(Struct):
    providers: dict[str, _Provider] = {}


def read_models(content: bytes) -> Iterator[Credential]:
    for name, provider in msgspec.json.decode(content, type=_Models).providers.items():
        if provider.api_key:
            yield _key(provider.api_key, name)


def _key(text: str, provider: str) -> Credential:
    """A key may be a command (`!pass show key`) or contain variables (`$KEY`) that Pi fills in."""
    if text.startswith("!") or "$" in text:
        return Credential("reference", provider=provider)
    return Credential("api_key", text, PROVIDER_VARIABLES.get(provider), provider)


def sources(provider_families: tuple[str, ...]) -> Sources:
    return Sources(
        provider_families=provider_families,
        files=(
            KeyFile("PI_CODING_AGENT_DIR", ".pi/agent", "auth.json", read_auth),
            KeyFile("PI_CODING_AGENT_DIR", ".pi/agent", "models.json", read_models),
        ),
        login="`{program}`, then type /login",
    )
