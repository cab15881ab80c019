"""How agents authenticate: where each keeps its keys, declared as data, and how to read its files. Does no
I/O.

`runtime/credentials.py` reads the sources. A value is shown only on the command line, on request, and goes
nowhere else.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

Kind = Literal["api_key", "oauth", "reference"]

KEY_ENDINGS = ("_KEY", "_TOKEN", "_ACCESS_KEY_ID", "_TOKEN_BEDROCK")
REFERENCE_ENDINGS = ("_CREDENTIALS", "_PROFILE", "_TOKEN_FILE")
PROVIDER_VARIABLES = {
    "anthropic": "ANTHROPIC_API_KEY",
    "cerebras": "CEREBRAS_API_KEY",
    "deepseek": "DEEPSEEK_API_KEY",
    "google": "GEMINI_API_KEY",
    "groq": "GROQ_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "openai": "OPENAI_API_KEY",
    "opencode": "OPENCODE_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
    "xai": "XAI_API_KEY",
}
"""The usual variables for the keys of providers that agents name in their files."""


class Credential(Struct, frozen=True):
    kind: Kind
    """A `reference` means that the credential is elsewhere: a cloud login, or a command that prints the key.
    """
    value: str | None = None
    env: str | None = None
    """The variable that other programs read the value from."""
    provider: str | None = None
    """The provider it belongs to, if the agent can have several."""
    expires_at: float | None = None
    """Seconds since 1970; None if it does not expire or does not say."""
    renewable: bool = False
    """The agent can renew it when it has expired."""
    source: str = ""
    """A variable's name or a file's path, filled in by the reader."""

    def has_expired(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def is_usable(self, now: float) -> bool:
        return self.renewable or not self.has_expired(now)


class KeyVariable(Struct, frozen=True):
    name: str
    kind: Kind = "api_key"


class KeyFile(Struct, frozen=True):
    """A file that an agent keeps. A variable can move its directory."""

    folder_variable: str
    default_folder: str
    """Relative to the home directory."""
    name: str
    read: Callable[[bytes], Iterator[Credential]]
    """Raises `msgspec.DecodeError` or `ValueError` if the content is not what the agent writes."""
    about: str = ""
    """What the file holds, if its name does not say so; for docs/credentials.mdx."""

    def path(self, environ: Mapping[str, str], home: Path) -> Path:
        moved = environ.get(self.folder_variable)
        return (Path(moved) if moved else home / self.default_folder) / self.name


class Sources(Struct, frozen=True):
    """Where an agent finds its credentials."""

    variables: tuple[KeyVariable, ...] = ()
    provider_families: tuple[str, ...] = ()
    """Prefixes of the variables of model providers: a suffix marks those that hold a key."""
    files: tuple[KeyFile, ...] = ()
    login: str = "`{program}`"
    """How a user logs in, with the program's own command."""

    @property
    def usual_variable(self) -> str:
        """The variable that usually holds the key."""
        keys = (variable.name for variable in self.variables if variable.kind == "api_key")
        return next(keys, PROVIDER_VARIABLES["anthropic"])

    def in_environment(self, environ: Mapping[str, str]) -> Iterator[Credential]:
        for variable in self.variables:
            if value := environ.get(variable.name):
                yield _variable(variable.name, value, variable.kind)
        for name, value in sorted(environ.items()):
            if not value or not self.provider_families or not name.startswith(self.provider_families):
                continue
            if name.endswith(KEY_ENDINGS):
                yield _variable(name, value, "api_key")
            elif name.endswith(REFERENCE_ENDINGS):
                yield _variable(name, value, "reference")


def _variable(name: str, value: str, kind: Kind) -> Credential:
    if kind == "reference":
        return Credential(kind, source=name)
    return Credential(kind, value, env=name, source=name)


def from_milliseconds(time: float | None) -> float | None:
    """Converts milliseconds since 1970. Agents write 0 for an unknown time."""
    return time / 1000 if time else None


class _Claims(Struct):
    exp: float | None = None


def token_expiry(token: str) -> float | None:
    """When a JSON web token expires, if it is one and says so. We do not check its signature."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(claims, type=_Claims).exp
    except (binascii.Error, ValueError, msgspec.DecodeError):
        return None
