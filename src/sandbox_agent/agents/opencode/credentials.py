"""Where OpenCode keeps its keys: `auth.json`, one entry per provider."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec import Struct

from ..credentials import (
    KEY_ENDINGS,
    PROVIDER_VARIABLES,
    Credential,
    KeyFile,
    KeyVariable,
    Sources,
    from_milliseconds,
)


class _OAuth(Struct, tag_field="type", tag="oauth"):
    access: str = ""
    refresh: str = ""
    expires: float | None = None


class _Api(Struct, tag_field="type", tag="api"):
    key: str


class _WellKnown(Struct, tag_field="type", tag="wellknown"):
    key: str
    token: str


def read_auth(content: bytes) -> Iterator[Credential]:
    """Skips entries of an unknown form, as OpenCode itself does."""
    for provider, entry in msgspec.json.decode(content, type=dict[str, msgspec.Raw]).items():
        try:
            login = msgspec.json.decode(entry, type=_OAuth | _Api | _WellKnown)
        except msgspec.ValidationError:
            continue
        match login:
            case _OAuth(access, refresh, expires) if access or refresh:
                yield Credential(
                    "oauth",
                    access or None,
                    provider=provider,
                    expires_at=from_milliseconds(expires),
                    renewable=bool(refresh),
                )
            case _Api(key) if key:
                yield Credential("api_key", key, PROVIDER_VARIABLES.get(provider), provider)
            case _WellKnown(variable, token) if token:
                # The file names the variable. It must not name `PATH`: the name ends up in a shell.
                env = variable if variable.endswith(KEY_ENDINGS) else None
                yield Credential("api_key", token, env, provider)


def sources(provider_families: tuple[str, ...]) -> Sources:
    return Sources(
        (
            KeyVariable("OPENCODE_API_KEY"),
            KeyVariable("OPENCODE_AUTH_CONTENT", "reference"),
            KeyVariable("OPENCODE_CONFIG", "reference"),
            KeyVariable("OPENCODE_CONFIG_CONTENT", "reference"),
        ),
        provider_families,
        (KeyFile("XDG_DATA_HOME", ".local/share", "opencode/auth.json", read_auth),),
        login="`{program} auth login`",
    )
