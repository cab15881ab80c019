"""What agents log in with: where each keeps its keys, declared as data, and what its files say. Nothing is read here.

`runtime/credentials.py` looks the sources up. A value is shown to whoever asks on the command line and goes nowhere else.
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
"""Where other programs look for the key of a provider that agents name in their files."""


class Credential(Struct, frozen=True):
    kind: Kind
    """A `reference` says that the credential is elsewhere: a cloud's own login, a command that prints the key."""
    value: str | None = None
    env: str | None = None
    """The variable in which other programs take the value."""
    provider: str | None = None
    """Whose key it is, where the agent can have several."""
    expires_at: float | None = None
    """Seconds since 1970; None when it does not expire or does not say."""
    renewable: bool = False
    """The agent can get a new one by itself when it has expired."""
    source: str = ""
    """A variable's name or a file's path: filled in by whoever looked there."""

    def has_expired(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def is_usable(self, now: float) -> bool:
        return self.renewable or not self.has_expired(now)


class KeyVariable(Struct, frozen=True):
    name: str
    kind: Kind = "api_key"


class KeyFile(Struct, frozen=True):
    """A file that an agent keeps. Its folder can be moved by a variable."""

    folder_variable: str
    default_folder: str
    """Under the home folder."""
    name: str
    read: Callable[[bytes], Iterator[Credential]]
    """Content that is not what the agent writes raises `msgspec.DecodeError` or `ValueError`."""
    about: str = ""
    """What in it is looked at, where the name does not say so; for docs/credentials.md."""

    def path(self, environ: Mapping[str, str], home: Path) -> Path:
        moved = environ.get(self.folder_variable)
        return (Path(moved) if moved else home / self.default_folder) / self.name


class Sources(Struct, frozen=True):
    """Where an agent finds its credentials."""

    variables: tuple[KeyVariable, ...] = ()
    provider_families: tuple[str, ...] = ()
    """Prefixes of the variables of model providers: which of them hold a key shows in how they end."""
    files: tuple[KeyFile, ...] = ()
    login: str = "`{program}`"
    """How a person logs in, with the program's own command."""

    @property
    def usual_variable(self) -> str:
        """The variable that most people put a key into."""
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
    """A moment as JavaScript counts it. Agents write 0 when they do not know."""
    return time / 1000 if time else None


class _Claims(Struct):
    exp: float | None = None


def token_expiry(token: str) -> float | None:
    """When a JSON web token expires, if it is one and says so. Its signature is not ours to check."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        claims = base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))
        return msgspec.json.decode(claims, type=_Claims).exp
    except (binascii.Error, ValueError, msgspec.DecodeError):
        return None
